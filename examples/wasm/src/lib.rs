//! The module: a checksum that its host asks for.
#![no_std]

use countersink as _;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// CRC-8 with the polynomial 0x07 of the numbers below `end`.
#[unsafe(no_mangle)]
extern "C" fn checksum(end: u32) -> u32 {
    (0..end).fold(0, |sum, number| (0..8).fold(sum ^ number & 0xff, |sum, _| step(sum)))
}

fn step(sum: u32) -> u32 {
    if sum & 0x80 != 0 { sum << 1 & 0xff ^ 0x07 } else { sum << 1 & 0xff }
}

/// Nobody calls it.
#[unsafe(no_mangle)]
extern "C" fn unused(number: u32) -> u32 {
    if number > 3 { 1 } else { 2 }
}
