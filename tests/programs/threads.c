/* Threads that count at the same sites. The argument says how many targets their calls have. With another
 * argument the program kills itself in the end. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define CALLEE(n) int f##n(int x) { return x + n; }
#define TEN(t) CALLEE(t##0) CALLEE(t##1) CALLEE(t##2) CALLEE(t##3) CALLEE(t##4) CALLEE(t##5) \
    CALLEE(t##6) CALLEE(t##7) CALLEE(t##8) CALLEE(t##9)
#define NAMES(t) f##t##0, f##t##1, f##t##2, f##t##3, f##t##4, f##t##5, f##t##6, f##t##7, f##t##8, f##t##9
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)

static int (*const table[])(int) = {
    NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), NAMES(8), NAMES(9), NAMES(10),
};
static int targets;

__attribute__((noinline)) int call(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += table[i * 7 % targets](i) / (i % 11 + 1);
    return sum;
}

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        call(1000);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[4];
    targets = argc > 1 ? atoi(argv[1]) : 10;
    if (targets == 0)
        return 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    if (argc > 2)
        raise(SIGKILL);
    return 0;
}
