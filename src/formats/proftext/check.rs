//! What can be wrong with a text.

use core::fmt;

/// What is wrong with a text, and where.
pub type TextError = crate::formats::TextError<Defect>;

/// Defects of a text, grouped by kind.
pub type Findings = crate::formats::Findings<TextError>;

/// Is told each defect that is tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(TextError);

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Something else was expected.
    Expected(&'static str),
    /// The text ends where something was expected.
    End(&'static str),
    /// An unknown line of the header.
    Header,
    /// A function without counters.
    NoCounters,
    /// A number of value kinds that is 0 or too large.
    Kinds(u64),
    /// An unknown value kind.
    ValueKind(u64),
    /// Fewer traces were seen than there are.
    TracesSeen {
        /// Traces there are.
        expected: u64,
        /// Traces seen, as the text says.
        found: u64,
    },
}

impl Defect {
    /// Whether the rest of the text can be trusted all the same.
    pub const fn is_tolerable(&self) -> bool {
        matches!(self, Self::TracesSeen { .. })
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::End(what) => write!(f, "expected {what}, found the end of the text"),
            Self::Header => f.write_str("unknown line of the header"),
            Self::NoCounters => f.write_str("a function without counters"),
            Self::Kinds(found) => write!(f, "expected 1 to 3 value kinds, found {found}"),
            Self::ValueKind(kind) => write!(f, "unknown value kind {kind}"),
            Self::TracesSeen { expected, found } => {
                write!(f, "expected at least {expected} traces seen, found {found}")
            }
        }
    }
}
