//! The defects of a file, and which of them a reader may tolerate.

use core::fmt;

/// A defect and its offset. In a compressed section, the offset is that of the section.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Receives each tolerated defect.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Magic and version.
    Header,
    /// The table of sections.
    Table,
    /// The summary: totals and cutoffs.
    Summary,
    /// Names of functions.
    Names,
    /// Chains of call sites.
    Contexts,
    /// Offsets of functions.
    Offsets,
    /// The counts.
    Functions,
    /// Symbols of the program.
    SymbolList,
    /// Checksums and attributes.
    Metadata,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Table => "table of sections",
            Self::Summary => "summary",
            Self::Names => "names",
            Self::Contexts => "contexts",
            Self::Offsets => "offsets of functions",
            Self::Functions => "functions",
            Self::SymbolList => "list of symbols",
            Self::Metadata => "metadata",
        })
    }
}

/// A defect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Another magic.
    Magic,
    /// Another version than 103.
    Version(u64),
    /// The file or section ends early.
    Truncated {
        /// The part that was read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// A number of items that needs more bytes than are left.
    Count {
        /// The part that was read.
        part: Part,
        /// The largest number that the bytes left can hold.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// A ULEB128 number of more than 64 bits.
    Leb128,
    /// A number too large for its field.
    Number {
        /// The largest one.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// A name of length 0.
    Name,
    /// A name that does not exist.
    NameIndex(u64),
    /// A context that does not exist.
    ContextIndex(u64),
    /// A context without frames.
    NoFrames,
    /// Functions inlined into each other too deep.
    Depth,
    /// A required section that is missing, or that the file has twice.
    Sections(Part),
    /// A section of unknown kind.
    UnknownSection(u64),
    /// A section that cannot be decompressed, or decompresses to another size.
    Compression(Part),
    /// A compressed section that would be much larger than the file justifies.
    LargeSection {
        /// The largest size that is justified.
        most: u64,
        /// The size that the file claims.
        found: u64,
    },
    /// A second record for one position, target or inlined function.
    DuplicateLocation,
    /// A second function of the same name or context.
    DuplicateFunction,
    /// An offset that does not lead to its function.
    Offset(u64),
    /// Functions without an offset.
    NoOffset(u64),
    /// Metadata of a function that has no counts.
    Metadata,
    /// The summary does not fit the counts.
    Summary,
    /// Types of virtual tables, which the reader skips.
    VirtualTables,
    /// Bytes behind the end of a part.
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

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => f.write_str("expected the magic of a sample profile of LLVM"),
            Self::Version(found) => write!(f, "expected version 103, found {found}"),
            Self::Truncated { part, expected, found } => {
                write!(f, "{part}: expected {expected} more bytes, found {found}")
            }
            Self::Count { part, most, found } => {
                write!(f, "{part}: expected at most {most}, found {found}")
            }
            Self::Leb128 => f.write_str("a number of more than 64 bits"),
            Self::Number { most, found } => write!(f, "expected at most {most}, found {found}"),
            Self::Name => f.write_str("an empty name"),
            Self::NameIndex(index) => write!(f, "there is no name {index}"),
            Self::ContextIndex(index) => write!(f, "there is no context {index}"),
            Self::NoFrames => f.write_str("a context without frames"),
            Self::Depth => f.write_str("functions inlined into each other too deep"),
            Self::Sections(part) => write!(f, "expected one section of {part}"),
            Self::UnknownSection(kind) => write!(f, "unknown section of kind {kind}"),
            Self::Compression(part) => write!(f, "{part}: cannot be decompressed"),
            Self::LargeSection { most, found } => {
                write!(f, "expected at most {most} bytes when decompressed, found {found}")
            }
            Self::DuplicateLocation => f.write_str("a second record for the same place"),
            Self::DuplicateFunction => f.write_str("a second function of the same name"),
            Self::Offset(offset) => write!(f, "offset {offset:#x} leads to another function"),
            Self::NoOffset(number) => write!(f, "{number} functions have no offset"),
            Self::Metadata => f.write_str("metadata of a function that has no counts"),
            Self::Summary => f.write_str("the summary does not fit the counts"),
            Self::VirtualTables => f.write_str("types of virtual tables are left out"),
            Self::Trailing { part, bytes } => write!(f, "{bytes} bytes behind the {part}"),
        }
    }
}
