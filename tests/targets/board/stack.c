/* Measures the stack that dumps take, without the sink's own use. */
#include "board.h"
#include "countersink.h"

COUNTERSINK_NODES(1024);

int work(int rounds);

static int nowhere(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return 0;
}

static int nothing(countersink_sink *sink, void *context)
{
    return sink(context, NULL, 0);
}

enum { DEEP = 4096, OWN = 128, PAINT = 0x5a };

__attribute__((noinline))
static size_t depth(int (*write)(countersink_sink *, void *))
{
    volatile char *frame = __builtin_frame_address(0);
    for (volatile char *byte = frame - DEEP; byte < frame - OWN; byte++)
        *byte = PAINT;
    write(nowhere, NULL);
    volatile char *byte = frame - DEEP;
    while (byte < frame - OWN && *byte == PAINT)
        byte++;
    return (size_t)(frame - byte);
}

static void say_number(const char *text, size_t number)
{
    char digits[12];
    int place = 11;
    digits[place] = 0;
    do
        digits[--place] = (char)('0' + number % 10);
    while (number /= 10);
    say(text);
    say(digits + place);
    say("\n");
}

void run(void)
{
    countersink_register(infos, infos_end);
    countersink_retain(retained, retained_end);
    work(1000);
    /* OWN bytes cannot be seen from here; a call of nothing stays within them. */
    say_number("nothing ", depth(nothing));
    say_number("write ", depth(countersink_write));
    say_number("text ", depth(countersink_write_text));
}
