//! What can be wrong with a file, and what a reader may tolerate.

use core::fmt;

use super::section;

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

impl Findings {
    /// The first defect that cannot be tolerated.
    pub(super) fn fatal(&self) -> Option<Finding> {
        self.iter().find(|finding| !finding.defect.is_tolerable()).copied()
    }
}

/// Hears of defects that are tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The part before the sections.
    Header,
    /// A section of this type.
    Section(u8),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::Header => "header",
            Self::Section(section::STRING_TABLE) => "string table",
            Self::Section(section::SUMMARY) => "summary",
            Self::Section(section::FILE_NAMES) => "file names",
            Self::Section(section::SYMBOL_NAMES) => "symbol names",
            Self::Section(section::SYMBOL_INFO) => "symbol info",
            Self::Section(kind) => return write!(f, "section of unknown type {kind}"),
        })
    }
}

/// A defect of a version 4 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Another magic or version.
    #[error("expected \"gcov\" and version 4")]
    Magic,
    /// The file, or a section, ends early.
    #[error("{part} cut short: expected {expected} more bytes, found {found}")]
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// A varint of more than 64 bits.
    #[error("expected a varint of at most 64 bits")]
    Varint,
    /// A number that does not fit its field.
    #[error("expected a number of {bytes} bytes, found {found}")]
    TooLarge {
        /// Width of the field.
        bytes: u8,
        /// The number.
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
    /// A section without a byte, at this offset.
    #[error("section at {0:#x} has not even its first byte")]
    NoFirstByte(u64),
    /// A section outside the file.
    #[error(
        "section of {size} bytes at {start:#x} ends {missing} bytes behind the end of the file"
    )]
    OutOfBounds {
        /// Its start.
        start: u64,
        /// Its length.
        size: u64,
        /// Bytes between the end of the file and its own.
        missing: u64,
    },
    /// Two sections share bytes.
    #[error("section overlaps the one before it")]
    Overlap,
    /// A section of another type than the one referred to or due.
    #[error("expected a section of type {expected}, found type {found}")]
    SectionType {
        /// The type due.
        expected: u8,
        /// The type found.
        found: u8,
    },
    /// A reference to a section that does not exist.
    #[error("there is no section {0}")]
    SectionIndex(u32),
    /// A section that another file also has, or that symbols share so often that a small file would mean an
    /// enormous profile.
    #[error("section {0} is that of another, too")]
    SharedSection(u32),
    /// Bytes of a section that belong to nothing.
    #[error("{0} bytes behind the section's contents")]
    Trailing(u64),
    /// Header flags that have no meaning.
    #[error("header flags {0:#04x} have no meaning")]
    HeaderFlags(u8),
    /// A section type that has no meaning.
    #[error("section of unknown type {0}, skipped")]
    UnknownSection(u8),
    /// A location type that has no meaning.
    #[error("location of unknown type {0}, skipped")]
    UnknownLocation(u8),
    /// No entry for the unknown file.
    #[error("no entry for symbols of unknown file")]
    NoUnknownFile,
    /// Two entries for one file.
    #[error("second entry for this file")]
    DuplicateFile,
    /// A file name without a NUL at its end, or with one inside.
    #[error("expected a file name with one NUL, at its end")]
    FileName,
    /// A symbol name with a NUL inside.
    #[error("expected a symbol name without NUL")]
    SymbolName,
    /// An empty symbol name. Writers must not use one.
    #[error("symbol without a name")]
    NoName,
    /// A string table that does not hold each of its strings once.
    #[error("expected {expected} strings in the table, found {found}")]
    Strings {
        /// Strings announced.
        expected: u32,
        /// Strings found.
        found: u32,
    },
    /// A string number out of range or used twice.
    #[error("string {0} out of range, or for the second time")]
    StringId(u32),
    /// A trie too deep, or with strings too long for a file of this size.
    #[error("strings too long for the size of the file, or too deep")]
    Trie,
    /// A node of a trie that leads to no string.
    #[error("node of the string table without a string")]
    EmptyNode,
    /// A symbol id outside the range of its file.
    #[error("symbol {0} outside the range of its file")]
    SymbolRange(u32),
    /// A symbol id, or a name of one file, for the second time.
    #[error("symbol {0} for the second time")]
    DuplicateSymbol(u32),
    /// Fewer symbols than the range of the file.
    #[error("expected {expected} symbols of the file, found {found}")]
    MissingSymbols {
        /// Ids in the range.
        expected: u64,
        /// Symbols found.
        found: u64,
    },
    /// A reference to a symbol that does not exist.
    #[error("there is no symbol {0}")]
    SymbolId(u32),
    /// Inlining too deep.
    #[error("functions inlined into each other too deep")]
    Depth,
    /// A second record of a kind at one place.
    #[error("second record of its kind at this place")]
    DuplicateLocation,
    /// A discriminator 0 that is written.
    #[error("discriminator 0 written out")]
    ZeroDiscriminator,
    /// A call site without a target, or with a single one in the type for several.
    #[error("call site with {0} targets")]
    Targets(u32),
    /// The summary does not fit the counts.
    #[error("summary differs from the counts")]
    Summary,
}

impl Defect {
    /// Whether the rest of the file can be trusted all the same.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::HeaderFlags(_)
                | Self::UnknownSection(_)
                | Self::UnknownLocation(_)
                | Self::NoUnknownFile
                | Self::Trailing(_)
                | Self::EmptyNode
                | Self::NoName
                | Self::MissingSymbols { .. }
                | Self::DuplicateLocation
                | Self::ZeroDiscriminator
                | Self::Targets(_)
                | Self::Summary
        )
    }

    /// Whether the format allows it: such extensions older readers skip.
    pub const fn is_extension(&self) -> bool {
        matches!(self, Self::UnknownSection(_) | Self::UnknownLocation(_))
    }
}
