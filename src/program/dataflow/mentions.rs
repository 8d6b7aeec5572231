//! Finds functions whose bytes may have the address of a site in them. Few have, and decoding the instructions of all the
//! others takes long.
//!
//! This is for machines whose instructions have addresses whole: as the distance from the next instruction or, in programs
//! at fixed places, as a number of 32 or 64 bits. Other bytes may look like these, so some functions are found that have
//! no site.

use std::ops::Range;
use std::prelude::v1::*;

use crate::program::object_file::image::Image;

/// Bytes that one bit stands for. Counters and words are aligned to them.
const GRAIN: u64 = 8;

/// Most grains from the first address to the last one.
const MOST: u64 = 1 << 26;

/// The bits of an instruction's byte that say how it addresses memory.
const MODE: u8 = 0xc7;

/// What they are before a distance.
const BY_DISTANCE: u8 = 0x05;

/// Addresses of sites, and of words in memory that hold such addresses.
pub struct Mentions {
    /// The first address, in grains.
    first: u64,
    /// A bit for each grain from there on.
    bits: Vec<u64>,
    /// Whether instructions have only distances in them.
    is_movable: bool,
}

impl Mentions {
    /// The addresses that lead to sites in these ranges. `None` if they are too far apart.
    pub fn of(image: &Image<'_>, sites: &[Range<u64>]) -> Option<Self> {
        let of_sites = Self::all(sites, image.is_movable)?;
        let words = image.words_with(|word| of_sites.has(word)).into_iter();
        let ranges: Vec<_> =
            sites.iter().cloned().chain(words.map(|word| word..word + 1)).collect();
        Self::all(&ranges, image.is_movable)
    }

    fn all(ranges: &[Range<u64>], is_movable: bool) -> Option<Self> {
        let first = ranges.iter().map(|range| range.start / GRAIN).min().unwrap_or(0);
        let last = ranges.iter().map(|range| range.end.div_ceil(GRAIN)).max().unwrap_or(0);
        if last - first > MOST {
            return None;
        }
        let bits = vec![0; ((last - first) / 64 + 1) as usize];
        let mut mentions = Self { first, bits, is_movable };
        ranges.iter().for_each(|range| mentions.add(range));
        Some(mentions)
    }

    fn add(&mut self, range: &Range<u64>) {
        for grain in range.start / GRAIN..range.end.div_ceil(GRAIN) {
            let place = grain - self.first;
            self.bits[(place / 64) as usize] |= 1 << (place % 64);
        }
    }

    fn has(&self, address: u64) -> bool {
        let place = (address / GRAIN).wrapping_sub(self.first);
        let bits = self.bits.get(usize::try_from(place / 64).unwrap_or(usize::MAX));
        bits.is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    /// Whether any of the addresses may be in this code, which starts at an address.
    pub fn may_be_in(&self, code: &[u8], address: u64) -> bool {
        self.has_distances(code, address) || !self.is_movable && self.has_numbers(code)
    }

    /// Whether any of the addresses may be a distance from an instruction.
    fn has_distances(&self, code: &[u8], address: u64) -> bool {
        let is_one = |(place, &[mode, ref distance @ ..]): (u64, &[u8; 5])| {
            // The next instruction starts behind the distance, or behind a constant of up to four bytes there.
            let around = || place.wrapping_add_signed(i32::from_le_bytes(*distance).into());
            mode & MODE == BY_DISTANCE && self.has(around().wrapping_add(9))
        };
        (address..).zip(code.array_windows::<5>()).any(is_one)
    }

    /// Whether any of the addresses may be a number there.
    fn has_numbers(&self, code: &[u8]) -> bool {
        let end = (self.first + 64 * self.bits.len() as u64).saturating_mul(GRAIN);
        let is_far = end > u64::from(u32::MAX);
        let is_long = |bytes: &[u8; 8]| self.has(u64::from_le_bytes(*bytes));
        let is_short = |bytes: &[u8; 4]| {
            let number = i32::from_le_bytes(*bytes);
            self.has(u64::from(number as u32)) || number < 0 && self.has(number as u64)
        };
        code.array_windows::<4>().any(is_short) || is_far && code.array_windows::<8>().any(is_long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions of x86-64 that lead to counters at 0x5000, at 0x1000 in the program.
    #[test]
    fn bytes_of_instructions() {
        let mut mentions = Mentions { first: 0x5000 / GRAIN, bits: vec![0], is_movable: false };
        mentions.add(&(0x5000..0x5001));
        for code in [
            // lea 0x3ff9(%rip), %rax; addq $1, 0x3ff8(%rip); movq $1, 0x3ff5(%rip)
            &[0x48, 0x8d, 0x05, 0xf9, 0x3f, 0, 0][..],
            &[0x48, 0x83, 0x05, 0xf8, 0x3f, 0, 0, 0x01],
            &[0x48, 0xc7, 0x05, 0xf5, 0x3f, 0, 0, 0x01, 0, 0, 0],
            // mov $0x5000, %eax; movabs $0x5000, %rax
            &[0xb8, 0, 0x50, 0, 0],
            &[0x48, 0xb8, 0, 0x50, 0, 0, 0, 0, 0, 0],
        ] {
            assert!(mentions.may_be_in(code, 0x1000), "{code:x?}");
        }
        let elsewhere = [0x48, 0x8d, 0x05, 0xf9, 0x4f, 0, 0];
        assert!(!mentions.may_be_in(&elsewhere, 0x1000));
        assert!(!mentions.may_be_in(&[0x50], 0x1000));
    }

    #[test]
    fn addresses_beyond_32_bits() {
        let site = 0xffff_ffff_8100_0000;
        let mut mentions = Mentions { first: site / GRAIN, bits: vec![0], is_movable: false };
        mentions.add(&(site..site + 1));
        assert!(mentions.may_be_in(&[0x48, 0xc7, 0xc0, 0, 0, 0, 0x81], 0x1000));
        let long = [&[0x48, 0xb8], &site.to_le_bytes()[..]].concat();
        assert!(mentions.may_be_in(&long, 0x1000));
    }
}
