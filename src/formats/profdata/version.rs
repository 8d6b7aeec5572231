//! Versions of the format, and what each can hold.

use core::fmt;

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u32);

impl Version {
    /// The oldest one that is read.
    pub const OLDEST: Self = Self(1);
    /// The oldest one that is written. Compilers want its summary.
    pub const OLDEST_WRITTEN: Self = Self(4);
    /// The newest one, of LLVM 23.
    pub const NEWEST: Self = Self(14);

    /// The version of this number, if it is known.
    pub const fn new(number: u32) -> Option<Self> {
        if number < Self::OLDEST.0 || number > Self::NEWEST.0 {
            return None;
        }
        Some(Self(number))
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Bytes of the header.
    pub const fn header_size(self) -> usize {
        match self.0 {
            ..=7 => 40,
            8 => 48,
            9 => 56,
            10..=11 => 64,
            _ => 72,
        }
    }

    /// Whether records say how many counters they have.
    pub const fn has_counter_numbers(self) -> bool {
        self.0 >= 2
    }

    /// Whether records have values.
    pub const fn has_values(self) -> bool {
        self.0 >= 3
    }

    /// Whether there is a summary.
    pub const fn has_summary(self) -> bool {
        self.0 >= 4
    }

    /// Whether there may be a memory profile.
    pub const fn has_memory_profile(self) -> bool {
        self.0 >= 8
    }

    /// Whether there are build-ids.
    pub const fn has_binary_ids(self) -> bool {
        self.0 >= 9
    }

    /// Whether there may be traces.
    pub const fn has_traces(self) -> bool {
        self.0 >= 10
    }

    /// Whether records have bitmaps.
    pub const fn has_bitmaps(self) -> bool {
        self.0 >= 11
    }

    /// Whether there are names and sites of virtual tables.
    pub const fn has_vtables(self) -> bool {
        self.0 >= 12
    }

    /// Whether a byte of a bitmap takes a byte, not eight.
    pub const fn has_packed_bitmaps(self) -> bool {
        self.0 >= 14
    }

    /// Whether `llvm-profdata` sorts the names. LLVM 19 with version 12 does, LLVM 16 with version 9 does not.
    pub(super) const fn has_sorted_names(self) -> bool {
        self.0 >= 10
    }

    /// Whether `llvm-profdata`'s hash table in memory mixes the bits of hashes, as LLVM 19 does first.
    pub(super) const fn has_mixed_hashes(self) -> bool {
        self.0 >= 12
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {}", self.0)
    }
}
