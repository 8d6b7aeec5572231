/* Where the linker script `live.ld` has put the counters.
 *
 * In C because stable Rust cannot refer to a symbol weakly. Without the script
 * the symbols do not exist. */
extern char countersink_live_start[] __attribute__((weak, visibility("hidden")));
extern char countersink_live_end[] __attribute__((weak, visibility("hidden")));
extern char countersink_llvm_live_start[] __attribute__((weak, visibility("hidden")));
extern char countersink_llvm_live_end[] __attribute__((weak, visibility("hidden")));

__attribute__((visibility("hidden"))) char *countersink_live_bound(int end);
__attribute__((visibility("hidden"))) char *countersink_llvm_live_bound(int end);

char *countersink_live_bound(int end)
{
    return end ? countersink_live_end : countersink_live_start;
}

char *countersink_llvm_live_bound(int end)
{
    return end ? countersink_llvm_live_end : countersink_llvm_live_start;
}
