//! The atomic types of the counters: the processor's. `tests/model` puts others in their place, which try
//! every order in which threads can get at them.

pub use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
