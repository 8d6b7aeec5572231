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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Another magic or version.
    Magic,
    /// The file, or a section, ends early.
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// A varint of more than 64 bits.
    Varint,
    /// A number that does not fit its field.
    TooLarge {
        /// Width of the field.
        bytes: u8,
        /// The number.
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
    /// A section outside the file, or without a byte.
    OutOfBounds {
        /// Its start.
        start: u64,
        /// Its length.
        size: u64,
        /// Bytes between the end of the file and its own.
        missing: u64,
    },
    /// Two sections share bytes.
    Overlap,
    /// A section of another type than the one referred to or due.
    SectionType {
        /// The type due.
        expected: u8,
        /// The type found.
        found: u8,
    },
    /// A reference to a section that does not exist.
    SectionIndex(u32),
    /// A section that another file also has, or that symbols share so often that a small file would mean an
    /// enormous profile.
    SharedSection(u32),
    /// Bytes of a section that belong to nothing.
    Trailing(u64),
    /// Header flags that have no meaning.
    HeaderFlags(u8),
    /// A section type that has no meaning.
    UnknownSection(u8),
    /// A location type that has no meaning.
    UnknownLocation(u8),
    /// No entry for the unknown file.
    NoUnknownFile,
    /// Two entries for one file.
    DuplicateFile,
    /// A file name without a NUL at its end, or with one inside.
    FileName,
    /// A symbol name with a NUL inside.
    SymbolName,
    /// An empty symbol name. Writers must not use one.
    NoName,
    /// A string table that does not hold each of its strings once.
    Strings {
        /// Strings announced.
        expected: u32,
        /// Strings found.
        found: u32,
    },
    /// A string number out of range or used twice.
    StringId(u32),
    /// A trie too deep, or with strings too long for a file of this size.
    Trie,
    /// A node of a trie that leads to no string.
    EmptyNode,
    /// A symbol id outside the range of its file.
    SymbolRange(u32),
    /// A symbol id, or a name of one file, for the second time.
    DuplicateSymbol(u32),
    /// Fewer symbols than the range of the file.
    MissingSymbols {
        /// Ids in the range.
        expected: u64,
        /// Symbols found.
        found: u64,
    },
    /// A reference to a symbol that does not exist.
    SymbolId(u32),
    /// Inlining too deep.
    Depth,
    /// A second record of a kind at one place.
    DuplicateLocation,
    /// A discriminator 0 that is written.
    ZeroDiscriminator,
    /// A call site without a target, or with a single one in the type for several.
    Targets(u32),
    /// The summary does not fit the counts.
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

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => f.write_str("expected \"gcov\" and version 4"),
            Self::Truncated { part, expected, found } => {
                write!(f, "{part} cut short: expected {expected} more bytes, found {found}")
            }
            Self::Varint => f.write_str("expected a varint of at most 64 bits"),
            Self::TooLarge { bytes, found } => {
                write!(f, "expected a number of {bytes} bytes, found {found}")
            }
            Self::Count { part, most, found } => {
                write!(f, "{part}: {found} announced, but the file has bytes for {most} at most")
            }
            Self::OutOfBounds { start, size: 0, .. } => {
                write!(f, "section at {start:#x} has not even its first byte")
            }
            Self::OutOfBounds { start, size, missing } => write!(
                f,
                "section of {size} bytes at {start:#x} ends {missing} bytes behind the end of the file"
            ),
            Self::Overlap => f.write_str("section overlaps the one before it"),
            Self::SectionType { expected, found } => {
                write!(f, "expected a section of type {expected}, found type {found}")
            }
            Self::SectionIndex(index) => write!(f, "there is no section {index}"),
            Self::SharedSection(index) => write!(f, "section {index} is that of another, too"),
            Self::Trailing(bytes) => write!(f, "{bytes} bytes behind the section's contents"),
            Self::HeaderFlags(flags) => write!(f, "header flags {flags:#04x} have no meaning"),
            Self::UnknownSection(kind) => write!(f, "section of unknown type {kind}, skipped"),
            Self::UnknownLocation(kind) => write!(f, "location of unknown type {kind}, skipped"),
            Self::NoUnknownFile => f.write_str("no entry for symbols of unknown file"),
            Self::DuplicateFile => f.write_str("second entry for this file"),
            Self::FileName => f.write_str("expected a file name with one NUL, at its end"),
            Self::SymbolName => f.write_str("expected a symbol name without NUL"),
            Self::NoName => f.write_str("symbol without a name"),
            Self::Strings { expected, found } => {
                write!(f, "expected {expected} strings in the table, found {found}")
            }
            Self::StringId(id) => write!(f, "string {id} out of range, or for the second time"),
            Self::Trie => f.write_str("strings too long for the size of the file, or too deep"),
            Self::EmptyNode => f.write_str("node of the string table without a string"),
            Self::SymbolRange(id) => write!(f, "symbol {id} outside the range of its file"),
            Self::DuplicateSymbol(id) => write!(f, "symbol {id} for the second time"),
            Self::MissingSymbols { expected, found } => {
                write!(f, "expected {expected} symbols of the file, found {found}")
            }
            Self::SymbolId(id) => write!(f, "there is no symbol {id}"),
            Self::Depth => f.write_str("functions inlined into each other too deep"),
            Self::DuplicateLocation => f.write_str("second record of its kind at this place"),
            Self::ZeroDiscriminator => f.write_str("discriminator 0 written out"),
            Self::Targets(number) => write!(f, "call site with {number} targets"),
            Self::Summary => f.write_str("summary differs from the counts"),
        }
    }
}
