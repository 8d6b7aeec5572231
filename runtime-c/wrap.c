/* Calls after which nothing runs, in programs linked with the flags that
 * `countersink flags --wrap-exit` prints. Counts are written before the call.
 *
 * In C because stable Rust cannot refer to the calls behind --wrap, which exist
 * only where somebody asks for them. */

int countersink_before_exec(void);
void countersink_exec_failed(void);
__attribute__((visibility("hidden")))
void countersink_before_exit(void);

#define EXIT(name)                                              \
    _Noreturn void __real_##name(int status);                   \
    _Noreturn void __wrap_##name(int status);                   \
    _Noreturn void __wrap_##name(int status)                    \
    {                                                           \
        countersink_before_exit();                              \
        __real_##name(status);                                  \
    }

/* If the call returns, counting goes on. */
#define MAY_FAIL(name, parameters, arguments)                   \
    int __real_##name parameters;                               \
    int __wrap_##name parameters;                               \
    int __wrap_##name parameters                                \
    {                                                           \
        countersink_before_exec();                              \
        int result = __real_##name arguments;                   \
        if (result != 0)                                        \
            countersink_exec_failed();                          \
        return result;                                          \
    }

EXIT(_exit)
EXIT(_Exit)

/* The parent leaves by an _exit inside libc. */
MAY_FAIL(daemon, (int nochdir, int noclose), (nochdir, noclose))

/* gcc rewrites some of these, and none with -std=c11. */
MAY_FAIL(execv, (const char *path, char *const argv[]), (path, argv))
MAY_FAIL(execvp, (const char *file, char *const argv[]), (file, argv))
MAY_FAIL(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
MAY_FAIL(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
MAY_FAIL(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
