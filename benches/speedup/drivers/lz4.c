/* Compresses text fast, at high levels and in frames, and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lz4.h"
#include "lz4frame.h"
#include "lz4hc.h"
#include "text.h"

int main(int argc, char **argv)
{
    int size = atoi(argv[1]) << 10, room = LZ4_compressBound(size);
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    size_t frame_room = LZ4F_compressFrameBound(size, NULL), sum = 0;
    char *packed = malloc(frame_room > (size_t)room ? frame_room : (size_t)room), *restored = malloc(size);
    for (int level = -4; level <= 9; level += 3) {
        int length = level < 0 ? LZ4_compress_fast(text, packed, size, room, -level)
                               : LZ4_compress_HC(text, packed, size, room, level);
        for (int k = 0; k < 4; k++)
            if (LZ4_decompress_safe(packed, restored, length, size) != size || memcmp(text, restored, size))
                return 1;
        sum += length;
    }
    size_t length = LZ4F_compressFrame(packed, frame_room, text, size, NULL), consumed = length, restored_size = size;
    LZ4F_dctx *context;
    if (LZ4F_isError(length) || LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return 1;
    size_t left = LZ4F_decompress(context, restored, &restored_size, packed, &consumed, NULL);
    if (left != 0 || restored_size != (size_t)size || memcmp(text, restored, size))
        return 1;
    LZ4F_freeDecompressionContext(context);
    printf("%zu\n", sum + length);
    return 0;
}
