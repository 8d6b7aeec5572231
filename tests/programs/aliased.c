/* A local function with two aliases, as libraries have them for names of older versions. */
#include <stdio.h>

static int twice_impl(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += i & 1 ? 2 : 3;
    return sum;
}

int twice(int x) __attribute__((alias("twice_impl")));
int another_twice(int x) __attribute__((alias("twice_impl")));

__attribute__((noinline)) int both(int x)
{
    return twice(x) + another_twice(x);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += both(i) + twice(i);
    printf("%d\n", sum);
    return 0;
}
