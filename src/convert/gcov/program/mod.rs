//! Reads programs: their machine code ([`code`]) and debug information ([`debug`]). [`unlinked`] lays object files
//! out as programs.

pub mod code;
pub mod debug;
pub mod unlinked;
