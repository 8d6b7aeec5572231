//! Why a profile cannot be written.

use alloc::vec::Vec;
/// Why a profile cannot be written: the format has no place for something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A name that is empty or has a byte 1 in it.
    #[error("the name \"{}\" cannot be written", .0.escape_ascii())]
    Name(Vec<u8>),
    /// A function without counters.
    #[error("{} has no counters", .0.escape_ascii())]
    NoCounters(Vec<u8>),
    /// A function has a bitmap, which needs version 9.
    #[error("{} has an MC/DC bitmap, which needs version 9", .0.escape_ascii())]
    Bitmap(Vec<u8>),
    /// A function has value sites of virtual tables, which need version 10.
    #[error("{} has value sites of virtual tables, which need version 10", .0.escape_ascii())]
    VirtualTables(Vec<u8>),
    /// A function has more value sites of a kind than this.
    #[error("{} has more than {most} value sites", .function.escape_ascii())]
    Sites {
        /// The function.
        function: Vec<u8>,
        /// The most.
        most: usize,
    },
    /// Single-byte coverage, or counters of function entries only, which need version 8.
    #[error("has single-byte coverage or only function entries, which need version 8")]
    SingleByte,
    /// A trace, which needs version 8.
    #[error("has a temporal profile trace, which needs version 8")]
    TracesOfOld,
    /// There is more than one trace, or one that counts more than once.
    #[error("a raw profile has one trace, which counts once")]
    Traces,
    /// A function in a trace that is not in the profile.
    #[error("function {0:#018x} is in a trace, but not in the profile")]
    Trace(u64),
    /// More bytes than a pointer of this machine can address.
    #[error("too large for the pointers of such a machine")]
    Large,
}
