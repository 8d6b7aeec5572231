//! How much of a profile still fits the program as it is now.
//!
//! Compilers look up a position by its function's name and its distance from the function's first line. They do not
//! check whether the line there is the one that was counted. After edits a count may so belong to another line.
//!
//! | step | where |
//! |---|---|
//! | the lines and calls of functions, as the profile and the program show them | [`outline`] |
//! | which line of a function became which | [`alignment`] |
//! | what became of each count | [`judgement`] |
//! | the same for a dump, by the checksums of the compiler's notes | [`checksums`] |
//!
//! The program's outline comes from its notes here, and from its debug information in `program`. Nothing
//! here reads sources: the profile's are gone.

pub mod alignment;
pub mod checksums;
pub mod judgement;
pub mod outline;

pub use judgement::{Judged, Reason, Verdict, What};
