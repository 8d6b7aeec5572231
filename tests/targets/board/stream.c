/* Runs everything.c and sends each object's .gcda file as a line of hexadecimal digits, by the call that libgcov and
 * the archive have in common. */
#include <stdint.h>

#include "board.h"

int program_main(int argc, char **argv);
void __gcov_info_to_gcda(const void *info, void (*name)(const char *, void *),
                         void (*dump)(const void *, unsigned, void *),
                         void *(*allocate)(unsigned, void *), void *context);

static void name(const char *path, void *context)
{
    (void)path, (void)context;
}

static void dump(const void *bytes, unsigned length, void *context)
{
    (void)context;
    for (unsigned i = 0; i < length; i++) {
        unsigned char byte = ((const unsigned char *)bytes)[i];
        to_serial_line(NULL, &"0123456789abcdef"[byte >> 4], 1);
        to_serial_line(NULL, &"0123456789abcdef"[byte & 15], 1);
    }
}

static void *allocate(unsigned length, void *context)
{
    (void)length, (void)context;
    return NULL;
}

#ifdef OURS
#include "countersink.h"
#endif

void run(void)
{
    for (char *byte = retained; byte < retained_end; byte++)
        *(volatile char *)byte = 0;
#ifdef OURS
    countersink_register(infos, infos_end);
#endif
    program_main(1, NULL);
    for (const void *const *info = infos; info < infos_end; info++) {
        say("gcda:");
        __gcov_info_to_gcda(*info, name, dump, allocate, NULL);
        say("\n");
    }
#ifdef OURS
    countersink_write_text(to_serial_line, NULL);
#endif
}
