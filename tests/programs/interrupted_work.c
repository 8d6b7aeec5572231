/* Many indirect calls and values, then an end that nothing can prevent. */
#include <signal.h>
#include <string.h>

#define CALLEE(n) int f##n(int x) { return x + n; }
CALLEE(0) CALLEE(1) CALLEE(2) CALLEE(3) CALLEE(4) CALLEE(5) CALLEE(6) CALLEE(7)

static int (*const table[])(int) = {f0, f1, f2, f3, f4, f5, f6, f7};

__attribute__((noinline)) int call(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += table[i * i % 37 % 8](i) / (i % 5 + 1);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "nothing"))
        return 0;
    int sum = call(1000);
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(SIGKILL);
    return sum == 1;
}
