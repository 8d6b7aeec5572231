/* Runs a script. Arguments: the script, its size. */
#include <stdio.h>
#include <stdlib.h>

#include "duktape.h"

int main(int argc, char **argv)
{
    static char script[1 << 16];
    FILE *file = fopen(argv[1], "r");
    if (!file)
        return 1;
    script[fread(script, 1, sizeof script - 1, file)] = 0;
    fclose(file);
    duk_context *context = duk_create_heap_default();
    duk_push_int(context, atoi(argv[2]));
    duk_put_global_string(context, "size");
    int failed = duk_peval_string(context, script);
    printf("%s\n", duk_safe_to_string(context, -1));
    duk_destroy_heap(context);
    return failed;
}
