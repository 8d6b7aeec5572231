// Decisions of many shapes: and, or, not, nested ones, loops, the ternary operator, macros on one line, calls, 40
// conditions, several of one size on a line, values, switches, and what never runs. Arguments choose what is shown.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define BOTH(a, b) ((a) && (b))
#define EITHER(a, b) ((a) || (b))
#define CHOOSE(a, b, c) ((a) ? (b) : (c))
#define LOOP(n) do { for (int i = 0; i < (n) && i != 7; i++) if (i == 3 || i == 5) s++; } while (0)

static int calls;
static int odd(int n) { calls++; return n & 1; }
static int single(int a) { if (a) return 1; return 0; }
static int both(int a, int b) { return a && b; }
static int nested(int a, int b, int c, int d)
{
    if ((a && (b || c)) || (!d && !(a && c)))
        return 1;
    else if (a || !b)
        return 2;
    return 3;
}
static int macros(int a, int b, int c) { if (BOTH(a, b) && EITHER(b, c)) return 1; if (CHOOSE(a, b, c) && a) return 2; return 3; }
static int three_on_a_line(int a, int b, int c) { return (a && b) ? (b || c) : (a || c); }
static int split(int a, int b)
{
    int n = 0;
    while (!(a || !b) &&
           n < 10 &&
           (b ||
            a)) {
        a++;
        n++;
    }
    do
        n++;
    while (n < 4 || (odd(n) && n < 12));
    for (int i = 0, j = n; i < j && j > 0; i++, j--)
        if (i == 2 || j == 3)
            break;
    return n;
}
static bool values(int a, int b, int c)
{
    bool x = a && b, y = a || b;
    bool z = x & y | (c > 3 && odd(c));
    const int *p = a ? &b : NULL;
    return (x != y) && z && (p && *p);
}
static int forty(const int *v)
{
    return v[0] && v[1] && v[2] && v[3] && v[4] && v[5] && v[6] && v[7] && v[8] && v[9] && v[10] && v[11] && v[12]
        && v[13] && v[14] && v[15] && v[16] && v[17] && v[18] && v[19] && v[20] && v[21] && v[22] && v[23] && v[24]
        && v[25] && v[26] && v[27] && v[28] && v[29] && v[30] && v[31] && v[32] && v[33] && v[34] && v[35] && v[36]
        && v[37] && v[38] && v[39];
}
/* More than a counter has bits: gcc warns, and observes nothing. */
static int hundred(const int *v)
{
#define TEN(n) (v[n] || v[n + 1] || v[n + 2] || v[n + 3] || v[n + 4] || v[n + 5] || v[n + 6] || v[n + 7] || v[n + 8] || v[n + 9])
    return TEN(0) || TEN(1) || TEN(2) || TEN(3) || TEN(4) || TEN(5) || TEN(6) || TEN(7) || TEN(8) || TEN(9);
}
static int never(int a, int b) { return a && (b || !a); }
static int jumps(int a, int b)
{
    if (a && b)
        goto out;
    switch (a || b) {
    case 0: return 5;
    default: break;
    }
    if (a || (b && odd(b)))
        return 6;
out:
    return a ? 7 : 8;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, s = 0, v[120] = {0};
    for (int i = 0; i < 40; i++) {
        v[i] = 1;
        s += i % 3 == n ? forty(v) : 0;
    }
    v[n] = 0;
    s += forty(v) + hundred(v);
    for (int i = 0; i < 16; i++) {
        if (n && i % 4 != n)
            continue;
        int a = i & 1, b = i >> 1 & 1, c = i >> 2 & 1, d = i >> 3;
        s += single(a) + nested(a, b, c, d) + macros(a, b, c) + split(a, b) + values(a, b, 5 * c + d) + jumps(b, d);
        s += both(1, b) + three_on_a_line(1, b, n);
    }
    LOOP(n + 4);
    if (n == 100)
        s += never(n, s);
    printf("%d %d\n", s, calls);
    return 0;
}
