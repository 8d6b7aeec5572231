// Virtual calls, indirect calls (one to a function of another library), copies of many sizes, functions local to
// the file, conditions.
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Shape {
    virtual int area(int x) { return x; }
    virtual ~Shape() {}
};
struct Square : Shape {
    int area(int x) override { return x * x; }
};
struct Circle : Shape {
    int area(int x) override { return 3 * x * x; }
};

static int one_more(int x) { return x + 1; }
static int two_more(int x) { return x + 2; }
int three_more(int x) { return x + 3; }
int (*table[])(int) = {one_more, two_more, three_more, abs};

__attribute__((noinline)) int call_virtual(Shape *shape, int x) { return shape->area(x); }
__attribute__((noinline)) int call_indirect(int i, int x) { return table[i](x); }
__attribute__((noinline)) bool decide(int a, int b, int c) { return (a > 3 && b < 7) || c == 2; }
static int never(int x) { return x ? 1 : 2; }

int main(int argc, char **) {
    char target[2000], source[2000] = {0};
    Shape shape;
    Square square;
    Circle circle;
    Shape *all[] = {&shape, &square, &circle, &square};
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        sum += call_virtual(all[i % 4], i);
        sum += call_indirect(i % 4, i);
        memcpy(target, source, (i * argc * 7) % 1000);
        sum += target[i % 10] + decide(i % 10, i % 11, i % 3);
    }
    if (argc > 100) {
        sum += never(argc);
    }
    printf("%d\n", sum);
}
