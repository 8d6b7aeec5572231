/* An indirect call, in a block of one line, that mostly goes one way. */
#include <stdio.h>

__attribute__((noinline)) static int often(int x)
{
    return x * 7 + 3;
}

__attribute__((noinline)) static int rarely(int x)
{
    return x - 5;
}

int (*table[])(int) = {often, rarely};

__attribute__((noinline)) int drive(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i % 20 == 0](i);
    return sum;
}

int main(void)
{
    printf("%d\n", drive(100000));
    return 0;
}
