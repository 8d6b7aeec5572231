/* Calls that make processes, or end and replace them, past the functions of the
 * C library for that: clone and syscall. In programs linked with the flags that
 * `countersink flags --wrap-exit` prints, the runtime hears of these.
 *
 * In C because stable Rust cannot define a variadic function, nor refer to the
 * calls behind --wrap, which exist only where somebody asks for them. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

int countersink_before_exec(void);
void countersink_exec_failed(void);
void countersink_before_fork(void);
void countersink_after_fork_parent(void);
void countersink_after_fork_child(void);
__attribute__((visibility("hidden")))
void countersink_before_exit(void);

typedef int function(void *);

int __real_clone(function *function, void *stack, int flags, void *argument, ...);
int __wrap_clone(function *function, void *stack, int flags, void *argument, ...);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

struct child {
    function *function;
    void *argument;
};

/* The child has a copy of its parent's memory, so also of what is on its stack. */
static int run(void *place)
{
    struct child child = *(struct child *)place;
    countersink_after_fork_child();
    int status = child.function(child.argument);
    /* The C library ends it by a system call. */
    countersink_before_exit();
    return status;
}

int __wrap_clone(function *function, void *stack, int flags, void *argument, ...)
{
    va_list list;
    va_start(list, argument);
    void *parent = va_arg(list, void *);
    void *local = va_arg(list, void *);
    void *number = va_arg(list, void *);
    va_end(list);
    /* A child that shares the memory counts there. */
    if (function == NULL || flags & CLONE_VM)
        return __real_clone(function, stack, flags, argument, parent, local, number);
    struct child child = { function, argument };
    countersink_before_fork();
    int id = __real_clone(run, stack, flags, &child, parent, local, number);
    countersink_after_fork_parent();
    return id;
}

/* Whether a system call makes a process with memory of its own. */
static int is_fork(long number, long first, long second)
{
    switch (number) {
#ifdef SYS_fork
    case SYS_fork:
        return 1;
#endif
    case SYS_clone:
        return !(first & CLONE_VM);
#ifdef SYS_clone3
    /* Its first argument begins with the flags, its second says how long it is. */
    case SYS_clone3:
        return second >= 64 && !(*(const uint64_t *)first & CLONE_VM);
#endif
    default:
        return 0;
    }
}

static int is_exec(long number)
{
    return number == SYS_execve || number == SYS_execveat;
}

long __wrap_syscall(long number, ...)
{
    long word[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        word[i] = va_arg(list, long);
    va_end(list);
    int forks = is_fork(number, word[0], word[1]), execs = is_exec(number);
    if (forks)
        countersink_before_fork();
    else if (execs)
        countersink_before_exec();
    else if (number == SYS_exit_group)
        countersink_before_exit();
    long result = __real_syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    if (forks && result == 0)
        countersink_after_fork_child();
    else if (forks)
        countersink_after_fork_parent();
    else if (execs)
        countersink_exec_failed();
    return result;
}
