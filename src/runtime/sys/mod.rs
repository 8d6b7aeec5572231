//! The operating system, as little of it as a flush needs.
//!
//! One file per system, all with the same functions. Nothing above this module names a system call.
//! No function here allocates, touches `errno`, or is a cancellation point.

mod linux;

pub use linux::*;
