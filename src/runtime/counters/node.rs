//! A value of a site and its count.

use core::ptr::null_mut;

use crate::raw::merge::Pair;
use crate::raw::site;
use crate::runtime::atomic::{AtomicI64, AtomicPtr, Ordering};

/// A value of a site, in libgcov's layout.
#[repr(C)]
pub struct Node {
    /// The value.
    pub value: AtomicI64,
    /// How often it was seen; 0 if the node is free. See [`site::REPLACING`].
    pub count: AtomicI64,
    /// The next node of the site.
    pub next: AtomicPtr<Node>,
}

impl Node {
    /// A free node.
    pub(super) const fn new() -> Self {
        Self {
            value: AtomicI64::new(0),
            count: AtomicI64::new(0),
            next: AtomicPtr::new(null_mut()),
        }
    }

    /// Makes the node a free one that no site has.
    pub(super) fn clear(&self) {
        self.value.store(0, Ordering::Relaxed);
        self.count.store(0, Ordering::Relaxed);
        self.next.store(null_mut(), Ordering::Relaxed);
    }

    /// The value and its count.
    #[inline(always)]
    pub fn pair(&self) -> Pair {
        let value = self.value.load(Ordering::Relaxed);
        Pair { value, count: site::count(self.count.load(Ordering::Relaxed)) }
    }

    /// Whether the node is the value's.
    #[inline(always)]
    pub fn holds(&self, value: i64) -> bool {
        self.value.load(Ordering::Relaxed) == value
    }
}
