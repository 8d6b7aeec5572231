#include <stdio.h>
#include <stdlib.h>
static unsigned table[256];
__attribute__((noinline)) static unsigned apply(unsigned (*f)(unsigned), unsigned n)
{
    unsigned t = 0;
    for (unsigned i = 0; i < n; i++)
        t += f(i);
    return t;
}
__attribute__((noinline)) static unsigned one(unsigned n, unsigned seed)
{
    unsigned step(unsigned i)
    {
        unsigned a = seed;
        for (unsigned k = 0; k < 16; k++) {
            unsigned b = k + i;
            a ^= table[b & 255] + (a << 5);
            if (a & 1)
                a = a * 2654435761u + b;
            else
                a = (a >> 3) ^ (b << 7);
            if ((a & 0xffff) == 77)
                a += table[(a >> 8) & 255];
        }
        return a;
    }
    unsigned total = apply(step, n);
    if (total == 17)
        total += table[3];
    return total;
}
__attribute__((noinline)) static unsigned two(unsigned n, unsigned seed)
{
    unsigned step(unsigned i)
    {
        unsigned a = seed + i;
        if ((a & 0xffff) == 77)
            for (int k = 0; k < 100; k++)
                a += table[((a + k) >> 8) & 255];
        return a;
    }
    return apply(step, n);
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20;
    unsigned t = 0;
    for (int k = 0; k < n; k++)
        t += one(200, k) + two(5, k);
    printf("%u\n", t);
    return 0;
}
