// Environments, one of which wraps another.
struct Env {
    virtual int f(int) = 0;
    virtual int g(int) = 0;
    virtual int h(int) = 0;
    virtual ~Env();
};
Env *real();
