// Loops within a line and in one another, jumps back, setjmp, functions that end the program.
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
static jmp_buf env;
static int f(int k) {
    int n = 0;
    for (int i = 0; i < k; i++) { if (i % 3 == 0 && i % 2) n++; else if (i == 7 || k == 3) n += 2; }
    while (n > 100) n -= 3;
    do n++; while (n % 5);
    for (int i = 0; i < k; i++) for (int j = 0; j < i; j++) n += j;
    switch (k) { case 1: n++; case 2: n++; break; default: n--; }
    return n;
}
static int g(int k)
{
    if (k > 3)
        return k > 5 ? 1 : 2;
    return 3;
}
static int unused(int k) { return k; }
int never(int k)
{
    if (k)
        return unused(k);
    return 3;
}
static void thrower(void) { longjmp(env, 1); }
int main(int argc, char **argv) {
    int s = f(10) + f(argc);
    if (!setjmp(env))
        thrower();
    else
        s++;
    for (int i = 0; i < 8; i++)
        s += g(i);
    for (;;) {
        if (s++ > 1000)
            break;
        if (s == 17) continue;
        s += 2; }
    int a[] = { s, argc,
        s + 2 };
    s += a[1] ? a[0] :
        a[2];
    goto end;
again: s++; if (s > 3000) { exit(0); }
end:
    if (s < 2000) { s += 100; goto again; }
    exit(s > 100000);
}
