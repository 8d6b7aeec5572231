/* Gives its counts to a callback, and measures the stack that this takes. Not instrumented itself; the
 * program is program_main. Compile with -DSTOCK for libgcov. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

int program_main(int argc, char **argv);

#ifdef STOCK
int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
#else
#include "countersink.h"

static char *file(void *stream, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, stream) == length ? NULL : "short write";
}

static int to_file(void *stream, const void *bytes, size_t length)
{
    return file(stream, bytes, length) == NULL ? 0 : 1;
}

static int nowhere(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return 0;
}

static int refuses(void *calls, const void *bytes, size_t length)
{
    (void)bytes, (void)length;
    return ++*(int *)calls == 3 ? 42 : 0;
}

static int inside(void *depth, const void *bytes, size_t length)
{
    (void)bytes, (void)length;
    return --*(int *)depth == 0 ? countersink_write(nowhere, NULL) == -16 ? 0 : 1 : 0;
}

static char stack[1 << 16];
static int (*measured)(countersink_sink *, void *);

static void on_the_stack(void)
{
    /* Everything below this frame. */
    memset(stack, 0x5a, (size_t)((char *)__builtin_frame_address(0) - stack) - 256);
    measured(nowhere, NULL);
}

static void empty(void)
{
    memset(stack, 0x5a, (size_t)((char *)__builtin_frame_address(0) - stack) - 256);
}

static size_t used_by(void (*function)(void))
{
    static ucontext_t here, there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, function, 0);
    swapcontext(&here, &there);
    size_t unused = 0;
    while (stack[unused] == 0x5a)
        unused++;
    return sizeof stack - unused;
}

static void measure(const char *name, int (*function)(countersink_sink *, void *))
{
    measured = function;
    printf("%s %zu\n", name, used_by(on_the_stack) - used_by(empty) + 256);
}

static int save(const char *name, int (*write)(countersink_sink *, void *), size_t size)
{
    FILE *stream = fopen(name, "w");
    int result = write(to_file, stream);
    if ((size_t)ftell(stream) != size)
        return 2;
    return fclose(stream) || result;
}

int main(int argc, char **argv)
{
#ifdef SECTION
    extern const void *const __start_infos[], *const __stop_infos[];
    countersink_register(__start_infos, __stop_infos);
    countersink_register(__start_infos, __stop_infos);
#endif
    int status = program_main(argc, argv), calls = 0, depth = 2;
    if (countersink_write(refuses, &calls) != 42 || calls != 3)
        return 3;
    if (countersink_write(inside, &depth) != 0)
        return 4;
    if (save("bare.csraw", countersink_write, countersink_size()))
        return 5;
    if (save("bare.log", countersink_write_text, countersink_text_size()))
        return 6;
    measure("write", countersink_write);
    measure("text", countersink_write_text);
    countersink_reset();
    return status || save("reset.csraw", countersink_write, countersink_size());
}
#endif
