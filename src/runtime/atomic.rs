//! The atomic types of the counters: the processor's own, or `halves` on processors without 64-bit atomics.
//! `tests/model` replaces them with types that try every order of the threads' accesses.

#[cfg(any(test, not(target_has_atomic = "64")))]
mod halves;

pub use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::{AtomicI64, AtomicU64};

#[cfg(not(target_has_atomic = "64"))]
pub use halves::{AtomicI64, AtomicU64};
