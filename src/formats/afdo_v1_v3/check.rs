//! What can be wrong with a file, and what a reader may tolerate.

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Hears of defects that are tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Part {
    /// Magic and version.
    #[error("header")]
    Header,
    /// How the counts are distributed.
    #[error("summary")]
    Summary,
    /// Names of files.
    #[error("file names")]
    Files,
    /// Names of functions.
    #[error("names")]
    Names,
    /// The counts.
    #[error("functions")]
    Functions,
    /// A part that is always empty.
    #[error("modules")]
    Modules,
    /// A part that is always zero.
    #[error("working set")]
    WorkingSet,
}

/// A defect of a file before version 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Another magic or version.
    #[error("expected \"adcg\" and version 1, 2, 3 or 0x3430372a")]
    Magic,
    /// Another word was due.
    #[error("expected {expected:#x}, found {found:#x}")]
    Word {
        /// The word due.
        expected: u32,
        /// The word found.
        found: u32,
    },
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
    /// More things than there are bytes for.
    #[error("{part}: {found} announced, but the file has bytes for {most} at most")]
    Count {
        /// What was being read.
        part: Part,
        /// Most that the bytes left can hold.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// A string of length 0, or without its NUL, or with one inside.
    #[error("expected a name with one NUL, at its end")]
    Name,
    /// A name that does not exist, or the empty first one.
    #[error("there is no name {0}{note}", note = if *.0 == 0 { ": compilers stop at it" } else { "" })]
    NameIndex(u64),
    /// A file number that does not exist.
    #[error("there is no file {0}")]
    FileIndex(u32),
    /// Functions inlined into each other too deep.
    #[error("functions inlined into each other too deep")]
    Depth,
    /// A layout that the version no longer has, or never had.
    #[error("layout that compilers do not read in this version")]
    Layout,
    /// A first name that is not empty.
    #[error("expected an empty name as the first")]
    FirstName,
    /// A second record for one location, target or inlined function.
    #[error("second record of its kind at this place")]
    DuplicateLocation,
    /// A second function of the same name.
    #[error("second function of this name")]
    DuplicateFunction,
    /// A target with an unknown type: there is only one.
    #[error("expected targets of type {due}, found {0}", due = super::INDIRECT_CALL)]
    TargetType(u32),
    /// A count above 2^63-1.
    #[error("count {0}, which compilers take for a negative one")]
    LargeCount(u64),
    /// More cutoffs than compilers have room for, or too few.
    #[error("expected 16 cutoffs, found {0}")]
    Cutoffs(u64),
    /// The summary does not fit the counts.
    #[error("summary differs from the counts")]
    Summary,
    /// The working set is missing or cut short.
    #[error("working set is missing or cut short, by {missing} bytes")]
    WorkingSet {
        /// Bytes missing.
        missing: u64,
    },
    /// Bytes behind the end.
    #[error("{0} bytes behind the end")]
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
