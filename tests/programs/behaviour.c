/* What programs do to their descriptors, signals and children. The runtime may change none of it.
 * The first argument says what to do; the result goes to standard output. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int countersink_flush(void);
int countersink_reset(void);
void __gcov_dump(void);
void __gcov_reset(void);
int countersink_set_file(const char *pattern);

volatile int sink;

__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

static void even(int number)
{
    sink += number;
}

static void odd(int number)
{
    sink -= number;
}

static void (*volatile both[])(int) = {even, odd};

__attribute__((noinline)) void call(int rounds)
{
    for (int i = 0; i < rounds; i++)
        both[i & 1](i);
}

/* The program owns all descriptors, and uses their numbers for files of its own. */
static void closes_all(int forks)
{
    closefrom(3);
    int file = open("data.bin", O_RDWR | O_CREAT | O_TRUNC, 0644);
    dprintf(file, "0123456789abcdef0123456789abcdef\n");
    if (forks && fork() == 0) {
        dprintf(file, "child\n");
        work(100);
        _exit(0);
    }
    wait(NULL);
}

static void standard_descriptors(void)
{
    char bytes[64];
    int got = read(0, bytes, sizeof bytes);
    int put = write(2, "something happened\n", 19);
    FILE *result = fopen("result", "w");
    fprintf(result, "%d %d\n", got, put);
    fclose(result);
}

/* A call that waits, and a signal without meaning. */
static void waits(int number)
{
    int ends[2];
    char byte;
    pid_t parent = getpid();
    if (pipe(ends) != 0)
        exit(3);
    if (fork() == 0) {
        usleep(100000);
        kill(parent, number);
        usleep(100000);
        exit(write(ends[1], "x", 1) != 1);
    }
    printf("%d\n", (int)read(ends[0], &byte, 1));
    wait(NULL);
}

static void is_refused_a_call(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    getppid();
}

static sigjmp_buf out;

static void handler(int number)
{
    if (number == SIGUSR1) {
        if (fork() == 0)
            _exit(0);
        wait(NULL);
    } else if (number == SIGALRM) {
        siglongjmp(out, 1);
    }
}

static void *flush(void *argument)
{
    countersink_flush();
    return argument;
}

/* A flush has to wait; meanwhile a handler forks on top of it. */
static void forks_in_a_flush(void)
{
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, NULL, flush, NULL);
    usleep(100000);
    pthread_kill(thread, SIGUSR1);
    usleep(100000);
}

/* A flush has to wait; meanwhile a handler leaves it. */
static void leaves_a_flush(void)
{
    signal(SIGALRM, handler);
    ualarm(100000, 0);
    if (!sigsetjmp(out, 1)) {
        countersink_flush();
        pause();
    }
}

static volatile long *handled;

static void counts(int number)
{
    work(number > 0);
    __atomic_add_fetch(handled, 1, __ATOMIC_SEQ_CST);
}

/* Signals reach parents and children at every moment of a fork. */
static void signals_around_forks(void)
{
    sigset_t set;
    handled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setpgid(0, 0);
    signal(SIGUSR1, counts);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t group = getpid(), sender = fork();
    if (sender == 0) {
        signal(SIGUSR1, SIG_IGN);
        for (;;)
            kill(-group, SIGUSR1);
    }
    /* The sender may have to wait for a processor. */
    for (int i = 0; i < 100 || (i < 10000 && *handled <= 100); i++) {
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        pid_t child = fork();
        sigprocmask(SIG_BLOCK, &set, NULL);
        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
    }
    kill(sender, SIGKILL);
    waitpid(sender, NULL, 0);
    printf("%ld\n", *handled);
}

static void *flushes(void *argument)
{
    for (int i = 0; i < 200; i++) {
        work(1);
        countersink_flush();
    }
    return argument;
}

/* Children of vfork use their parent's memory, and must not touch the runtime's. */
static void vforks(void)
{
    pthread_t thread;
    int refused = 0;
    pthread_create(&thread, NULL, flushes, NULL);
    for (int i = 0; i < 200; i++) {
        pid_t child = vfork();
        if (child == 0)
            _exit(countersink_flush() == -ECHILD);
        int status;
        waitpid(child, &status, 0);
        refused += WEXITSTATUS(status);
    }
    pthread_join(thread, NULL);
    printf("%d\n", refused);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    signal(SIGUSR2, SIG_IGN);
    work(1000);
    if (!strcmp(how, "closes all"))
        closes_all(0);
    else if (!strcmp(how, "closes all and forks"))
        closes_all(1);
    else if (!strcmp(how, "standard descriptors"))
        standard_descriptors();
    else if (!strcmp(how, "waits"))
        waits(SIGWINCH);
    else if (!strcmp(how, "is refused a call"))
        is_refused_a_call();
    else if (!strcmp(how, "forks in a flush"))
        forks_in_a_flush();
    else if (!strcmp(how, "leaves a flush"))
        leaves_a_flush();
    else if (!strcmp(how, "signals around forks"))
        signals_around_forks();
    else if (!strcmp(how, "vforks"))
        vforks();
    else if (!strcmp(how, "resets")) {
        call(100);
        countersink_reset();
        work(10);
        call(3);
    } else if (!strcmp(how, "flushes and resets")) {
        call(100);
        countersink_flush();
        work(100);
        call(50);
        countersink_reset();
        work(10);
        call(3);
    } else if (!strcmp(how, "dumps and resets")) {
        __gcov_dump();
        __gcov_reset();
        work(10);
    } else if (!strcmp(how, "chooses a file")) {
        countersink_set_file("sub/%e.csraw");
        work(100);
    } else if (!strcmp(how, "children")) {
        for (int i = 0; i < 400; i++) {
            if (fork() == 0) {
                work(10);
                _exit(0);
            }
            wait(NULL);
        }
    } else if (!strcmp(how, "unseen child")) {
        pid_t child = _Fork();
        if (child == 0) {
            work(100000);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (argc > 2)
        raise(atoi(argv[2]));
    return 0;
}
