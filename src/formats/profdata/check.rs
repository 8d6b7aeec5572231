//! What can be wrong with a file, and what a reader may tolerate.

use core::fmt;

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Is told each defect that is tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Magic, version, offsets.
    Header,
    /// How the counts are distributed.
    Summary,
    /// The hash table, and its items before the records.
    Table,
    /// The records of a function, within its item.
    Records,
    /// Build-ids.
    BinaryIds,
    /// Names of virtual tables.
    VTables,
    /// Temporal profile traces.
    Traces,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Summary => "summary",
            Self::Table => "hash table",
            Self::Records => "records",
            Self::BinaryIds => "build-ids",
            Self::VTables => "names of virtual tables",
            Self::Traces => "traces",
        })
    }
}

/// A defect of an indexed profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Another magic.
    Magic,
    /// A version that is not known.
    Version(u32),
    /// Another hash than MD5.
    HashKind(u64),
    /// A memory profile, which is not read.
    MemoryProfile,
    /// The file ends early, or a part does.
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// More things announced than the bytes left can hold.
    Count {
        /// What was being read.
        part: Part,
        /// Most that the bytes left can hold.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// An offset of a part that cannot be there.
    Offset {
        /// The part.
        part: Part,
        /// The smallest that is possible.
        least: u64,
        /// The offset found.
        found: u64,
    },
    /// A number of buckets that is not a power of two.
    Buckets(u64),
    /// A bucket that begins within the one before it.
    Overlap,
    /// Another number of names than the hash table says.
    Entries {
        /// The number in the table.
        expected: u64,
        /// The number of items.
        found: u64,
    },
    /// An item whose hash is not that of its name.
    NameHash {
        /// The name's.
        expected: u64,
        /// The item's.
        found: u64,
    },
    /// An item in a bucket where no reader looks for it.
    Bucket {
        /// Where it should be.
        expected: u64,
        /// Where it is.
        found: u64,
    },
    /// An unknown value kind, or one that the record had before.
    ValueKind(u32),
    /// Value data of another size than announced.
    ValueSize {
        /// Bytes taken.
        expected: u64,
        /// Bytes announced.
        found: u64,
    },
    /// A number of more than 64 bits.
    Leb128,
    /// Compressed names that cannot be unpacked to the announced length.
    Compressed,
    /// A second record of this name and hash.
    DuplicateRecord,
    /// A second item of this name.
    DuplicateName,
    /// Bits of the variant that are not known.
    Variant(u64),
    /// Another number of totals or of cutoffs than LLVM writes.
    SummaryShape {
        /// Number of totals.
        totals: u64,
        /// Number of cutoffs.
        cutoffs: u64,
    },
    /// The summary does not fit the counts.
    Summary,
    /// A bitmap of uniformity, which is not kept.
    Uniformity,
    /// Something between parts that should be zeros.
    Padding(Part),
    /// Bytes that belong to nothing.
    Unused(u64),
}

impl Defect {
    /// Whether the rest of the file can be trusted all the same.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::NameHash { .. }
                | Self::Bucket { .. }
                | Self::DuplicateRecord
                | Self::DuplicateName
                | Self::Variant(_)
                | Self::SummaryShape { .. }
                | Self::Summary
                | Self::Uniformity
                | Self::Padding(_)
                | Self::Unused(_)
        )
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => f.write_str("expected the magic of an indexed LLVM profile"),
            Self::Version(found) => write!(
                f,
                "expected version {} to {}, found {found}",
                super::Version::OLDEST.number(),
                super::Version::NEWEST.number()
            ),
            Self::HashKind(found) => write!(f, "expected hash kind 0, found {found}"),
            Self::MemoryProfile => f.write_str(
                "the file has a memory profile (memprof), which is not supported; \
                 merge without it",
            ),
            Self::Truncated { part, expected, found } => {
                write!(f, "{part} cut short: expected {expected} more bytes, found {found}")
            }
            Self::Count { part, most, found } => {
                write!(f, "{part}: {found} announced, but there are bytes for {most} at most")
            }
            Self::Offset { part, least, found } => {
                write!(
                    f,
                    "{part}: expected an offset in the file from {least:#x} on, found {found:#x}"
                )
            }
            Self::Buckets(found) => {
                write!(f, "expected a power of two as the number of buckets, found {found}")
            }
            Self::Overlap => f.write_str("bucket begins within another one"),
            Self::Entries { expected, found } => {
                write!(f, "expected {expected} functions in the hash table, found {found}")
            }
            Self::NameHash { expected, found } => {
                write!(f, "expected {expected:#x} as the hash of the name, found {found:#x}")
            }
            Self::Bucket { expected, found } => {
                write!(f, "expected the function in bucket {expected}, found it in {found}")
            }
            Self::ValueKind(found) => write!(f, "unexpected value kind {found}"),
            Self::ValueSize { expected, found } => {
                write!(f, "value data takes {expected} bytes, but {found} are announced")
            }
            Self::Leb128 => f.write_str("number of more than 64 bits"),
            Self::Compressed => f.write_str("compressed names cannot be unpacked"),
            Self::DuplicateRecord => f.write_str("second record of this name and hash"),
            Self::DuplicateName => f.write_str("second function of this name"),
            Self::Variant(bits) => write!(f, "unknown bits {bits:#x} beside the version"),
            Self::SummaryShape { totals, cutoffs } => write!(
                f,
                "expected a summary of 6 totals and 16 cutoffs, found {totals} and {cutoffs}"
            ),
            Self::Summary => f.write_str("summary differs from the counts"),
            Self::Uniformity => f.write_str("bitmap of uniformity, which is not kept"),
            Self::Padding(part) => write!(f, "{part}: expected zeros between parts"),
            Self::Unused(bytes) => write!(f, "{bytes} bytes that belong to nothing"),
        }
    }
}
