//! What can be wrong with a text.

use core::{fmt, mem};

use crate::formats::Found;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The defect.
    pub defect: Defect,
}

/// Defects of a text, grouped by kind.
pub type Findings = crate::formats::Findings<TextError>;

/// Hears of defects that are tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(TextError);

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Something else was due.
    Expected(&'static str),
    /// A number too large for its field.
    TooLarge,
    /// A file number out of range.
    File(u64),
    /// Two different symbols with one id.
    DuplicateId(u32),
    /// A target with an id that no symbol has.
    UnknownId(u32),
    /// A name that is empty or has a NUL in it.
    Name,
    /// A file name with a NUL in it.
    Path,
    /// Functions inlined into each other too deep.
    Depth,
    /// A second record of a kind for one place.
    DuplicateLocation,
    /// A second function of the same name and file.
    DuplicateFunction,
    /// The summary does not fit the counts.
    Summary,
    /// There is no summary.
    NoSummary,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        match &self.defect {
            Defect::Expected(what) => write!(f, "expected {what}"),
            Defect::TooLarge => f.write_str("number too large"),
            Defect::File(number) => write!(f, "there is no file {number}"),
            Defect::DuplicateId(id) => write!(f, "id {id} of another symbol"),
            Defect::UnknownId(id) => write!(f, "no symbol has id {id}"),
            Defect::Name => f.write_str("expected a name that is not empty and has no NUL"),
            Defect::Path => f.write_str("expected a file name that has no NUL"),
            Defect::DuplicateLocation => f.write_str("second record of its kind for this place"),
            Defect::DuplicateFunction => f.write_str("second function of this name and file"),
            Defect::Summary => f.write_str("summary differs from the counts"),
            Defect::NoSummary => f.write_str("there is no summary"),
            Defect::Depth => f.write_str("functions inlined into each other too deep"),
        }
    }
}

impl core::error::Error for TextError {}

impl Found for TextError {
    fn place(&self) -> (u64, u64) {
        (self.line.into(), self.column.into())
    }

    fn is_like(&self, other: &Self) -> bool {
        mem::discriminant(&self.defect) == mem::discriminant(&other.defect)
    }
}
