/* Prints the processor time of a copy of a size that is not known to the compiler: llvm_copies N-SIZES COPIES
 * THREADS. No two sizes are of one class. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32, 33, 64, 65, 128};
char from[128], to[128];

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    unsigned long width = strtoul(argv[1], NULL, 10), next = 0;
    long copies = atol(argv[2]);
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (long i = 0; i < copies; i++) {
        memcpy(to, from, sizes[next]);
        __asm__ volatile("" : : : "memory");
        next = next + 1 == width ? 0 : next + 1;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    printf("%f\n", 1e9 * seconds / (double)copies);
    return 0;
}
