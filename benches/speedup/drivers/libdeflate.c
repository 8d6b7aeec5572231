/* Compresses text at several levels and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdeflate.h"
#include "text.h"

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10, sum = 0;
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1), *restored = malloc(size);
    static const int levels[] = { 1, 5, 7, 10 };
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    for (int i = 0; i < 4; i++) {
        struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(levels[i]);
        size_t room = libdeflate_zlib_compress_bound(compressor, size);
        char *packed = malloc(room);
        size_t length = libdeflate_zlib_compress(compressor, text, size, packed, room);
        for (int k = 0; k < 3; k++)
            if (libdeflate_zlib_decompress(decompressor, packed, length, restored, size, NULL) || memcmp(text, restored, size))
                return 1;
        sum += length;
        free(packed);
        libdeflate_free_compressor(compressor);
    }
    libdeflate_free_decompressor(decompressor);
    printf("%zu\n", sum);
    return 0;
}
