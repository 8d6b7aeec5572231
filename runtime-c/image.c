/* Where the image that this archive was linked into starts.
 *
 * In C because stable Rust cannot refer to a symbol weakly. The linker defines
 * it at the ELF header if that is part of what is loaded, which a linker script
 * may prevent. */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

__attribute__((visibility("hidden")))
const char *countersink_image_start(void);

const char *countersink_image_start(void)
{
    return __ehdr_start;
}
