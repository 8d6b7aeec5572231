/* Encodes tones with noise as MP3: at a constant rate, at a variable one, and as fast as possible. Arguments: tenths of
   a second, seed. */
#include <stdio.h>
#include <stdlib.h>

#include "lame.h"
#include "sound.h"

enum { RATE = 44100, STEP = RATE / 10 };

static unsigned encode(const short *left, const short *right, int samples, vbr_mode mode, int quality)
{
    static unsigned char packed[STEP * 2 + 7200];
    unsigned sum = 0;
    lame_t encoder = lame_init();
    lame_set_in_samplerate(encoder, RATE);
    lame_set_VBR(encoder, mode);
    lame_set_quality(encoder, quality);
    if (lame_init_params(encoder) < 0)
        exit(1);
    for (int start = 0; start < samples; start += STEP) {
        int length = lame_encode_buffer(encoder, left + start, right + start, STEP, packed, sizeof packed);
        for (int i = 0; i < length; i++)
            sum = sum * 31 + packed[i];
    }
    int length = lame_encode_flush(encoder, packed, sizeof packed);
    lame_close(encoder);
    return sum + length;
}

int main(int argc, char **argv)
{
    int samples = atoi(argv[1]) * STEP;
    short *left = malloc(sizeof(short) * samples), *right = malloc(sizeof(short) * samples);
    text_state = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < samples; i++) {
        double value = sound_next(i, RATE, STEP);
        left[i] = value;
        right[i] = value / 2 + (int)(text_random() % 201) - 100;
    }
    unsigned sum = encode(left, right, samples, vbr_off, 3);
    sum = sum * 31 + encode(left, right, samples, vbr_mtrh, 4);
    sum = sum * 31 + encode(left, right, samples, vbr_off, 7);
    printf("%u\n", sum);
    return 0;
}
