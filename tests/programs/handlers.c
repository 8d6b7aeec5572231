/* A library that is loaded before the program, with handlers of its own. Not instrumented. */
#include <signal.h>
#include <unistd.h>

static void terminated(int number, siginfo_t *info, void *context)
{
    if (number == SIGTERM && info->si_signo == SIGTERM && context != NULL)
        write(1, "terminated\n", 11);
    _exit(3);
}

__attribute__((constructor)) static void set(void)
{
    struct sigaction action = {.sa_sigaction = terminated, .sa_flags = SA_SIGINFO};
    sigaction(SIGTERM, &action, 0);
    signal(SIGINT, SIG_IGN);
}
