/* The counted part of the image: a few indirect calls, one of them frequent. */
static int twice(int x)
{
    return x * 2;
}

static int half(int x)
{
    return x / 2;
}

static int (*const steps[])(int) = {twice, half};

int program(int rounds)
{
    int sum = 1;
    for (int i = 0; i < rounds; i++)
        sum = (steps[i % 10 == 0](sum) & 0xffff) + 1;
    return sum;
}
