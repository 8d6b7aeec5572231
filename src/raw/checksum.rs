//! CRC-32, the polynomial of IEEE 802.3 and zlib, reflected.
//!
//! crc32fast computes it, in the tool and in the archive for x86-64 with the processor's own instructions, or else
//! with 16 KiB of tables. There it finds out with std what the processor has. Archives for other processors hold
//! nothing of std, and take tables of 8 KiB. Programs without an operating system may have no more memory than
//! that in all, so their package uses tables of 128 bytes. So does every package for few bytes.

/// Below this many bytes it does not pay to ask what the processor has. Each image asks anew, which takes 20
/// µs on a virtual machine.
#[cfg(any(feature = "alloc", feature = "runtime"))]
const FEW_BYTES: usize = 1024;

/// The checksum of some bytes.
#[cfg(any(feature = "alloc", all(feature = "runtime", target_arch = "x86_64")))]
pub fn crc32(bytes: &[u8]) -> u32 {
    use core::hash::Hasher;
    if bytes.len() < FEW_BYTES {
        return small(bytes);
    }
    // Not `crc32fast::hash` and `Hasher::new`: they are inline, and this package is compiled for size.
    let mut hasher = crc32fast::Hasher::default();
    hasher.write(bytes);
    hasher.finalize()
}

/// The checksum of some bytes.
#[cfg(all(feature = "runtime", not(any(feature = "alloc", target_arch = "x86_64"))))]
pub fn crc32(bytes: &[u8]) -> u32 {
    if bytes.len() < FEW_BYTES { small(bytes) } else { by_eight(bytes) }
}

/// The checksum of some bytes.
#[cfg(not(any(feature = "alloc", feature = "runtime")))]
pub fn crc32(bytes: &[u8]) -> u32 {
    small(bytes)
}

/// A byte at a time, in two halves.
fn small(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| one_more(crc, byte))
}

fn one_more(crc: u32, byte: u8) -> u32 {
    let index = crc as u8 ^ byte;
    crc >> 8 ^ LOW[usize::from(index & 15)] ^ HIGH[usize::from(index >> 4)]
}

/// Eight bytes at a time.
#[cfg(any(test, all(feature = "runtime", not(any(feature = "alloc", target_arch = "x86_64")))))]
fn by_eight(bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks();
    let crc = eights.iter().fold(!0, |crc, &eight| {
        let mixed = (u64::from_le_bytes(eight) ^ u64::from(crc)).to_le_bytes();
        let parts = EIGHT.iter().zip(mixed).map(|(table, byte)| table[usize::from(byte)]);
        parts.fold(0, |sum, part| sum ^ part)
    });
    !rest.iter().fold(crc, |crc, &byte| one_more(crc, byte))
}

/// What a byte becomes when 7 bytes follow it, 6, ... 0.
#[cfg(any(test, all(feature = "runtime", not(any(feature = "alloc", target_arch = "x86_64")))))]
static EIGHT: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut place = 8;
    while place > 0 {
        place -= 1;
        let mut byte = 0;
        while byte < 256 {
            tables[place][byte] = match place {
                7 => LOW[byte & 15] ^ HIGH[byte >> 4],
                _ => {
                    let crc: u32 = tables[place + 1][byte];
                    let index = crc as usize & 255;
                    crc >> 8 ^ LOW[index & 15] ^ HIGH[index >> 4]
                }
            };
            byte += 1;
        }
    }
    tables
};

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
    fn all_are_zlib_s() {
        assert_eq!(small(b"123456789"), 0xcbf4_3926);
        let bytes: [u8; 700] = core::array::from_fn(|place| (place * place / 3) as u8);
        for length in 0..bytes.len() {
            let bytes = &bytes[..length];
            assert_eq!([small(bytes), by_eight(bytes), crc32(bytes)], [crc32fast::hash(bytes); 3]);
        }
        // From certain lengths on processors compute it in other ways.
        let bytes: Vec<u8> = (0..70_000u64).map(|place| (place * place / 7) as u8).collect();
        for length in [1022, 1023, 1024, 2047, 2048, 2049, 4095, 65_535, 65_536, 69_999] {
            let bytes = &bytes[1..][..length];
            assert_eq!([small(bytes), by_eight(bytes)], [crc32(bytes); 2]);
        }
    }
}
