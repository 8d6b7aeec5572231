//! Does work that can be divided. Threads need an operating system; the conversion does not.

use alloc::vec::Vec;

/// Workers that share work.
pub trait Workers {
    /// The results of `work` for each item, in the order of the items.
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R>;
}

/// A single worker: the caller.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Workers for Alone {
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        items.iter().map(work).collect()
    }
}
