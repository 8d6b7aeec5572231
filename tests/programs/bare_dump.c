/* Writes the counts of a program that knows nothing of it when the program ends. Not instrumented itself. */
#include <stdio.h>
#include <stdlib.h>

#include "countersink.h"

static int to_file(void *stream, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, stream) == length ? 0 : 1;
}

__attribute__((destructor)) static void dump(void)
{
    FILE *stream = fopen("bare.csraw", "w");
    if (countersink_write(to_file, stream) != 0 || fclose(stream) != 0)
        abort();
}
