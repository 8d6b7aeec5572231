/* Writes a picture with several filters and levels, and reads it. Arguments: pixels of a side, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "png.h"

static unsigned char *file;
static size_t length, at;

static void put(png_structp png, png_bytep data, size_t size)
{
    (void)png;
    memcpy(file + length, data, size);
    length += size;
}

static void get(png_structp png, png_bytep data, size_t size)
{
    if (size > length - at)
        png_error(png, "short");
    memcpy(data, file + at, size);
    at += size;
}

static void flush(png_structp png)
{
    (void)png;
}

int main(int argc, char **argv)
{
    int side = atoi(argv[1]);
    size_t row = (size_t)side * 3, size = row * side, sum = 0;
    unsigned char *picture = picture_make(side, argc > 2 ? atoi(argv[2]) : 1), *restored = malloc(size);
    file = malloc(size * 2 + 65536);
    static const int filters[] = { PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_PAETH, PNG_ALL_FILTERS };
    for (int i = 0; i < 8; i++) {
        png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
        png_infop info = png_create_info_struct(png);
        int interlace = i < 4 ? PNG_INTERLACE_NONE : PNG_INTERLACE_ADAM7;
        length = at = 0;
        png_set_write_fn(png, NULL, put, flush);
        png_set_IHDR(png, info, side, side, 8, PNG_COLOR_TYPE_RGB, interlace, 0, 0);
        png_set_filter(png, 0, filters[i % 4]);
        png_set_compression_level(png, 1 + i % 4);
        png_write_info(png, info);
        for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
            for (int y = 0; y < side; y++)
                png_write_row(png, picture + y * row);
        png_write_end(png, info);
        png_destroy_write_struct(&png, &info);
        for (int k = 0; k < 3; k++) {
            png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
            info = png_create_info_struct(png);
            at = 0;
            png_set_read_fn(png, NULL, get);
            png_read_info(png, info);
            int passes = png_set_interlace_handling(png);
            png_read_update_info(png, info);
            for (int pass = 0; pass < passes; pass++)
                for (int y = 0; y < side; y++)
                    png_read_row(png, restored + y * row, NULL);
            png_read_end(png, NULL);
            png_destroy_read_struct(&png, &info, NULL);
            if (memcmp(picture, restored, size))
                return 1;
        }
        sum += length;
    }
    printf("%zu\n", sum);
    return 0;
}
