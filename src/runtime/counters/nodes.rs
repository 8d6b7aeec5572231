//! The fixed region that nodes of top-N sites come from, and the indexes that find nodes of sites with many.
//!
//! A node stands in its site's list, see [`super::topn`]. A site with more than a few nodes also has an index.
#![allow(unsafe_code)]

use core::ptr::null_mut;

use super::index::{Index, SLOTS, home};
use super::node::Node;
use super::provided::ProvidedMemory;
use super::shared::may_lead;
use crate::runtime::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
#[cfg(feature = "live")]
use crate::runtime::sys;

/// Nodes of one image: 3 MiB of address space. A board has little more, so its program gives the memory.
pub const NODES: usize = if cfg!(feature = "runtime") { 128 * 1024 } else { 0 };
/// Sites of one image that can have an index.
pub const INDEXES: usize = if cfg!(feature = "runtime") { 1024 } else { 0 };

/// Groups of threads that reserve nodes: as many as four bits tell apart.
const THREADS: usize = 1 << 4;

/// The region: of a fixed size, or, with none, where the program says.
#[repr(C)]
#[cfg_attr(feature = "runtime", repr(align(64)))]
pub struct Nodes<const N: usize = NODES, const I: usize = INDEXES> {
    nodes: [Node; N],
    indexes: [Index; I],
    provided: ProvidedMemory,
    used: AtomicUsize,
    indexes_used: AtomicUsize,
    /// For some threads each: how many of the nodes that they have reserved are left, and above eight bits the number
    /// of the first of these.
    reserved: [AtomicUsize; THREADS],
    /// A node that lost the race for its place in a list. The next event that needs a node gets it.
    spare: AtomicPtr<Node>,
    dropped: AtomicU64,
    /// Whether sites of other images have nodes of this region.
    is_lent: AtomicBool,
    /// How many nodes and indexes surely have memory, see [`Nodes::has_room`].
    #[cfg(feature = "live")]
    ready: [AtomicUsize; 2],
    /// See [`Nodes::settle`].
    #[cfg(feature = "live")]
    settled: AtomicU64,
}

impl<const N: usize, const I: usize> Nodes<N, I> {
    /// An unused region.
    pub const fn new() -> Self {
        Self {
            nodes: [const { Node::new() }; N],
            indexes: [const { Index::new() }; I],
            provided: ProvidedMemory::new(),
            used: AtomicUsize::new(0),
            indexes_used: AtomicUsize::new(0),
            reserved: [const { AtomicUsize::new(0) }; THREADS],
            spare: AtomicPtr::new(null_mut()),
            dropped: AtomicU64::new(0),
            is_lent: AtomicBool::new(false),
            #[cfg(feature = "live")]
            ready: [const { AtomicUsize::new(0) }; 2],
            #[cfg(feature = "live")]
            settled: AtomicU64::new(0),
        }
    }

    /// Takes memory for nodes and indexes and gives whether it did: not if nodes or indexes are in use.
    ///
    /// # Safety
    ///
    /// The memory must stay, all zero, and nobody else may use it. Nobody may count values meanwhile.
    pub unsafe fn give(&self, memory: *mut u8, bytes: usize) -> bool {
        let used = self.used.load(Ordering::Relaxed) | self.indexes_used.load(Ordering::Relaxed);
        if N > 0 || used > 0 {
            return false;
        }
        // SAFETY: promised by the caller.
        unsafe { self.provided.take(memory, bytes) };
        true
    }

    /// The addresses of its nodes and indexes, if the program gave their memory.
    pub fn place(&self) -> core::ops::Range<usize> {
        self.provided.start()..self.provided.end()
    }

    /// Goes on where this many nodes and indexes are in use already. Clears the others: they may still have slots of
    /// LLVM's sites, which nothing points to after a reset.
    pub fn take_over(&self, [nodes, indexes]: [usize; 2]) {
        (nodes..).map_while(|number| self.node_at(number)).for_each(Node::clear);
        self.used.store(nodes, Ordering::Relaxed);
        self.indexes_used.store(indexes, Ordering::Relaxed);
        self.reset_indexes();
    }

