//! What can be wrong with a text.

/// What is wrong with a text, and where.
pub type TextError = crate::formats::TextError<Defect>;

/// Defects of a text, grouped by kind.
pub type Findings = crate::formats::Findings<TextError>;

/// Is told each defect that is tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(TextError);

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Something else was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The text ends where something was expected.
    #[error("expected {0}, found the end of the text")]
    End(&'static str),
    /// An unknown line of the header.
    #[error("unknown line of the header")]
    Header,
    /// A function without counters.
    #[error("a function without counters")]
    NoCounters,
    /// A number of value kinds that is 0 or too large.
    #[error("expected 1 to 3 value kinds, found {0}")]
    Kinds(u64),
    /// An unknown value kind.
    #[error("unknown value kind {0}")]
    ValueKind(u64),
    /// Fewer traces were seen than there are.
    #[error("expected at least {expected} traces seen, found {found}")]
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
