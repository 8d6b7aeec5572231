/* The exec calls with a variable number of arguments.
 *
 * In C because stable Rust cannot define a variadic function. Each collects its
 * arguments on the stack, as async-signal-safe code must, and goes on to the
 * call that takes an array; what happens to the counts is decided there. */
#include <stdarg.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int __gcov_execv(const char *path, char *const argv[]);
HIDDEN int __gcov_execvp(const char *file, char *const argv[]);
HIDDEN int __gcov_execve(const char *path, char *const argv[], char *const envp[]);

HIDDEN int __gcov_execl(const char *path, char *first, ...);
HIDDEN int __gcov_execlp(const char *file, char *first, ...);
HIDDEN int __gcov_execle(const char *path, char *first, ...);

/* Number of arguments up to and with the terminating NULL. */
static size_t count(const char *argument, va_list *rest)
{
    size_t n = 1;
    for (; argument != NULL; n++)
        argument = va_arg(*rest, const char *);
    return n;
}

static void collect(char **argv, char *argument, va_list *rest)
{
    while ((*argv++ = argument) != NULL)
        argument = va_arg(*rest, char *);
}

/* Declares argv and leaves rest behind the terminating NULL. */
#define COLLECT(argv, first, rest)        \
    va_list rest;                         \
    va_start(rest, first);                \
    char *argv[count(first, &rest)];      \
    va_end(rest);                         \
    va_start(rest, first);                \
    collect(argv, first, &rest)

int __gcov_execl(const char *path, char *first, ...)
{
    COLLECT(argv, first, rest);
    va_end(rest);
    return __gcov_execv(path, argv);
}

int __gcov_execlp(const char *file, char *first, ...)
{
    COLLECT(argv, first, rest);
    va_end(rest);
    return __gcov_execvp(file, argv);
}

int __gcov_execle(const char *path, char *first, ...)
{
    COLLECT(argv, first, rest);
    char *const *envp = va_arg(rest, char *const *);
    va_end(rest);
    return __gcov_execve(path, argv, envp);
}
