//! How a site with many nodes finds them: a table of `SLOTS` numbers of nodes, with open addressing by the value.
//!
//! The index is only a way to nodes, never the truth. A node that it leads to is looked at, and a value that it does
//! not lead to is looked for in the site's list. So it may lag behind, and a slot whose node has lost the value, to a
//! reset for instance, just stays until the table is filled anew. Reading a site needs no index.

use core::ptr::null_mut;

use super::node::Node;
use crate::raw::merge::SITE_LIMIT;
use crate::runtime::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// Twice as many as a site has nodes, so that most searches end at their first slot.
pub const SLOTS: usize = 2 * SITE_LIMIT;
/// The table is filled anew at this many slots in use: some are for values that their nodes have lost.
const MOST_USED: u32 = (SLOTS / 4 * 3) as u32;

const _: () = assert!(SLOTS.is_power_of_two());

/// How a site with many nodes finds them, and which node is next to be given away. Only the holder of its
/// lock changes it.
#[repr(C)]
pub struct Index {
    /// Numbers of nodes, counted from 1; 0 is an empty slot.
    pub(super) slots: [AtomicU32; SLOTS],
    pub(super) used: AtomicU32,
    /// The lock. Nobody waits for it.
    busy: AtomicBool,
    /// Whether the site is full and the table has all its nodes.
    pub(super) complete: AtomicBool,
    /// Where the search for the next node to give away begins.
    pub hand: AtomicPtr<Node>,
}

impl Index {
    /// An empty one.
    pub(super) const fn new() -> Self {
        Self {
            slots: [const { AtomicU32::new(0) }; SLOTS],
            used: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            complete: AtomicBool::new(false),
            hand: AtomicPtr::new(null_mut()),
        }
    }

    /// Takes the lock until [`Index::unlock`]; `false` if somebody has it.
    pub fn try_lock(&self) -> bool {
        !self.busy.swap(true, Ordering::Acquire)
    }

    /// Ends what [`Index::try_lock`] began.
    pub fn unlock(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// Whether it is time to fill the table anew.
    pub fn is_crowded(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= MOST_USED
    }

    /// Empties the table.
    pub fn clear(&self) {
        self.complete.store(false, Ordering::Relaxed);
        self.slots.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
        self.used.store(0, Ordering::Relaxed);
    }

    /// Slots in use.
    #[cfg(test)]
    pub fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    /// The slots at which a value may be, in order.
    #[inline(always)]
    pub fn slots(&self, value: i64) -> Slots<'_> {
        Slots { slots: &self.slots, next: home(value), left: SLOTS }
    }
}

/// The first slot at which a value may be.
#[inline(always)]
pub fn home(value: i64) -> usize {
    // The golden ratio spreads values that follow each other.
    let product = (value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product >> (64 - SLOTS.trailing_zeros())) as usize
}

/// Iterates over slots, from one on.
pub struct Slots<'i> {
    slots: &'i [AtomicU32; SLOTS],
    next: usize,
    left: usize,
}

impl<'i> Iterator for Slots<'i> {
    type Item = &'i AtomicU32;

    #[inline(always)]
    fn next(&mut self) -> Option<&'i AtomicU32> {
        self.left = self.left.checked_sub(1)?;
        let slot = self.slots.get(self.next % SLOTS)?;
        self.next += 1;
        Some(slot)
    }
}
