//! Where threads other than the first one count the frequent values of sites.
//!
//! Processors that add to one word send its line of the cache to each other, and that takes much longer than all other
//! work of a profiler. So a value of a site has a further place on another line for each of two *lanes*: a *cell*. The
//! first thread of the program counts in nodes, and each other thread has a lane. Whoever reads the site adds its
//! cells.
//!
//! A cell belongs to the site and the value that found it free, for ever. So no event gets to another value in it, in
//! the plain form either, and nothing ever takes its place. Cells stand in tables without lists: if another value has
//! the cell, or a site has many values, its events go to nodes from all threads.
//!
//! A thread is known by its stack. To ask the C library would take longer, and in a static program hooks run before
//! it has set threads up. A thread with several stacks has several lanes, which does no harm.

use super::Update;
use super::topn::LiveSite;
use crate::raw::merge::Pair;
use crate::runtime::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// Cells of a lane in a program.
pub const CELLS: usize = 2048;
const LANES: usize = 2;
/// Values of a site that can have cells in a lane.
const VALUES: usize = 4;
/// A value gets a cell when nodes have counted so many events. What only the start of a program needs gets none.
const FREQUENT: i64 = if cfg!(feature = "runtime") { 1000 } else { 1 };
/// Stacks of other threads do not lie within so many bytes below the top of the first one's.
const LARGEST_STACK: usize = 128 << 20;
/// Functions that were called before the image began have no more of the stack than this.
const ABOVE: usize = 1 << 20;
/// Stands in place of a site while its cell is taken.
const TAKEN: usize = 1;

/// The lanes of an image.
#[derive(Debug)]
#[repr(C)]
pub struct Lanes<const N: usize = CELLS> {
    cells: [[Cell; N]; LANES],
    common: Common,
}

/// What all threads read has a line of the cache for itself.
#[derive(Debug)]
#[cfg_attr(feature = "runtime", repr(align(64)))]
struct Common {
    /// The top of the first thread's stack, 0 before [`Lanes::begin`].
    top: AtomicUsize,
    /// Whether any cell is taken.
    in_use: AtomicBool,
}

/// What some threads have seen of one value at a site.
#[derive(Debug)]
#[repr(C)]
struct Cell {
    /// The site's address, 0 if the cell is free.
    site: AtomicUsize,
    value: AtomicI64,
    count: AtomicI64,
}

impl Cell {
    const fn new() -> Self {
        Self { site: AtomicUsize::new(0), value: AtomicI64::new(0), count: AtomicI64::new(0) }
    }
}

impl<const N: usize> Lanes<N> {
    /// Only free cells.
    pub const fn new() -> Self {
        const { assert!(N >= VALUES && N.is_multiple_of(VALUES), "every value of a site has a place") };
        Self {
            cells: [const { [const { Cell::new() }; N] }; LANES],
            common: Common { top: AtomicUsize::new(0), in_use: AtomicBool::new(false) },
        }
    }

    /// Takes the thread with this address in its stack for the first one.
    pub fn begin(&self, stack: usize) {
        self.common.top.store(stack.wrapping_add(ABOVE), Ordering::Relaxed);
    }

    /// Whether a thread is the first one. `depth_below` says how far its stack lies below an address.
    #[inline(always)]
    pub fn is_first(&self, depth_below: impl FnOnce(usize) -> usize) -> bool {
        depth_below(self.common.top.load(Ordering::Relaxed)) < LARGEST_STACK
    }

    /// Counts an event in the lane of the thread with this address in its stack, if the value has a cell there or gets
    /// one.
    #[inline(always)]
    pub fn count<U: Update>(&self, stack: usize, site: LiveSite<'_>, value: i64) -> bool {
        // Threads begun one after the other have stacks of 8 MiB, 2 MiB, or 128 KiB between them.
        let lane = (stack >> 23 ^ stack >> 21 ^ stack >> 17) % LANES;
        // Functions begin at multiples of 16, and sizes are small.
        let place = (value ^ value >> 4) as usize;
        let Some(cell) = self.cell(lane, site, place) else { return false };
        match cell.site.load(Ordering::Acquire) {
            0 => self.take(cell, site, value),
            owner if owner == site.address() && cell.value.load(Ordering::Relaxed) == value => {
                U::add(&cell.count, 1);
                true
            }
            _ => false,
        }
    }

    /// Takes a free cell for an event; `false` if the value is not frequent, or somebody else was first.
    #[cold]
    #[inline(never)]
    fn take(&self, cell: &Cell, site: LiveSite<'_>, value: i64) -> bool {
        let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
        if !site.has_seen(value, FREQUENT) || cell.site.compare_exchange(0, TAKEN, yes, no).is_err()
        {
            return false;
        }
        cell.value.store(value, Ordering::Relaxed);
        cell.count.store(1, Ordering::Relaxed);
        cell.site.store(site.address(), Ordering::Release);
        self.common.in_use.store(true, Ordering::Relaxed);
        true
    }

    /// The cell for one of the values of a site.
    #[inline(always)]
    fn cell(&self, lane: usize, site: LiveSite<'_>, value: usize) -> Option<&Cell> {
        // Sites stand one behind the other, 24 bytes each, so many of them have different cells.
        let place = (site.address() / 8).wrapping_add(value % VALUES * (N / VALUES));
        self.cells.get(lane)?.get(place % N)
    }

