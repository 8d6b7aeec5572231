/* Runs a script. Arguments: the script, a size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "rb");
    char *text = calloc(1, 1 << 20);
    if (argc < 3 || !file)
        return 1;
    size_t prefix = sprintf(text, "const SIZE = %d;", atoi(argv[2]));
    size_t length = prefix + fread(text + prefix, 1, (1 << 20) - prefix - 1, file);
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContext(runtime);
    JSValue value = JS_Eval(context, text, length, argv[1], JS_EVAL_TYPE_GLOBAL);
    if (JS_IsException(value))
        value = JS_GetException(context);
    const char *shown = JS_ToCString(context, value);
    puts(shown ? shown : "?");
    JS_FreeCString(context, shown);
    JS_FreeValue(context, value);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    return 0;
}
