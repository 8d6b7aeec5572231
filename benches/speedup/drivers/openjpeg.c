/* Compresses a picture with and without loss, and decodes it. Arguments: pixels of a side, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openjpeg.h"
#include "picture.h"

static unsigned char *file;
static size_t length, at;

static OPJ_SIZE_T get(void *data, OPJ_SIZE_T size, void *user)
{
    (void)user;
    if (at >= length)
        return (OPJ_SIZE_T)-1;
    size = size < length - at ? size : length - at;
    memcpy(data, file + at, size);
    at += size;
    return size;
}

static OPJ_SIZE_T put(void *data, OPJ_SIZE_T size, void *user)
{
    (void)user;
    memcpy(file + at, data, size);
    at += size;
    length = at > length ? at : length;
    return size;
}

static OPJ_OFF_T skip(OPJ_OFF_T size, void *user)
{
    (void)user;
    at += size;
    return size;
}

static OPJ_BOOL seek(OPJ_OFF_T place, void *user)
{
    (void)user;
    at = place;
    return OPJ_TRUE;
}

static opj_stream_t *stream(OPJ_BOOL is_input)
{
    opj_stream_t *stream = opj_stream_default_create(is_input);
    at = 0;
    opj_stream_set_read_function(stream, get);
    opj_stream_set_write_function(stream, put);
    opj_stream_set_skip_function(stream, skip);
    opj_stream_set_seek_function(stream, seek);
    opj_stream_set_user_data_length(stream, is_input ? length : 0);
    return stream;
}

static int encode(const unsigned char *picture, int side, int lossy)
{
    opj_image_cmptparm_t parts[3];
    opj_cparameters_t parameters;
    memset(parts, 0, sizeof parts);
    for (int k = 0; k < 3; k++) {
        parts[k].dx = parts[k].dy = 1;
        parts[k].w = parts[k].h = side;
        parts[k].prec = 8;
    }
    opj_image_t *image = opj_image_create(3, parts, OPJ_CLRSPC_SRGB);
    image->x1 = image->y1 = side;
    for (int i = 0; i < side * side * 3; i++)
        image->comps[i % 3].data[i / 3] = picture[i];
    opj_set_default_encoder_parameters(&parameters);
    parameters.tcp_mct = 1;
    parameters.irreversible = lossy;
    parameters.tcp_numlayers = 1;
    parameters.tcp_rates[0] = lossy ? 12 : 0;
    parameters.cp_disto_alloc = 1;
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_JP2);
    length = 0;
    opj_stream_t *to = stream(OPJ_FALSE);
    int done = opj_setup_encoder(codec, &parameters, image) && opj_start_compress(codec, image, to) &&
               opj_encode(codec, to) && opj_end_compress(codec, to);
    opj_stream_destroy(to);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    return done;
}

static opj_image_t *decode(void)
{
    opj_dparameters_t parameters;
    opj_image_t *image = NULL;
    opj_set_default_decoder_parameters(&parameters);
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_JP2);
    opj_stream_t *from = stream(OPJ_TRUE);
    if (!opj_setup_decoder(codec, &parameters) || !opj_read_header(from, codec, &image) ||
        !opj_decode(codec, from, image) || !opj_end_decompress(codec, from))
        exit(1);
    opj_stream_destroy(from);
    opj_destroy_codec(codec);
    return image;
}

int main(int argc, char **argv)
{
    int side = atoi(argv[1]), size = side * side * 3;
    unsigned char *picture = picture_make(side, argc > 2 ? atoi(argv[2]) : 1);
    unsigned sum = 0;
    file = malloc((size_t)size * 4 + 65536);
    for (int lossy = 0; lossy < 2; lossy++) {
        if (!encode(picture, side, lossy))
            return 1;
        opj_image_t *image = decode();
        for (int i = 0; i < size; i++) {
            int value = image->comps[i % 3].data[i / 3];
            if (!lossy && value != picture[i])
                return 1;
            sum = sum * 31 + value;
        }
        opj_image_destroy(image);
        sum += length;
    }
    printf("%u\n", sum);
    return 0;
}
