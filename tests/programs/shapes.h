#include <memory>

struct Shape {
    virtual ~Shape() {}
    virtual int area() const = 0;
};

struct Counter {
    static int number;
    const char *name;
    explicit Counter(const char *name) : name(name) { number++; }
    ~Counter() { number--; }
};

template <class T> inline T larger(T a, T b) { return a < b ? b : a; }

std::unique_ptr<Shape> make_disc(int radius);
