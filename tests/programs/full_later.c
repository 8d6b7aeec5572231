/* Fills the disk before it meets new values at many sites. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CALLEE(n) int f##n(int x) { return x + n; }
CALLEE(0) CALLEE(1) CALLEE(2) CALLEE(3) CALLEE(4) CALLEE(5) CALLEE(6) CALLEE(7)

static int (*const table[])(int) = {f0, f1, f2, f3, f4, f5, f6, f7};

#define SITE(n) __attribute__((noinline)) int s##n(int i) { return table[i % 8](i); }
#define NAME(n) s##n,
#define FOUR(with, n) with(n##0) with(n##1) with(n##2) with(n##3)
#define OF16(with, n) FOUR(with, n##0) FOUR(with, n##1) FOUR(with, n##2) FOUR(with, n##3)
#define OF64(with, n) OF16(with, n##0) OF16(with, n##1) OF16(with, n##2) OF16(with, n##3)
#define OF256(with) OF64(with, _0) OF64(with, _1) OF64(with, _2) OF64(with, _3)

OF256(SITE)

static int (*const sites[])(int) = {OF256(NAME)};

__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        for (unsigned site = 0; site < sizeof sites / sizeof *sites; site++)
            sites[site](i);
}

int main(int argc, char **argv)
{
    static char block[4096];
    if (argc < 2)
        return 0;
    int filler = open(argv[1], O_WRONLY | O_CREAT, 0600);
    memset(block, 1, sizeof block);
    while (write(filler, block, sizeof block) > 0) {
    }
    work(80);
    return 0;
}