    /// The node at an address, and its number, counted from 1. The memory behind the address may be anything.
    pub fn at(&self, address: usize) -> Option<(usize, &Node)> {
        let offset = address.wrapping_sub(self.start());
        let number = offset / size_of::<Node>();
        let is_node = offset.is_multiple_of(size_of::<Node>());
        let node = self.node_at(number).filter(|_| is_node)?;
        Some((number.wrapping_add(1), node))
    }

    /// Whether there is an index of this number, or the number is 0.
    pub fn has_index(&self, number: usize) -> bool {
        number <= self.indexes()
    }

    /// Whether there is any memory.
    #[inline(always)]
    pub fn is_given(&self) -> bool {
        self.nodes() > 0
    }

    #[inline(always)]
    fn node_at(&self, place: usize) -> Option<&Node> {
        if N > 0 { self.nodes.get(place) } else { self.provided.node(place) }
    }

    #[inline(always)]
    fn index_at(&self, place: usize) -> Option<&Index> {
        if N > 0 { self.indexes.get(place) } else { self.provided.index(place) }
    }

    /// How many nodes there are.
    #[inline(always)]
    fn nodes(&self) -> usize {
        if N > 0 { N } else { self.provided.nodes() }
    }

    /// How many indexes there are.
    #[inline(always)]
    fn indexes(&self) -> usize {
        if N > 0 { I } else { self.provided.indexes() }
    }

    /// Where the nodes begin.
    #[inline(always)]
    fn start(&self) -> usize {
        if N > 0 { self.nodes.as_ptr().addr() } else { self.provided.start() }
    }

    /// Whether there is memory for the node or index with this number, counted from 0, and for all before it.
    /// The region may be a file with holes, and touching a hole of a full disk ends the program. So this asks
    /// first.
    #[cfg(feature = "live")]
    fn has_room<T>(&self, of: usize, all: &[T], number: usize) -> bool {
        const AT_ONCE: usize = 4096;
        let Some(ready) = self.ready.get(of) else { return false };
        let first = ready.load(Ordering::Relaxed);
        if number < first {
            return true;
        }
        let end = number.wrapping_add(AT_ONCE / size_of::<T>()).min(all.len());
        let Some(more) = all.get(first..end) else { return false };
        // SAFETY: they are of this region, which may be written.
        let asked = unsafe { sys::populate(more.as_ptr().addr(), size_of_val(more)) };
        if asked == Err(sys::Errno::FAULT) {
            return false;
        }
        // Otherwise there is room. A system that cannot be asked has made it before.
        ready.fetch_max(end, Ordering::Relaxed);
        true
    }

