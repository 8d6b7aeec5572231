//! Where threads count beside the nodes of sites, on lines of the cache that they need not share.
//!
//! Processors that add to one word send its line of the cache to each other, and that takes much longer than all other
//! work of a profiler. So a site at which several threads count has two *lanes*, and a *cell* in each for some of its
//! values. The first thread of the program counts in nodes, and each other thread in one of the lanes. Whoever reads
//! the site adds its cells.
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
use crate::runtime::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

/// Cells of a lane in a program.
pub const CELLS: usize = 2048;
const LANES: usize = 2;
/// Values of a site that can have cells in a lane.
const VALUES: usize = 8;
/// Sites of which it is remembered who counted there.
const WATCHED: usize = if cfg!(feature = "runtime") { 512 } else { 2 };
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
    /// Sites in the upper 48 bits, with 16 bits of the stack of the thread that was last seen there.
    watched: [AtomicU64; WATCHED],
}

/// What all threads read, and none writes, has a line of the cache for itself.
#[derive(Debug)]
#[cfg_attr(feature = "runtime", repr(align(64)))]
struct Common {
    /// The top of the first thread's stack, 0 before [`Lanes::begin`].
    top: AtomicUsize,
}

/// What some threads have seen of one value at a site.
#[derive(Debug)]
#[repr(C)]
pub struct Cell {
    /// The site's address, 0 if the cell is free.
    site: AtomicUsize,
    value: AtomicI64,
    count: AtomicI64,
}

/// Where an event goes at a site with lanes.
#[derive(Debug)]
pub enum Place<'l> {
    /// It is counted.
    Counted,
    /// This cell is free for it.
    Free(&'l Cell),
    /// The nodes.
    Elsewhere,
}

impl Cell {
    const fn new() -> Self {
        Self { site: AtomicUsize::new(0), value: AtomicI64::new(0), count: AtomicI64::new(0) }
    }

    /// Takes a free cell for an event; `false` if somebody else was first.
    pub fn take(&self, site: LiveSite<'_>, value: i64) -> bool {
        let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
        let is_first = self.site.compare_exchange(0, TAKEN, yes, no).is_ok();
        if is_first {
            self.value.store(value, Ordering::Relaxed);
            self.count.store(1, Ordering::Relaxed);
            self.site.store(site.address(), Ordering::Release);
        }
        is_first
    }
}

impl<const N: usize> Lanes<N> {
    /// Only free cells.
    pub const fn new() -> Self {
        const { assert!(N >= VALUES && N.is_multiple_of(VALUES), "every value has a place") };
        Self {
            cells: [const { [const { Cell::new() }; N] }; LANES],
            common: Common { top: AtomicUsize::new(0) },
            watched: [const { AtomicU64::new(0) }; WATCHED],
        }
    }

    /// Takes the thread with this address in its stack for the first one.
    pub fn begin(&self, stack: usize) {
        self.common.top.store(stack.wrapping_add(ABOVE), Ordering::Relaxed);
    }

    /// Whether the thread with this address in its stack is the first one.
    #[inline(always)]
    pub fn is_first(&self, stack: usize) -> bool {
        self.common.top.load(Ordering::Relaxed).wrapping_sub(stack) < LARGEST_STACK
    }

    /// Notes that the thread with this address in its stack counts at a site. If another thread was seen there before,
    /// the site gets its lanes. A site with many values gets none.
    #[inline(always)]
    pub fn watch(&self, stack: usize, site: LiveSite<'_>) {
        if site.shape().index() == 0 {
            self.watch_few(stack, site);
        }
    }

    #[inline(always)]
    fn watch_few(&self, stack: usize, site: LiveSite<'_>) {
        // The first thread's stack is often larger than what its other bits tell apart.
        let thread = if self.is_first(stack) { 0 } else { (stack >> 17) as u16 };
        let now = (site.address() as u64) << 16 | u64::from(thread);
        let Some(watched) = self.watched.get(site.address() / 8 % WATCHED) else { return };
        let before = watched.load(Ordering::Relaxed);
        if before == now {
            return;
        }
        watched.store(now, Ordering::Relaxed);
        if before >> 16 == now >> 16 {
            site.divide();
        }
    }

