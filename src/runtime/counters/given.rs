//! Memory for nodes that a program gives, where there is no room for a fixed region.
#![allow(unsafe_code)]

use core::ptr::null_mut;

use super::nodes::{Index, Node};
use crate::runtime::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Bytes for which there is one index. The rest of them is for nodes.
const BYTES_PER_INDEX: usize = 5136;
/// Sites number their index with 12 bits.
const MOST_INDEXES: usize = 4095;

/// The memory, nodes first.
#[repr(C)]
pub struct Given {
    nodes: AtomicPtr<Node>,
    node_number: AtomicUsize,
    indexes: AtomicPtr<Index>,
    index_number: AtomicUsize,
}

impl Given {
    /// No memory.
    pub const fn new() -> Self {
        Self {
            nodes: AtomicPtr::new(null_mut()),
            node_number: AtomicUsize::new(0),
            indexes: AtomicPtr::new(null_mut()),
            index_number: AtomicUsize::new(0),
        }
    }

    /// Takes memory instead of what there was. An interrupt that does the same meanwhile does no harm.
    ///
    /// # Safety
    ///
    /// The memory must stay, all zero or with nodes and indexes, and nobody else may use it.
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

    /// The nodes.
    #[inline(always)]
    pub fn nodes(&self) -> &[Node] {
        // SAFETY: promised to `take`, which sets the number last.
        unsafe { all(&self.nodes, &self.node_number) }
    }

    /// The indexes.
    #[inline(always)]
    pub fn indexes(&self) -> &[Index] {
        // SAFETY: promised to `take`, which sets the number last.
        unsafe { all(&self.indexes, &self.index_number) }
    }
}

impl Default for Given {
    fn default() -> Self {
        Self::new()
    }
}

/// # Safety
///
/// There must be as many behind each other, if any.
#[inline(always)]
unsafe fn all<'g, T>(start: &'g AtomicPtr<T>, number: &AtomicUsize) -> &'g [T] {
    let number = number.load(Ordering::Acquire);
    let start = start.load(Ordering::Relaxed);
    if start.is_null() {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { core::slice::from_raw_parts(start, number) }
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
            let given = Given::new();
            assert_eq!((given.nodes().len(), given.indexes().len()), (0, 0));
            // SAFETY: all zero, and nothing else uses it.
            unsafe { given.take(start.wrapping_add(skipped), bytes) };
            assert_eq!((given.nodes().len(), given.indexes().len()), (nodes, indexes), "{bytes}");
            let end = given.indexes().as_ptr_range().end.addr();
            assert!(nodes == 0 || end <= start.addr() + skipped + bytes);
            assert!(given.nodes().as_ptr().addr().is_multiple_of(8));
        }
    }
}
