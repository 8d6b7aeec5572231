//! Reads programs: their machine code ([`code`]) and debug information ([`debug`]). [`unlinked`] lays object files
//! out as programs. [`outline`] has their lines and calls alone.

pub mod code;
pub mod debug;
pub mod outline;
pub mod unlinked;
