/* A program with functions that a library calls back. The library is linked or opened. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef OPENED
int library_work(int (*callback)(int), int n);
#endif
void __gcov_dump(void);

static int called_back(int x) { return x + 1; }

int main(int argc, char **argv)
{
#ifdef OPENED
    void *library = dlopen("./library.so", RTLD_NOW);
    if (library == NULL)
        return 5;
    int (*library_work)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "library_work");
#endif
    int sum = library_work(called_back, 10), status = 0;
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        pid_t child = fork();
        if (child == 0)
            return library_work(called_back, 100) == 1;
        waitpid(child, &status, 0);
#ifdef FLUSHES
    } else if (argc > 1 && !strcmp(argv[1], "flush")) {
        int countersink_flush(void);
        if (countersink_flush() != 0)
            return 6;
        _exit(0);
#endif
    } else if (argc > 1 && !strcmp(argv[1], "dump")) {
        __gcov_dump();
        library_work(called_back, 1000);
    }
#ifdef OPENED
    if (argc > 1 && !strcmp(argv[1], "close"))
        dlclose(library);
#endif
    printf("%d\n", sum);
    return status;
}
