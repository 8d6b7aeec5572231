/* A malloc that is instrumented itself and counts its callers. A profiler runs at
 * every call inside it, so a profiler that calls malloc is caught. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "countersink.h"

extern void __gcov_dump(void), __gcov_reset(void);

static char arena[1 << 22];
static size_t used;
static long calls;
static int inside, sealed;

static void fail(const char *why)
{
    write(2, why, strlen(why));
    _exit(99);
}

/* Forty callees, more than a site keeps. */
#define TAKER(n) static void *take##n(size_t size) { void *p = arena + used; used += size + (n); return p; }
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
TEN(TAKER, 1) TEN(TAKER, 2) TEN(TAKER, 3) TEN(TAKER, 4)
#define NAME(n) take##n,
static void *(*const takers[40])(size_t) = {TEN(NAME, 1) TEN(NAME, 2) TEN(NAME, 3) TEN(NAME, 4)};

void *malloc(size_t size)
{
    if (inside++)
        fail("malloc was called from inside malloc\n");
    if (sealed)
        fail("malloc was called at the end\n");
    if (used + size + 64 > sizeof arena)
        fail("the arena is full\n");
    size = (size + 15) / 16 * 16;
    void *memory = takers[calls++ % 40](size);
    used = (used + 15) / 16 * 16;
    inside--;
    return memory;
}

void free(void *memory) { (void)memory; }

void *calloc(size_t number, size_t size) { return malloc(number * size); }

void *realloc(void *memory, size_t size)
{
    void *larger = malloc(size);
    return memory == NULL ? larger : memmove(larger, memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    (void)alignment;
    return malloc(size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned_alloc(alignment, size);
    return 0;
}

/* After this only destructors with higher rank run: the runtime's. */
__attribute__((destructor(101))) static void seal(void) { sealed = 1; }

static void child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        return;
    int status;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        fail("the child failed\n");
}

int main(int argc, char **argv)
{
    (void)argv;
    long before = calls, own = 0;
    for (; own < 1000; own++)
        memset(malloc(own % 100), 0, own % 100 / argc);
    if (countersink_flush() != 0)
        fail("countersink_flush failed\n");
    child();
    char *nothing[] = {NULL};
    execvp("/nowhere/nothing", nothing);
    execl("/nowhere/nothing", "nothing", NULL);
    __gcov_dump();
    __gcov_reset();
    countersink_reset();
    if (countersink_set_file("again-%e.csraw") != 0)
        fail("countersink_set_file failed\n");
    if (calls != before + own)
        fail("somebody else called malloc\n");
    return 0;
}
