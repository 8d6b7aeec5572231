/* The memory for values in programs without an operating system that give none
 * themselves, see COUNTERSINK_NODES: for 1536 values, and indexes for 8 sites.
 *
 * In C because stable Rust cannot define a weak symbol. */
#include <stddef.h>

#define BYTES 41088

__attribute__((weak, section(".bss.countersink_region")))
unsigned long long countersink_region[BYTES / 8];
__attribute__((weak))
const size_t countersink_region_size = BYTES;
