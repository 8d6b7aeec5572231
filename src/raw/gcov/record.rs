//! Object and function records.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::raw::layout::Signature;
use crate::raw::merge::SITE_LIMIT;

/// One instrumented translation unit.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | version word of the compiler |
/// | 4 | 4 | stamp |
/// | 8 | 4 | checksum over the functions' checksums; 0 before GCC 12 |
/// | 12 | 4 | number of functions |
/// | 16 | 8 | counter kinds in use with their merge rules, four bits a kind |
/// | 24 | 4 | offset of the `.gcda` path in STRINGS |
/// | 28 | 4 | length of the `.gcda` path |
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ObjectRecord {
    /// See [`super::Version`].
    pub version: u32,
    /// Time of compilation, equal in the `.gcno` file.
    pub stamp: u32,
    /// Checksum of the object's functions.
    pub checksum: u32,
    /// Functions that follow for this object.
    pub functions: u32,
    /// See [`super::Rules`].
    pub rules: u64,
    /// Where the path of the `.gcda` file starts in STRINGS.
    pub path_offset: u32,
    /// Its length in bytes.
    pub path_length: u32,
}

/// The fixed part of a function's record; the counter numbers of the kinds follow.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | ident |
/// | 4 | 4 | checksum of the function's place in the source |
/// | 8 | 4 | checksum of the control-flow graph |
/// | 12 | 4 | 1 if the object only holds the place of a copy that lives elsewhere, else 0 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FunctionRecord {
    /// Number of the function, unique in its object.
    pub ident: u32,
    /// Checksum of name and place.
    pub lineno_checksum: u32,
    /// Checksum of the control-flow graph.
    pub cfg_checksum: u32,
    /// [`FunctionRecord::ABSENT`] or 0.
    pub flags: u32,
}

impl FunctionRecord {
    /// The function has no counters here: another object's copy was linked.
    pub const ABSENT: u32 = 1;

    /// Bytes of a record with the numbers of `kinds` counter kinds behind it.
    pub const fn size_with(kinds: usize) -> usize {
        size_of::<Self>() + (kinds * 4).next_multiple_of(8)
    }
}

/// The second word of a site in TOPN: the number of values kept, its bits inverted if the site's error
/// follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteHead {
    /// Number of values.
    pub pairs: usize,
    /// Whether the next word is the error; if not, it is 0.
    pub has_error: bool,
}

impl SiteHead {
    /// The head of a site.
    #[inline(always)]
    pub const fn new(pairs: usize, error: i64) -> Self {
        Self { pairs, has_error: error != 0 }
    }

    /// As it is written.
    #[inline(always)]
    pub const fn to_word(self) -> i64 {
        let pairs = self.pairs as i64;
        if self.has_error { !pairs } else { pairs }
    }

    /// As it was written; `None` if there are more values than a site holds.
    #[inline(always)]
    pub const fn from_word(word: i64) -> Option<Self> {
        let has_error = word < 0;
        let pairs = if has_error { !word } else { word } as usize;
        if pairs <= SITE_LIMIT { Some(Self { pairs, has_error }) } else { None }
    }
}

/// What a module's signature takes of its records, in the order of the file; of a function the
/// numbers of counters follow, word by word.
impl Signature {
    /// Adds an object.
    pub fn object(&mut self, record: &ObjectRecord, path: &[u8]) {
        self.halves(record.version, record.stamp);
        self.halves(record.checksum, record.functions);
        self.word(record.rules);
        self.bytes(path);
    }

    /// Adds a function.
    #[inline(always)]
    pub fn function(&mut self, record: &FunctionRecord) {
        self.halves(record.ident, record.lineno_checksum);
        self.halves(record.cfg_checksum, record.flags);
    }

    /// Adds the number of a function's counters of a kind.
    #[inline(always)]
    pub fn counters(&mut self, number: u32) {
        self.word(u64::from(number));
    }
}

/// Counters of a top-N site in memory before GCC 11: total and four pairs.
pub const FIXED_SITE: usize = 9;
/// Counters of a top-N site in memory since GCC 11: total, number of nodes, list.
pub const LISTED_SITE: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_sizes_of_the_tables() {
        assert_eq!(size_of::<ObjectRecord>(), 32);
        assert_eq!(size_of::<FunctionRecord>(), 16);
        assert_eq!(FunctionRecord::size_with(1), 24);
        assert_eq!(FunctionRecord::size_with(4), 32);
    }

    #[test]
    fn heads_of_sites() {
        for (pairs, error, word) in [(0, 0, 0), (3, 0, 3), (0, 7, -1), (64, 1, -65)] {
            let head = SiteHead::new(pairs, error);
            assert_eq!(head.to_word(), word);
            assert_eq!(SiteHead::from_word(word), Some(head));
        }
        assert_eq!([65, i64::MAX, -66, i64::MIN].map(SiteHead::from_word), [None; 4]);
    }
}
