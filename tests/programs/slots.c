/* Values at two kinds of sites, in processes that begin, write and end in several ways. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void __llvm_profile_reset_counters(void);
int __llvm_profile_write_file(void);

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int three(int x) { return x * 3; }
static int (*volatile table[3])(int) = {one, two, three};
char from[64], to[64];

__attribute__((noinline)) int work(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += table[i % 3](i);
        memcpy(to, from, i % 20);
    }
    return sum;
}

/* Has sites, and is never called. */
__attribute__((noinline)) int idle(int rounds)
{
    memcpy(to, from, rounds);
    return table[rounds % 3](rounds);
}

static void *run(void *unused)
{
    (void)unused;
    work(1000);
    return 0;
}

/* Threads one after the other. */
static void take_turns(void)
{
    pthread_t thread;
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, 0, run, 0);
        pthread_join(thread, 0);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "idle"))
        return idle(2) == 0;
    work(10);
    if (!strcmp(how, "fork") && fork() == 0) {
        work(20);
        return 0;
    }
    if (!strcmp(how, "reset"))
        __llvm_profile_reset_counters();
    if (!strcmp(how, "write"))
        __llvm_profile_write_file();
    if (!strcmp(how, "threads")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], 0, run, 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], 0);
    }
    if (strstr(how, "turns")) {
        take_turns();
        if (!strcmp(how, "turns, reset"))
            __llvm_profile_reset_counters();
        if (!strcmp(how, "turns, written"))
            __llvm_profile_write_file();
        take_turns();
    }
    work(40);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    while (wait(0) > 0)
        ;
    return 0;
}
