/* Searches text for patterns, exactly and approximately. Arguments: KB of text, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "tre.h"

static const char *patterns[] = {
    "the", "[aeiou]{3,}", "([a-z]+) \\1", "^[a-z]+,", "sh[a-z]+t", "[0-9][^\n]*[0-9]", "(e|t|a)+ns",
    "[^ ,]{4,6}ing", "([a-m][a-z]{2}){2,3} [n-z]", "[[:alpha:]]+[[:digit:]]", "([a-z])[a-z]\\1",
};

int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 10;
    char *text = text_make(size, argc > 2 ? atoi(argv[2]) : 1);
    unsigned found = 0, sum = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        regex_t regex;
        regmatch_t match[3];
        if (tre_regcomp(&regex, patterns[i], REG_EXTENDED | REG_NEWLINE))
            return 1;
        for (char *at = text; *at && !tre_regexec(&regex, at, 3, match, at == text ? 0 : REG_NOTBOL);) {
            found++;
            sum = sum * 31 + match[0].rm_so;
            at += match[0].rm_eo + (match[0].rm_eo == match[0].rm_so);
        }
        tre_regfree(&regex);
    }
    regex_t regex;
    regaparams_t parameters;
    regamatch_t match = { 0 };
    tre_regaparams_default(&parameters);
    parameters.max_cost = 2;
    if (tre_regcomp(&regex, "nation[a-z]*", REG_EXTENDED))
        return 1;
    for (char *at = text; (size_t)(at - text) + 400 < size; at += 2000) {
        if (!tre_reganexec(&regex, at, 400, &match, parameters, 0)) {
            sum = sum * 31 + match.cost;
            found++;
        }
    }
    tre_regfree(&regex);
    printf("%u %u\n", found, sum);
    return 0;
}
