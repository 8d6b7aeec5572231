/* Compresses and restores fields of numbers of one to three dimensions, exactly and with a tolerance. Arguments: side of
   the fields, seed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "zfp.h"

static unsigned through(zfp_field *field, void *data, size_t bytes, double tolerance)
{
    unsigned sum = 0;
    zfp_stream *stream = zfp_stream_open(NULL);
    if (tolerance > 0)
        zfp_stream_set_accuracy(stream, tolerance);
    else
        zfp_stream_set_reversible(stream);
    size_t room = zfp_stream_maximum_size(stream, field);
    unsigned char *packed = malloc(room), *before = malloc(bytes);
    memcpy(before, data, bytes);
    bitstream *bits = stream_open(packed, room);
    zfp_stream_set_bit_stream(stream, bits);
    zfp_stream_rewind(stream);
    size_t length = zfp_compress(stream, field);
    zfp_stream_rewind(stream);
    if (!length || !zfp_decompress(stream, field))
        exit(1);
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + packed[i];
    memcpy(data, before, bytes);
    zfp_field_free(field);
    stream_close(bits);
    zfp_stream_close(stream);
    free(packed);
    free(before);
    return sum;
}

int main(int argc, char **argv)
{
    size_t side = atoi(argv[1]), number = side * side * side;
    double *doubles = malloc(number * sizeof *doubles);
    float *floats = malloc(number * sizeof *floats);
    int *integers = malloc(number * sizeof *integers);
    text_state = argc > 2 ? atoi(argv[2]) : 1;
    double bend = 1 + text_random() % 7;
    for (size_t i = 0; i < number; i++) {
        double x = (double)(i % side) / side, y = (double)(i / side % side) / side, z = (double)(i / side / side) / side;
        doubles[i] = 1000 * sin(bend * x + y) * cos(3 * z) + (text_random() % 100) * 0.01;
        floats[i] = doubles[i];
        integers[i] = doubles[i] * 100;
    }
    unsigned sum = 0;
    for (int exact = 0; exact < 2; exact++) {
        double tolerance = exact ? 0 : 1e-2;
        sum = sum * 31 + through(zfp_field_3d(doubles, zfp_type_double, side, side, side), doubles, number * sizeof *doubles, tolerance);
        sum = sum * 31 + through(zfp_field_2d(floats, zfp_type_float, side, side * side), floats, number * sizeof *floats, tolerance);
        sum = sum * 31 + through(zfp_field_1d(doubles, zfp_type_double, number), doubles, number * sizeof *doubles, tolerance);
        sum = sum * 31 + through(zfp_field_3d(integers, zfp_type_int32, side, side, side), integers, number * sizeof *integers, tolerance);
    }
    printf("%u\n", sum);
    return 0;
}
