//! From the modules that gcc instrumented to profiles of counts by source position, and to `.gcda` files.
//!
//! [`gcda`] needs nothing but the dump. [`mod@coverage`] also needs the compiler's notes. A profile also needs the
//! compiler's notes, and places calls and inlined functions only with the program's machine code and debug information:
//!
//! | step | where |
//! |---|---|
//! | counts of a function's blocks, from its counters and notes | [`crate::placement::solve`] |
//! | what the program's code and debug information show | [`crate::program`], as [listings](crate::program::listing) |
//! | what listings say about counts | [`crate::placement::observe`] |
//! | the positions of blocks, their counts, and what a reader is given of them | [`crate::placement`] |
//! | which functions indirect calls called | `targets`, [`names`] |
//! | what became of the dump's contents, and how often estimates are wrong | [`statistics`], [`crate::placement::estimate`] |
//! | whether the counts obey what must hold of any placement | [`crate::placement::checker`] |
//!
//! [`profile`](mod@profile) takes these steps. What it asks of the world is [`program_reader`].

pub mod coverage;
pub mod gcda;
pub mod names;
pub mod of_gcda;
pub mod profile;
pub mod program_reader;
mod projected;
pub mod statistics;
mod targets;

pub use profile::profile;
pub use statistics::{Dropped, Loss, Statistics};
