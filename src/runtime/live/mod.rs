//! Live counters: the memory they lie in is a file from the start, so that nothing a program or its
//! system does to a process, `SIGKILL` included, costs a count.
//!
//! The linker script `live.ld` gathers counters and nodes into pages of their own, and the runtime
//! maps `FILE.live.N` over them: N is the first number that no other process has, which the file's
//! `flock` says. At its end a process adds its counts to `FILE` as always and removes the file. What
//! is left of a process that did not come so far is added by the next start of the same program, the
//! next fork in one, or `countersink fold`. A forked child gets a file of its own before it counts
//! anything.
//!
//! Exactly once: a live file has an id. Who adds it to `FILE` writes the id into the new file's END
//! section, where it stays until the next live file is added. A file with the id that stands there
//! has been added already. Before an id is replaced, the file that has it loses its own; all that
//! under the lock of `FILE`.
//!
//! What is in a live file, [`crate::raw::live`] says.
//!
//! Without the script, or where files cannot be locked or mapped, this is said once, and counts are
//! written at the end only. The archive without live counters has `none.rs` in place of `file.rs`.

#[cfg_attr(feature = "live", path = "file.rs")]
#[cfg_attr(not(feature = "live"), path = "none.rs")]
mod place;

pub use place::Live;
#[cfg(feature = "live")]
pub use place::{LeftOver, Numbers, Region, settle};