    /// Counts an event in the lane of the thread with this address in its stack, if the value has a cell there.
    #[inline(always)]
    pub fn count<U: Update>(&self, stack: usize, site: LiveSite<'_>, value: i64) -> Place<'_> {
        // Threads begun one after the other have stacks of 8 MiB, 2 MiB, or 128 KiB between them.
        let lane = (stack >> 23 ^ stack >> 21 ^ stack >> 17) % LANES;
        // Functions begin at multiples of 16, and sizes are small.
        let place = (value ^ value >> 4) as usize;
        let Some(cell) = self.cell(lane, site, place) else { return Place::Elsewhere };
        match cell.site.load(Ordering::Acquire) {
            0 => Place::Free(cell),
            owner if owner == site.address() && cell.value.load(Ordering::Relaxed) == value => {
                U::add(&cell.count, 1);
                Place::Counted
            }
            _ => Place::Elsewhere,
        }
    }

    /// Counts an event as [`Lanes::count`] does, or in a free cell; `false` if the nodes must.
    pub fn has_counted<U: Update>(&self, stack: usize, site: LiveSite<'_>, value: i64) -> bool {
        match self.count::<U>(stack, site, value) {
            Place::Counted => true,
            Place::Free(cell) => cell.take(site, value),
            Place::Elsewhere => false,
        }
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
        let lanes = if site.has_lanes() { 0..LANES } else { 0..0 };
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
    use crate::runtime::counters::topn::{Counters, Owner, RARELY, hit_watched};

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
                let in_lane = live.has_lanes() && !self.lanes.is_first(stack);
                if in_lane && self.lanes.has_counted::<Plain>(stack, live, value) {
                    continue;
                }
                let counted = live.first().is_some_and(|first| match first.holds(value) {
                    true => hit_watched(first),
                    false => live.count_behind(first, value, &self.nodes),
                });
                if !counted {
                    self.lanes.watch(stack, live);
                    live.count_slowly(value, &self.nodes, false, |_| Owner::Here);
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
        let lanes = Lanes::<8>::new();
        assert!(!lanes.is_first(FIRST));
        lanes.begin(FIRST);
        let in_first = [FIRST, FIRST + 4096, FIRST - (100 << 20)];
        assert!(in_first.into_iter().all(|stack| lanes.is_first(stack)));
        let others = OTHERS.into_iter().chain([FIRST + (2 << 20)]);
        assert!(!others.into_iter().any(|stack| lanes.is_first(stack)));
    }

    #[test]
    fn sites_of_several_threads_get_lanes() {
        let memory = Memory::new();
        assert_eq!(memory.count(OTHERS[0], 1, 7, 3 * RARELY), []);
        assert_eq!(memory.in_nodes(1), [(7, 3 * RARELY)]);
        // Nodes have counted all until the second thread was seen.
        assert_eq!(memory.count(FIRST, 0, 7, 5000), []);
        assert_eq!(memory.in_nodes(0), [(7, 5000)]);
        assert_eq!(memory.count(OTHERS[0], 0, 7, 120), []);
        assert_eq!(memory.count(OTHERS[0], 0, 7, 1), []);
        assert_eq!(memory.count(OTHERS[0], 0, 7, 2), [(7, 2)]);
        assert_eq!(memory.in_nodes(0), [(7, 5121)]);
        assert_eq!(memory.count(OTHERS[1], 0, 8, 3), [(8, 3), (7, 2)]);
        // The lane of the first of them. The cell of 15 is taken.
        assert_eq!(memory.count(OTHERS[2], 0, 7, 2), [(8, 3), (7, 4)]);
        assert_eq!(memory.count(OTHERS[2], 0, 15, 9), [(8, 3), (7, 4)]);
        assert_eq!(memory.count(FIRST, 0, 7, 1), [(8, 3), (7, 4)]);
        assert_eq!(memory.in_nodes(0), [(7, 5122), (15, 9)]);
        memory.site(0).reset();
        memory.lanes.reset(memory.site(0));
        assert_eq!(memory.count(OTHERS[1], 0, 8, 1), [(8, 1)]);
    }
}
