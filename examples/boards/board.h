/* What the boards of these examples have: a serial line, a clock, and an end. */
#include <stddef.h>

/* A sink for countersink_write_text. */
int to_serial_line(void *context, const void *bytes, size_t length);
void say(const char *text);
/* Lets tick() interrupt the program ten thousand times a second, or no more. */
void start_ticks(void);
void stop_ticks(void);
/* Ends the machine that QEMU plays. */
void halt(void) __attribute__((noreturn));
/* Starts again, as a watchdog does: memory stays as it is. */
void start_again(void) __attribute__((noreturn));

/* The program's. */
void run(void);
void tick(void);

/* Symbols of the linker scripts: what gcc tells of objects, and memory that a start
 * leaves alone. */
extern const void *const infos[], *const infos_end[];
extern char retained[], retained_end[];
