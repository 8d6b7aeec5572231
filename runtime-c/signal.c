/* The C library's own sigaction, also where the linker wraps it.
 *
 * In C because stable Rust cannot refer to a symbol weakly. --wrap would take our
 * own reference for one of the program's, and only wrap_signal.c can refer to the
 * unwrapped call. */
#include <signal.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int countersink_unwrapped_action(
    int number, const struct sigaction *action, struct sigaction *before)
    __attribute__((weak));
HIDDEN int countersink_system_action(
    int number, const struct sigaction *action, struct sigaction *before);

int countersink_system_action(
    int number, const struct sigaction *action, struct sigaction *before)
{
    if (countersink_unwrapped_action != 0)
        return countersink_unwrapped_action(number, action, before);
    return sigaction(number, action, before);
}
