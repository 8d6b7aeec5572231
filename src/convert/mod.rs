//! From raw dumps to profiles and to `.gcda` files.
//!
//! [`gcda`] needs nothing but the dump. A profile needs the compiler's notes besides:
//! [`mod@profile`] divides the functions among [`workers`], solves each one's control-flow graph with
//! [`flow`], asks `positions` where its counts stand, which asks `lines` which function a line belongs
//! to and `copies` where that is inlined, `targets` where an indirect call is and [`names`] whose ident
//! it recorded; [`statistics`] keeps the account of what was used and what
//! was not. [`mod@source`] is what else a conversion asks for; with the feature `cli`, `sites` finds
//! the calls in the program's machine code, and `debug` lines and functions in its debug information;
//! `unlinked` makes object files readable as programs. Reading files is up to the caller.

mod copies;
#[cfg(feature = "cli")]
pub mod debug;
pub mod flow;
pub mod gcda;
mod lines;
pub mod names;
mod positions;
pub mod profile;
#[cfg(feature = "cli")]
pub mod sites;
pub mod source;
pub mod statistics;
mod targets;
#[cfg(feature = "cli")]
pub mod unlinked;
pub mod workers;

pub use profile::{Inline, profile};
pub use statistics::Statistics;
