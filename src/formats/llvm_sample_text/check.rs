//! The defects of a text, and which of them a reader may tolerate.

/// A defect of a text and its place.
pub type TextError = crate::formats::TextError<Defect>;

/// Defects of a text, grouped by kind.
pub type Findings = crate::formats::Findings<TextError>;

/// Receives each tolerated defect.
pub(super) type Tell<'t> = &'t mut dyn FnMut(TextError);

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// The text has something else in place of this.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A name that is empty or has a NUL in it.
    #[error("a name is empty or has a NUL in it")]
    Name,
    /// Functions inlined into each other too deep.
    #[error("functions inlined into each other too deep")]
    Depth,
    /// A line is more than one level deeper than the line before.
    #[error("expected at most {expected} spaces at the start, found {found}")]
    Level {
        /// The deepest level here.
        expected: usize,
        /// The level of the line.
        found: usize,
    },
    /// A second record for one position or inlined function.
    #[error("a second record for the same place")]
    DuplicateLocation,
    /// A second function of the same name and context.
    #[error("a second function of the same name")]
    DuplicateFunction,
    /// A function without a context in a profile with contexts, or the reverse.
    #[error("functions with contexts and without in one profile")]
    MixedContexts,
}

impl Defect {
    /// Whether the reader can still trust the rest of the text.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::Level { .. }
                | Self::DuplicateLocation
                | Self::DuplicateFunction
                | Self::MixedContexts
        )
    }
}
