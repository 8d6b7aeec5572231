/* Starts six times, and says each time what became of the counters. */
#include <stdint.h>

#include "board.h"
#include "countersink.h"

int work(int rounds);

COUNTERSINK_NODES(1024);
extern unsigned long long countersink_region[];

__attribute__((section(".noinit"))) static volatile unsigned start;
__attribute__((section(".noinit"))) static volatile unsigned known;

static int stops(void *lines, const void *bytes, size_t length)
{
    to_serial_line(NULL, bytes, length);
    if (--*(int *)lines == 0)
        start_again();
    return 0;
}

void run(void)
{
    if (known != 0x5eed) {
        /* The first start: memory holds anything. */
        known = 0x5eed;
        start = 0;
        for (char *byte = retained; byte < retained_end; byte++)
            *(volatile char *)byte = (char)0xa5;
    }
    countersink_register(infos, infos_end);
    int taken_over = countersink_retain(retained, retained_end);
    int lines = 3;
    say(taken_over == 0 ? "from zero\n" : taken_over == 1 ? "taken over\n" : "misplaced\n");
    work(100);
    switch (start++) {
    case 0:
        start_again();
    case 1:
        /* A reset in the middle of a dump. */
        countersink_write_text(stops, &lines);
        break;
    case 2:
        countersink_write_text(to_serial_line, NULL);
        /* The list of a site's values leads into nothing. */
        ((volatile uint32_t *)countersink_region)[4] = 0xffffff00;
        start_again();
    case 3:
        countersink_write_text(to_serial_line, NULL);
        countersink_reset();
        work(10);
        start_again();
    case 4:
        countersink_write_text(to_serial_line, NULL);
        /* As a start with another build finds it. */
        for (uint32_t *word = (uint32_t *)retained; word < (uint32_t *)retained_end; word++)
            if (*word == 0x74727363)
                word[2] ^= 1;
        start_again();
    }
    countersink_write_text(to_serial_line, NULL);
}
