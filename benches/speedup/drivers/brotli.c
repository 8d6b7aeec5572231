/* Compresses text at several levels and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brotli/decode.h"
#include "brotli/encode.h"
#include "text.h"

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10, room = BrotliEncoderMaxCompressedSize(size), sum = 0;
    uint8_t *text = (uint8_t *)text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    uint8_t *packed = malloc(room), *restored = malloc(size);
    static const int levels[] = { 1, 3, 5, 7, 9 };
    for (int i = 0; i < 5; i++) {
        size_t length = room, back = size;
        if (!BrotliEncoderCompress(levels[i], BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, size, text, &length, packed))
            return 1;
        for (int k = 0; k < 3; k++, back = size)
            if (BrotliDecoderDecompress(length, packed, &back, restored) != BROTLI_DECODER_RESULT_SUCCESS ||
                back != size || memcmp(text, restored, size))
                return 1;
        sum += length;
    }
    printf("%zu\n", sum);
    return 0;
}
