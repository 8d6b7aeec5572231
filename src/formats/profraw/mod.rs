//! LLVM's raw profiles (`.profraw`), version 5 and 7 to 11: what the runtime of clang and rustc writes when a program
//! ends.
//!
//! A file is the memory of one image (a program or a shared object) as it stood, behind a header of 64-bit words.
//! The magic tells the byte order and the size of a pointer. A file may hold several such profiles one after another,
//! with zero bytes between them; each starts at a multiple of 8.
//!
//! | part | contents |
//! |---|---|
//! | header | 8 each: magic, version (low half) and [`Variant`](crate::counters::Variant) (high half), the words of [`Word`] that the version has |
//! | binary ids | per id 8: length, the bytes, zeros up to a multiple of 8; since version 7 |
//! | records | one of a [`Layout`] for each function |
//! | counters | zeros, 8 bytes for each counter (1 with single-byte coverage), zeros |
//! | bitmaps | since version 9; and zeros |
//! | uniform counters | since version 11, of graphics processors only; and zeros |
//! | names | see [`names`]; zeros up to a multiple of 8 |
//! | virtual tables | since version 10; per table 8: number of its name, pointer: start, 4: size, up to a multiple of 8 |
//! | their names | since version 10; as the names |
//! | values | per record with sites 4: size, 4: number of kinds; per kind 4: kind, 4: number of sites, 1 for each site: number of values, zeros up to a multiple of 8, per value 8: value, 8: count |
//!
//! The number of a name is [`name_ref`](crate::counters::name_ref). The counters of record `k` start in the
//! counters at its pointer minus `CountersDelta` up to version 7, and at pointer + `k` times the stride -
//! `CountersDelta` since. With single-byte coverage 0 means "covered". With temporal profiling the first 8 bytes of
//! a function's counters are the time of its first call.
//!
//! [`Version`] says which LLVM writes which.
//!
//! Sources: files that clang 13 to 16, 19 and 22 and rustc 1.95 wrote, and what `llvm-profdata` reads and refuses.
//! Versions 5, 9 and 11 follow the published layouts; no program of LLVM 10 to 12, 18 or 23 was at hand.

mod bytes;
pub mod check;
pub mod correlate;
pub mod decode;
pub mod encode;
mod encode_error;
mod function;
mod header;
pub mod image;
pub mod names;
mod record;
pub mod summand;
pub mod targets;
mod values;

pub use crate::raw::llvm::{Layout, MAGICS, Version, Word};
pub use function::{Counters, Function, Functions, LARGEST_COUNT};
pub use header::Header;
pub use values::{Pairs, SiteValues, Values};

/// Whether a file begins as a raw profile does.
pub fn is_profraw(bytes: &[u8]) -> bool {
    Machine::of(bytes).is_some()
}

/// The machine that wrote a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Byte order.
    pub big_endian: bool,
    /// Bytes of a pointer: 8 or 4.
    pub pointer: usize,
}

impl Machine {
    /// 64 bits, little-endian.
    pub const X86_64: Self = Self { big_endian: false, pointer: 8 };

    /// The machine whose magic stands at the start.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let magic = *bytes.first_chunk()?;
        [(8, MAGICS[0]), (4, MAGICS[1])].into_iter().find_map(|(pointer, wanted)| {
            let big_endian = u64::from_be_bytes(magic) == wanted;
            (big_endian || u64::from_le_bytes(magic) == wanted)
                .then_some(Self { big_endian, pointer })
        })
    }

    /// The magic of its profiles.
    pub const fn magic(self) -> u64 {
        MAGICS[if self.pointer == 8 { 0 } else { 1 }]
    }

    /// The 64-bit number at this place. 0 if there is none.
    pub(crate) fn u64_at(self, bytes: &[u8], at: usize) -> u64 {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied();
        let bytes = bytes.unwrap_or_default();
        if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    /// The 32-bit number at this place. 0 if there is none.
    pub(crate) fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied();
        let bytes = bytes.unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The 16-bit number at this place. 0 if there is none.
    pub(crate) fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied();
        let bytes = bytes.unwrap_or_default();
        if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// Puts the low bytes of a number at this place.
    pub(crate) fn put(self, bytes: &mut [u8], at: usize, size: usize, number: u64) {
        let to = &mut bytes[at..at + size];
        match self.big_endian {
            true => to.copy_from_slice(&number.to_be_bytes()[8 - size..]),
            false => to.copy_from_slice(&number.to_le_bytes()[..size]),
        }
    }

    /// The pointer at this place. 0 if there is none.
    pub(crate) fn pointer_at(self, bytes: &[u8], at: usize) -> u64 {
        match self.pointer {
            8 => self.u64_at(bytes, at),
            _ => self.u32_at(bytes, at).into(),
        }
    }

    /// An address within what a pointer can hold.
    pub(crate) const fn address(self, address: u64) -> u64 {
        if self.pointer == 8 { address } else { address as u32 as u64 }
    }
}
