// Virtual calls, templates, exceptions, static objects, lambdas, shared inline functions.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shapes.h"

static Counter counted("main");

namespace {
struct Square : Shape {
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
    int side;
};
}

int parse(const std::string &text)
{
    if (text.find_first_not_of("0123456789") != std::string::npos)
        throw std::invalid_argument(text);
    return std::stoi(text);
}

int main(int argc, char **argv)
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 100; i++)
        shapes.push_back(i % 3 ? make_disc(i) : std::unique_ptr<Shape>(new Square(i)));
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
    std::function<int(int)> f = [&](int x) { return x + argc; };
    int sum = 0, failed = 0;
    for (const auto &shape : shapes)
        sum += larger(shape->area(), f(shape->area()));
    for (const char *text : {"1", "22", "x", "4y", "5"}) {
        try {
            sum += parse(text);
        } catch (const std::exception &) {
            failed++;
        }
    }
    std::printf("%d %d %d\n", sum, failed, Counter::number);
    return argv[0] == nullptr;
}