    /// The first `used` nodes or indexes, as far as they surely have memory.
    fn there<'t, T>(&self, of: usize, all: &'t [T], used: &AtomicUsize) -> &'t [T] {
        let used = used.load(Ordering::Relaxed);
        #[cfg(feature = "live")]
        let used = used.min(self.ready.get(of).map_or(0, |ready| ready.load(Ordering::Relaxed)));
        #[cfg(not(feature = "live"))]
        let _ = of;
        all.get(..used).unwrap_or(all)
    }

    #[cfg(not(feature = "live"))]
    #[inline(always)]
    fn has_room<T>(&self, _of: usize, _all: &[T], _number: usize) -> bool {
        true
    }

    /// Says that all nodes and indexes have memory, or only those in use.
    #[cfg(feature = "live")]
    pub fn set_room(&self, for_all: bool) {
        let used = [&self.used, &self.indexes_used];
        for ((ready, used), all) in self.ready.iter().zip(used).zip([N, I]) {
            let in_use = ready.load(Ordering::Relaxed).min(used.load(Ordering::Relaxed));
            ready.store(if for_all { all } else { in_use }, Ordering::Relaxed);
        }
    }

    /// Notes that a site of another image is about to get some.
    pub fn lend(&self) {
        self.is_lent.store(true, Ordering::Relaxed);
    }

    /// How many nodes and indexes are in use, if sites of other images have some. Nobody else may get these,
    /// even when all is set back to zero here.
    #[cfg(feature = "live")]
    pub fn lent(&self) -> Option<[usize; 2]> {
        let used = || [&self.used, &self.indexes_used].map(|used| used.load(Ordering::Relaxed));
        self.is_lent.load(Ordering::Relaxed).then(used)
    }

    /// Marks this many nodes and indexes as used.
    #[cfg(feature = "live")]
    pub fn set_lent(&self, [nodes, indexes]: [usize; 2]) {
        self.used.store(nodes, Ordering::Relaxed);
        self.indexes_used.store(indexes, Ordering::Relaxed);
        self.lend();
    }

    /// Events lost because the region was full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Forgets the losses.
    pub fn reset_dropped(&self) {
        self.dropped.store(0, Ordering::Relaxed);
    }

    /// Empties all indexes after all counts have been set back. Also frees locks held by threads that are not
    /// in this process.
    pub fn reset_indexes(&self) {
        let fixed = self.there(1, &self.indexes, &self.indexes_used);
        for index in if N > 0 { fixed } else { self.provided.all_indexes() } {
            index.clear();
            index.hand.store(null_mut(), Ordering::Relaxed);
            index.unlock();
        }
    }

    /// The bytes in use: of nodes, of indexes, and of the fields behind them.
    #[cfg(feature = "live")]
    pub fn in_use(&self) -> [&[u8]; 3] {
        let nodes = self.there(0, &self.nodes, &self.used);
        let indexes = self.there(1, &self.indexes, &self.indexes_used);
        let rest = core::mem::offset_of!(Self, used)..size_of::<Self>();
        [
            bytes_of(nodes.as_ptr().cast(), size_of_val(nodes)),
            bytes_of(indexes.as_ptr().cast(), size_of_val(indexes)),
            bytes_of((&raw const self.used).cast(), rest.len()),
        ]
    }

    /// Says that the counts of the live file with this id have been added to a dump. Who reads the file finds it here,
    /// in its memory, wherever the file is and whatever its process may open.
    #[cfg(feature = "live")]
    pub fn settle(&self, id: u64) {
        self.settled.store(id, Ordering::Relaxed);
    }

    /// Where [`Nodes::settle`] writes.
    #[cfg(feature = "live")]
    pub fn settled_at(&self) -> usize {
        (&raw const self.settled).addr()
    }

    /// Events lost in a copy of this region that lies elsewhere.
    ///
    /// # Safety
    ///
    /// There must be a copy `shift` bytes away.
    #[cfg(feature = "live")]
    pub unsafe fn dropped_at(&self, shift: isize) -> u64 {
        let place = (&raw const self.dropped).wrapping_byte_offset(shift);
        // SAFETY: promised by the caller.
        unsafe { &*place }.load(Ordering::Relaxed)
    }

    /// A node with one event of this value, not yet seen by anybody else.
    pub fn take(&self, value: i64) -> Option<&Node> {
        let mut spare = self.spare.load(Ordering::Relaxed);
        if !spare.is_null() {
            spare = self.spare.swap(null_mut(), Ordering::Acquire);
        }
        if !may_lead::<Node>((&raw const self.spare).addr(), spare.addr()) {
            spare = null_mut();
        }
        // SAFETY: a spare node is a node of this region that stands in no list.
        let node = match unsafe { spare.as_ref() } {
            Some(node) => node,
            None => self.fresh()?,
        };
        node.value.store(value, Ordering::Relaxed);
        node.count.store(1, Ordering::Relaxed);
        Some(node)
    }

    /// Nodes behind each other, all zero, for another use. None if there are not as many left, which loses the event
    /// that needs them, or if the region may become a file: what leads to them lies outside of it.
    pub fn take_run(&self, number: usize) -> Option<&[Node]> {
        let end = |used: usize| used.checked_add(number).filter(|&end| end <= self.nodes());
        let (yes, no) = (Ordering::Relaxed, Ordering::Relaxed);
        if cfg!(not(feature = "live"))
            && let Ok(start) = self.used.fetch_update(yes, no, end)
        {
            return match N {
                0 => self.provided.run(start, number),
                _ => self.nodes.get(start..).and_then(|nodes| nodes.get(..number)),
            };
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        None
    }

    fn fresh(&self) -> Option<&Node> {
        let number = if Self::AT_ONCE > 1 { self.number_for_thread() } else { self.reserve(1) };
        if let Some(number) = number
            && let Some(node) = self.node_at(number)
            && self.has_room(0, &self.nodes, number)
        {
            return Some(node);
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Nodes that a thread reserves at once, so that sites that different threads have begun do not share lines of the
    /// cache. Small regions have none to spare.
    const AT_ONCE: usize = if N > 64 * THREADS && cfg!(not(feature = "live")) { 32 } else { 1 };

    /// The number of the next node for the calling thread, if there is one left.
    fn number_for_thread(&self) -> Option<usize> {
        let here = 0u8;
        let stack = (&raw const here).addr();
        // Stacks of other threads are elsewhere, at least 128 KiB away. The golden ratio spreads them.
        let thread = ((stack >> 17) as u32).wrapping_mul(0x9e37_79b9) >> 28;
        let reserved = self.reserved.get(thread as usize)?;
        let take = |left: usize| (left & 0xff > 0).then(|| left.wrapping_add(0xff));
        if let Ok(left) = reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            return Some(left >> 8);
        }
        let first = self.reserve(Self::AT_ONCE)?;
        let left = (first.wrapping_add(1) << 8).wrapping_add(Self::AT_ONCE - 1);
        reserved.store(left, Ordering::Relaxed);
        Some(first)
    }

    /// Reserves `nodes` nodes behind each other, and gives the number of the first. The last ones may lie beyond the
    /// region.
    fn reserve(&self, nodes: usize) -> Option<usize> {
        // Looked at first, so that `used` cannot wrap round however many events find the region full.
        let is_full = self.used.load(Ordering::Relaxed) >= self.nodes();
        (!is_full).then(|| self.used.fetch_add(nodes, Ordering::Relaxed))
    }

    /// Takes back a node from [`Nodes::take`] that nobody has seen.
    pub fn give_back(&self, node: &Node) {
        self.spare.store(core::ptr::from_ref(node).cast_mut(), Ordering::Release);
    }

    /// Whether a node is in this region.
    #[inline(always)]
    pub fn has(&self, node: &Node) -> bool {
        self.offset(node) < self.nodes().wrapping_mul(size_of::<Node>())
    }

    /// The index with this number, of a site with this first node.
    #[inline(always)]
    pub fn index(&self, number: u32, first: &Node) -> Option<&Index> {
        // The image that has taken the first node has made the index.
        self.index_at((number as usize).wrapping_sub(1)).filter(|_| self.has(first))
    }

    /// The index with this number, of a site whose nodes all are in this region.
    #[inline(always)]
    pub fn own_index(&self, number: u32) -> Option<&Index> {
        self.index_at((number as usize).wrapping_sub(1))
    }

    /// Reserves an index for the site with this first node and gives its number, if there is one left.
    pub fn reserve_index(&self, first: &Node) -> Option<u32> {
        if !self.has(first) || self.indexes_used.load(Ordering::Relaxed) >= self.indexes() {
            return None;
        }
        let number = self.indexes_used.fetch_add(1, Ordering::Relaxed);
        let is_there = number < self.indexes() && self.has_room(1, &self.indexes, number);
        is_there.then_some(number.wrapping_add(1) as u32)
    }

    /// The node to which an index leads for a value.
    #[inline(always)]
    pub fn look_up(&self, index: &Index, value: i64) -> Option<&Node> {
        for slot in index.slots(value) {
            let number = slot.load(Ordering::Relaxed) as usize;
            let node = self.node_at(number.wrapping_sub(1))?;
            if node.holds(value) {
                return Some(node);
            }
        }
        None
    }

    /// Puts a node into an index that does not lead to it yet; `false` if there is no room.
    pub fn enter(&self, index: &Index, node: &Node) -> bool {
        let number = self.number(node);
        if index.is_crowded() || number > self.nodes() {
            return false;
        }
        let mut slots = index.slots(node.value.load(Ordering::Relaxed));
        let Some(slot) = slots.find(|slot| slot.load(Ordering::Relaxed) == 0) else { return false };
        slot.store(number as u32, Ordering::Relaxed);
        let used = index.used.load(Ordering::Relaxed);
        index.used.store(used.wrapping_add(1), Ordering::Relaxed);
        true
    }

    /// Takes a node out of an index that led to it for a value which it no longer holds. Slots behind it move up,
    /// so that searches stay short.
    pub fn remove(&self, index: &Index, node: &Node, value: i64) {
        let slot = |place: usize| index.slots.get(place % SLOTS);
        let number = |place| slot(place).map_or(0, |slot| slot.load(Ordering::Relaxed));
        let put = |place, number| {
            if let Some(slot) = slot(place) {
                slot.store(number, Ordering::Relaxed);
            }
        };
        let (wanted, first) = (self.number(node) as u32, home(value));
        let mut places = (first..first.wrapping_add(SLOTS)).take_while(|&place| number(place) != 0);
        let Some(mut hole) = places.find(|&place| number(place) == wanted) else { return };
        for place in hole.wrapping_add(1)..hole.wrapping_add(SLOTS) {
            let next = number(place);
            let Some(node) = self.node_at((next as usize).wrapping_sub(1)) else { break };
            let way = place.wrapping_sub(home(node.value.load(Ordering::Relaxed))) % SLOTS;
            // It may stand no earlier than at its home.
            if way >= place.wrapping_sub(hole) {
                put(hole, next);
                hole = place;
            }
        }
        put(hole, 0);
        let used = index.used.load(Ordering::Relaxed);
        index.used.store(used.saturating_sub(1), Ordering::Relaxed);
    }

    /// Makes an index lead to all nodes of a full site. Says whether it does; nodes of other regions have no
    /// place in it.
    pub fn complete<'n>(&self, index: &Index, nodes: impl Iterator<Item = &'n Node>) -> bool {
        if index.is_crowded() || !index.complete.load(Ordering::Relaxed) {
            index.clear();
            let mut complete = true;
            nodes.for_each(|node| complete &= self.enter(index, node));
            index.complete.store(complete, Ordering::Relaxed);
        }
        index.complete.load(Ordering::Relaxed)
    }

    /// Number of a node in the region, counted from 1; more than there are if the node is of another.
    fn number(&self, node: &Node) -> usize {
        (self.offset(node) / size_of::<Node>()).wrapping_add(1)
    }

    /// Offset of a node in the region in bytes; beyond its end if the node is of another.
    #[inline(always)]
    fn offset(&self, node: &Node) -> usize {
        core::ptr::from_ref(node).addr().wrapping_sub(self.start())
    }
}

impl<const N: usize, const I: usize> Default for Nodes<N, I> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "live")]
fn bytes_of<'n>(start: *const u8, length: usize) -> &'n [u8] {
    // SAFETY: a part of the region; its atomics may be read as bytes. What changes meanwhile may be missing.
    unsafe { core::slice::from_raw_parts(start, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As memory is after a reset in which a site's slots were in nodes.
    #[test]
    fn nodes_that_nothing_leads_to_are_empty() {
        let mut memory = [7i64; 9];
        let nodes = Nodes::<0, 0>::new();
        // SAFETY: it stays as long as the nodes, nobody else uses it, and any bytes are a node.
        assert!(unsafe { nodes.give(memory.as_mut_ptr().cast(), size_of_val(&memory)) });
        nodes.take_over([1, 0]);
        let run = nodes.take_run(2).unwrap();
        assert!(run.iter().all(|node| node.pair() == Default::default() && node.holds(0)));
        assert!(run.iter().all(|node| node.next.load(Ordering::Relaxed).is_null()));
        assert_eq!(memory[..3], [7; 3]);
    }
}
