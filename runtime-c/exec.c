/* The exec calls with a variable number of arguments.
 *
 * In C because stable Rust cannot define a variadic function. Each collects its
 * arguments on the stack, as async-signal-safe code must, and goes on to the
 * call that takes an array. That call decides what happens to the counts. */
#include <stdarg.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int __gcov_execv(const char *path, char *const argv[]);
HIDDEN int __gcov_execvp(const char *file, char *const argv[]);
HIDDEN int __gcov_execve(const char *path, char *const argv[], char *const envp[]);

HIDDEN int __gcov_execl(const char *path, char *first, ...);
HIDDEN int __gcov_execlp(const char *file, char *first, ...);
HIDDEN int __gcov_execle(const char *path, char *first, ...);

enum call { EXECL, EXECLP, EXECLE };

/* Goes through the list twice: once to count, once to collect. */
static __attribute__((noinline)) int
exec_list(enum call call, const char *path, char *first, va_list *list)
{
    va_list counted;
    va_copy(counted, *list);
    size_t n = 1;
    for (char *argument = first; argument != NULL; n++)
        argument = va_arg(counted, char *);
    va_end(counted);

    char *argv[n];
    argv[0] = first;
    for (size_t i = 1; i < n; i++)
        argv[i] = va_arg(*list, char *);
    switch (call) {
    case EXECL:
        return __gcov_execv(path, argv);
    case EXECLP:
        return __gcov_execvp(path, argv);
    default:
        return __gcov_execve(path, argv, va_arg(*list, char *const *));
    }
}

#define WRAPPER(name, call)                                     \
    int name(const char *path, char *first, ...)                \
    {                                                           \
        va_list list;                                           \
        va_start(list, first);                                  \
        int result = exec_list(call, path, first, &list);       \
        va_end(list);                                           \
        return result;                                          \
    }

WRAPPER(__gcov_execl, EXECL)
WRAPPER(__gcov_execlp, EXECLP)
WRAPPER(__gcov_execle, EXECLE)

/* The same calls where gcc does not rewrite them, see wrap.c. */
#define ALIAS(name, of)                                         \
    HIDDEN int name(const char *path, char *first, ...)         \
        __attribute__((alias(of)));

ALIAS(__wrap_execl, "__gcov_execl")
ALIAS(__wrap_execlp, "__gcov_execlp")
ALIAS(__wrap_execle, "__gcov_execle")
