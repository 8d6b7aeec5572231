/* The promises of countersink.h, one case per argument. Prints what a test looks at. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "countersink.h"

#define QUIET __attribute__((no_profile_instrument_function))

static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int (*pair[])(int) = {twice, thrice};

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += pair[i % 4 == 0](i);
    return sum;
}

QUIET static void expect(int found, int expected, const char *what)
{
    if (found != expected) {
        fprintf(stderr, "%s: expected %d, found %d\n", what, expected, found);
        exit(9);
    }
}

QUIET static void join(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    expect(status, 0, "child");
}

static void flushes(void)
{
    errno = 77;
    work(10);
    expect(countersink_flush(), 0, "first flush");
    work(20);
    expect(countersink_flush(), 0, "second flush");
    expect(countersink_flush(), 0, "flush of nothing");
    work(40);
    expect(errno, 77, "errno");
}

static void resets(void)
{
    work(10);
    expect(countersink_reset(), 0, "reset");
    work(20);
    expect(countersink_flush(), 0, "flush");
    work(40);
    expect(countersink_reset(), 0, "reset after a flush");
    work(80);
}

static void files(void)
{
    static char longer[5000];
    work(10);
    expect(countersink_set_file("sub/dir/%e.first"), 0, "set_file");
    expect(countersink_flush(), 0, "flush to the first file");
    memset(longer, 'x', sizeof longer - 1);
    expect(countersink_set_file(longer), -ENAMETOOLONG, "a name too long");
    work(5);
    expect(countersink_flush(), 0, "flush to the first file again");
    work(20);
    expect(countersink_set_file("second.%p"), 0, "set_file");
    expect(countersink_flush(), 0, "flush to the second file");
    expect(countersink_set_file("/proc/nowhere/x"), 0, "set_file");
    work(40);
    int error = countersink_flush();
    if (error >= 0)
        expect(error, -1, "flush to nowhere");
    expect(countersink_set_file(NULL), 0, "the default file");
    expect(chdir("/"), 0, "chdir");
}

static int child_of_clone(void *unused)
{
    (void)unused;
    countersink_after_fork_child();
    work(20);
    expect(countersink_flush(), 0, "flush in the child");
    _exit(0);
}

static void clones(void)
{
    static char stack[1 << 16];
    work(10);
    countersink_before_fork();
    pid_t child = clone(child_of_clone, stack + sizeof stack, SIGCHLD, NULL);
    countersink_after_fork_parent();
    join(child);
    work(40);
}

static void raw_fork(void)
{
    work(10);
    countersink_before_fork();
    pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        countersink_after_fork_child();
        work(20);
        exit(0);
    }
    countersink_after_fork_parent();
    join(child);
    work(40);
}

/* The hooks have nothing left to do around a fork that gcc rewrites. */
static void hooks_around_fork(void)
{
    work(10);
    countersink_before_fork();
    pid_t child = fork();
    if (child == 0) {
        countersink_after_fork_child();
        work(20);
        exit(0);
    }
    countersink_after_fork_parent();
    join(child);
    work(40);
    expect(countersink_flush(), 0, "the lock is free");
}

static void raw_exec(void)
{
    char *argv[] = {"true", NULL}, *envp[] = {NULL};
    work(10);
    expect(countersink_before_exec(), 0, "before_exec");
    syscall(SYS_execve, "/nowhere/true", argv, envp);
    countersink_exec_failed();
    work(20);
    expect(countersink_before_exec(), 0, "before_exec");
    syscall(SYS_execve, "/bin/true", argv, envp);
    exit(9);
}

static volatile int answer, inside;

/* Not instrumented: an instrumented function empties the pair that connects a call with its callee,
 * in libgcov, too. */
QUIET static void handler(int signal)
{
    (void)signal;
    inside++;
    answer = countersink_flush();
}

/* A handler that comes at any moment of the program, even in its flushes. */
static void signals(void)
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 200; i++) {
        ualarm(1 + i * 7 % 300, 0);
        for (int j = 0; j < 20; j++) {
            work(5);
            if (i % 3 == 0)
                countersink_flush();
        }
        ualarm(0, 0);
        if (answer != 0)
            expect(answer, -EBUSY, "flush in a handler");
    }
    if (inside == 0)
        expect(0, 1, "no signal came");
}

static void *flushing(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        work(20);
        expect(countersink_flush(), 0, "flush in a thread");
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, flushing, NULL);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(10);
            exit(0);
        }
        join(child);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (countersink_version()[0] < '0' || countersink_version()[0] > '9')
        return 8;
    if (!strcmp(what, "flushes"))
        flushes();
    else if (!strcmp(what, "resets"))
        resets();
    else if (!strcmp(what, "files"))
        files();
    else if (!strcmp(what, "clones"))
        clones();
    else if (!strcmp(what, "raw-fork"))
        raw_fork();
    else if (!strcmp(what, "hooks"))
        hooks_around_fork();
    else if (!strcmp(what, "raw-exec"))
        raw_exec();
    else if (!strcmp(what, "signals"))
        signals();
    else if (!strcmp(what, "threads"))
        threads();
    else
        return 7;
    return 0;
}
