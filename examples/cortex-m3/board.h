/* What the boards of these examples have: a serial line, and an end. */
#include <stddef.h>

/* A sink for countersink_write_text. */
int to_serial_line(void *context, const void *bytes, size_t length);
void say(const char *text);
/* Ends the machine that QEMU plays. */
void halt(void) __attribute__((noreturn));
/* Starts again, as a watchdog does: memory stays as it is. */
void start_again(void) __attribute__((noreturn));

/* The program's. */
void run(void);
