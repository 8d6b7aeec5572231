/* Runs a script. Arguments: the script, its size. */
#include <stdio.h>
#include <stdlib.h>

#include "janet.h"

int main(int argc, char **argv)
{
    static char script[1 << 16];
    FILE *file = fopen(argv[1], "r");
    if (!file)
        return 1;
    script[fread(script, 1, sizeof script - 1, file)] = 0;
    fclose(file);
    janet_init();
    JanetTable *environment = janet_core_env(NULL);
    Janet result;
    janet_def(environment, "size", janet_wrap_integer(atoi(argv[2])), NULL);
    if (janet_dostring(environment, script, argv[1], &result))
        return 1;
    printf("%s\n", (const char *)janet_to_string(result));
    janet_deinit();
    return 0;
}
