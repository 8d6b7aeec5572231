#include <stdio.h>
#include <stdlib.h>
static unsigned table[256];
static unsigned mix(unsigned a, unsigned b)
{
    a ^= table[b & 255] + (a << 5);
    if (a & 1)
        a = a * 2654435761u + b;
    else
        a = (a >> 3) ^ (b << 7);
    if ((a & 0xffff) == 77)
        a += table[(a >> 8) & 255];
    return a;
}
__attribute__((noinline)) static unsigned work(int n, unsigned seed)
{
    unsigned total = seed;
#pragma omp parallel for reduction(+:total) schedule(static)
    for (int i = 0; i < n; i++) {
        unsigned s = seed + i;
        for (int k = 0; k < 16; k++)
            s = mix(s, k + i);
        if (s % 1024 == 3)
            s = mix(s, 5) ^ mix(s, 6);
        total += s;
    }
    if (total == 17)
        total += table[3];
#pragma omp parallel for reduction(+:total) schedule(static)
    for (int i = 0; i < n; i++) {
        if (i % 4 == 3)
            total ^= table[i & 255];
        total += i;
    }
    return total;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20;
    unsigned total = 0;
    for (int k = 0; k < n; k++)
        total += work(200, k);
    printf("%u\n", total);
    return 0;
}
