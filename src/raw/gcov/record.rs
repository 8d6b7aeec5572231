//! Object and function records.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Kind, Rules};
use crate::raw::layout::{Identity, Signature, Word};
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
    /// [`FunctionRecord::ABSENT`], or a [`Kind::bit`] for each kind it has counters of.
    pub flags: u32,
}

impl FunctionRecord {
    /// The function has no counters here: another object's copy was linked.
    pub const ABSENT: u32 = 1 << 31;
}

/// Room for the head of a function: its record, and the numbers of counters of its kinds.
pub type Head = [Word; 2 + Rules::SLOTS / 2];

/// Puts the head of a function into a room.
#[derive(Clone, Copy, Debug)]
pub struct HeadWriter {
    record: FunctionRecord,
    /// A number that waits for the other half of its word; 0 if there is none.
    first: u32,
    used: usize,
}

impl HeadWriter {
    /// Begins the head of a function.
    #[inline(always)]
    pub const fn new(record: FunctionRecord) -> Self {
        Self { record, first: 0, used: 2 }
    }

    /// Adds a kind, above those added before, with the number of its counters. Leaves out a kind without
    /// counters.
    #[inline(always)]
    pub fn add(&mut self, kind: Kind, number: u32, room: &mut Head) {
        if number == 0 {
            return;
        }
        self.record.flags |= kind.bit();
        match core::mem::take(&mut self.first) {
            0 => self.first = number,
            first => self.put(first, number, room),
        }
    }

    /// Ends the head and gives its number of words.
    #[inline(always)]
    pub fn finish(mut self, room: &mut Head) -> usize {
        if self.first != 0 {
            self.put(self.first, 0, room);
        }
        let FunctionRecord { ident, lineno_checksum, cfg_checksum, flags } = self.record;
        room[0] = word(ident, lineno_checksum);
        room[1] = word(cfg_checksum, flags);
        self.used
    }

    #[inline(always)]
    fn put(&mut self, first: u32, second: u32, room: &mut Head) {
        if let Some(free) = room.get_mut(self.used) {
            *free = word(first, second);
            self.used = self.used.wrapping_add(1);
        }
    }
}

/// Two halves, one behind the other in memory. Built in a register: loading a word that was stored in halves
/// would wait for the stores.
#[inline(always)]
const fn word(first: u32, second: u32) -> Word {
    let (low, high) =
        if cfg!(target_endian = "little") { (first, second) } else { (second, first) };
    (low as u64 | (high as u64) << 32).to_ne_bytes()
}

/// The second word of a top-N site: the number of values kept. All its bits are inverted if the site's error
/// follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteHead {
    /// Number of values.
    pub pairs: usize,
    /// Whether the next word is the error. Otherwise the error is 0.
    pub has_error: bool,
}

impl SiteHead {
    /// The head of a site.
    #[inline(always)]
    pub const fn new(pairs: usize, error: i64) -> Self {
        Self { pairs, has_error: error != 0 }
    }

    /// The word to write.
    #[inline(always)]
    pub const fn to_word(self) -> i64 {
        let pairs = self.pairs as i64;
        if self.has_error { !pairs } else { pairs }
    }

    /// Reads the word; `None` if it announces more values than a site holds.
    #[inline(always)]
    pub const fn from_word(word: i64) -> Option<Self> {
        let has_error = word < 0;
        let pairs = if has_error { !word } else { word } as usize;
        if pairs <= SITE_LIMIT { Some(Self { pairs, has_error }) } else { None }
    }
}

/// A module's signature covers the build-id and the objects in the order of the file. Without a build-id it
/// also covers the heads of each object's functions, behind the object, word by word.
impl Signature {
    /// Begins the signature of a module.
    pub fn of(identity: &Identity) -> Self {
        let mut signature = Self::new();
        signature.bytes(identity.build_id());
        signature
    }

    /// Adds an object.
    pub fn object(&mut self, record: &ObjectRecord, path: &[u8]) {
        self.halves(record.version, record.stamp);
        self.halves(record.checksum, record.functions);
        self.word(record.rules);
        self.bytes(path);
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
    }

    #[test]
    fn heads_of_functions() {
        let record = FunctionRecord { ident: 1, lineno_checksum: 2, cfg_checksum: 3, flags: 0 };
        let mut head = Head::default();
        let mut writer = HeadWriter::new(record);
        assert_eq!(writer.finish(&mut head), 2);
        for (kind, number) in [(0, 7), (3, 0), (4, 3), (7, 1)] {
            writer.add(Kind(kind), number, &mut head);
        }
        assert_eq!(writer.finish(&mut head), 4);
        let halves = head.as_bytes().as_chunks().0.iter().map(|&half| u32::from_ne_bytes(half));
        assert!(halves.take(8).eq([1, 2, 3, 0x91, 7, 3, 1, 0]));
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
