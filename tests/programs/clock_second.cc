#include "clock.h"

long run_second(Clock &clock, int times)
{
    long sum = 0;
    while (times-- > 0)
        sum += clock.now() - clock.next();
    std::shared_ptr<Clock> shared = std::make_shared<Counting>();
    for (int i = 0; i < 50; i++)
        sum += shared->next() + run_first(*shared, 3);
    return sum;
}
