/* Searches text for patterns of many kinds. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oniguruma.h"
#include "text.h"

static const char *patterns[] = {
    "the", "[aeiou]{3,}", "\\b(\\w+) \\1\\b", "^[a-z]+,", "(?i)SH[A-Z]+T", "\\d[^\\n]*\\d", "(e|t|a)+n(?=s)",
    "(?<=,)[^ ,]{4,6}", "[^\\s,]*?(in|on|an)\\b", "(?:[a-m]\\w{2}){2,3} [n-z]", "\\p{Alpha}+\\p{Digit}", "(\\w)\\w\\1",
};

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10;
    UChar *text = (UChar *)text_make(size, argc > 2 ? atoi(argv[2]) : 1), *end = text + size;
    OnigEncoding encoding = ONIG_ENCODING_UTF8;
    unsigned found = 0, sum = 0;
    onig_initialize(&encoding, 1);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const UChar *pattern = (const UChar *)patterns[i];
        OnigErrorInfo error;
        regex_t *regex;
        if (onig_new(&regex, pattern, pattern + strlen(patterns[i]), ONIG_OPTION_DEFAULT, encoding,
                     ONIG_SYNTAX_ONIGURUMA, &error) != ONIG_NORMAL)
            return 1;
        OnigRegion *region = onig_region_new();
        for (UChar *at = text; at < end;) {
            int place = onig_search(regex, text, end, at, end, region, ONIG_OPTION_NONE);
            if (place < 0)
                break;
            found++;
            sum = sum * 31 + place;
            at = text + region->end[0] + (region->end[0] == place);
        }
        onig_region_free(region, 1);
        onig_free(regex);
    }
    onig_end();
    printf("%u %u\n", found, sum);
    return 0;
}
