/* Compresses text at several levels and restores it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "zlib.h"

int main(int argc, char **argv)
{
    uLong size = (uLong)atoi(argv[1]) << 10;
    unsigned char *text = (unsigned char *)text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    uLong room = compressBound(size), sum = 0;
    unsigned char *packed = malloc(room), *restored = malloc(size);
    static const int levels[] = { 1, 3, 6, 9 };
    for (int i = 0; i < 4; i++) {
        uLong length = room, back = size;
        if (compress2(packed, &length, text, size, levels[i]) != Z_OK)
            return 1;
        for (int k = 0; k < 3; k++)
            if (uncompress(restored, &back, packed, length) != Z_OK || memcmp(text, restored, size))
                return 1;
        sum += length + crc32(0, packed, length) % 1000;
    }
    printf("%lu\n", sum);
    return 0;
}
