/* Calls that set handlers of signals, in programs linked with the flags that
 * `countersink flags --wrap-signal` prints. src/runtime/signals.rs decides what
 * becomes of them.
 *
 * In C because stable Rust cannot refer to the calls behind --wrap, which exist
 * only where somebody asks for them. */
#include <signal.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* As in Rust, with room for what other C libraries have in it. */
struct action {
    struct sigaction action;
    char room[16];
};

typedef void handler(int);

HIDDEN int countersink_action(int number, const struct action *action, struct action *before);
HIDDEN int countersink_unwrapped_action(
    int number, const struct sigaction *action, struct sigaction *before);
int __real_sigaction(int number, const struct sigaction *action, struct sigaction *before);
handler *__real_signal(int number, handler *handler);

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before);
handler *__wrap_signal(int number, handler *handler);
handler *__wrap___sysv_signal(int number, handler *handler);

int countersink_unwrapped_action(
    int number, const struct sigaction *action, struct sigaction *before)
{
    return __real_sigaction(number, action, before);
}

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct action new, old;
    if (action != NULL)
        new.action = *action;
    if (countersink_action(number, action != NULL ? &new : NULL, &old) < 0)
        return -1; /* errno is the C library's. */
    if (before != NULL)
        *before = old.action;
    return 0;
}

static handler *set(int number, handler *handler, int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    return __wrap_sigaction(number, &action, &action) == 0 ? action.sa_handler : SIG_ERR;
}

/* Only the C library knows whether a handler set by `signal` interrupts calls. */
handler *__wrap_signal(int number, handler *handler)
{
    if (handler == SIG_DFL)
        return set(number, handler, 0);
    struct sigaction before;
    int is_known = __wrap_sigaction(number, NULL, &before) == 0;
    return __real_signal(number, handler) != SIG_ERR && is_known ? before.sa_handler : SIG_ERR;
}

/* `signal` of programs compiled with a strict standard such as -std=c11. */
handler *__wrap___sysv_signal(int number, handler *handler)
{
    return set(number, handler, SA_RESETHAND | SA_NODEFER);
}
