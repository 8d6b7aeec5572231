/* Compresses text at several levels and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "zstd.h"

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10, room = ZSTD_compressBound(size), sum = 0;
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    char *packed = malloc(room), *restored = malloc(size);
    static const int levels[] = { 1, 3, 7, 13 };
    for (int i = 0; i < 4; i++) {
        size_t length = ZSTD_compress(packed, room, text, size, levels[i]);
        if (ZSTD_isError(length))
            return 1;
        for (int k = 0; k < 8; k++)
            if (ZSTD_decompress(restored, size, packed, length) != size || memcmp(text, restored, size))
                return 1;
        sum += length;
    }
    printf("%zu\n", sum);
    return 0;
}
