/* Opens a library. A child that nobody announced closes it and opens another in its place; with an argument
 * the child is then killed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int function(int);
typedef int calls(function *const *table, int targets, int rounds);
typedef function *const *table(void);

static void *opened(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    calls *library_calls = (calls *)dlsym(library, "library_calls");
    table *library_table = (table *)dlsym(library, "library_table");
    for (int targets = 3; targets < 100; targets += 30)
        library_calls(library_table(), targets % 80, 2000);
    return library;
}

int main(int argc, char **argv)
{
    int status = 0;
    (void)argv;
    void *first = opened("./first.so");
    pid_t child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        dlclose(first);
        opened("./second.so");
        if (argc > 1)
            raise(SIGKILL);
        exit(0);
    }
    waitpid(child, &status, 0);
    return argc > 1 ? WTERMSIG(status) != SIGKILL : status != 0;
}
