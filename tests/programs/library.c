/* A shared object with counts of its own, and a call back into the program. */
static int inner(int x) { return x * 2; }

__attribute__((noinline)) int library_work(int (*callback)(int), int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += callback(i) + inner(i);
    return sum;
}
