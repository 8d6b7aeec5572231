/* Compresses a picture with both kinds of entropy coding, and decodes it. Arguments: pixels of a side, seed. */
#include <stdio.h>
#include <stdlib.h>

#include "jpeglib.h"
#include "picture.h"

static unsigned long compress(unsigned char *picture, int side, int round, unsigned char **file)
{
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, file, &size);
    codec.image_width = codec.image_height = side;
    codec.input_components = 3;
    codec.in_color_space = JCS_RGB;
    jpeg_c_set_int_param(&codec, JINT_COMPRESS_PROFILE, JCP_FASTEST);
    jpeg_set_defaults(&codec);
    jpeg_set_quality(&codec, 60 + 10 * (round % 4), TRUE);
    codec.arith_code = round % 2;
    if (round % 4 > 1)
        jpeg_simple_progression(&codec);
    jpeg_start_compress(&codec, TRUE);
    while (codec.next_scanline < codec.image_height) {
        JSAMPROW row = picture + (size_t)codec.next_scanline * side * 3;
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    return size;
}

static unsigned long decompress(unsigned char *file, unsigned long size, int side)
{
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    unsigned long sum = 0;
    unsigned char *line = malloc((size_t)side * 3);
    codec.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, file, size);
    jpeg_read_header(&codec, TRUE);
    jpeg_start_decompress(&codec);
    while (codec.output_scanline < codec.output_height) {
        jpeg_read_scanlines(&codec, &line, 1);
        sum = sum * 31 + line[codec.output_scanline % (side * 3)];
    }
    jpeg_finish_decompress(&codec);
    jpeg_destroy_decompress(&codec);
    free(line);
    return sum;
}

int main(int argc, char **argv)
{
    int side = atoi(argv[1]);
    unsigned char *picture = picture_make(side, argc > 2 ? atoi(argv[2]) : 1);
    unsigned long sum = 0;
    for (int round = 0; round < 8; round++) {
        unsigned char *file = NULL;
        unsigned long size = compress(picture, side, round, &file);
        sum += size;
        for (int k = 0; k < 3; k++)
            sum += decompress(file, size, side);
        free(file);
    }
    printf("%lu\n", sum);
    return 0;
}
