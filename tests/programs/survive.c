/* Works, then ends in the way that its argument says. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int sink;
static const char *ending;

/* The loop counts what there is to keep. */
__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

__attribute__((destructor(90))) static void late(void)
{
    if (ending != NULL && !strcmp(ending, "late destructor"))
        work(50);
}

static atomic_int busy;

static void *work_on(void *unused)
{
    (void)unused;
    for (;;) {
        sink++;
        busy = 1;
    }
    return NULL;
}

static void *leave(void *unused)
{
    (void)unused;
    exit(0);
}

static void start(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        abort();
}

__attribute__((noinline, noclone)) static int overflow(int depth)
{
    volatile char frame[4096];
    frame[depth % 4096] = (char)depth;
    int deeper = overflow(depth + 1);
    return deeper + frame[deeper & 4095];
}

/* As in servers that print what they know. */
static void handle(int number)
{
    work(50);
    signal(number, SIG_DFL);
    raise(number);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 9;
    ending = argv[1];
    if (!strcmp(ending, "nothing"))
        return 0;
    work(100);
    if (!strcmp(ending, "return"))
        return 0;
    if (!strcmp(ending, "exit in a thread")) {
        for (int i = 0; i < 3; i++)
            start(work_on);
        while (!busy)
            ;
        start(leave);
        for (;;)
            pause();
    }
    if (!strcmp(ending, "late destructor"))
        exit(0);
    if (!strcmp(ending, "quick_exit"))
        quick_exit(0);
    if (!strcmp(ending, "_exit"))
        _exit(0);
    if (!strcmp(ending, "_Exit"))
        _Exit(0);
    if (!strcmp(ending, "abort"))
        abort();
    if (!strcmp(ending, "handled fault"))
        signal(SIGSEGV, handle);
    if (!strcmp(ending, "fault") || !strcmp(ending, "handled fault"))
        *(volatile int *)16 = 1;
    if (!strcmp(ending, "stack overflow")) {
        static char stack[1 << 16];
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
        return overflow(1);
    }
    if (!strcmp(ending, "vfork")) {
        /* The child ends by a wrapped call, and by a signal. */
        for (int i = 0; i < 2; i++) {
            pid_t child = vfork();
            if (child == 0) {
                if (i == 0)
                    _exit(0);
                raise(SIGTERM);
            }
            waitpid(child, NULL, 0);
        }
        return 0;
    }
    if (!strncmp(ending, "SIG", 3)) {
        /* In the middle of things. */
        int number = !strcmp(ending, "SIGTERM") ? SIGTERM
            : !strcmp(ending, "SIGINT") ? SIGINT
            : !strcmp(ending, "SIGKILL") ? SIGKILL : 0;
        raise(number);
    }
    if (!strcmp(ending, "harmless")) {
        raise(SIGWINCH);
        work(7);
        _exit(0);
    }
    return 8;
}
