//! What the profilers do to a program's counters.
//!
//! [`values`] has the kinds with a fixed number of counters, [`topn`] the values of a site, [`nodes`]
//! the region where these are kept, [`provided`] its memory if the program provides it, [`lanes`] where some threads
//! count them, and [`shared`] which of this memory others may change. Each exists in two
//! forms: the plain one may lose increments between threads, as the compiler's inline counting does, and the
//! atomic one loses none. No profiler allocates from a heap, waits, or can fail: anything may enter them, an
//! instrumented `malloc` or signal handler included.

pub mod index;
pub mod lanes;
pub mod node;
pub mod nodes;
pub mod provided;
pub mod shared;
pub mod topn;
pub mod values;

use crate::runtime::atomic::{AtomicI64, Ordering};

/// How a counter is changed.
pub trait Update {
    /// Adds to a counter.
    fn add(counter: &AtomicI64, amount: i64);
    /// Sets bits of a counter.
    fn set_bits(counter: &AtomicI64, bits: i64);
}

/// Load, change, store: as `-fprofile-update=single`.
pub struct Plain;

/// One indivisible step: as `-fprofile-update=atomic`.
pub struct Atomic;

impl Update for Plain {
    #[inline(always)]
    fn add(counter: &AtomicI64, amount: i64) {
        let value = counter.load(Ordering::Relaxed).wrapping_add(amount);
        counter.store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    fn set_bits(counter: &AtomicI64, bits: i64) {
        counter.store(counter.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
    }
}

impl Update for Atomic {
    #[inline(always)]
    fn add(counter: &AtomicI64, amount: i64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    #[inline(always)]
    fn set_bits(counter: &AtomicI64, bits: i64) {
        counter.fetch_or(bits, Ordering::Relaxed);
    }
}
