/* Functions with several ways through them. The runs take some of these, as their argument says. */
#include <stdlib.h>

static int both(int a, int b) {
    int sum = 0;
    if (a > 1)
        sum++;
    if (b)
        sum += 2;
    return sum;
}

static int rounds(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i & 1)
            sum++;
        else
            sum += 2;
    }
    return sum;
}

static int straight(int a) { return a + 1; }

static int never(int a) {
    while (a > 3)
        a--;
    return a;
}

/* More than 64 paths. */
static int many(int bits) {
    int sum = 0;
    for (int bit = 1; bit < 128; bit *= 2)
        if (bits & bit)
            sum++;
    if (bits & 1) sum++;
    if (bits & 2) sum++;
    if (bits & 4) sum++;
    if (bits & 8) sum++;
    if (bits & 16) sum++;
    if (bits & 32) sum++;
    if (bits & 64) sum++;
    return sum;
}

int main(int argc, char **argv) {
    int run = argc > 1 ? atoi(argv[1]) : 1;
    int sum = both(run, run & 1) + rounds(2 * run) + straight(2) + many(5 * run) + many(81);
    return run > 9 ? never(sum) : 0;
}
