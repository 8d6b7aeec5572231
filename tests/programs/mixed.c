/* The gcc part of a program of several compilers. Each part works in a loop, and calls back. */
#include <stdio.h>

int oldest_work(int (*callback)(int), int rounds);
int newest_work(int (*callback)(int), int rounds);
int rust_work(int (*callback)(int), int rounds);

int of_gcc(int x) { return x + 1; }

__attribute__((noinline)) int gcc_work(int (*callback)(int), int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += callback(i);
    return sum;
}

int of_oldest(int x);

int main(void)
{
    int sum = gcc_work(of_oldest, 100);
    sum += oldest_work(of_gcc, 200);
    sum += newest_work(of_oldest, 300);
    sum += rust_work(of_oldest, 400);
    printf("%d\n", sum);
    return 0;
}
