//! The defects of a text, and which of them a reader may tolerate.

use core::fmt;

/// A defect of a text and its place.
pub type TextError = crate::formats::TextError<Defect>;

/// Defects of a text, grouped by kind.
pub type Findings = crate::formats::Findings<TextError>;

/// Receives each tolerated defect.
pub(super) type Tell<'t> = &'t mut dyn FnMut(TextError);

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The text has something else in place of this.
    Expected(&'static str),
    /// A name that is empty or has a NUL in it.
    Name,
    /// Functions inlined into each other too deep.
    Depth,
    /// A line is more than one level deeper than the line before.
    Level {
        /// The deepest level here.
        expected: usize,
        /// The level of the line.
        found: usize,
    },
    /// A second record for one position or inlined function.
    DuplicateLocation,
    /// A second function of the same name and context.
    DuplicateFunction,
    /// A function without a context in a profile with contexts, or the reverse.
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

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Name => f.write_str("a name is empty or has a NUL in it"),
            Self::Depth => f.write_str("functions inlined into each other too deep"),
            Self::Level { expected, found } => {
                write!(f, "expected at most {expected} spaces at the start, found {found}")
            }
            Self::DuplicateLocation => f.write_str("a second record for the same place"),
            Self::DuplicateFunction => f.write_str("a second function of the same name"),
            Self::MixedContexts => {
                f.write_str("functions with contexts and without in one profile")
            }
        }
    }
}
