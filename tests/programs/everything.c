/* Every kind of statement that gcc counts, many times and with many values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*function)(int);

#define CALLEE(n) static int f##n(int x) { return x + n; }
CALLEE(0) CALLEE(1) CALLEE(2) CALLEE(3) CALLEE(4) CALLEE(5) CALLEE(6) CALLEE(7)
CALLEE(8) CALLEE(9) CALLEE(10) CALLEE(11) CALLEE(12) CALLEE(13) CALLEE(14) CALLEE(15)
CALLEE(16) CALLEE(17) CALLEE(18) CALLEE(19) CALLEE(20) CALLEE(21) CALLEE(22) CALLEE(23)
CALLEE(24) CALLEE(25) CALLEE(26) CALLEE(27) CALLEE(28) CALLEE(29) CALLEE(30) CALLEE(31)
CALLEE(32) CALLEE(33) CALLEE(34) CALLEE(35) CALLEE(36) CALLEE(37) CALLEE(38) CALLEE(39)

int never(int x) { return x * 3; }

function table[] = {
    f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
    f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39,
    abs,
};

static char buffer[4096];

__attribute__((noinline)) unsigned values(unsigned n, unsigned divisor)
{
    unsigned sum = n / divisor + n % divisor;
    sum += (int)n / (int)(divisor + 1);
    memset(buffer, (int)n, n % 300);
    memcpy(buffer + 512, buffer, n % 70);
    memmove(buffer + 700, buffer + 690, n % 33);
    return sum + (unsigned)buffer[n % 100];
}

__attribute__((noinline)) int calls(int n, int width)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[(i * i + i / 3) % width](i);
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500;
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum += values((unsigned)i * 2654435761u >> 16, (unsigned)(i * i % 47 + 1));
    sum += (unsigned)calls(n, 3) + (unsigned)calls(n, 41) + (unsigned)calls(n, 33);
    if (argc > 5)
        sum += (unsigned)never(argc);
    printf("%u\n", sum);
    return 0;
}
