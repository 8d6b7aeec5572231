/* Replaces itself in the middle of main, which the compiler's flow graph does not foresee. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

volatile int sink;

__attribute__((noinline)) static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

int main(int argc, char **argv)
{
    work(100);
    if (argc > 1 && argv[1][0] == 'v') {
        if (vfork() == 0)
            _exit(0);
        return 0;
    }
    if (argc > 1 && argv[1][0] == 'x') {
        system("true");
        execvp("true", (char *[]){"true", NULL});
    }
    if (argc > 1 && argv[1][0] == 'e')
        exit(0);
    if (argc > 2)
        work(10);
    return 0;
}
