// countersink.h from C++: flush in a constructor, a destructor, and while an exception is handled.
#include <stdexcept>

#include "countersink.h"

__attribute__((noinline)) int work(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

struct Flushing {
    Flushing() { work(1); if (countersink_flush()) throw std::runtime_error("flush"); }
    ~Flushing() { work(2); countersink_flush(); work(4); }
};

static Flushing early;

int main()
{
    Flushing local;
    try {
        work(8);
        throw std::logic_error("x");
    } catch (const std::logic_error &) {
        if (countersink_flush() != 0)
            return 1;
        work(16);
    }
    return countersink_version() == nullptr;
}
