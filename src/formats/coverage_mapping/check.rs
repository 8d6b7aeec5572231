//! The defects of a coverage mapping.

use core::fmt;

/// A defect and its offset in the section.
pub type Finding = crate::formats::Finding<Defect>;

/// A part of a coverage mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A header of `__llvm_covmap`.
    Header,
    /// The names of source files.
    FileNames,
    /// A header of `__llvm_covfun`.
    Function,
    /// The mapping of a function.
    Mapping,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::FileNames => "file names",
            Self::Function => "record of a function",
            Self::Mapping => "mapping of a function",
        })
    }
}

/// A defect of a coverage mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// An unknown version.
    Version(u32),
    /// A part ends early.
    Truncated(Part),
    /// A number too large for its field.
    Number(Part),
    /// The file names are neither plain nor compressed by zlib, or are damaged.
    Compression,
    /// The file names claim more bytes than the section can justify.
    LargeFileNames(u64),
    /// The file names decompress to another length than the header claims.
    FileNamesLength {
        /// Bytes that the header claims.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// No object has the file names that a function refers to.
    UnknownFileNames(u64),
    /// An index behind the end of its list.
    Index {
        /// The list.
        what: Indexed,
        /// The length of the list.
        number: u64,
        /// The index.
        found: u64,
    },
    /// A kind of region that no known version has.
    Kind(u64),
    /// An expression that has itself as a part.
    Circle(u32),
    /// Bytes behind the last region.
    Rest(u64),
}

/// A list that an index refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// Names of source files.
    FileName,
    /// Files of a function.
    File,
    /// Expressions of a function.
    Expression,
    /// Counters of a function.
    Counter,
}

impl fmt::Display for Indexed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FileName => "file name",
            Self::File => "file",
            Self::Expression => "expression",
            Self::Counter => "counter",
        })
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Version(found) => {
                write!(f, "coverage mapping: expected version 4 to 7, found {found}")
            }
            Self::Truncated(part) => write!(f, "coverage mapping: {part} cut short"),
            Self::Number(part) => write!(f, "coverage mapping: {part}: a number is too large"),
            Self::Compression => f.write_str(
                "coverage mapping: expected file names that are plain or compressed by zlib",
            ),
            Self::LargeFileNames(size) => write!(
                f,
                "coverage mapping: file names of {size} bytes, more than the file can justify"
            ),
            Self::FileNamesLength { expected, found } => write!(
                f,
                "coverage mapping: expected file names of {expected} bytes, found {found}"
            ),
            Self::UnknownFileNames(number) => {
                write!(f, "coverage mapping: no file names have the number {number:#018x}")
            }
            Self::Index { what, number, found } => {
                write!(f, "coverage mapping: expected {what} below {number}, found {found}")
            }
            Self::Kind(kind) => write!(f, "coverage mapping: unknown kind of region {kind}"),
            Self::Circle(expression) => {
                write!(f, "coverage mapping: expression {expression} is a part of itself")
            }
            Self::Rest(bytes) => {
                write!(f, "coverage mapping: {bytes} bytes behind the last region of a function")
            }
        }
    }
}
