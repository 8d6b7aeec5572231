/* The same addresses in every run and for every runtime. Compile with -fno-builtin.
 *
 * gcc counts, among other things, the bits of the addresses that memcpy writes
 * to. Two runs of one program, linked with two runtimes, must count the same. So
 * the heap is an arena at a fixed place, and the program runs on a stack inside
 * it. The linker must place its own data: -no-pie -Wl,-Tdata,-Tbss.
 *
 * Not instrumented itself. It also watches the runtime: nobody may call malloc
 * after the program's own destructors, when only the runtime's are left. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define ARENA ((char *)0x200000000000)
#define ARENA_SIZE (4ul << 30)
#define STACK_SIZE (64ul << 20)

static char *next;
static int sealed;
struct block { size_t size; struct block *next; };
static struct block *unused[64];

static void fail(const char *why)
{
    write(2, why, strlen(why));
    _exit(99);
}

static size_t class_of(size_t size)
{
    size_t class = 0;
    while ((size_t)16 << class < size)
        class++;
    return class;
}

static void make_arena(void)
{
    if (next != NULL)
        return;
    next = mmap(ARENA, ARENA_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (next != ARENA)
        fail("no arena\n");
    next += STACK_SIZE;
}

void *malloc(size_t size)
{
    if (sealed && getenv("MALLOC_IS_SEALED"))
        fail("malloc was called by the runtime\n");
    make_arena();
    size_t class = class_of(size);
    struct block *block = unused[class];
    if (block != NULL) {
        unused[class] = block->next;
    } else {
        block = (struct block *)next;
        next += sizeof *block + ((size_t)16 << class);
        if (next > ARENA + ARENA_SIZE)
            fail("the arena is full\n");
    }
    block->size = size;
    return block + 1;
}

void free(void *memory)
{
    if (memory == NULL)
        return;
    struct block *block = (struct block *)memory - 1;
    size_t class = class_of(block->size);
    block->next = unused[class];
    unused[class] = block;
}

void *calloc(size_t number, size_t size)
{
    void *memory = malloc(number * size);
    return memset(memory, 0, number * size);
}

void *realloc(void *old, size_t size)
{
    void *memory = malloc(size);
    if (old != NULL) {
        size_t old_size = ((struct block *)old - 1)->size;
        memcpy(memory, old, old_size < size ? old_size : size);
        free(old);
    }
    return memory;
}

__attribute__((destructor(101))) static void seal(void)
{
    sealed = 1;
}

int program_main(int argc, char **argv);

static int status, arguments;
static char **vector;

static void on_the_stack(void)
{
    status = program_main(arguments, vector);
}

int main(int argc, char **argv)
{
    static ucontext_t here, there;
    make_arena();
    /* A runtime may have taken and freed memory before: the program begins behind it. */
    memset(unused, 0, sizeof unused);
    next = ARENA + STACK_SIZE + (1 << 20);
    arguments = argc;
    vector = argv;
    getcontext(&there);
    there.uc_stack.ss_sp = ARENA;
    there.uc_stack.ss_size = STACK_SIZE;
    there.uc_link = &here;
    makecontext(&there, on_the_stack, 0);
    swapcontext(&here, &there);
    return status;
}
