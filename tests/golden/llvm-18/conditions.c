#include <stdlib.h>

#define EITHER(a, b) ((a) || (b))

static int one_byte(int a, int b) { return a && b; }
static int eight_bytes(const int *v) { return v[0] || (v[1] && v[2]) || v[3] || (v[4] && v[5]); }
static int without(int a) { return a ? 1 : 2; }
static int never(int a, int b) { return a || b; }
static int several(int a, int b, int c)
{
    int n = EITHER(a, b);
    for (int i = 0; i < c && i != 2; i++)
        n += a && (b || !c);
    return n;
}

int main(int argc, char **argv)
{
    int run = argc > 1 ? atoi(argv[1]) : 0, s = without(run);
    s += one_byte(1, run > 1) + several(run, 0, 1) + several(0, run > 1, 3);
    int v[6] = {0, 1, run > 1, 0, 1, run == 1};
    s += eight_bytes(v);
    v[1] = 0;
    s += eight_bytes(v);
    return s < 0 ? never(1, s) : 0;
}
