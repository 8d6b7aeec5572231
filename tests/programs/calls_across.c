/* Calls by pointer between a program and its library, which is this file, too: with few targets, with many,
 * and with more than a site can hold. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int function(int);
int library_calls(function *const *table, int targets, int rounds);
function *const *library_table(void);

#define CALLEE(n) static int f##n(int x) { return x + n; }
#define FOUR(of, n) of(n##0) of(n##1) of(n##2) of(n##3)
#define SIXTEEN(of, n) FOUR(of, n##0) FOUR(of, n##1) FOUR(of, n##2) FOUR(of, n##3)
#define ALL(of) SIXTEEN(of, 10) SIXTEEN(of, 11) SIXTEEN(of, 12) SIXTEEN(of, 13) SIXTEEN(of, 20)
#define POINTER(n) f##n,
ALL(CALLEE)
static function *const table[] = {ALL(POINTER)};

__attribute__((always_inline)) static inline int calls(function *const *table, int targets, int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += table[i * i % 1009 % targets](i);
    return sum;
}

#ifdef LIBRARY
#ifdef PADDED
/* More counters, so that everything behind them lies elsewhere. */
#define CHOICE(n) x += x % (n % 90 + 2) > 1 ? 1 : 2;
#define MORE(of) SIXTEEN(of, 3) SIXTEEN(of, 4) SIXTEEN(of, 5) SIXTEEN(of, 6) SIXTEEN(of, 7)
int more(int x) { MORE(CHOICE) return x; }
#endif

__attribute__((noinline)) int library_calls(function *const *table, int targets, int rounds)
{
    if (targets < 4)
        return calls(table, targets, rounds);
    if (targets < 60)
        return calls(table, targets, rounds);
    return calls(table, targets, rounds);
}

function *const *library_table(void) { return table; }
#else
__attribute__((noinline)) int program_calls(function *const *table, int rounds)
{
    return calls(table, 3, rounds) + calls(table, 30, rounds) + calls(table, 80, rounds);
}

static int all_calls(void)
{
    int sum = program_calls(library_table(), 5000);
    sum += library_calls(table, 3, 5000);
    sum += library_calls(table, 30, 5000);
    return sum + library_calls(table, 80, 5000);
}

int main(int argc, char **argv)
{
    int sum = all_calls(), status = 0;
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(SIGKILL);
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        pid_t child = fork();
        if (child == 0)
            return all_calls() == 1;
        waitpid(child, &status, 0);
        sum += all_calls();
    }
    return status != 0 || sum == 1;
}
#endif
