/* Searches text for patterns of many kinds, and replaces in it. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcre2.h"
#include "text.h"

static const char *patterns[] = {
    "the", "[aeiou]{3,}", "\\b(\\w+) \\1\\b", "^[a-z]+,", "(?i)SH[A-Z]+T", "\\d[^\\n]*\\d", "(e|t|a)+n(?=s)",
    "(?<=,)[^ ,]{4,6}", "[^\\s,]*?(in|on|an)\\b", "(?:[a-m]\\w{2}){2,3} [n-z]", "\\p{L}+\\p{Nd}", "(\\w)\\w\\1",
};

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10, room = 2 * size;
    PCRE2_SPTR text = (PCRE2_SPTR)text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    PCRE2_UCHAR *replaced = malloc(room);
    unsigned found = 0, sum = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        int error;
        PCRE2_SIZE place, *groups;
        pcre2_code *code = pcre2_compile((PCRE2_SPTR)patterns[i], PCRE2_ZERO_TERMINATED,
                                         i % 2 ? PCRE2_MULTILINE : PCRE2_UTF | PCRE2_MULTILINE, &error, &place, NULL);
        if (!code)
            return 1;
        pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
        groups = pcre2_get_ovector_pointer(match);
        for (size_t at = 0; at < size && pcre2_match(code, text, size, at, PCRE2_NO_UTF_CHECK, match, NULL) > 0;
             at = groups[1] + (groups[0] == groups[1])) {
            found++;
            sum = sum * 31 + (unsigned)groups[0];
        }
        PCRE2_SIZE length = room;
        if (pcre2_substitute(code, text, size / 4, 0, PCRE2_SUBSTITUTE_GLOBAL, match, NULL, (PCRE2_SPTR)"<$0>",
                             PCRE2_ZERO_TERMINATED, replaced, &length) < 0)
            return 1;
        sum = sum * 31 + (unsigned)length;
        pcre2_match_data_free(match);
        pcre2_code_free(code);
    }
    printf("%u %u\n", found, sum);
    return 0;
}
