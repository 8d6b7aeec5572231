// A class that only passes calls on. It is in a header, so its functions are compiled into every object.
// Where gcc thinks it knows the class, it calls them directly or inlines them beside the real call.
#include <memory>

struct Clock {
    virtual ~Clock() = default;
    virtual long now() { return ticks++; }
    virtual int next() { return advance() + 1; }
    virtual int advance() = 0;
    long ticks = 0;
};

struct Wrapper : Clock {
    explicit Wrapper(Clock *inner) : inner(inner) {}
    long now() override { return inner->now(); }
    int advance() override { return inner->advance(); }
    Clock *inner;
};

struct Counting final : Clock {
    int advance() override { return ++count; }
    int count = 0;
};

long run_first(Clock &clock, int times);
long run_second(Clock &clock, int times);
