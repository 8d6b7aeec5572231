/* Flushes while a SIGPIPE of its own is blocked and waiting. */
#include <signal.h>
#include <stdio.h>

#include "countersink.h"

int main(void)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    if (countersink_flush() != 0)
        return 1;
    sigpending(&pending);
    if (!sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ))
        return 2;
    sigprocmask(SIG_BLOCK, NULL, &set);
    if (!sigismember(&set, SIGPIPE) || sigismember(&set, SIGXFSZ))
        return 3;
    puts("pending after a flush");
    return 0;
}
