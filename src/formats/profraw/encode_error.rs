//! Why a profile cannot be written.

use alloc::vec::Vec;
use core::fmt;

/// Why a profile cannot be written: the format has no place for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A name that is empty or has a byte 1 in it.
    Name(Vec<u8>),
    /// A function without counters.
    NoCounters(Vec<u8>),
    /// A function has a bitmap, which needs version 9.
    Bitmap(Vec<u8>),
    /// A function has value sites of virtual tables, which need version 10.
    VirtualTables(Vec<u8>),
    /// A function has more value sites of a kind than this.
    Sites {
        /// The function.
        function: Vec<u8>,
        /// The most.
        most: usize,
    },
    /// Single-byte coverage, or counters of function entries only, which need version 8.
    SingleByte,
    /// A trace, which needs version 8.
    TracesOfOld,
    /// There is more than one trace, or one that counts more than once.
    Traces,
    /// A function in a trace that is not in the profile.
    Trace(u64),
    /// More bytes than a pointer of this machine can address.
    Large,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                write!(f, "the name \"{}\" cannot be written", name.escape_ascii())
            }
            Self::NoCounters(name) => write!(f, "{} has no counters", name.escape_ascii()),
            Self::Bitmap(name) => {
                write!(f, "{} has an MC/DC bitmap, which needs version 9", name.escape_ascii())
            }
            Self::VirtualTables(name) => write!(
                f,
                "{} has value sites of virtual tables, which need version 10",
                name.escape_ascii()
            ),
            Self::Sites { function, most } => {
                write!(f, "{} has more than {most} value sites", function.escape_ascii())
            }
            Self::SingleByte => f.write_str(
                "has single-byte coverage or only function entries, which need version 8",
            ),
            Self::TracesOfOld => f.write_str("has a temporal profile trace, which needs version 8"),
            Self::Traces => f.write_str("a raw profile has one trace, which counts once"),
            Self::Trace(name) => {
                write!(f, "function {name:#018x} is in a trace, but not in the profile")
            }
            Self::Large => f.write_str("too large for the pointers of such a machine"),
        }
    }
}

impl core::error::Error for EncodeError {}
