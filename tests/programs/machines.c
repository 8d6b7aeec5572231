volatile int sink;
static int twice(int x)
{
    return 2 * x;
}
static int same(int x)
{
    return x;
}
int (*table[])(int) = {twice, same};
static inline int keep(int n)
{
    if (n & 1)
        sink = n;
    return n;
}
__attribute__((noinline)) int pick(int n)
{
    switch (n) {
    case 1:
        sink = 11;
        break;
    case 2:
        sink = 7;
        break;
    case 3:
        return sink + 5;
    case 4:
        sink = n * n;
        break;
    case 5:
        sink += 3;
        break;
    case 6:
        return n ^ sink;
    case 7:
        sink = sink / 3;
        break;
    case 8:
        return 1;
    }
    return n;
}
__attribute__((noinline)) int drive(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i % 2](keep(i));
        for (int k = 0; k < i; k++)
            sum += pick(i % 10);
    }
    return sum;
}
int main(void)
{
    return drive(100) == 0;
}
