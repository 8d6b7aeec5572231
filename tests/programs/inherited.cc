// Classes that inherit constructors.
struct Base {
    int x;
    Base(int a) : x(a) {}
    Base(int a, int b) : x(a + b) {}
    virtual ~Base() {}
};

struct Derived : Base {
    using Base::Base;
    int y = 3;
};

template <typename T> struct Holder : Base {
    using Base::Base;
    T held{};
};

int main()
{
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        Derived one(i), two(i, 2);
        Holder<long> holder(i);
        sum += one.x + two.y + holder.x;
    }
    return sum < 0;
}
