/* The start and end of the image that this archive was linked into, and the
 * pattern that it was linked with.
 *
 * In C because stable Rust cannot refer to a symbol weakly. The linker defines
 * the first two symbols: at the ELF header, if that is loaded, and behind the
 * data. A linker script may prevent both. The pattern comes from `countersink
 * flags --file`. Its symbol is exported, so that libraries use the program's
 * pattern if the program has one. */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));
extern const char _end[] __attribute__((weak, visibility("hidden")));
extern const char countersink_file[] __attribute__((weak, visibility("default")));

__attribute__((visibility("hidden")))
const char *countersink_image_start(void);
__attribute__((visibility("hidden")))
const char *countersink_image_end(void);
__attribute__((visibility("hidden")))
const char *countersink_linked_file(void);

const char *countersink_image_start(void)
{
    return __ehdr_start;
}

const char *countersink_image_end(void)
{
    return _end;
}

const char *countersink_linked_file(void)
{
    return countersink_file;
}