    /// The cells of a site.
    #[inline(always)]
    fn cells<'l>(&'l self, site: LiveSite<'l>) -> impl Iterator<Item = &'l Cell> {
        let lanes = if self.common.in_use.load(Ordering::Relaxed) { 0..LANES } else { 0..0 };
        let places = lanes.flat_map(|lane| (0..VALUES).map(move |value| (lane, value)));
        let cells = places.filter_map(move |(lane, value)| self.cell(lane, site, value));
        cells.filter(move |cell| cell.site.load(Ordering::Acquire) == site.address())
    }

    /// What the lanes have of a site.
    #[inline(always)]
    pub fn pairs<'l>(&'l self, site: LiveSite<'l>) -> impl Iterator<Item = Pair> {
        let value = |cell: &Cell| cell.value.load(Ordering::Relaxed);
        let count = |cell: &Cell| cell.count.load(Ordering::Relaxed);
        let pair = move |cell: &Cell| Pair { value: value(cell), count: count(cell) };
        self.cells(site).map(pair).filter(|pair| pair.count > 0)
    }

    /// Forgets a site's events. The cells stay the site's.
    pub fn reset(&self, site: LiveSite<'_>) {
        self.cells(site).for_each(|cell| _ = cell.count.swap(0, Ordering::AcqRel));
    }
}

impl<const N: usize> Default for Lanes<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::null_mut;
    use std::vec::Vec;

    use super::*;
    use crate::runtime::atomic::AtomicPtr;
    use crate::runtime::counters::Plain;
    use crate::runtime::counters::nodes::Nodes;
    use crate::runtime::counters::topn::{Counters, Owner};

    /// Places in the stacks of the first thread, and of three others with 8 MiB each.
    const FIRST: usize = 0x7fff_f000_0000;
    const OTHERS: [usize; 3] = [0x7ff7_0180_3000, 0x7ff7_0100_2000, 0x7ff7_0080_1000];

    struct Memory {
        lanes: Lanes<8>,
        nodes: Nodes<64, 1>,
        sites: [Counters; 2],
    }

    impl Memory {
        fn new() -> Self {
            let zero = || AtomicI64::new(0);
            let site =
                || Counters { first: zero(), shape: zero(), head: AtomicPtr::new(null_mut()) };
            let memory = Self { lanes: Lanes::new(), nodes: Nodes::new(), sites: [site(), site()] };
            memory.lanes.begin(FIRST);
            memory
        }

        fn site(&self, site: usize) -> LiveSite<'_> {
            LiveSite::of(&self.sites[site])
        }

        /// Counts events of a value in the thread with this stack; gives what the lanes have of the site.
        fn count(&self, stack: usize, site: usize, value: i64, events: i64) -> Vec<(i64, i64)> {
            let live = self.site(site);
            for _ in 0..events {
                if self.lanes.is_first(|top| top.wrapping_sub(stack))
                    || !self.lanes.count::<Plain>(stack, live, value)
                {
                    live.count::<Plain, _, _>(value, &self.nodes, |_| Owner::Here);
                }
            }
            self.lanes.pairs(live).map(|pair| (pair.value, pair.count)).collect()
        }

        fn in_nodes(&self, site: usize) -> Vec<(i64, i64)> {
            self.site(site).pairs().map(|pair| (pair.value, pair.count)).collect()
        }
    }

    #[test]
    fn threads_are_known_by_their_stacks() {
        let lanes = Lanes::<4>::new();
        let is_first = |stack: usize| lanes.is_first(|top| top.wrapping_sub(stack));
        assert!(!is_first(FIRST));
        lanes.begin(FIRST);
        assert!([FIRST, FIRST + 4096, FIRST - (100 << 20)].into_iter().all(is_first));
        assert!(!is_first(FIRST + (2 << 20)) && !OTHERS.into_iter().any(is_first));
    }

    #[test]
    fn frequent_values_of_other_threads_are_counted_in_cells() {
        let memory = Memory::new();
        assert_eq!(memory.count(FIRST, 0, 7, 5000), []);
        assert_eq!(memory.count(OTHERS[0], 0, 8, 999), []);
        assert_eq!(memory.count(OTHERS[0], 0, 8, 3), [(8, 2)]);
        assert_eq!(memory.count(OTHERS[1], 0, 7, 10), [(7, 10), (8, 2)]);
        // The lane of the second thread, whose cell for this value is taken.
        assert_eq!(memory.count(OTHERS[2], 0, 8, 2), [(7, 10), (8, 4)]);
        assert_eq!(memory.count(OTHERS[2], 0, 12, 2000), [(7, 10), (8, 4)]);
        assert_eq!(memory.in_nodes(0), [(7, 5000), (8, 1000), (12, 2000)]);
        assert_eq!(memory.count(FIRST, 1, 7, 2), []);
        memory.lanes.reset(memory.site(0));
        assert_eq!(memory.count(OTHERS[1], 0, 7, 1), [(7, 1)]);
    }
}
