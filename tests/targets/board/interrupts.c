/* Dumps while interrupts count, in the middle of the dump too, and once more when they have ended. */
#include "board.h"
#include "countersink.h"

COUNTERSINK_NODES(1024);

extern volatile unsigned interrupts;
int work(int rounds);
void handler(void);

void tick(void)
{
    handler();
}

static void say_number(const char *text, unsigned number)
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

static unsigned calls_of_the_sink;

static int slow_line(void *context, const void *bytes, size_t length)
{
    /* So that interrupts come within the dump, wherever it is. */
    unsigned before = interrupts;
    while (interrupts == before)
        ;
    calls_of_the_sink++;
    return to_serial_line(context, bytes, length);
}

static int inside(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return countersink_write(to_serial_line, NULL) == -16 ? 77 : 78;
}

void run(void)
{
    countersink_register(infos, infos_end);
    countersink_retain(retained, retained_end);
    work(1000);
    start_ticks();
    while (interrupts < 3)
        ;
    say_number("before ", interrupts);
    if (countersink_write_text(slow_line, NULL) != 0)
        say("no dump\n");
    say_number("behind ", interrupts);
    stop_ticks();
    say_number("interrupts ", interrupts);
    say_number("lines ", calls_of_the_sink);
    if (countersink_write(inside, NULL) != 77)
        say("a dump in a dump\n");
    if (countersink_write_text(to_serial_line, NULL) != 0)
        say("no dump\n");
}
