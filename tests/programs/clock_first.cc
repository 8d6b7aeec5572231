#include "clock.h"

long run_first(Clock &clock, int times)
{
    long sum = 0;
    for (int i = 0; i < times; i++) {
        sum += clock.now();
        sum += clock.next();
    }
    return sum;
}

int main()
{
    auto counting = std::make_unique<Counting>();
    Wrapper wrapper(counting.get());
    long sum = run_first(wrapper, 1000) + run_second(wrapper, 500);
    for (int i = 0; i < 100; i++)
        sum += counting->next();
    return sum == 0;
}
