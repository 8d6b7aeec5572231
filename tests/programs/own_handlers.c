/* Handles signals itself, in the way that its argument says, then gets one. What the system says about handlers
   goes to standard output. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*handler)(int);
extern handler __sysv_signal(int number, handler handler);

volatile int sink;
static int calls;

__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

static const char *name(handler handler);

static void tell(const char *what, int number)
{
    struct sigaction now = {0};
    int result = sigaction(number, NULL, &now);
    printf("%s: %d %s\n", what, result, name(now.sa_handler));
    if (now.sa_handler != SIG_DFL)
        printf("once %d, blocks INT %d\n", (now.sa_flags & (int)SA_RESETHAND) != 0,
               sigismember(&now.sa_mask, SIGINT));
}

/* Prints a report, and lets the signal end the program. */
static void reports(int number)
{
    work(50);
    printf("from reports: %s\n", name(signal(number, SIG_DFL)));
    tell("reset", number);
    fflush(stdout);
    kill(getpid(), number);
}

static void reports_once(int number, siginfo_t *info, void *context)
{
    work(50);
    printf("%d of %d, %s\n", number, info->si_signo, context != NULL ? "context" : "none");
    tell("in it", number);
    fflush(stdout);
    if (info->si_code <= 0)
        kill(getpid(), number);
}

static void again(int number)
{
    work(25);
    if (++calls < 2)
        __sysv_signal(number, again);
    raise(number);
}

static void leaves(int number)
{
    work(50);
    _exit(number);
}

static void goes_on(int number)
{
    (void)number;
    work(50);
}

static const char *name(handler handler)
{
    return handler == SIG_DFL ? "default"
        : handler == SIG_IGN ? "ignored"
        : handler == SIG_ERR ? "error"
        : handler == reports ? "reports"
        : handler == (void (*)(int))reports_once ? "reports_once"
        : handler == again ? "again"
        : handler == leaves ? "leaves"
        : handler == goes_on ? "goes_on"
        : "another";
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    struct sigaction action = {.sa_flags = 0}, before;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    work(100);
    tell("first", SIGTERM);
    if (!strcmp(way, "signal")) {
        printf("before: %s\n", name(signal(SIGTERM, goes_on)));
        printf("before: %s\n", name(signal(SIGTERM, reports)));
        tell("set", SIGTERM);
        raise(SIGTERM);
    }
    if (!strcmp(way, "once") || !strcmp(way, "fault")) {
        action.sa_sigaction = reports_once;
        action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;
        sigaction(SIGSEGV, &action, &before);
        printf("before: %s\n", name(before.sa_handler));
        tell("set", SIGSEGV);
        if (!strcmp(way, "fault"))
            *(volatile int *)16 = 1;
        raise(SIGSEGV);
    }
    if (!strcmp(way, "again")) {
        __sysv_signal(SIGTERM, again);
        tell("set", SIGTERM);
        fflush(stdout);
        raise(SIGTERM);
    }
    if (!strcmp(way, "leaves")) {
        signal(SIGTERM, leaves);
        raise(SIGTERM);
    }
    if (!strcmp(way, "back")) {
        /* The former action comes back, with ignored signals in between. */
        action.sa_handler = goes_on;
        sigaction(SIGTERM, &action, &before);
        raise(SIGTERM);
        signal(SIGTERM, SIG_IGN);
        raise(SIGTERM);
        tell("ignored", SIGTERM);
        sigaction(SIGTERM, &before, &action);
        printf("before: %s\n", name(action.sa_handler));
        tell("back", SIGTERM);
        fflush(stdout);
        raise(SIGTERM);
    }
    if (!strcmp(way, "wrong")) {
        printf("%d", sigaction(SIGKILL, &action, &before));
        printf("%d", sigaction(1000, &action, &before));
        printf("%d", signal(-1, reports) == SIG_ERR);
        perror(" ");
    }
    return 8;
}
