/* Encodes tones with noise as speech and as music at several rates, and decodes them. Arguments: tenths of a
   second, seed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "opus.h"
#include "text.h"

enum { RATE = 48000, FRAME = RATE / 50 };

int main(int argc, char **argv)
{
    int frames = atoi(argv[1]) * 5, error;
    short *sound = malloc(sizeof(short) * frames * FRAME), decoded[FRAME];
    unsigned sum = 0;
    text_state = argc > 2 ? atoi(argv[2]) : 1;
    double phases[3] = { 0, 0, 0 }, steps[3] = { 0, 0, 0 };
    for (int i = 0; i < frames * FRAME; i++) {
        double value = (int)(text_random() % 401) - 200;
        for (int k = 0; k < 3; k++) {
            if (i % (FRAME * 5) == 0)
                steps[k] = (80 + text_random() % 900) * 6.283185307179586 / RATE;
            value += 5000 / (k + 1) * sin(phases[k] += steps[k]);
        }
        sound[i] = value;
    }
    static const int kinds[][2] = {
        { OPUS_APPLICATION_VOIP, 12000 }, { OPUS_APPLICATION_VOIP, 32000 }, { OPUS_APPLICATION_AUDIO, 64000 }
    };
    for (int kind = 0; kind < 3; kind++) {
        OpusEncoder *encoder = opus_encoder_create(RATE, 1, kinds[kind][0], &error);
        OpusDecoder *decoder = opus_decoder_create(RATE, 1, &error);
        opus_encoder_ctl(encoder, OPUS_SET_BITRATE(kinds[kind][1]));
        for (int frame = 0; frame < frames; frame++) {
            unsigned char packet[1500];
            int length = opus_encode(encoder, sound + frame * FRAME, FRAME, packet, sizeof packet);
            if (length <= 0 || opus_decode(decoder, packet, length, decoded, FRAME, 0) != FRAME)
                return 1;
            for (int i = 0; i < FRAME; i++)
                sum = sum * 31 + (unsigned short)decoded[i];
            sum += length;
        }
        opus_encoder_destroy(encoder);
        opus_decoder_destroy(decoder);
    }
    printf("%u\n", sum);
    return 0;
}
