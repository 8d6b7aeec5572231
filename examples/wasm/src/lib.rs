//! The module: a checksum that its host asks for.
#![no_std]

use countersink as _;

#[path = "checksum.rs"]
mod sums;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

#[unsafe(no_mangle)]
extern "C" fn checksum(end: u32) -> u32 {
    sums::checksum(end)
}

/// Nobody calls it.
#[unsafe(no_mangle)]
extern "C" fn unused(number: u32) -> u32 {
    if number > 3 { 1 } else { 2 }
}
