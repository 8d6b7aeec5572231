/* Compresses text at several levels and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lzma.h"
#include "text.h"

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10, room = lzma_stream_buffer_bound(size), sum = 0;
    uint8_t *text = (uint8_t *)text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    uint8_t *packed = malloc(room), *restored = malloc(size);
    static const uint32_t levels[] = { 0, 3, 6 };
    for (int i = 0; i < 3; i++) {
        size_t length = 0;
        if (lzma_easy_buffer_encode(levels[i], LZMA_CHECK_CRC64, NULL, text, size, packed, &length, room) != LZMA_OK)
            return 1;
        for (int k = 0; k < 3; k++) {
            uint64_t memory = UINT64_MAX;
            size_t from = 0, to = 0;
            if (lzma_stream_buffer_decode(&memory, 0, NULL, packed, &from, length, restored, &to, size) != LZMA_OK ||
                to != size || memcmp(text, restored, size))
                return 1;
        }
        sum += length;
    }
    printf("%zu\n", sum);
    return 0;
}
