//! What can be wrong with a text.

/// What is wrong with a text, and where.
pub type TextError = crate::formats::TextError<Defect>;

/// Defects of a text, grouped by kind.
pub type Findings = crate::formats::Findings<TextError>;

/// Hears of defects that are tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(TextError);

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Something else was due.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A number too large for its field.
    #[error("number too large")]
    TooLarge,
    /// A file number out of range.
    #[error("there is no file {0}")]
    File(u64),
    /// Two different symbols with one id.
    #[error("id {0} of another symbol")]
    DuplicateId(u32),
    /// A target with an id that no symbol has.
    #[error("no symbol has id {0}")]
    UnknownId(u32),
    /// A name that is empty or has a NUL in it.
    #[error("expected a name that is not empty and has no NUL")]
    Name,
    /// A file name with a NUL in it.
    #[error("expected a file name that has no NUL")]
    Path,
    /// Functions inlined into each other too deep.
    #[error("functions inlined into each other too deep")]
    Depth,
    /// A second record of a kind for one place.
    #[error("second record of its kind for this place")]
    DuplicateLocation,
    /// A second function of the same name and file.
    #[error("second function of this name and file")]
    DuplicateFunction,
    /// The summary does not fit the counts.
    #[error("summary differs from the counts")]
    Summary,
    /// There is no summary.
    #[error("there is no summary")]
    NoSummary,
}
