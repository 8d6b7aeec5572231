/* Encodes tones with noise as speech and as music at several rates, and decodes them. Arguments: tenths of a
   second, seed. */
#include <stdio.h>
#include <stdlib.h>

#include "opus.h"
#include "sound.h"

enum { RATE = 48000, FRAME = RATE / 50 };

int main(int argc, char **argv)
{
    int frames = atoi(argv[1]) * 5, error;
    short *sound = malloc(sizeof(short) * frames * FRAME), decoded[FRAME];
    unsigned sum = 0;
    text_state = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < frames * FRAME; i++)
        sound[i] = sound_next(i, RATE, FRAME * 5);
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
