/* Interprets the program that wasm3_program.c was compiled to. Arguments: its file, its size, seed. */
#include <stdio.h>
#include <stdlib.h>

#include "wasm3.h"

static const void *print(IM3Runtime runtime, uint64_t *arguments, void *memory)
{
    (void)runtime, (void)memory;
    printf("%u\n", (unsigned)*arguments);
    return NULL;
}

int main(int argc, char **argv)
{
    static unsigned char program[1 << 16];
    FILE *file = fopen(argv[1], "rb");
    if (!file)
        return 1;
    size_t length = fread(program, 1, sizeof program, file);
    fclose(file);
    IM3Environment environment = m3_NewEnvironment();
    IM3Runtime runtime = m3_NewRuntime(environment, 1 << 16, NULL);
    IM3Module module;
    IM3Function run;
    M3Result result = m3_ParseModule(environment, &module, program, length);
    if (!result)
        result = m3_LoadModule(runtime, module);
    if (!result)
        result = m3_LinkRawFunction(module, "env", "print", "v(i)", print);
    if (!result)
        result = m3_FindFunction(&run, runtime, "run");
    const char *arguments[] = { argv[2], argc > 3 ? argv[3] : "1" };
    if (!result)
        result = m3_CallWithArgs(run, 2, arguments);
    if (result) {
        fprintf(stderr, "%s\n", result);
        return 1;
    }
    m3_FreeRuntime(runtime);
    m3_FreeEnvironment(environment);
    return 0;
}
