//! Counters by function on the command line: LLVM's profiles, read, added up and written.
//!
//! [`super::input`] knows the files by their content. What is done with counts by source position, AutoFDO's
//! profiles, stands in the files beside this folder.

pub mod diff;
pub mod queue;
pub mod read;
pub mod show;
pub mod sum;
pub mod summands;
mod target;

pub use target::{Chosen, Target, Wish};
