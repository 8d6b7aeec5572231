//! Memory that a program provides for nodes, on machines without room for a fixed region.
#![allow(unsafe_code)]

use core::ptr::null_mut;

use super::index::Index;
use super::node::Node;
use crate::runtime::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Number of bytes of memory per index. The index takes a part of them, and nodes take the rest.
const BYTES_PER_INDEX: usize = 5136;
/// A site has 12 bits for the number of its index.
const MOST_INDEXES: usize = 4095;

/// The memory, nodes first.
#[repr(C)]
pub struct ProvidedMemory {
    nodes: AtomicPtr<Node>,
    node_number: AtomicUsize,
    indexes: AtomicPtr<Index>,
    index_number: AtomicUsize,
}

impl ProvidedMemory {
    /// No memory.
    pub const fn new() -> Self {
        Self {
            nodes: AtomicPtr::new(null_mut()),
            node_number: AtomicUsize::new(0),
            indexes: AtomicPtr::new(null_mut()),
            index_number: AtomicUsize::new(0),
        }
    }

    /// Replaces the memory. An interrupt that does the same during the call does no harm.
    ///
    /// # Safety
    ///
    /// The memory must stay valid. It must be all zero or hold nodes and indexes, and nothing else may use it.
    pub unsafe fn take(&self, memory: *mut u8, bytes: usize) {
        let before = memory.align_offset(align_of::<Node>()).min(bytes);
        let bytes = bytes.wrapping_sub(before);
        let indexes = (bytes / BYTES_PER_INDEX).min(MOST_INDEXES);
        let nodes =
            bytes.wrapping_sub(indexes.wrapping_mul(size_of::<Index>())) / size_of::<Node>();
        let start: *mut Node = memory.wrapping_add(before).cast();
        self.nodes.store(start, Ordering::Relaxed);
        self.indexes.store(start.wrapping_add(nodes).cast(), Ordering::Relaxed);
        self.index_number.store(indexes, Ordering::Release);
        self.node_number.store(nodes, Ordering::Release);
    }

    /// How many nodes there are.
    #[inline(always)]
    pub fn nodes(&self) -> usize {
        self.node_number.load(Ordering::Acquire)
    }

    /// How many indexes there are.
    #[inline(always)]
    pub fn indexes(&self) -> usize {
        self.index_number.load(Ordering::Acquire)
    }

    /// Where the nodes begin.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.nodes.load(Ordering::Relaxed).addr()
    }

    /// Where the indexes end.
    pub fn end(&self) -> usize {
        self.indexes.load(Ordering::Relaxed).wrapping_add(self.indexes()).addr()
    }

    /// Nodes behind each other, the first counted from 0.
    pub fn run(&self, first: usize, number: usize) -> Option<&[Node]> {
        let start = self.nodes.load(Ordering::Relaxed).wrapping_add(first);
        let is_there = first.checked_add(number).is_some_and(|end| end <= self.nodes());
        // SAFETY: promised to `take`, which sets the number last.
        is_there.then(|| unsafe { core::slice::from_raw_parts(start, number) })
    }

    /// A node, counted from 0.
    #[inline(always)]
    pub fn node(&self, place: usize) -> Option<&Node> {
        // SAFETY: promised to `take`, which sets the number last.
        let node = || unsafe { &*self.nodes.load(Ordering::Relaxed).wrapping_add(place) };
        (place < self.nodes()).then(node)
    }

    /// An index, counted from 0.
    #[inline(always)]
    pub fn index(&self, place: usize) -> Option<&Index> {
        // SAFETY: promised to `take`, which sets the number last.
        let index = || unsafe { &*self.indexes.load(Ordering::Relaxed).wrapping_add(place) };
        (place < self.indexes()).then(index)
    }

    /// All indexes.
    pub fn all_indexes(&self) -> &[Index] {
        match (self.indexes.load(Ordering::Relaxed), self.indexes()) {
            (_, 0) => &[],
            // SAFETY: promised to `take`, which sets the number last.
            (start, number) => unsafe { core::slice::from_raw_parts(start, number) },
        }
    }
}

impl Default for ProvidedMemory {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_nodes_and_then_indexes() {
        let mut memory = [0u64; 2 * BYTES_PER_INDEX / 8 + 2];
        let start: *mut u8 = memory.as_mut_ptr().cast();
        let cases = [
            (0, 0, 0, 0),
            (0, 23, 0, 0),
            (0, 24, 1, 0),
            (1, 30, 0, 0),
            (1, 31, 1, 0),
            (0, 2048, 85, 0),
            (0, BYTES_PER_INDEX, 192, 1),
            (3, 2 * BYTES_PER_INDEX + 5, 384, 2),
        ];
        for (skipped, bytes, nodes, indexes) in cases {
            let provided = ProvidedMemory::new();
            assert_eq!((provided.nodes(), provided.indexes()), (0, 0));
            // SAFETY: all zero, and nothing else uses it.
            unsafe { provided.take(start.wrapping_add(skipped), bytes) };
            assert_eq!((provided.nodes(), provided.indexes()), (nodes, indexes), "{bytes}");
            assert!(provided.end() <= start.addr() + skipped + bytes || nodes == 0);
            assert!(provided.start().is_multiple_of(8));
            assert_eq!(
                (provided.node(nodes).is_none(), provided.index(indexes).is_none()),
                (true, true)
            );
            assert_eq!(provided.all_indexes().len(), indexes);
            let last = provided.index(indexes.wrapping_sub(1)).map(|index| &raw const *index);
            assert_eq!(last, provided.all_indexes().last().map(|index| &raw const *index));
        }
    }
}
