// All that LLVM's instrumentation counts, in two files: virtual and indirect calls, one to a function of another
// library; copies of many sizes; functions local to a file, with one name in both; templates and inline functions
// that both files have; conditions.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kinds.h"

struct Cat : Animal {
    int sound(int x) const override { return 3 * x; }
};

static int local(int x) { return x > 50 ? x - 1 : x + 1; }
static int second_local(int x) { return x ^ 21; }
static int never(int x) { return x ? 1 : 2; }
int (*table[])(int) = {local, second_local, shared, abs};

__attribute__((noinline)) static int call(int (*function)(int), int x) { return function(x); }
__attribute__((noinline)) static int ask(const Animal *animal, int x) { return animal->sound(x); }
__attribute__((noinline)) static bool decide(int a, int b, int c) { return (a > 3 && b < 7) || c == 2; }

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    static char target[2000], source[2000];
    int values[] = {1, 5, 2, 8};
    Animal plain;
    Cat cat;
    const Animal *animals[] = {&plain, &cat, make_dog(), &cat};
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += ask(animals[i % 4], i);
        sum += call(table[i % 4], i);
        memcpy(target, source, (i * 7) % 1000);
        memset(target, i, i % 40);
        sum += target[i % 10] + decide(i % 10, i % 11, i % 3) + sum_of(values, i % 5);
    }
    if (rounds > 1000000)
        sum += never(sum);
    sum += count_second(local, rounds);
    printf("%d\n", sum);
    delete animals[2];
}
