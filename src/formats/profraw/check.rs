//! What can be wrong with a raw profile, and what a reader may tolerate.

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Is told each defect that is tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A section of a profile, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Section {
    /// Magic, version and sizes.
    #[error("header")]
    Header,
    /// Build-ids of the image.
    #[error("binary ids")]
    BinaryIds,
    /// Records of functions.
    #[error("records of functions")]
    Records,
    /// Their counters.
    #[error("counters")]
    Counters,
    /// Their bitmaps.
    #[error("bitmaps")]
    Bitmaps,
    /// Counters of graphics processors.
    #[error("uniform counters")]
    Uniform,
    /// Names of functions.
    #[error("names")]
    Names,
    /// Virtual tables.
    #[error("virtual tables")]
    VTables,
    /// Names of virtual tables.
    #[error("names of virtual tables")]
    VTableNames,
    /// Value data.
    #[error("values")]
    Values,
}

/// A defect of a raw profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Another magic.
    #[error("expected the magic of a raw LLVM profile")]
    Magic,
    /// An unknown version.
    #[error("expected version 5 or 7 to 11, found {0}")]
    Version(u32),
    /// The file ends early.
    #[error("{section} cut short: expected {expected} more bytes, found {found}")]
    Truncated {
        /// What was being read.
        section: Section,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// Another number of value kinds.
    #[error("expected value kinds up to {expected}, found {found}")]
    LastKind {
        /// The number of the version's last kind.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The functions are described by the program's debug information.
    #[error(
        "the program was built for debug-info correlation: its functions are in its debug information, \
         not here"
    )]
    DebugInfoCorrelation,
    /// The functions are described by sections of the program's file that are not loaded.
    #[error(
        "the program was built for binary correlation: its functions are in its file, not here"
    )]
    BinaryCorrelation,
    /// Another machine or version than the first profile of the file has.
    #[error("expected a profile of the same machine and version as the first one")]
    Mixed,
    /// Another variant than the first profile of the file has.
    #[error("instrumented in another way than the first profile")]
    Variant,
    /// The names are not compressed in a known way, or are damaged.
    #[error("expected names that are plain or compressed by zlib")]
    Compression,
    /// The names claim more bytes than the file can hold.
    #[error("names of {0} bytes, more than the file can justify")]
    LargeNames(u64),
    /// The names do not have the length announced.
    #[error("expected names of {expected} bytes, found {found}")]
    NamesLength {
        /// Bytes announced.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// There is no name with this number.
    #[error("no name has the number {0:#018x}")]
    UnknownName(u64),
    /// A function without counters.
    #[error("a function without counters")]
    NoCounters,
    /// Something outside its section.
    #[error("{section} of {size} bytes do not have {length} bytes at {start}")]
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
    #[error("expected value data of {expected} bytes, found {found}")]
    Values {
        /// Bytes announced.
        expected: u64,
        /// Bytes that the numbers of values add up to.
        found: u64,
    },
    /// A value kind that this version does not have, or one out of order.
    #[error("unexpected value kind {0}")]
    ValueKind(u32),
    /// Another number of value sites than the function's record has.
    #[error("expected {expected} value sites, found {found}")]
    Sites {
        /// The record's.
        expected: u64,
        /// The values'.
        found: u64,
    },
    /// A counter so large that the profile is probably damaged.
    #[error("count {0}, so large that the file is probably damaged")]
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
