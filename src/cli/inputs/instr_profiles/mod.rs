//! Counters by function: LLVM's profiles, read and added up.
//!
//! [`super::input`] knows the files by their content.

pub mod queue;
pub mod read;
pub mod sum;
pub mod summands;
