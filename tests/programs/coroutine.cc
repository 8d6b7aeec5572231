#include <coroutine>
#include <cstdio>
#include <cstdlib>
struct Gen {
    struct promise_type {
        unsigned value;
        Gen get_return_object() { return Gen{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(unsigned v) { value = v; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> h;
};
static unsigned table[256];
__attribute__((noinline)) Gen gen(unsigned n, unsigned seed)
{
    unsigned a = seed;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 16; k++) {
            unsigned b = k + i;
            a ^= table[b & 255] + (a << 5);
            if (a & 1)
                a = a * 2654435761u + b;
            else
                a = (a >> 3) ^ (b << 7);
            if ((a & 0xffff) == 77)
                a += table[(a >> 8) & 255];
        }
        if (a % 8 == 3)
            co_yield a;
    }
}
int main(int c, char **v)
{
    unsigned t = 0;
    int n = c > 1 ? atoi(v[1]) : 20;
    for (int k = 0; k < n; k++) {
        Gen g = gen(200, k);
        for (;;) {
            g.h.resume();
            if (g.h.done())
                break;
            t += g.h.promise().value;
        }
        g.h.destroy();
    }
    printf("%u\n", t);
}
