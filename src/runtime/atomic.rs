//! The atomic types of the counters: the processor's own, or `halves` on processors without 64-bit atomics.
//!
//! Some processors of boards cannot exchange a word in one step either (ARMv6-M, RISC-V without A). There
//! `portable-atomic` does it, in the way that the program or the archive's build has chosen: with interrupts masked, if
//! there is one core, or in the program's critical section.
//!
//! `tests/model` replaces the types with others that try every order of the threads' accesses.

#[cfg(any(test, not(target_has_atomic = "64")))]
mod halves;

#[cfg(target_has_atomic = "ptr")]
use core::sync::atomic as words;
#[cfg(not(target_has_atomic = "ptr"))]
use portable_atomic as words;

#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::{AtomicI64, AtomicU64};
pub use words::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

#[cfg(not(target_has_atomic = "64"))]
pub use halves::{AtomicI64, AtomicU64};
