//! From raw dumps to profiles and to `.gcda` files.
//!
//! [`gcda`] needs nothing but the dump. A profile needs the compiler's notes besides:
//! [`mod@profile`] solves each function's control-flow graph with [`flow`], asks `lines` which
//! function a line belongs to, `targets` where an indirect call is and [`names`] whose ident it
//! recorded; [`statistics`] keeps the account of what was used and what was not. `sites`, with the
//! feature `cli`, finds the calls in the program's machine code. Reading files is up to the caller.

pub mod flow;
pub mod gcda;
mod lines;
pub mod names;
pub mod profile;
#[cfg(feature = "cli")]
pub mod sites;
pub mod statistics;
mod targets;

pub use profile::profile;
pub use statistics::Statistics;
