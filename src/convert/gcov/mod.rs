//! From the modules that gcc instrumented to profiles of counts by source position, and to `.gcda` files.
//!
//! [`gcda`] needs nothing but the dump. [`mod@coverage`] also needs the compiler's notes. A profile also needs the compiler's notes, and places calls and inlined
//! functions only with the program's machine code and debug information:
//!
//! | step | where |
//! |---|---|
//! | counts of a function's blocks, from its counters and notes | [`counted`], [`flow`] |
//! | what the program's code and debug information show | [`crate::program`], as [listings](crate::program::listing) |
//! | what listings say about counts | [`evidence`] |
//! | the positions of blocks, and their counts | `picture` |
//! | what a reader of the profile is given of them | `projection`, `shared_lines`, `branches`, `hot_calls` |
//! | which functions indirect calls called | `targets`, [`names`] |
//! | what became of the dump's contents | [`statistics`] |
//! | whether the counts obey what must hold of any placement | [`checker`] |
//!
//! [`profile`](mod@profile) takes these steps. What it asks of the world is [`source`].

mod branches;
pub mod checker;
pub mod counted;
pub mod coverage;
pub mod evidence;
pub mod flow;
pub mod gcda;
mod hot_calls;
pub mod names;
mod picture;
pub mod profile;
mod projection;
mod shared_lines;
pub mod source;
mod starts;
pub mod statistics;
mod targets;

pub use profile::profile;
pub use projection::{HotCalls, Inline, OfBlock, OfSeveral, Reader, Zeros};
pub use statistics::{Dropped, Loss, Lost, Statistics};
