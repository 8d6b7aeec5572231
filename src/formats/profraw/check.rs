//! What can be wrong with a raw profile, and what a reader may tolerate.

use core::fmt;

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Is told each defect that is tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A section of a profile, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Magic, version and sizes.
    Header,
    /// Build-ids of the image.
    BinaryIds,
    /// Records of functions.
    Records,
    /// Their counters.
    Counters,
    /// Their bitmaps.
    Bitmaps,
    /// Counters of graphics processors.
    Uniform,
    /// Names of functions.
    Names,
    /// Virtual tables.
    VTables,
    /// Names of virtual tables.
    VTableNames,
    /// Value data.
    Values,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::BinaryIds => "binary ids",
            Self::Records => "records of functions",
            Self::Counters => "counters",
            Self::Bitmaps => "bitmaps",
            Self::Uniform => "uniform counters",
            Self::Names => "names",
            Self::VTables => "virtual tables",
            Self::VTableNames => "names of virtual tables",
            Self::Values => "values",
        })
    }
}

/// A defect of a raw profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Another magic.
    Magic,
    /// An unknown version.
    Version(u32),
    /// The file ends early.
    Truncated {
        /// What was being read.
        section: Section,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// Another number of value kinds.
    LastKind {
        /// The number of the version's last kind.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The functions are described by the program's debug information.
    DebugInfoCorrelation,
    /// The functions are described by sections of the program's file that are not loaded.
    BinaryCorrelation,
    /// Another machine or version than the first profile of the file has.
    Mixed,
    /// Another variant than the first profile of the file has.
    Variant,
    /// The names are not compressed in a known way, or are damaged.
    Compression,
    /// The names claim more bytes than the file can hold.
    LargeNames(u64),
    /// The names do not have the length announced.
    NamesLength {
        /// Bytes announced.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// There is no name with this number.
    UnknownName(u64),
    /// A function without counters.
    NoCounters,
    /// Something outside its section.
    Outside {
        /// The section.
        section: Section,
        /// Its bytes.
        size: u64,
        /// Where the thing starts in it, as a signed number.
        start: i64,
        /// Bytes of the thing.
        length: u64,
    },
    /// Value data whose sizes contradict each other.
    Values {
        /// Bytes announced.
        expected: u64,
        /// Bytes that the numbers of values add up to.
        found: u64,
    },
    /// A value kind that this version does not have, or one out of order.
    ValueKind(u32),
    /// Another number of value sites than the function's record has.
    Sites {
        /// The record's.
        expected: u64,
        /// The values'.
        found: u64,
    },
    /// A counter so large that the profile is probably damaged.
    LargeCount(u64),
}

impl Defect {
    /// Whether the rest of the file can be trusted all the same.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::LastKind { .. }
                | Self::Variant
                | Self::UnknownName(_)
                | Self::Sites { .. }
                | Self::LargeCount(_)
        )
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => f.write_str("expected the magic of a raw LLVM profile"),
            Self::Version(found) => write!(f, "expected version 5 or 7 to 11, found {found}"),
            Self::Truncated { section, expected, found } => {
                write!(f, "{section} cut short: expected {expected} more bytes, found {found}")
            }
            Self::LastKind { expected, found } => {
                write!(f, "expected value kinds up to {expected}, found {found}")
            }
            Self::DebugInfoCorrelation => f.write_str(
                "the program was built for debug-info correlation: its functions are in its \
                 debug information, not here",
            ),
            Self::BinaryCorrelation => f.write_str(
                "the program was built for binary correlation: its functions are in its file, \
                 not here",
            ),
            Self::Mixed => {
                f.write_str("expected a profile of the same machine and version as the first one")
            }
            Self::Variant => f.write_str("instrumented in another way than the first profile"),
            Self::Compression => f.write_str("expected names that are plain or compressed by zlib"),
            Self::LargeNames(size) => {
                write!(f, "names of {size} bytes, more than the file can justify")
            }
            Self::NamesLength { expected, found } => {
                write!(f, "expected names of {expected} bytes, found {found}")
            }
            Self::UnknownName(name) => write!(f, "no name has the number {name:#018x}"),
            Self::NoCounters => f.write_str("a function without counters"),
            Self::Outside { section, size, start, length } => {
                write!(f, "{section} of {size} bytes do not have {length} bytes at {start}")
            }
            Self::Values { expected, found } => {
                write!(f, "expected value data of {expected} bytes, found {found}")
            }
            Self::ValueKind(kind) => write!(f, "unexpected value kind {kind}"),
            Self::Sites { expected, found } => {
                write!(f, "expected {expected} value sites, found {found}")
            }
            Self::LargeCount(count) => {
                write!(f, "count {count}, so large that the file is probably damaged")
            }
        }
    }
}
