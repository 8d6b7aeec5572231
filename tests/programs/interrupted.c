/* A timer interrupts the program wherever it is, inside malloc, inside a profiler, inside a flush,
 * and its handler flushes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "countersink.h"

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
int (*both[])(int) = {one, two};

static volatile sig_atomic_t ticks, failures;

/* Not instrumented: an instrumented function empties the pair that connects a call with its callee,
 * in libgcov, too. */
__attribute__((no_profile_instrument_function)) static void tick(int number)
{
    (void)number;
    ticks++;
    int result = countersink_flush();
    if (result != 0 && result != -EBUSY)
        failures++;
}

__attribute__((noinline)) int allocate(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        char *memory = malloc((size_t)(i % 5000 + 1));
        memset(memory, i, (size_t)(i % 5000));
        sum += memory[0];
        free(memory);
    }
    return sum;
}

__attribute__((noinline)) int call(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += both[i % 4 == 0](i);
    return sum;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000, calls = 0;
    signal(SIGPROF, tick);
    struct itimerval interval = {{0, 500}, {0, 500}};
    setitimer(ITIMER_PROF, &interval, NULL);
    /* Until there was something to interrupt. */
    for (int i = 0; i < 200; i++, calls++) {
        allocate(rounds);
        call(rounds);
        countersink_flush();
    }
    memset(&interval, 0, sizeof interval);
    setitimer(ITIMER_PROF, &interval, NULL);
    fprintf(stdout, "%d\n", calls);
    return failures || ticks == 0;
}
