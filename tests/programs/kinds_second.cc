// The other file of kinds_first.cc.
#include "kinds.h"

struct Dog : Animal {
    int sound(int x) const override { return x % 7 ? x : -x; }
};

Animal *make_dog() { return new Dog; }

static int local(int x) { return x & 1 ? 3 * x : x / 2; }

int count_second(int (*callback)(int), int rounds)
{
    int (*functions[])(int) = {callback, local, shared};
    long values[] = {9, 1, 4};
    long sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += functions[i % 3](i) + sum_of(values, i % 4);
    return (int)sum;
}
