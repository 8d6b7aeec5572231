// Conditions in macros, several on a line, constant ones, and text that the preprocessor leaves out.
#include <stdio.h>
#define IS(x) ((x) > 3)
#define BOTH(x, y) (IS(x) && IS(y))
#define PICK(x) ((x) > 2 ? 1 : 0)
#define LOOP(n) for (int q = 0; q < (n); q++) \
   if (q == 2) s++; \
   else s--;
int f(int a, int b) {
    int s = 0;
    while (a ? b : s > 3) { b--; s++; a = !a; }
    if (IS(a) && b > 2 && PICK(b)) s++;
    if (BOTH(a, b) || a == 3) { s++; } else if (b > 100 && BOTH(b, a)) { s--; }
    LOOP(3) LOOP(2)
    if (1) s++;
    if (0) s--;
    while (1) { if (s++ > 5) break; }
    if (s > 3 && 1) s++;
    if (sizeof(int) == 4 || s == 3) s += 2;
    return s > 3 ? PICK(s) : BOTH(s, a) ? 1 : 2;
}
#ifdef NOTHING
int skipped(void) {
    return 3;
}
#endif
int g(int x) { switch (x) { case 1: case 2: return 1; default: return PICK(x); } }
int main(void) {
    int s = 0;
    for (int i = 0; i < 9; i++) s += f(i, 3 * i) + g(i); for (int i = 0; i < 3; i++)
#if 0
        s++;
#endif
        s--;
    printf("%d\n", s); return 0;
}
