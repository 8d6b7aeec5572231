/* Compresses and decompresses text. Arguments: kilobytes, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "minilzo.h"
#include "text.h"

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) * 1000;
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    unsigned char *packed = malloc(size + size / 16 + 67), *restored = malloc(size);
    void *work = malloc(LZO1X_1_MEM_COMPRESS);
    lzo_uint length = 0, sum = 0;
    if (lzo_init() != LZO_E_OK)
        return 1;
    for (int round = 0; round < 10; round++) {
        lzo1x_1_compress((unsigned char *)text, size, packed, &length, work);
        sum += length;
        for (int k = 0; k < 3; k++) {
            lzo_uint back = size;
            if (lzo1x_decompress_safe(packed, length, restored, &back, NULL) != LZO_E_OK)
                return 1;
            if (memcmp(text, restored, size))
                return 1;
        }
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
