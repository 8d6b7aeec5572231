/* An image without operating system or C library that gives its counts to the
 * serial line, among other output. Not instrumented itself. */
#include "countersink.h"

int program(int rounds);

extern void (*const constructors[])(void), (*const constructors_end[])(void);
extern const void *const infos[], *const infos_end[];

static void out(unsigned short port, unsigned char byte)
{
    __asm__ volatile("outb %0, %1" : : "a"(byte), "Nd"(port));
}

static unsigned char in(unsigned short port)
{
    unsigned char byte;
    __asm__ volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
    return byte;
}

/* The first serial line, as every PC has it. */
static int to_serial_line(void *context, const void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++) {
        while (!(in(0x3fd) & 0x20))
            ;
        out(0x3f8, ((const unsigned char *)bytes)[i]);
    }
    return 0;
}

static void say(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    to_serial_line(NULL, text, length);
}

void run(void)
{
    for (size_t i = 0; &constructors[i] != constructors_end; i++)
        constructors[i]();
    countersink_register(infos, infos_end);
    say("[    0.000000] starting\r\n");
    int result = program(1000);
    say(result ? "[    0.000001] the program returned something\r\n" : "[    0.000001] done\r\n");
    if (countersink_write_text(to_serial_line, NULL) != 0)
        say("[    0.000002] no dump\r\n");
    say("[    0.000003] halting\r\n");
    /* Where QEMU's isa-debug-exit is. */
    out(0xf4, 0);
}
