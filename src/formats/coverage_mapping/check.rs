//! The defects of a coverage mapping.

/// A defect and its offset in the section.
pub type Finding = crate::formats::Finding<Defect>;

/// A part of a coverage mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Part {
    /// A header of `__llvm_covmap`.
    #[error("header")]
    Header,
    /// The names of source files.
    #[error("file names")]
    FileNames,
    /// A header of `__llvm_covfun`.
    #[error("record of a function")]
    Function,
    /// The mapping of a function.
    #[error("mapping of a function")]
    Mapping,
}

/// A defect of a coverage mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// An unknown version.
    #[error("coverage mapping: expected version 4 to 7, found {0}")]
    Version(u32),
    /// A part ends early.
    #[error("coverage mapping: {0} cut short")]
    Truncated(Part),
    /// A number too large for its field.
    #[error("coverage mapping: {0}: a number is too large")]
    Number(Part),
    /// The file names are neither plain nor compressed by zlib, or are damaged.
    #[error("coverage mapping: expected file names that are plain or compressed by zlib")]
    Compression,
    /// The file names claim more bytes than the section can justify.
    #[error("coverage mapping: file names of {0} bytes, more than the file can justify")]
    LargeFileNames(u64),
    /// The file names decompress to another length than the header claims.
    #[error("coverage mapping: expected file names of {expected} bytes, found {found}")]
    FileNamesLength {
        /// Bytes that the header claims.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// No object has the file names that a function refers to.
    #[error("coverage mapping: no file names have the number {0:#018x}")]
    UnknownFileNames(u64),
    /// An index behind the end of its list.
    #[error("coverage mapping: expected {what} below {number}, found {found}")]
    Index {
        /// The list.
        what: Indexed,
        /// The length of the list.
        number: u64,
        /// The index.
        found: u64,
    },
    /// A kind of region that no known version has.
    #[error("coverage mapping: unknown kind of region {0}")]
    Kind(u64),
    /// An expression that has itself as a part.
    #[error("coverage mapping: expression {0} is a part of itself")]
    Circle(u32),
    /// Bytes behind the last region.
    #[error("coverage mapping: {0} bytes behind the last region of a function")]
    Rest(u64),
}

/// A list that an index refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Indexed {
    /// Names of source files.
    #[error("file name")]
    FileName,
    /// Files of a function.
    #[error("file")]
    File,
    /// Expressions of a function.
    #[error("expression")]
    Expression,
    /// Counters of a function.
    #[error("counter")]
    Counter,
}
