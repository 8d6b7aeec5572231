/* All that LLVM's instrumentation counts, without headers. */
void *memcpy(void *, const void *, __SIZE_TYPE__);
int printf(const char *, ...);
int abs(int);

static int one_more(int x) { return x + 1; }
static int two_more(int x) { return x + 2; }
int three_more(int x) { return x + 3; }
int (*table[])(int) = {one_more, two_more, three_more, abs};

__attribute__((noinline)) int call_indirect(int i, int x) { return table[i](x); }
__attribute__((noinline)) int decide(int a, int b, int c) { return (a > 3 && b < 7) || c == 2; }

int main(int argc, char **argv)
{
    static char target[2000], source[2000];
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        sum += call_indirect(i % 4, i);
        memcpy(target, source, (i * argc * 7) % 1000);
        sum += target[i % 10] + decide(i % 10, i % 11, i % 3);
    }
    printf("%d\n", sum);
    return 0;
}
