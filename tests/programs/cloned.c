/* Makes children past the C library's fork; prints the rounds of work that all processes do. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int sink;

__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

static char stack[65536];
static int parent_set;

static int leave(void *rounds)
{
    work(*(int *)rounds);
    exit(0);
}

static int come_back(void *rounds)
{
    work(*(int *)rounds);
    return 5;
}

static int share(void *rounds)
{
    work(*(int *)rounds);
    return 0;
}

static void in_child(long id, int rounds)
{
    if (id != 0)
        return;
    work(rounds);
    exit(0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "all";
    int all = !strcmp(way, "all"), rounds[] = { 7, 11, 13 }, sum = 100;
    work(100);
#ifdef SYS_fork
    if (all || !strcmp(way, "fork")) {
        in_child(syscall(SYS_fork), 3);
        sum += 3;
    }
#endif
    if (all) {
        in_child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), 5);
        struct clone_args clone3 = { .exit_signal = SIGCHLD };
        in_child(syscall(SYS_clone3, &clone3, sizeof clone3), 17);
        clone(leave, stack + sizeof stack, SIGCHLD | CLONE_PARENT_SETTID, &rounds[0], &parent_set);
        int status, id = clone(come_back, stack + sizeof stack, SIGCHLD, &rounds[1]);
        if (parent_set == 0 || waitpid(id, &status, 0) != id || WEXITSTATUS(status) != 5)
            return 9;
        /* Its counts are its parent's. */
        id = clone(share, stack + sizeof stack, SIGCHLD | CLONE_VM, &rounds[2]);
        if (waitpid(id, NULL, 0) != id)
            return 9;
        /* Calls that make no process, and what is no call. */
        if (syscall(SYS_getpid) != getpid() || syscall(SYS_clone3, NULL, 0) != -1 || syscall(SYS_write, -1, "", 1) != -1)
            return 9;
        sum += 5 + 17 + 7 + 11 + 13;
        /* Another program, past the C library, and an end past it. */
        if (fork() == 0) {
            work(19);
            char *arguments[] = { "true", NULL };
            syscall(SYS_execve, "/nowhere", arguments, NULL);
            work(1);
            syscall(SYS_execve, "/bin/true", arguments, NULL);
        }
        if (fork() == 0) {
            work(23);
            syscall(SYS_exit_group, 0);
        }
        sum += 20 + 23;
    }
    while (wait(NULL) > 0)
        ;
    printf("%d\n", sum);
    return 0;
}
