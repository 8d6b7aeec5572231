/* Where the image that this archive was linked into starts and ends.
 *
 * In C because stable Rust cannot refer to a symbol weakly. The linker defines
 * them at the ELF header, if that is part of what is loaded, and behind the
 * data; a linker script may prevent both. */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));
extern const char _end[] __attribute__((weak, visibility("hidden")));

__attribute__((visibility("hidden")))
const char *countersink_image_start(void);
__attribute__((visibility("hidden")))
const char *countersink_image_end(void);

const char *countersink_image_start(void)
{
    return __ehdr_start;
}

const char *countersink_image_end(void)
{
    return _end;
}
