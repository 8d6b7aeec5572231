//! Who does work that can be divided. Threads need an operating system, which the conversion does not.

use alloc::vec::Vec;

/// Those among whom work is divided.
pub trait Workers {
    /// What `work` makes of each item, in the order of the items.
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R>;
}

/// One worker: the caller.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Workers for Alone {
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        items.iter().map(work).collect()
    }
}
