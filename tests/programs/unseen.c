/* Processes made in ways that gcc does not see: compile with -std=c11. Prints the number of rounds of
 * work. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
volatile int sink;
static int expected;

__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

__attribute__((no_profile_instrument_function)) static void wait_for(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

__attribute__((no_profile_instrument_function)) static void report(int rounds)
{
    expected += rounds;
    printf("%d\n", expected);
    fflush(stdout);
}

static void *in_the_runtime(void *stop)
{
    while (!*(volatile int *)stop)
        ;
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    char *const true_[] = {"true", NULL};
    work(10);
    if (!strcmp(how, "fork")) {
        pid_t (*volatile pointer)(void) = fork;
        for (int i = 0; i < 2; i++) {
            pid_t child = i ? pointer() : fork();
            if (child == 0) {
                work(100);
                exit(0);
            }
            wait_for(child);
        }
        report(10 + 200 + 1000);
    } else if (!strcmp(how, "double fork")) {
        pid_t child = fork();
        if (child == 0) {
            work(100);
            if (fork() == 0)
                work(100);
            wait(NULL);
            exit(0);
        }
        wait_for(child);
        report(10 + 200 + 1000);
    } else if (!strcmp(how, "children of others")) {
        pid_t child;
        if (system("true") != 0 || pclose(popen("true", "r")) != 0)
            return 2;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, true_, environ) != 0)
            return 3;
        wait_for(child);
        if ((child = vfork()) == 0) {
            execv("/bin/true", true_);
            _exit(9);
        }
        wait_for(child);
        if ((child = vfork()) == 0)
            _exit(0);
        wait_for(child);
        report(10 + 1000);
    } else if (!strcmp(how, "threads")) {
        static volatile int stop;
        pthread_t thread[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&thread[i], NULL, in_the_runtime, (void *)&stop);
        for (int i = 0; i < 50; i++) {
            pid_t child = fork();
            if (child == 0) {
                work(10);
                exit(0);
            }
            wait_for(child);
        }
        stop = 1;
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        report(10 + 500 + 1000);
    } else if (!strcmp(how, "daemon")) {
        int ends[2];
        if (pipe(ends) != 0)
            return 4;
        report(10 + 1000);
        if (daemon(1, 1) != 0)
            return 5;
        /* The parent has gone, without a destructor. */
    } else if (!strcmp(how, "exec")) {
        execv("/nowhere/true", true_);
        execl("/nowhere/true", "true", "an argument", (char *)NULL);
        work(5);
        report(10 + 5);
        if (argc > 2 && !strcmp(argv[1], "fexecve"))
            fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), true_, environ);
        else if (argc > 2 && !strcmp(argv[1], "execvpe"))
            execvpe("true", true_, environ);
        else if (argc > 2 && !strcmp(argv[1], "execve"))
            execve("/bin/true", true_, environ);
        else if (argc > 2 && !strcmp(argv[1], "execl"))
            execl("/usr/bin/test", "test", "-n", "x", (char *)NULL);
        else if (argc > 2 && !strcmp(argv[1], "execlp"))
            execlp("test", "test", "-n", "x", (char *)NULL);
        else if (argc > 2 && !strcmp(argv[1], "execle"))
            execle("/usr/bin/test", "test", "-n", "x", (char *)NULL, environ);
        else
            execv("/bin/true", true_);
        return 6;
    } else {
        return 7;
    }
    work(1000);
    return 0;
}
