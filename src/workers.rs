//! A parallel map, abstract over rayon: threads need an operating system, conversions and formats do not.

use alloc::vec::Vec;

/// Workers that share work.
pub trait Workers {
    /// The results of `work` for each item, in the order of the items.
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R>;

    /// Passes the results of `work` for each item to `take`, in the order of the items. There may be work on the next
    /// items meanwhile. Work on one item after the other uses the same memory. A result may be written over one that
    /// was taken, so that nobody frees what another worker has allocated.
    fn pass<T: Send, R: Default + Send, M: Default + Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        work: impl Fn(T, &mut M, &mut R) + Sync,
        take: impl FnMut(&mut R) + Send,
    );
}

/// A single worker: the caller.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Workers for Alone {
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        items.iter().map(work).collect()
    }

    fn pass<T: Send, R: Default + Send, M: Default + Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        work: impl Fn(T, &mut M, &mut R) + Sync,
        mut take: impl FnMut(&mut R) + Send,
    ) {
        let (mut memory, mut result) = (M::default(), R::default());
        for item in items {
            work(item, &mut memory, &mut result);
            take(&mut result);
        }
    }
}
