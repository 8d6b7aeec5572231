// Functions, inlined copies and loops that are on one line each. Their blocks have nothing but that line.
#include <stdio.h>
#include <stdlib.h>

#define SAD(name, width, height) \
    __attribute__((noinline)) int name(const unsigned char *a, const unsigned char *b, int stride) \
    { \
        int sum = 0; \
        for (int y = 0; y < height; y++) { \
            for (int x = 0; x < width; x++) \
                sum += abs(a[x] - b[x]); \
            a += stride; \
            b += stride; \
        } \
        return sum; \
    }

SAD(sad16, 16, 16)
SAD(sad8, 8, 8)

__attribute__((noinline)) long whole(const unsigned char *p, long n) { long s = 0; for (long i = 0; i < n; i++) s += p[i] ^ 3; return s; }

__attribute__((noinline)) unsigned loop(const unsigned char *a, unsigned n)
{
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++) s += a[i];
    return s;
}

__attribute__((noinline)) void floats(float *a, const float *b, unsigned n, float k)
{
    for (unsigned i = 0; i < n; i++) a[i] = b[i] * k;
}

__attribute__((noinline)) unsigned until(const char *s)
{
    unsigned h = 0;
    while (*s) h = h * 31 + *s++;
    return h;
}

static inline unsigned copied(const unsigned short *p, unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += p[i] * 5u; return s; }

__attribute__((noinline)) unsigned around(const unsigned short *p)
{
    return copied(p, 700) ^ 1;
}

__attribute__((noinline)) int choice(int a, int b) { if (a > b) return a; return b * 3 + a; }

int main(int argc, char **argv)
{
    static unsigned char p[8192], q[8192];
    static unsigned short w[1024];
    static float f[1024], g[1024];
    int n = atoi(argv[argc - 1]);
    unsigned long t = 0;
    for (int i = 0; i < 8192; i++) {
        p[i] = 1 + i % 255;
        q[i] = i * 13 >> 2;
        w[i / 8] = i;
    }
    p[4095] = 0;
    for (int i = 0; i < n; i++) {
        t += sad16(p + i % 512, q, 64) + sad8(p, q + i % 256, 32);
        t += whole(p, 3000) + loop(p + i % 64, 3000);
        floats(f, g, 1000, 1.5f);
        t += until((char *)p + 3000 + i % 64);
        t += around(w) + choice(i, 10);
    }
    printf("%lu\n", t);
}
