// Classes in an unnamed namespace, with several functions on a line: debug information has no linkage names of them.
#include <cstdio>
#include <vector>

namespace {
struct Base { int x; Base(int a) : x(a) {} virtual ~Base() {} virtual int area() const { return x; } };

struct Table : Base {
    std::vector<int> cells;
    Table(int n) : Base(n), cells(n) { for (int i = 0; i < n; i++) cells[i] = i; } int size() const { return x; }
    int area() const override { int sum = 0; for (int cell : cells) sum += cell; return sum + size(); }
};

// With a virtual base, the variants of the constructor differ.
struct Virtual : virtual Base { Virtual(int a) : Base(a) { x++; } int area() const override { return x * 2; } };
}

__attribute__((noinline)) static Base *make(int i)
{
    if (i % 3 == 0)
        return new Table(i);
    if (i % 3 == 1)
        return new Virtual(i);
    return new Base(i);
}

int main()
{
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        Base *base = make(i);
        sum += base->area();
        delete base;
    }
    std::printf("%ld\n", sum);
}
