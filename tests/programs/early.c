/* Indirect calls and copies before the runtime of the image begins. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

static int sum;
static char from[64], to[64];

static int resolving(int x) { return x + 1; }
static int before_all(int x) { return x + 2; }
static int very_early(int x) { return x + 3; }
static int early(int x) { return x + 4; }

__attribute__((noinline)) int call(int (*function)(int), int rounds)
{
    int result = 0;
    for (int i = 0; i < rounds; i++) {
        memcpy(to, from, rounds);
        result += function(i);
    }
    return result;
}

static int chosen_one(int x) { return x + 5; }

static int (*choose(void))(int)
{
    call(resolving, 2);
    return chosen_one;
}

int chosen(int x) __attribute__((ifunc("choose")));

static void preinit(void) { sum += call(before_all, 3); }
#ifndef STATIC
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = preinit;
#endif
__attribute__((constructor(50))) static void constructor_50(void) { sum += call(very_early, 4); }
__attribute__((constructor(101))) static void constructor_101(void) { sum += call(early, 5); }

int main(void)
{
    printf("%d\n", sum + chosen(7) + call(chosen, 7));
    return 0;
}
