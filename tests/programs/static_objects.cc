// Objects that are initialised before main, or when a thread first uses them: the compiler makes functions for that.
#include <cstdio>
#include <string>
#include <vector>

struct Counter {
    int n;
    explicit Counter(int a) : n(a)
    {
        for (int i = 0; i < a; i++)
            n ^= i;
    }
    ~Counter() { std::printf("%d\n", n); }
};

static Counter one(100);
Counter two(200);
static std::string word("hello");
static std::vector<int> all(10, 3);
inline Counter three(30);
thread_local Counter four(40);

int main()
{
    static Counter five(50);
    return one.n + two.n + three.n + four.n + five.n == 77777;
}
