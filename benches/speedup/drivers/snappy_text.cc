/* Compresses text and restores it, in blocks. Arguments: KB of text, seed. */
#include <cstdio>
#include <cstdlib>
#include <string>

#include "snappy.h"
#include "text.h"

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10, sum = 0;
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    std::string packed, restored;
    for (size_t block : {1000, 30000, 200000})
        for (size_t at = 0; at < size; at += block) {
            size_t length = size - at < block ? size - at : block;
            snappy::Compress(text + at, length, &packed);
            sum += packed.size();
            if (!snappy::Uncompress(packed.data(), packed.size(), &restored) || restored != std::string(text + at, length))
                return 1;
        }
    printf("%zu\n", sum);
    return 0;
}
