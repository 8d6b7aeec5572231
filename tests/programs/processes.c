/* Forks, execs and failing execs, with work before, between and after. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % (n + 1);
    return sum;
}

static char *arguments[] = {"true", "x", NULL};
static char *environment[] = {"A=b", NULL};

static int run(const char *how, const char *program)
{
    if (!strcmp(how, "execl"))
        return execl(program, "true", "a", "b", (char *)NULL);
    if (!strcmp(how, "execlp"))
        return execlp(program, "true", (char *)NULL);
    if (!strcmp(how, "execle"))
        return execle(program, "true", "a", (char *)NULL, environment);
    if (!strcmp(how, "execv"))
        return execv(program, arguments);
    if (!strcmp(how, "execvp"))
        return execvp(program, arguments);
    return execve(program, arguments, environment);
}

int main(int argc, char **argv)
{
    const char *what = argv[1], *how = argc > 2 ? argv[2] : "";
    int sum = work(10), status = 0;
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            work(20);
            return 0;
        }
        waitpid(child, &status, 0);
        sum += work(40);
    } else if (!strcmp(what, "exec")) {
        run(how, "/bin/true");
        return 9;
    } else if (!strcmp(what, "fail")) {
        if (run(how, "/nowhere/true") != -1)
            return 8;
        sum += work(40);
    } else if (!strcmp(what, "fork-exec")) {
        pid_t child = fork();
        if (child == 0) {
            work(20);
            run(how, "/bin/true");
            _exit(9);
        }
        waitpid(child, &status, 0);
        sum += work(40);
    } else if (!strcmp(what, "late")) {
        sum += work(40);
    } else if (!strcmp(what, "vfork")) {
        pid_t child = vfork();
        if (child == 0) {
            run(how, "/bin/true");
            _exit(9);
        }
        waitpid(child, &status, 0);
        sum += work(40);
    }
    return status ? 7 : sum == -1;
}
