/* Gives the counts of a program to the serial line, among other output. */
#include "board.h"
#include "countersink.h"

int program(int rounds);

/* 85 values in place of the archive's 1536: this board has 20 KiB. */
COUNTERSINK_NODES(2048);

void run(void)
{
    countersink_register(infos, infos_end);
    int starts = countersink_retain(retained, retained_end);
    if (starts < 0)
        say("[    0.000000] counters lie outside of the retained memory\r\n");
    say(starts == 1 ? "[    0.000000] starting again\r\n" : "[    0.000000] starting\r\n");
    int result = program(1000);
    say(result ? "[    0.000001] the program returned something\r\n" : "[    0.000001] done\r\n");
    if (starts == 0)
        start_again();
    if (countersink_write_text(to_serial_line, NULL) != 0)
        say("[    0.000002] no dump\r\n");
    say("[    0.000003] halting\r\n");
}
