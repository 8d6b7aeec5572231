// Calls f and g of another class. gcc sees no other class here, and guesses that they call themselves.
#include "wrapper.h"
namespace {
struct Wrapper : Env {
    Env *inner;
    explicit Wrapper(Env *inner) : inner(inner) {}
    int f(int x) override
    {
        return inner->f(x);
    }
    int g(int x) override
    {
        return inner->g(x) + 1;
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
        sum += env->f(i) + env->g(i);
    return sum == 0;
}
