/* Text that looks like a language: words of a vocabulary, frequent ones more often, in lines. */
#include <stdint.h>
#include <stdlib.h>

static uint32_t text_state;

static uint32_t text_random(void)
{
    text_state = text_state * 1664525u + 1013904223u;
    return text_state >> 8;
}

/* SIZE bytes for this SEED, and a NUL. */
static char *text_make(size_t size, uint32_t seed)
{
    static char words[2000][12];
    char *text = (char *)malloc(size + 16);
    size_t length = 0, column = 0;
    text_state = seed * 2654435761u + 1;
    for (int i = 0; i < 2000; i++) {
        int letters = 2 + text_random() % 8;
        for (int k = 0; k < letters; k++)
            words[i][k] = "etaoinshrdlucmfwypvbgkqjxz"[text_random() % 26 * (text_random() % 26) / 26];
        words[i][letters] = 0;
    }
    while (length < size) {
        uint32_t r = text_random() % 2000;
        const char *word = words[(uint64_t)r * r / 2000 * r / 2000];
        while (*word && length < size) {
            text[length++] = *word++;
            column++;
        }
        if (length < size && text_random() % 40 == 0) {
            text[length++] = '0' + text_random() % 10;
            column++;
        }
        if (length < size)
            text[length++] = column > 60 ? '\n' : text_random() % 12 ? ' ' : ',';
        if (column > 60)
            column = 0;
    }
    text[length] = 0;
    return text;
}
