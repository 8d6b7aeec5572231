// The class that wrapper.cc calls.
#include "wrapper.h"
Env::~Env() {}
struct Real : Env {
    int f(int x) override
    {
        return x ^ 1;
    }
    int g(int x) override
    {
        return x;
    }
    int h(int x) override
    {
        return -x;
    }
};
Env *real()
{
    static Real real;
    return &real;
}
