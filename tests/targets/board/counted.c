/* The counted part: work with an indirect call, and a handler of interrupts with another. */
static int one(int x)
{
    return x + 1;
}

static int two(int x)
{
    return x + 2;
}

static int three(int x)
{
    return x + 3;
}

int (*volatile steps[])(int) = {one, two, three};
volatile unsigned interrupts, sum;

__attribute__((noinline)) int work(int rounds)
{
    int result = 0;
    for (int i = 0; i < rounds; i++)
        result = steps[i % 2](result);
    return result;
}

__attribute__((noinline)) void handler(void)
{
    for (int i = 0; i < 10; i++)
        sum += (unsigned)steps[2](i);
    interrupts++;
}
