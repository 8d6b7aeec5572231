/* Compresses a picture with and without loss, and decodes it. Arguments: pixels of a side, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "webp/decode.h"
#include "webp/encode.h"

int main(int argc, char **argv)
{
    int side = atoi(argv[1]), width, height;
    uint8_t *picture = picture_make(side, argc > 2 ? atoi(argv[2]) : 1), *packed, *restored;
    size_t sum = 0, size = (size_t)side * side * 3, length;
    static const float qualities[] = { 40, 75, 90 };
    for (int i = 0; i < 4; i++) {
        length = i < 3 ? WebPEncodeRGB(picture, side, side, side * 3, qualities[i], &packed)
                       : WebPEncodeLosslessRGB(picture, side, side, side * 3, &packed);
        if (!length)
            return 1;
        for (int k = 0; k < 4; k++) {
            restored = WebPDecodeRGB(packed, length, &width, &height);
            if (!restored || width != side || height != side || (i == 3 && memcmp(picture, restored, size)))
                return 1;
            for (size_t at = 0; at < size; at += 7)
                sum = sum * 31 + restored[at];
            WebPFree(restored);
        }
        WebPFree(packed);
        sum += length;
    }
    printf("%zu\n", sum);
    return 0;
}
