// Decisions in constructors, templates, inline functions of two sources, lambdas, and beside exceptions.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "conditions.h"

namespace {
struct Throws {
    int n;
    bool check(const std::string &text) const
    {
        if (text.empty() || text[0] == 'x')
            throw n;
        return n && !text.compare("one");
    }
};
}

template <class... T> bool all(T... values) { return ((values > 0) && ...); }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, s = 0;
    std::vector<std::string> texts = {"one", "two", "", "x"};
    texts.resize(n + 2);
    for (const auto &text : texts) {
        try {
            s += Throws{n}.check(text) && n > 0;
        } catch (int caught) {
            s += caught == 1 || caught == 3 ? 10 : 20;
        }
    }
    auto lambda = [&](int a) { return a && (n || a > 2); };
    s += lambda(n) + lambda(3) + shared(n, 1) + shared(1, n - 1);
    s += Range<int>(0, n).has(1) + Range<double>(0.5, n).has(n) + Range<long>(n, 7).has(5);
    s += all(1, n) + all(n) + all(1, 2, n - 1);
    std::printf("%d\n", s + second(n));
    return 0;
}
