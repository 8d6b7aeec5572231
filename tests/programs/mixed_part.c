/* A part of a program of several compilers: NAME_work works in a loop, and calls back. */
#define JOIN(a, b) a##b
#define NAMED(a, b) JOIN(a, b)

int NAMED(of_, NAME)(int x) { return 2 * x; }

__attribute__((noinline)) int NAMED(NAME, _work)(int (*callback)(int), int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += callback(i);
    return sum;
}
