//! CRC-8 with the polynomial 0x07.

/// The checksum of the numbers below `end`.
pub fn checksum(end: u32) -> u32 {
    (0..end).fold(0, |sum, number| (0..8).fold(sum ^ number & 0xff, |sum, _| step(sum)))
}

fn step(sum: u32) -> u32 {
    if sum & 0x80 != 0 { sum << 1 & 0xff ^ 0x07 } else { sum << 1 & 0xff }
}
