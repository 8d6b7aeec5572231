//! What can be wrong with notes and data files.

use core::fmt;

use crate::formats::Finding;
use crate::raw::gcov::Version;
use crate::raw::kind::Kind;

/// What is wrong with a notes or data file, and where.
pub type WordError = Finding<WordDefect>;

/// A defect of a notes or data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordDefect {
    /// The magic is another.
    #[error("expected magic \"{}\", found {found:#010x}", .expected.escape_ascii())]
    Magic {
        /// The four letters expected.
        expected: [u8; 4],
        /// The word found.
        found: u32,
    },
    /// An unknown compiler.
    #[error("expected a file of gcc 10 to 17, found {0}")]
    Version(Version),
    /// The file ends early.
    #[error("{part} cut short: expected {expected} more bytes, found {found}")]
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// A record's length does not fit its content.
    #[error("{}: impossible length of {found} bytes", Part::Record(*.tag))]
    Length {
        /// Tag of the record.
        tag: u32,
        /// The length in bytes.
        found: u64,
    },
    /// A record that must follow another stands alone.
    #[error("{} without the record it belongs to", Part::Record(*.0))]
    Order(u32),
    /// A block number beyond the function's blocks.
    #[error("expected a block number below {blocks}, found {found}")]
    Block {
        /// Number of blocks of the function.
        blocks: u32,
        /// The number found.
        found: u32,
    },
    /// More conditions of a decision than a counter has bits.
    #[error("expected a decision of at most 64 conditions, found {0}")]
    Conditions(u32),
}

/// A part of a notes or data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The part before the records.
    Header,
    /// Tag and length of a record.
    RecordHead,
    /// The content of a record with this tag.
    Record(u32),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = match *self {
            Self::Header => return f.write_str("header"),
            Self::RecordHead => return f.write_str("tag and length of a record"),
            Self::Record(tag) => tag,
        };
        match (tag, Kind::from_tag(tag)) {
            (_, Some(Kind(kind))) => write!(f, "record COUNTERS of kind {kind}"),
            (0x0100_0000, _) => f.write_str("record FUNCTION"),
            (0x0141_0000, _) => f.write_str("record BLOCKS"),
            (0x0143_0000, _) => f.write_str("record ARCS"),
            (0x0145_0000, _) => f.write_str("record LINES"),
            (0x0147_0000, _) => f.write_str("record CONDITIONS"),
            (0xa100_0000, _) => f.write_str("record OBJECT_SUMMARY"),
            _ => write!(f, "record {tag:#010x}"),
        }
    }
}
