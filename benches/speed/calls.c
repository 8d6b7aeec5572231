/* Prints the processor time of a call through a pointer: calls N-TARGETS CALLS THREADS. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef long (*function)(long);

#define CALLEE(n) __attribute__((noinline)) long f##n(long x) { return x + n; }
#define EIGHT(n) CALLEE(n##0) CALLEE(n##1) CALLEE(n##2) CALLEE(n##3) \
                 CALLEE(n##4) CALLEE(n##5) CALLEE(n##6) CALLEE(n##7)
#define NAMES(n) f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7

EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7) EIGHT(8)
EIGHT(9) EIGHT(10) EIGHT(11) EIGHT(12) EIGHT(13) EIGHT(14) EIGHT(15) EIGHT(16)

static function volatile targets[] = {
    NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), NAMES(8),
    NAMES(9), NAMES(10), NAMES(11), NAMES(12), NAMES(13), NAMES(14), NAMES(15), NAMES(16),
};

static long width, calls;

/* One site for all threads: clang would inline it into main. */
__attribute__((noinline)) static void *call(void *unused)
{
    long sum = 0, next = 0;
    for (long i = 0; i < calls; i++) {
        sum = targets[next](sum);
        next = next + 1 == width ? 0 : next + 1;
    }
    (void)unused;
    return (void *)sum;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    width = atol(argv[1]);
    calls = atol(argv[2]);
    long threads = atol(argv[3]);
    struct timespec start, end;
    pthread_t thread[8];
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (long i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, call, NULL);
    call(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    printf("%f\n", 1e9 * seconds / (double)(calls * threads));
    return 0;
}
