//! Function records, and the targets of calls.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::raw::head::{Head, NumbersWriter, word};
use crate::raw::layout::Word;

/// The fixed part of a function's head, behind a word 0; the numbers of counters follow.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | name reference |
/// | 8 | 8 | hash |
/// | 16 | 8 | offset of the function from the start of its image, below 2^32; 0 if nothing needs it or it is elsewhere |
/// | 24 | 4 | 0 |
/// | 28 | 4 | bits 0 to 15: the kinds that it has counters of |
///
/// All but the offset is identity. The offset is content: the dynamic linker fills the compiler's pointer in, and may
/// take the function of another image, whose place says nothing about this one. That depends on what other images
/// export, and a function may also be chosen by the processor's abilities. Runs that differ keep
/// [`FunctionRecord::known_offset`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct FunctionRecord {
    /// First eight bytes of the MD5 of its name.
    pub name_ref: u64,
    /// Hash of its control flow.
    pub hash: u64,
    /// Where it is in its image, to be found as a target of calls.
    pub offset: u64,
    /// 0.
    pub reserved: u32,
    /// A [`crate::raw::kind::Kind::bit`] for each kind it has counters of.
    pub flags: u32,
}

impl FunctionRecord {
    /// Words of the record.
    pub const WORDS: usize = size_of::<Self>() / 8;

    /// Words before the numbers: the word 0 and the record.
    pub const BEFORE_NUMBERS: usize = 1 + Self::WORDS;

    /// The word of a head, the word 0 counted, that has the offset.
    pub const OFFSET: usize = 3;

    /// The offset that the sum of two runs has: the smallest that is known, whatever the order of the runs.
    #[inline(always)]
    pub const fn known_offset(one: u64, other: u64) -> u64 {
        match (one, other) {
            (0, known) | (known, 0) => known,
            _ if one < other => one,
            _ => other,
        }
    }

    /// Whether both are of the same function of a build.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { offset: 0, ..*self } == Self { offset: 0, ..*other }
    }

    /// Ends a head with this record; gives its number of words.
    #[inline(always)]
    pub fn finish(self, numbers: NumbersWriter, room: &mut Head) -> usize {
        let (kinds, used) = numbers.finish(room);
        room[0] = Word::default();
        room[1] = self.name_ref.to_ne_bytes();
        room[2] = self.hash.to_ne_bytes();
        room[3] = self.offset.to_ne_bytes();
        room[4] = word(self.reserved, self.flags | kinds);
        used
    }
}

/// A target of an indirect call or a virtual table, as a value of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// In the image of the site, at this offset from its start.
    Here(u64),
    /// Elsewhere, or a virtual table: the name reference without its highest bit.
    There(u64),
    /// Nothing in this process that has a record.
    Unknown,
}

const THERE: u64 = 1 << 63;

impl Target {
    /// The bits of a name reference that [`Target::There`] keeps.
    pub const KEPT: u64 = THERE - 1;

    /// The value that stands for it.
    #[inline(always)]
    pub const fn to_value(self) -> i64 {
        (match self {
            Self::Here(offset) => offset & Self::KEPT,
            Self::There(name_ref) => name_ref | THERE,
            Self::Unknown => 0,
        }) as i64
    }

    /// What a value stands for.
    pub const fn from_value(value: i64) -> Self {
        match value as u64 {
            0 => Self::Unknown,
            value if value & THERE != 0 => Self::There(value & Self::KEPT),
            offset => Self::Here(offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_size_of_the_table() {
        assert_eq!(size_of::<FunctionRecord>(), 32);
    }

    #[test]
    fn the_known_offset_does_not_depend_on_the_order() {
        for (one, other, known) in [(0, 0, 0), (0, 5, 5), (7, 5, 5)] {
            assert_eq!(FunctionRecord::known_offset(one, other), known);
            assert_eq!(FunctionRecord::known_offset(other, one), known);
        }
    }

    #[test]
    fn targets_come_back() {
        for target in [Target::Here(0x1140), Target::There(5), Target::Unknown] {
            assert_eq!(Target::from_value(target.to_value()), target);
        }
    }
}
