//! Linux, by raw system calls.
//!
//! rustix makes them without libc. `openat`, `getcwd` and signals go through the `syscalls` crate: rustix
//! offers them only with a heap or a panic path. On 32-bit x86 all do.

mod file;
mod memory;
mod process;
mod signal;
mod stack;
#[cfg(target_arch = "x86")]
mod x86;

pub use file::*;
pub use memory::*;
pub use process::*;
pub use rustix::io::Errno;
pub use signal::*;
pub use stack::*;

/// Result of a system call.
pub type Result<T> = core::result::Result<T, Errno>;

/// The error that a system call, or a function with its convention, returned as a negative number.
pub fn error_of(result: i32) -> Errno {
    match result {
        // Checked here so that the check inside, and its panic, goes.
        -4095..=-1 => Errno::from_raw_os_error(-result),
        _ => Errno::INVAL,
    }
}
