//! What can be wrong with a text.

use core::fmt;

/// What is wrong with a text, and where.
pub type TextError = crate::formats::TextError<Defect>;

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

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::TooLarge => f.write_str("number too large"),
            Self::File(number) => write!(f, "there is no file {number}"),
            Self::DuplicateId(id) => write!(f, "id {id} of another symbol"),
            Self::UnknownId(id) => write!(f, "no symbol has id {id}"),
            Self::Name => f.write_str("expected a name that is not empty and has no NUL"),
            Self::Path => f.write_str("expected a file name that has no NUL"),
            Self::DuplicateLocation => f.write_str("second record of its kind for this place"),
            Self::DuplicateFunction => f.write_str("second function of this name and file"),
            Self::Summary => f.write_str("summary differs from the counts"),
            Self::NoSummary => f.write_str("there is no summary"),
            Self::Depth => f.write_str("functions inlined into each other too deep"),
        }
    }
}
