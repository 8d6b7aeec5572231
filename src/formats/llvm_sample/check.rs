//! The defects of a file, and which of them a reader may tolerate.

/// A defect and its offset. In a compressed section, the offset is that of the section.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Receives each tolerated defect.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Part {
    /// Magic and version.
    #[error("header")]
    Header,
    /// The table of sections.
    #[error("table of sections")]
    Table,
    /// The summary: totals and cutoffs.
    #[error("summary")]
    Summary,
    /// Names of functions.
    #[error("names")]
    Names,
    /// Chains of call sites.
    #[error("contexts")]
    Contexts,
    /// Offsets of functions.
    #[error("offsets of functions")]
    Offsets,
    /// The counts.
    #[error("functions")]
    Functions,
    /// Symbols of the program.
    #[error("list of symbols")]
    SymbolList,
    /// Checksums and attributes.
    #[error("metadata")]
    Metadata,
}

/// A defect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Another magic.
    #[error("expected the magic of a sample profile of LLVM")]
    Magic,
    /// Another version than 103.
    #[error("expected version 103, found {0}")]
    Version(u64),
    /// The file or section ends early.
    #[error("{part}: expected {expected} more bytes, found {found}")]
    Truncated {
        /// The part that was read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// A number of items that needs more bytes than are left.
    #[error("{part}: expected at most {most}, found {found}")]
    Count {
        /// The part that was read.
        part: Part,
        /// The largest number that the bytes left can hold.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// A ULEB128 number of more than 64 bits.
    #[error("a number of more than 64 bits")]
    Leb128,
    /// A number too large for its field.
    #[error("expected at most {most}, found {found}")]
    Number {
        /// The largest one.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// A name of length 0.
    #[error("an empty name")]
    Name,
    /// A name that does not exist.
    #[error("there is no name {0}")]
    NameIndex(u64),
    /// A context that does not exist.
    #[error("there is no context {0}")]
    ContextIndex(u64),
    /// A context without frames.
    #[error("a context without frames")]
    NoFrames,
    /// Functions inlined into each other too deep.
    #[error("functions inlined into each other too deep")]
    Depth,
    /// A required section that is missing, or that the file has twice.
    #[error("expected one section of {0}")]
    Sections(Part),
    /// A section of unknown kind.
    #[error("unknown section of kind {0}")]
    UnknownSection(u64),
    /// A section that cannot be decompressed, or decompresses to another size.
    #[error("{0}: cannot be decompressed")]
    Compression(Part),
    /// A compressed section that would be much larger than the file justifies.
    #[error("expected at most {most} bytes when decompressed, found {found}")]
    LargeSection {
        /// The largest size that is justified.
        most: u64,
        /// The size that the file claims.
        found: u64,
    },
    /// A second record for one position, target or inlined function.
    #[error("a second record for the same place")]
    DuplicateLocation,
    /// A second function of the same name or context.
    #[error("a second function of the same name")]
    DuplicateFunction,
    /// An offset that does not lead to its function.
    #[error("offset {0:#x} leads to another function")]
    Offset(u64),
    /// Functions without an offset.
    #[error("{0} functions have no offset")]
    NoOffset(u64),
    /// Metadata of a function that has no counts.
    #[error("metadata of a function that has no counts")]
    Metadata,
    /// The summary does not fit the counts.
    #[error("the summary does not fit the counts")]
    Summary,
    /// Types of virtual tables, which the reader skips.
    #[error("types of virtual tables are left out")]
    VirtualTables,
    /// Bytes behind the end of a part.
    #[error("{bytes} bytes behind the {part}")]
    Trailing {
        /// The part.
        part: Part,
        /// Number of bytes.
        bytes: u64,
    },
}

impl Defect {
    /// Whether the reader can still trust the rest of the file.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::UnknownSection(_)
                | Self::DuplicateLocation
                | Self::DuplicateFunction
                | Self::Offset(_)
                | Self::NoOffset(_)
                | Self::Metadata
                | Self::Summary
                | Self::VirtualTables
                | Self::Trailing { .. }
        )
    }
}
