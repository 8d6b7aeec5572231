//! What `core` calls when something panics. Nothing in the archives does. On x86-64 std comes along with
//! crc32fast in archives for programs with an operating system, and has it.

use core::panic::PanicInfo;

/// Nothing ever calls it.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
