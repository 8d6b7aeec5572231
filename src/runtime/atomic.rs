//! The atomic types of the counters: the processor's, or [`halves`] where it has none of 64 bits. `tests/model`
//! puts others in their place, which try every order in which threads can get at them.

#[cfg(any(test, not(target_has_atomic = "64")))]
mod halves;

pub use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::{AtomicI64, AtomicU64};

#[cfg(not(target_has_atomic = "64"))]
pub use halves::{AtomicI64, AtomicU64};
