//! Why a profile cannot be written: no reader would take it.

use alloc::vec::Vec;
use core::fmt;

use crate::profile::{SymbolId, Symbols};

/// Why a profile cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A symbol or file has an empty name, or one with a NUL or, for text, a quotation mark inside.
    Name(Vec<u8>),
    /// A reader of the text would take a name for something else.
    Misread {
        /// The name.
        name: Vec<u8>,
        /// What the reader would do.
        why: &'static str,
    },
    /// A position is too far from the start of its function.
    Line {
        /// The function.
        function: Vec<u8>,
        /// The line.
        line: u32,
    },
    /// Functions in this one are inlined into each other deeper than [`crate::profile::DEEPEST`].
    Depth(Vec<u8>),
    /// With all repetitions the text would be larger than this, see [`crate::profile::Profile::most_text`].
    Large(usize),
    /// The form of the file has no place for something in the profile.
    Form(&'static str),
}

impl EncodeError {
    /// Inlining in this function is too deep.
    pub(super) fn depth(symbols: &Symbols, symbol: SymbolId) -> Self {
        Self::Depth(symbols.name(symbol).to_vec())
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) if name.contains(&b'"') => {
                write!(f, "the name '{}' contains a quotation mark", name.escape_ascii())
            }
            Self::Name(name) => {
                write!(f, "the name \"{}\" cannot be written", name.escape_ascii())
            }
            Self::Misread { name, why } => {
                write!(f, "the name \"{}\" cannot be written: {why}", name.escape_ascii())
            }
            Self::Line { function, line } => {
                write!(f, "{}: line {line} cannot be written", function.escape_ascii())
            }
            Self::Depth(function) => write!(
                f,
                "{}: functions inlined into each other too deep to be written",
                function.escape_ascii()
            ),
            Self::Form(why) => f.write_str(why),
            Self::Large(most) => write!(
                f,
                "it would have more than {most} bytes, most of them repetitions; version 4 has none"
            ),
        }
    }
}

impl core::error::Error for EncodeError {}
