/* For the page that `report` writes: an indirect call with two targets, a body to unfold, a branch that is never
   taken. </script><img src=x onerror="window.pwned = 1"> */
#include <stdio.h>
#include <stdlib.h>

static int twice(int n) {
    return 2 * n;
}

static int thrice(int n) {
    return 3 * n;
}

static int (*const volatile work[])(int) = {twice, twice, thrice};

static inline int folded(int n) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += n & i; /* </script><script>window.pwned = 2</script> */
    return sum;
}

__attribute__((noinline)) int calls(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += work[i % 3](i);
    if (n < 0)
        return -1; /* never */
    return sum + folded(n);
}

int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += calls(argc > 1 ? atoi(argv[1]) : 3000);
    printf("%d\n", sum);
    return 0;
}
