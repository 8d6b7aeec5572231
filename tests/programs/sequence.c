/* Does what the letters of the argument say: w work, d dump, r reset. */
#include <stdio.h>

void __gcov_dump(void);
void __gcov_reset(void);

static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int (*pair[])(int) = {twice, thrice};

__attribute__((noinline)) int work(int n, int divisor)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += pair[(i + n) % 2](i) % divisor;
    return sum;
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (const char *step = argc > 1 ? argv[1] : ""; *step; step++) {
        if (*step == 'w')
            sum += work(sum + argc, (int)(step - argv[1]) + 3);
        else if (*step == 'd')
            __gcov_dump();
        else if (*step == 'r')
            __gcov_reset();
    }
    printf("%d\n", sum);
    return 0;
}
