/* A picture like a drawing with some noise: slopes, discs and stripes, three bytes a pixel. */
#include <stdint.h>
#include <stdlib.h>

static uint32_t picture_state;

static uint32_t picture_random(void)
{
    picture_state = picture_state * 1664525u + 1013904223u;
    return picture_state >> 8;
}

/* SIDE by SIDE pixels for this SEED. */
static unsigned char *picture_make(int side, uint32_t seed)
{
    unsigned char *picture = (unsigned char *)malloc((size_t)side * side * 3), *pixel = picture;
    int discs[24][6];
    picture_state = seed * 2654435761u + 1;
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < 6; k++)
            discs[i][k] = picture_random() % (k < 2 ? side : k < 3 ? side / 5 + 1 : 256);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++, pixel += 3) {
            int colour[3] = { x * 255 / side, y * 255 / side, (x + y) * 127 / side };
            for (int i = 0; i < 24; i++) {
                int dx = x - discs[i][0], dy = y - discs[i][1];
                if (dx * dx + dy * dy < discs[i][2] * discs[i][2])
                    for (int k = 0; k < 3; k++)
                        colour[k] = i % 4 || (x + y) / 6 % 2 ? discs[i][3 + k] : colour[k];
            }
            int noise = y > side / 2 ? (int)(picture_random() % 9) - 4 : 0;
            for (int k = 0; k < 3; k++) {
                int value = colour[k] + noise;
                pixel[k] = value < 0 ? 0 : value > 255 ? 255 : value;
            }
        }
    return picture;
}
