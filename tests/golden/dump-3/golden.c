typedef int (*function)(int);
static int once(int n) { return n + 1; }
static int twice(int n) { return 2 * n; }
static int large(int n) { return n << 20; }
function volatile functions[] = {once, twice, large};
int main(int argc, char **argv)
{
    int sum = argc;
    for (int i = 0; i < 300; i++)
        sum = functions[i % 3 == 2 ? 0 : i & 1](sum) & 0xff;
    (void)argv;
    return sum == 1000;
}
