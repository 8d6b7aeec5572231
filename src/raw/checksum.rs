//! CRC-32, the polynomial of IEEE 802.3 and zlib, reflected.
//!
//! crc32fast computes it, in the tool and in the archive with the processor's own instructions, or else with
//! 16 KiB of tables. Programs without an operating system may have no more memory than that in all, so their
//! package uses tables of 128 bytes. So does every package for few bytes.

/// Below this many bytes it does not pay to ask what the processor has. Each image asks anew, which takes 20
/// µs on a virtual machine.
#[cfg(any(feature = "alloc", feature = "runtime"))]
const FEW: usize = 1024;

/// The checksum of some bytes.
#[cfg(any(feature = "alloc", feature = "runtime"))]
pub fn crc32(bytes: &[u8]) -> u32 {
    use core::hash::Hasher;
    if bytes.len() < FEW {
        return small(bytes);
    }
    // Not `crc32fast::hash` and `Hasher::new`: they are inline, and this package is compiled for size.
    let mut hasher = crc32fast::Hasher::default();
    hasher.write(bytes);
    hasher.finalize()
}

/// The checksum of some bytes.
#[cfg(not(any(feature = "alloc", feature = "runtime")))]
pub fn crc32(bytes: &[u8]) -> u32 {
    small(bytes)
}

/// A byte at a time, in two halves.
fn small(bytes: &[u8]) -> u32 {
    bytes.iter().fold(!0, |crc, &byte| {
        let index = crc as u8 ^ byte;
        crc >> 8 ^ LOW[usize::from(index & 15)] ^ HIGH[usize::from(index >> 4)]
    }) ^ !0
}

/// What the lower and the upper half of a byte become.
const LOW: [u32; 16] = table(0);
const HIGH: [u32; 16] = table(4);

const fn table(shift: u32) -> [u32; 16] {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        let mut crc = (index as u32) << shift;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn both_are_zlib_s() {
        assert_eq!(small(b"123456789"), 0xcbf4_3926);
        let bytes: [u8; 700] = core::array::from_fn(|place| (place * place / 3) as u8);
        for length in 0..bytes.len() {
            let bytes = &bytes[..length];
            assert_eq!([small(bytes), crc32(bytes)], [crc32fast::hash(bytes); 2]);
        }
        // From certain lengths on processors compute it in other ways.
        let bytes: Vec<u8> = (0..70_000u64).map(|place| (place * place / 7) as u8).collect();
        for length in [1022, 1023, 1024, 2047, 2048, 2049, 4095, 65_535, 65_536, 69_999] {
            assert_eq!(small(&bytes[1..][..length]), crc32(&bytes[1..][..length]));
        }
    }
}
