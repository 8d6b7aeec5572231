//! What can be wrong with a file, and what a reader may tolerate.

use core::fmt;

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Hears of defects that are tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Magic and version.
    Header,
    /// How the counts are distributed.
    Summary,
    /// Names of files.
    Files,
    /// Names of functions.
    Names,
    /// The counts.
    Functions,
    /// A part that is always empty.
    Modules,
    /// A part that is always zero.
    WorkingSet,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Summary => "summary",
            Self::Files => "file names",
            Self::Names => "names",
            Self::Functions => "functions",
            Self::Modules => "modules",
            Self::WorkingSet => "working set",
        })
    }
}

/// A defect of a file before version 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Another magic or version.
    Magic,
    /// Another word was due.
    Word {
        /// The word due.
        expected: u32,
        /// The word found.
        found: u32,
    },
    /// The file ends early.
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// More things than there are bytes for.
    Count {
        /// What was being read.
        part: Part,
        /// Most that the bytes left can hold.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// A string of length 0, or without its NUL, or with one inside.
    Name,
    /// A name that does not exist, or the empty first one.
    NameIndex(u64),
    /// A file number that does not exist.
    FileIndex(u32),
    /// Functions inlined into each other too deep.
    Depth,
    /// A layout that the version no longer has, or never had.
    Layout,
    /// A first name that is not empty.
    FirstName,
    /// A second record for one location, target or inlined function.
    DuplicateLocation,
    /// A second function of the same name.
    DuplicateFunction,
    /// A target with an unknown type: there is only one.
    TargetType(u32),
    /// A count above 2^63-1.
    LargeCount(u64),
    /// More cutoffs than compilers have room for, or too few.
    Cutoffs(u64),
    /// The summary does not fit the counts.
    Summary,
    /// The working set is missing or cut short.
    WorkingSet {
        /// Bytes missing.
        missing: u64,
    },
    /// Bytes behind the end.
    Trailing(u64),
}

impl Defect {
    /// Whether the rest of the file can be trusted all the same.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::Layout
                | Self::FirstName
                | Self::DuplicateLocation
                | Self::DuplicateFunction
                | Self::TargetType(_)
                | Self::LargeCount(_)
                | Self::Cutoffs(_)
                | Self::Summary
                | Self::WorkingSet { .. }
                | Self::Trailing(_)
        )
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => f.write_str("expected \"adcg\" and version 1, 2, 3 or 0x3430372a"),
            Self::Word { expected, found } => {
                write!(f, "expected {expected:#x}, found {found:#x}")
            }
            Self::Truncated { part, expected, found } => {
                write!(f, "{part} cut short: expected {expected} more bytes, found {found}")
            }
            Self::Count { part, most, found } => {
                write!(f, "{part}: {found} announced, but the file has bytes for {most} at most")
            }
            Self::Name => f.write_str("expected a name with one NUL, at its end"),
            Self::NameIndex(0) => f.write_str("name 0, at which compilers stop"),
            Self::NameIndex(index) => write!(f, "there is no name {index}"),
            Self::FileIndex(index) => write!(f, "there is no file {index}"),
            Self::Depth => f.write_str("functions inlined into each other too deep"),
            Self::Layout => f.write_str("layout that compilers do not read in this version"),
            Self::FirstName => f.write_str("expected an empty name as the first"),
            Self::DuplicateLocation => f.write_str("second record of its kind at this place"),
            Self::DuplicateFunction => f.write_str("second function of this name"),
            Self::TargetType(found) => {
                write!(f, "expected targets of type {}, found {found}", super::INDIRECT_CALL)
            }
            Self::LargeCount(found) => {
                write!(f, "count {found}, which compilers take for a negative one")
            }
            Self::Cutoffs(found) => write!(f, "expected 16 cutoffs, found {found}"),
            Self::Summary => f.write_str("summary differs from the counts"),
            Self::WorkingSet { missing } => {
                write!(f, "working set is missing or cut short, by {missing} bytes")
            }
            Self::Trailing(bytes) => write!(f, "{bytes} bytes behind the end"),
        }
    }
}
