/* Work in every place where a program may still run. */
#include <stdlib.h>

static volatile int sum;

__attribute__((noinline)) void work(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}

static void at_exit(void) { work(5); }

__attribute__((constructor)) static void before(void) { work(1); }
__attribute__((constructor(101))) static void first(void) { work(2); }
__attribute__((destructor)) static void after(void) { work(3); }
__attribute__((destructor(101))) static void last(void) { work(4); }

int main(int argc, char **argv)
{
    atexit(at_exit);
    work(argc * 10);
    if (argc > 1 && argv[1][0] == 'e')
        exit(argc > 2);
    return 0;
}
