/* Runs everything.c with all its values, or with room for NODES bytes of them, or for ROUNDS rounds, and dumps. */
#include "board.h"
#include "countersink.h"

int program_main(int argc, char **argv);

#ifdef GIVEN
/* The archive's own memory is left out, and the program gives some when it runs. */
COUNTERSINK_NODES(0);
static unsigned long long memory[8192];
#elif defined NODES
COUNTERSINK_NODES(NODES);
#endif

void run(void)
{
    countersink_register(infos, infos_end);
    if (countersink_retain(retained, retained_end) != 0)
        say("retained at the first start\n");
#ifdef GIVEN
    if (countersink_nodes(memory, sizeof memory) != 0)
        say("memory refused\n");
#endif
#ifdef ROUNDS
    program_main(2, (char *[]){"everything", ROUNDS, NULL});
#else
    program_main(1, NULL);
#endif
#ifdef GIVEN
    if (countersink_nodes(memory, sizeof memory) != -16)
        say("memory taken twice\n");
#endif
    countersink_write_text(to_serial_line, NULL);
}
