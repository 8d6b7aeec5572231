// The second source that uses the header.
#include "conditions.h"

int second(int n)
{
    return shared(6, n) + Range<int>(n, 9).has(3) + Range<char>(1, n).has(1);
}
