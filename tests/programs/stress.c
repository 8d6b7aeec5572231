/* One short process of many: works in the way that its argument says, as many times as the next one says. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int sink;

/* Work that must be in the file in the end. */
__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

/* Work of processes that are killed from outside, nobody knows when. */
__attribute__((noinline)) void doomed(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

static void *work_in_a_thread(void *rounds)
{
    work(*(int *)rounds);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[1] : "";
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(how, "return")) {
        work(rounds);
    } else if (!strcmp(how, "fork")) {
        for (int i = 0; i < 3; i++) {
            if (fork() == 0) {
                work(rounds);
                exit(0);
            }
        }
        while (wait(NULL) > 0)
            ;
        work(rounds);
    } else if (!strcmp(how, "exec")) {
        work(rounds);
        execl("/proc/self/exe", argv[0], "return", argv[2], (char *)NULL);
        return 9;
    } else if (!strcmp(how, "threads")) {
        pthread_t thread[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&thread[i], NULL, work_in_a_thread, &rounds);
        work(rounds);
        for (int i = 0; i < 3; i++)
            pthread_join(thread[i], NULL);
    } else if (!strcmp(how, "suicide")) {
        work(rounds);
        raise(SIGKILL);
    } else if (!strcmp(how, "wait")) {
        /* It spends half of its time at its end. */
        for (int i = 0; i < rounds; i++)
            doomed(100);
    }
    return 0;
}
