//! Function records.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::raw::head::{Head, NumbersWriter, word};

/// The fixed part of a function's head; the numbers of counters follow.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | ident |
/// | 4 | 4 | checksum of the function's place in the source |
/// | 8 | 4 | checksum of the control-flow graph |
/// | 12 | 4 | bits 0 to 15: the kinds it has counters of; bit 31: the object only holds the place of a copy that lives elsewhere |
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FunctionRecord {
    /// Number of the function, unique in its object.
    pub ident: u32,
    /// Checksum of name and place.
    pub lineno_checksum: u32,
    /// Checksum of the control-flow graph.
    pub cfg_checksum: u32,
    /// [`FunctionRecord::ABSENT`], or a [`crate::raw::kind::Kind::bit`] for each kind it has counters of.
    pub flags: u32,
}

impl FunctionRecord {
    /// The function has no counters here: another object's copy was linked.
    pub const ABSENT: u32 = 1 << 31;

    /// Words of the record.
    pub const WORDS: usize = size_of::<Self>() / 8;

    /// Ends a head with this record; gives its number of words.
    #[inline(always)]
    pub fn finish(self, numbers: NumbersWriter, room: &mut Head) -> usize {
        let (kinds, used) = numbers.finish(room);
        room[0] = word(self.ident, self.lineno_checksum);
        room[1] = word(self.cfg_checksum, self.flags | kinds);
        used
    }
}

/// Counters of a top-N site in memory before GCC 11: total and four pairs.
pub const FIXED_SITE: usize = 9;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::kind::Kind;
    use zerocopy::IntoBytes;

    #[test]
    fn records_have_the_size_of_the_table() {
        assert_eq!(size_of::<FunctionRecord>(), 16);
    }

    #[test]
    fn heads_of_functions() {
        let record = FunctionRecord { ident: 1, lineno_checksum: 2, cfg_checksum: 3, flags: 0 };
        let mut head = Head::default();
        let mut numbers = NumbersWriter::behind(FunctionRecord::WORDS);
        assert_eq!(record.finish(numbers, &mut head), 2);
        for (kind, number) in [(0, 7), (3, 0), (4, 3), (7, 1)] {
            numbers.add(Kind(kind), number, &mut head);
        }
        assert_eq!(record.finish(numbers, &mut head), 4);
        let halves = head.as_bytes().as_chunks().0.iter().map(|&half| u32::from_ne_bytes(half));
        assert!(halves.take(8).eq([1, 2, 3, 0x91, 7, 3, 1, 0]));
    }
}
