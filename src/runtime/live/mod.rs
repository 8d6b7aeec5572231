//! Live counters: their memory is a file from the start. So nothing that a program or its system does to a
//! process costs a count, not even `SIGKILL`.
//!
//! The linker script `live.ld` gathers counters and nodes into pages of their own, and the runtime maps
//! `FILE.live.N` over them. N is the first number that no other process has; the file's `flock` tells. At its
//! end a process adds its counts to `FILE` as always and removes the file. A process may not come so far.
//! Then the next start of the same program, the next fork in one, or `countersink fold` adds what is left. A
//! forked child gets a file of its own before it counts anything.
//!
//! Exactly once: a live file has an id. Whoever adds it to `FILE` writes the id into the new file's END
//! section, where it stays until the next live file is added. A live file whose id stands there has been
//! added already. Before that id is replaced, its live file loses it. All this happens under the lock of
//! `FILE`.
//!
//! [`crate::raw::live`] says what is in a live file.
//!
//! Without the script, or where files cannot be locked or mapped, the runtime says so once and writes counts
//! only at the end. The archive without live counters has `none.rs` in place of `file.rs`.

#[cfg_attr(feature = "live", path = "file.rs")]
#[cfg_attr(not(feature = "live"), path = "none.rs")]
mod place;

pub use place::Live;
#[cfg(feature = "live")]
pub use place::{LeftOver, Numbers, Region, settle};
