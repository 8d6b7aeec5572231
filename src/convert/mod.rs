//! From raw dumps to profiles and to `.gcda` files.
//!
//! [`gcda`] and [`llvm`] need nothing but the dump. A profile of counts by source position also needs the
//! compiler's notes.

mod adjacency;
#[cfg(feature = "cli")]
pub mod code;
pub mod counted;
#[cfg(feature = "cli")]
pub mod debug;
pub mod evidence;
mod executions;
pub mod flow;
pub mod gcda;
mod hot_calls;
pub mod listing;
pub mod llvm;
mod long_lines;
mod loops;
pub mod names;
pub mod number;
mod pairing;
mod picture;
pub mod profile;
mod projection;
pub mod source;
mod starts;
pub mod statistics;
mod targets;
#[cfg(feature = "cli")]
pub mod unlinked;
pub mod workers;

pub use hot_calls::HotCalls;
pub use profile::profile;
pub use projection::{Inline, OfSeveral, Reader, Zeros};
pub use statistics::{Dropped, Loss, Lost, Statistics};
