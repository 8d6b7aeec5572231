//! Layouts of function records, and what the version word says besides.
//!
//! Offsets in bytes; P is the size of a pointer. The numbers are those of LLVM's raw profiles.
//!
//! | field | 7, 8 | 9 | 10 | 11 |
//! |---|---|---|---|---|
//! | name reference (u64) | 0 | 0 | 0 | 0 |
//! | hash (u64) | 8 | 8 | 8 | 8 |
//! | counters (P), relative to the record; in 7 their address | 16 | 16 | 16 | 16 |
//! | uniform counters (P) | | | | 16 + P |
//! | bitmap (P), relative | | 16 + P | 16 + P | 16 + 2P |
//! | function (P), its address or 0 | 16 + P | 16 + 2P | 16 + 2P | 16 + 3P |
//! | value sites (P), their address or 0 | 16 + 2P | 16 + 3P | 16 + 3P | 16 + 4P |
//! | number of counters (u32) | 16 + 3P | 16 + 4P | 16 + 4P | 16 + 5P |
//! | numbers of sites (u16 each) | 20 + 3P, two | 20 + 4P, two | 20 + 4P, three | 20 + 5P, three |
//! | bytes of the bitmap (u32) | | 24 + 4P | 28 + 4P | 28 + 5P |
//! | size, P = 8 | 48 | 64 | 64 | 72 |
//! | size, P = 4 | 40 | 48 | 48 | 56 |
//!
//! Checked against clang 13 to 22 and rustc 1.95 on x86-64.

/// The layout of function records, by the version of LLVM's raw profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Layout {
    /// LLVM 13 and before: the address of the counters.
    V7 = 7,
    /// LLVM 14 to 17: the distance of the counters.
    V8 = 8,
    /// LLVM 18: bitmaps.
    V9 = 9,
    /// LLVM 19 to 22: virtual tables.
    V10 = 10,
    /// LLVM 23.
    V11 = 11,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 5] = [Self::V7, Self::V8, Self::V9, Self::V10, Self::V11];

    /// The layout of a version word's number. Version 5 and 6 have the layout of 7.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            5..=7 => Self::V7,
            8 => Self::V8,
            9 => Self::V9,
            10 => Self::V10,
            11 => Self::V11,
            _ => return None,
        })
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// Bits of the upper half of a version word.
pub mod variant {
    /// Counters are single bytes.
    pub const SINGLE_BYTE: u32 = 1 << 28;
    /// The first counter of a function is the time of its first call.
    pub const TEMPORAL: u32 = 1 << 31;
    /// Functions are described by debug information.
    pub const DEBUG_INFO_CORRELATION: u32 = 1 << 27;
}
