/* Starts itself again in another directory and without an environment, as servers do. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void work(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        work(1000);
        return 0;
    }
    if (fork() == 0) {
        char *arguments[] = {argv[0], argv[1], "again", NULL}, *environment[] = {NULL};
        if (chdir(argv[1]) != 0)
            abort();
        execve(argv[0], arguments, environment);
        abort();
    }
    int status;
    return wait(&status) < 0 || status != 0;
}
