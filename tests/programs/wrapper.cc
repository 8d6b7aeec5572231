// Calls f, g and h of another class, h in another function. gcc sees no other class here, and guesses that each calls
// itself.
#include "wrapper.h"
namespace {
struct Wrapper : Env {
    Env *inner;
    static int through(Env &env, int x)
    {
        return env.h(x);
    }
    explicit Wrapper(Env *inner) : inner(inner) {}
    int f(int x) override
    {
        return inner->f(x);
    }
    int g(int x) override
    {
        return inner->g(x) + 1;
    }
    int h(int x) override
    {
        return through(*inner, x);
    }
};
}
int main()
{
    Wrapper wrapper(real());
    Env *env = &wrapper;
    asm("" : "+r"(env));
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += env->f(i) + env->g(i) + env->h(i);
    return sum == 0;
}
