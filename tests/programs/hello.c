/* A program small enough for every way of linking. */
#include <stdio.h>

static int a(int x) { return x + 1; }
static int b(int x) { return x + 2; }
int (*table[])(int) = {a, b};

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += table[i % 2](i);
    printf("%d\n", sum);
    return 0;
}
