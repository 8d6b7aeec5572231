//! Functions whose records are in the program's file alone (`-profile-correlate`).
//!
//! The runtime sees the counters of all functions and not where those of each begin. Its dump has one function with all
//! of them, whose name reference and hash are 0. The record of a function, which a compiler put into sections that are
//! not loaded or into the debug information, says where its own are among them.

use core::ops::Range;

/// A function, and where its counters are among all of its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrelatedFunction {
    /// First eight bytes of the MD5 of its name.
    pub name_ref: u64,
    /// Hash of its control flow.
    pub hash: u64,
    /// Its counters, by their numbers; with the time of the first call.
    pub counters: Range<usize>,
    /// The bytes of its bitmap.
    pub bitmap: Range<usize>,
}
