// Lines that compilers count in different ways: templates, macros in macros, a lambda, text that is left out, an
// exception, conditions of one line.
#include "coverage_lines.h"
#define CHECK(x) do { if (x) n++; else n--; } while (0)
#define TWICE(x) CHECK(x); CHECK(!(x))
template <class T> T add(T a, T b) {
    if (a > b)
        return a + b;
    return b - a;
}
static int unused(int a) {
    return a ? 1 : 2;
}
int never(int);
int never(int a) { return a; }
#if 0
int skipped(void);
#endif
static int work(int k) {
    int n = 0;
    for (int i = 0; i < k; i++) {
        if (i % 3 == 0 && i % 2)
            n++;
        else if (i == 7 || k == 3)
            n += 2;
        TWICE(i & 1);
        switch (i) {
        case 1: n++;
        case 2: n++; break;
        default: n--;
        }
    }
    auto f = [&](int a) {
        return a + n;
    };
    return f(k) + header(k);
}
int main(int argc, char **) {
    int s = work(10) + work(argc);
    s += add(1, 2) + (int)add(3.0, 2.0);
    while (s > 100) { s -= 3; if (s == 4) break; }
    try { if (argc == 1) throw 1; s++; } catch (int) { s--; }
    s += second(argc) + of_both(s);
    return s > 1000;
}
