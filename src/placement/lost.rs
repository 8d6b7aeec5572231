//! Why executions have no place in the profile. How many they are is the account's business.

use core::fmt;

/// Why an executed line is not in the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// No known function has the line.
    NoFunction,
    /// The rule that would give it a place is switched off.
    NoRule,
    /// The reader takes one count for all blocks of a line, and theirs differ too much.
    NoCommonCount,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFunction => "no known function has this line",
            Self::NoRule => "the rule that would give it a place is switched off",
            Self::NoCommonCount => {
                "its blocks have very different counts, and this compiler takes one for the whole line"
            }
        })
    }
}
