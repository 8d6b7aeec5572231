/* Sound like three voices with some noise: each voice takes another tone from time to time. */
#include <math.h>

#include "text.h"

/* The next sample. `place` counts them, `rate` of them are a second, and a tone lasts `tone` of them. */
static double sound_next(int place, int rate, int tone)
{
    static double phases[3], steps[3];
    double value = (int)(text_random() % 401) - 200;
    for (int k = 0; k < 3; k++) {
        if (place % tone == 0)
            steps[k] = (80 + text_random() % 900) * 6.283185307179586 / rate;
        value += 5000 / (k + 1) * sin(phases[k] += steps[k]);
    }
    return value;
}
