/* Compresses text and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bzlib.h"
#include "text.h"

int main(int argc, char **argv)
{
    unsigned size = (unsigned)atoi(argv[1]) << 10, length = size + size / 100 + 600, back = size;
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    char *packed = malloc(length), *restored = malloc(size);
    if (BZ2_bzBuffToBuffCompress(packed, &length, text, size, 5, 0, 0) != BZ_OK)
        return 1;
    for (int k = 0; k < 2; k++)
        if (BZ2_bzBuffToBuffDecompress(restored, &back, packed, length, 0, 0) != BZ_OK || memcmp(text, restored, size))
            return 1;
    printf("%u\n", length);
    return 0;
}
void bz_internal_error(int code) { exit(code); }
