//! Versions of LLVM's raw profiles. They also name the layouts of records in a program's memory.
//!
//! | version | LLVM |
//! |---|---|
//! | 5 | 10 to 12 |
//! | 7 | 13 |
//! | 8 | 14 to 17 |
//! | 9 | 18 |
//! | 10 | 19 to 22 |
//! | 11 | 23 |
//!
//! No release of LLVM wrote version 6.

/// Versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Version {
    /// LLVM 10 to 12.
    V5 = 5,
    /// LLVM 13.
    V7 = 7,
    /// LLVM 14 to 17.
    V8,
    /// LLVM 18.
    V9,
    /// LLVM 19 to 22.
    V10,
    /// LLVM 23.
    V11,
}

impl Version {
    /// All versions, in their order.
    pub const ALL: [Self; 6] = [Self::V5, Self::V7, Self::V8, Self::V9, Self::V10, Self::V11];

    /// The version of this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.number() == number)
    }

    /// The number that stands in files.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The only version that the tools of this LLVM read.
    pub const fn for_llvm(major: u32) -> Option<Self> {
        Some(match major {
            10..=12 => Self::V5,
            13 => Self::V7,
            14..=17 => Self::V8,
            18 => Self::V9,
            19..=22 => Self::V10,
            23 => Self::V11,
            _ => return None,
        })
    }

    /// The releases of LLVM that have it, for people.
    pub const fn releases(self) -> &'static str {
        match self {
            Self::V5 => "10 to 12",
            Self::V7 => "13",
            Self::V8 => "14 to 17",
            Self::V9 => "18",
            Self::V10 => "19 to 22",
            Self::V11 => "23",
        }
    }

    /// Number of value kinds.
    pub const fn kinds(self) -> usize {
        if self as u32 >= Self::V10 as u32 { 3 } else { 2 }
    }

    /// Whether a record has the address of its counters. Later records have the distance from the record.
    pub const fn has_addresses(self) -> bool {
        self as u32 <= Self::V7 as u32
    }
}

/// Bits of the upper half of a version word.
pub mod variant {
    /// Counters are single bytes.
    pub const SINGLE_BYTE: u32 = 1 << 28;
    /// The first counter of a function is the time of its first call.
    pub const TEMPORAL: u32 = 1 << 31;
    /// Memory has no records: debug information has the functions, see [`correlated`](crate::raw::llvm::correlated).
    pub const DEBUG_INFO_CORRELATION: u32 = 1 << 27;
}
