//! AutoFDO GCOV before version 4: what GCC 10 to 17 and LLVM read.
//!
//! A stream of 32-bit words in the byte order of the writer's machine; the magic tells that order. 64-bit
//! values are two words, low word first.
//!
//! | part | contents | in version |
//! |---|---|---|
//! | header | 4: magic 0x67636461 (`adcg` in little-endian files), 4: version, 4: 0 | all |
//! | summary | 4: tag 0xa8000000, 8 each: total count, largest count, largest head count, number of counts, of functions, of cutoffs; per cutoff 4: share in millionths, 8: smallest count, 8: number of counts | 3 |
//! | names | 4: tag 0xaa000000, 4: length | all |
//! | | 4: number of files, their paths | 3 |
//! | | 4: number of names; per name the string, which is empty for the first one and for no other | all |
//! | | and 4: its file, or 0xffffffff | 3 |
//! | functions | 4: tag 0xac000000, 4: length, 4: number; per function 8: head count | all |
//! | | 8: timestamp | 3 |
//! | | an instance | all |
//! | modules | 4: tag 0xae000000, 4: 0, 4: 0 | all |
//! | working set | 4: tag 0xaf000000, 4: 384, then 128 times 4 and 8 zero bytes | all |
//!
//! An instance is 4: name, 4: number of positions, 4: number of call sites; per position 4: location, 4:
//! number of targets, 8: count, and per target 4: type 7, 8: name, 8: calls; per call site 4: location, an
//! instance. A location is the line from the function's declaration (high half) and the discriminator (low
//! half), both modulo 2^16. A name is given by its index; 0, the empty one, stops compilers.
//!
//! | version | strings | readers |
//! |---|---|---|
//! | 1 | 4: number of words, the bytes, filled up with NULs, at least one | GCC 10 and 11 |
//! | 2 | 4: number of bytes with the NUL, the bytes, a NUL | GCC 12 to 15 |
//! | 3 | as in 2 | GCC 16 and 17 |
//! | 0x3430372a (`407*`) | as in 1 | LLVM |
//!
//! Version 3 was changed twice without a new number: the timestamps came last, the summary before them. And
//! by default `create_gcov` puts 0x3430372a before every one of the layouts. All layouts are read, the
//! current ones written.
//!
//! Lengths are in words, computed as if strings were padded to words, as `create_gcov` does it; every reader
//! skips them. Canonical output: names bytewise, then by file, those without one last; functions by name,
//! positions and call sites by location and name; sixteen cutoffs, since GCC 16 has room for no more.
//!
//! Sources: `auto-profile.cc` of GCC 10 to 17 and `profile_writer.cc` of google/autofdo, and the files they
//! read and write.

mod body;
pub mod check;
pub mod decode;
pub mod encode;
/// Names as the readers of each version see them.
pub mod names;
pub mod rules;
mod words;

/// First word of a file. `.gcda` files begin with it, too, but their second word is no small number.
pub const MAGIC: u32 = 0x6763_6461;

const SUMMARY: u32 = 0xa800_0000;
const NAMES: u32 = 0xaa00_0000;
const FUNCTIONS: u32 = 0xac00_0000;
const MODULES: u32 = 0xae00_0000;
const WORKING_SET: u32 = 0xaf00_0000;
/// Pairs of words in the working set, all zero.
const WORKING_SET_ENTRIES: u32 = 128;
/// The only type of target: indirect calls with the most frequent callees.
const INDIRECT_CALL: u32 = 7;
/// Stands for the file of a name whose file is unknown.
const NO_FILE: u32 = u32::MAX;

/// Versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.
    V1,
    /// 2.
    V2,
    /// 3.
    V3,
    /// 0x3430372a.
    V407,
}

impl Version {
    /// The word that stands in files.
    pub const fn word(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
            Self::V407 => 0x3430_372a,
        }
    }

    /// The version in a file with this magic, in either byte order; its word, if it is no known version.
    pub fn of(bytes: &[u8]) -> Option<Result<Self, u32>> {
        let word = |at| bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        let read = match word(0)? {
            magic if u32::from_le_bytes(magic) == MAGIC => u32::from_le_bytes,
            magic if u32::from_be_bytes(magic) == MAGIC => u32::from_be_bytes,
            _ => return None,
        };
        let version = read(word(4)?);
        let known = [Self::V1, Self::V2, Self::V3, Self::V407];
        Some(known.into_iter().find(|known| known.word() == version).ok_or(version))
    }
}

/// Which parts a file has, and how strings are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Strings are padded to words.
    pub padded_strings: bool,
    /// Names have files.
    pub files: bool,
    /// There is a summary.
    pub summary: bool,
    /// Functions have timestamps.
    pub timestamps: bool,
}

impl Layout {
    const V1: Self = Self { padded_strings: true, files: false, summary: false, timestamps: false };
    const V2: Self = Self { padded_strings: false, ..Self::V1 };
    /// Version 3 until January 2026.
    const V3_FILES: Self = Self { files: true, ..Self::V2 };
    /// Version 3 until May 2026.
    const V3_SUMMARY: Self = Self { summary: true, ..Self::V3_FILES };
    const V3: Self = Self { timestamps: true, ..Self::V3_SUMMARY };

    /// The layout that is written for a version.
    pub const fn of(version: Version) -> Self {
        match version {
            Version::V1 | Version::V407 => Self::V1,
            Version::V2 => Self::V2,
            Version::V3 => Self::V3,
        }
    }

    /// The layouts that a version may have, the likelier ones first.
    const fn candidates(version: Version, with_summary: bool) -> &'static [Self] {
        match (version, with_summary) {
            (Version::V3 | Version::V407, true) => &[Self::V3, Self::V3_SUMMARY],
            (Version::V3, false) => &[Self::V3_FILES],
            (Version::V407, false) => &[Self::V1, Self::V2, Self::V3_FILES],
            (Version::V1, _) => &[Self::V1],
            // Debian's `create_gcov` writes strings as in version 1 into files of version 2.
            (Version::V2, _) => &[Self::V2, Self::V1],
        }
    }
}
