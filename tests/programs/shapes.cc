#include "shapes.h"

int Counter::number;
static Counter counted("shapes");

namespace {
struct Disc : Shape {
    explicit Disc(int radius) : radius(radius) {}
    int area() const override { return larger(3 * radius * radius, radius); }
    int radius;
};
}

std::unique_ptr<Shape> make_disc(int radius) { return std::unique_ptr<Shape>(new Disc(radius)); }
