//! The values of a top-N site: which there were, and how often each.
//!
//! A site is three counters laid out by the compiler: the number of events, the number of nodes,
//! and the head of a list of nodes. Layout of a node and rules are libgcov's (GCC 11 to 16), so
//! that sites may be shared with libraries that carry libgcov: a value in the list is counted; a
//! new one is appended while there are fewer than [`SITE_LIMIT`]; in a full site the smallest count
//! goes down by one and the new value takes the place once that leaves nothing.
//!
//! What is different is where nodes come from, a fixed region instead of mapped memory, and how
//! they are linked:
//!
//! * A node belongs to its site for ever. Lists only grow, at the end, by compare-and-swap from
//!   NULL, in the plain form too: a signal handler between another profiler's load and store cannot
//!   lose nodes, a walker never meets a node that changed sites, and the depth at which a walker
//!   finds the end is the true length, so no race pushes a site past its limit.
//! * A reset sets all counts to 0. Nodes with count 0 are free and taken in order, so that the values
//!   stand in the order of their appearance since the reset, as in libgcov's new list.
//! * In the atomic form a node whose value is being replaced has `REPLACING` in its count, and a
//!   walker that raced with a replacement takes its increment back. So no value ever gets another's
//!   events, and the total is the sum of the counts and of what the rules took off.
//!
//! Events for which no node was left are counted, and stand in the dump.
#![allow(unsafe_code)]

use core::ptr::null_mut;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use super::{Atomic, Plain, Update};
use crate::raw::merge::{Pair, SITE_LIMIT};

/// Sites that can be full at the same time: with 3 MiB of address space, or on a board that has
/// little more than the 48 KiB of the smaller number.
pub const SITES: usize = if cfg!(feature = "runtime") { 4096 } else { 64 };

/// Nodes of one image.
pub const NODES: usize = SITES * SITE_LIMIT;

/// Added to the count of a node while its value is being replaced.
const REPLACING: i64 = i64::MIN;

/// A value of a site, in libgcov's layout.
#[repr(C)]
pub struct Node {
    value: AtomicI64,
    count: AtomicI64,
    next: AtomicPtr<Node>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 24);

impl Node {
    const fn new() -> Self {
        let (value, count) = (AtomicI64::new(0), AtomicI64::new(0));
        Self { value, count, next: AtomicPtr::new(null_mut()) }
    }
}

/// How a node is changed.
pub trait NodeUpdate: Update {
    /// Counts an event at a node that held its value a moment ago; `false` if it is free.
    fn hit(node: &Node, value: i64) -> bool;
    /// Gives a free node a value and its first event; `false` if it is free no more.
    fn take(node: &Node, value: i64) -> bool;
    /// Counts an event in a full site, of which this was the smallest node a moment ago.
    fn replace(node: &Node, value: i64);
}

impl NodeUpdate for Plain {
    #[inline(always)]
    fn hit(node: &Node, _value: i64) -> bool {
        let before = node.count.load(Ordering::Relaxed);
        if before == 0 {
            return false;
        }
        node.count.store(before.wrapping_add(1), Ordering::Relaxed);
        true
    }

    fn take(node: &Node, value: i64) -> bool {
        node.value.store(value, Ordering::Relaxed);
        node.count.store(1, Ordering::Relaxed);
        true
    }

    fn replace(node: &Node, value: i64) {
        match node.count.load(Ordering::Relaxed).wrapping_sub(1) {
            less if less < 1 => drop(Self::take(node, value)),
            less => node.count.store(less, Ordering::Relaxed),
        }
    }
}

impl NodeUpdate for Atomic {
    #[inline(always)]
    fn hit(node: &Node, value: i64) -> bool {
        let before = node.count.fetch_add(1, Ordering::AcqRel);
        if before <= 0 || !holds(node, value) {
            // Free, or about to get another value: then the event stays in the total only.
            node.count.fetch_sub(1, Ordering::AcqRel);
        }
        before != 0
    }

    fn take(node: &Node, value: i64) -> bool {
        replace_if(node, 0, value)
    }

    fn replace(node: &Node, value: i64) {
        let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
        let mut count = node.count.load(Ordering::Acquire);
        // A negative count is another thread's replacement: it keeps the place, this event goes.
        while count > 1 {
            match node.count.compare_exchange(count, count - 1, yes, no) {
                Ok(_) => return,
                Err(now) => count = now,
            }
        }
        replace_if(node, count, value);
    }
}

/// Gives a node another value, with one event, if its count is still `count` and not negative.
fn replace_if(node: &Node, count: i64, value: i64) -> bool {
    let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
    if count < 0 || node.count.compare_exchange(count, REPLACING, yes, no).is_err() {
        return false;
    }
    node.value.store(value, Ordering::Relaxed);
    // From REPLACING to 1; what others add meanwhile they take back themselves.
    node.count.fetch_add(REPLACING.wrapping_neg().wrapping_add(1), Ordering::AcqRel);
    true
}

/// The fixed region that nodes come from.
#[repr(C)]
pub struct Nodes<const N: usize = NODES> {
    nodes: [Node; N],
    used: AtomicUsize,
    /// A node that lost the race for its place, for the next that needs one.
    spare: AtomicPtr<Node>,
    dropped: AtomicU64,
}

impl<const N: usize> Nodes<N> {
    /// A region of which nothing is used.
    pub const fn new() -> Self {
        Self {
            nodes: [const { Node::new() }; N],
            used: AtomicUsize::new(0),
            spare: AtomicPtr::new(null_mut()),
            dropped: AtomicU64::new(0),
        }
    }

    /// Events lost because the region was full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Forgets the losses.
    pub fn reset_dropped(&self) {
        self.dropped.store(0, Ordering::Relaxed);
    }

    /// The bytes in use: of nodes, and of what follows them.
    #[cfg(feature = "live")]
    pub fn in_use(&self) -> [&[u8]; 2] {
        let nodes = self.nodes.get(..self.used.load(Ordering::Relaxed)).unwrap_or(&self.nodes);
        let rest = size_of::<Self>().wrapping_sub(size_of_val(&self.nodes));
        // SAFETY: atomics may be read as bytes; what changes meanwhile may be missing.
        let nodes =
            unsafe { core::slice::from_raw_parts(nodes.as_ptr().cast(), size_of_val(nodes)) };
        // SAFETY: as above, the fields behind the nodes.
        let rest = unsafe { core::slice::from_raw_parts((&raw const self.used).cast(), rest) };
        [nodes, rest]
    }

    /// Events lost in a copy of this region that lies elsewhere.
    ///
    /// # Safety
    ///
    /// There must be one, so many bytes away.
    #[cfg(feature = "live")]
    pub unsafe fn dropped_at(&self, shift: isize) -> u64 {
        let place = (&raw const self.dropped).wrapping_byte_offset(shift);
        // SAFETY: promised by the caller.
        unsafe { &*place }.load(Ordering::Relaxed)
    }

    /// A node that nobody else sees yet.
    fn take(&self, value: i64) -> Option<&Node> {
        let spare = self.spare.swap(null_mut(), Ordering::Acquire);
        // SAFETY: a spare node is a node of this region that stands in no list.
        let node = match unsafe { spare.as_ref() } {
            Some(node) => node,
            None => self.fresh()?,
        };
        node.value.store(value, Ordering::Relaxed);
        node.count.store(1, Ordering::Relaxed);
        Some(node)
    }

    fn fresh(&self) -> Option<&Node> {
        // Looked at first so that the index cannot wrap round however many events find it full.
        if self.used.load(Ordering::Relaxed) < N
            && let Some(node) = self.nodes.get(self.used.fetch_add(1, Ordering::Relaxed))
        {
            return Some(node);
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        None
    }

    fn give_back(&self, node: &Node) {
        self.spare.store((node as *const Node).cast_mut(), Ordering::Release);
    }
}

impl<const N: usize> Default for Nodes<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// A site in the program's memory.
#[derive(Clone, Copy)]
pub struct LiveSite<'c> {
    total: &'c AtomicI64,
    length: &'c AtomicI64,
    head: &'c AtomicPtr<Node>,
}

enum Found<'c> {
    /// The value's node.
    Node(&'c Node),
    /// The first node that a reset has freed. The value has none: values fill nodes in order.
    Free(&'c Node),
    /// The link at the end of a list with room for more.
    End(&'c AtomicPtr<Node>),
    /// A full list, with the first of its smallest nodes.
    Full(&'c Node),
}

impl<'c> LiveSite<'c> {
    /// Takes the counters of a site; `None` if there are fewer than three.
    ///
    /// # Safety
    ///
    /// The third counter must be 0 or have been set by a profiler, this one or libgcov's.
    pub unsafe fn new(counters: &'c [AtomicI64]) -> Option<Self> {
        let [total, length, head, ..] = counters else {
            return None;
        };
        // SAFETY: the counter is aligned at least as a pointer and no smaller; profilers keep a
        // pointer in it and nothing else. On 32 bits that is its first half, on little-endian
        // machines the one that libgcov reads.
        let head = unsafe { &*(&raw const *head).cast::<AtomicPtr<Node>>() };
        Some(Self { total, length, head })
    }

    /// Counts an event with this value.
    #[inline]
    pub fn count<U: NodeUpdate, const N: usize>(&self, value: i64, nodes: &Nodes<N>) {
        // Only libgcov, merging a file into memory, makes a total negative; it counts no further.
        if self.total.load(Ordering::Relaxed) < 0 {
            return;
        }
        U::add(self.total, 1);
        if !self.known(value).is_some_and(|node| U::hit(node, value)) {
            self.count_new::<U, N>(value, nodes);
        }
    }

    /// The first node with the value, free or not. As little per node as a walk can do: sites of
    /// many targets spend their time here.
    #[inline(always)]
    fn known(&self, value: i64) -> Option<&'c Node> {
        let mut link = self.head;
        while let Some(node) = follow(link) {
            if holds(node, value) {
                return Some(node);
            }
            link = &node.next;
        }
        None
    }

    /// Counts an event with a value that has no node.
    #[cold]
    #[inline(never)]
    fn count_new<U: NodeUpdate, const N: usize>(&self, value: i64, nodes: &Nodes<N>) {
        let mut fresh = None;
        loop {
            match self.find(value) {
                Found::Node(node) => {
                    if U::hit(node, value) {
                        break;
                    }
                }
                Found::Free(node) => {
                    if U::take(node, value) {
                        self.length.fetch_add(1, Ordering::Relaxed);
                        break;
                    }
                }
                Found::Full(smallest) => {
                    U::replace(smallest, value);
                    break;
                }
                Found::End(link) => {
                    let Some(node) = fresh.take().or_else(|| nodes.take(value)) else { return };
                    let place = (node as *const Node).cast_mut();
                    let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
                    if link.compare_exchange(null_mut(), place, yes, no).is_ok() {
                        self.length.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    // Another thread, or a handler on top of this one, was first: look again.
                    fresh = Some(node);
                }
            }
        }
        if let Some(node) = fresh {
            nodes.give_back(node);
        }
    }

    /// Events so far.
    pub fn total(&self) -> i64 {
        self.total.load(Ordering::Relaxed)
    }

    /// The values in order of appearance, those without events left out.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + use<'c> {
        let pairs = self.nodes().map(|node| Pair {
            value: node.value.load(Ordering::Relaxed),
            count: node.count.load(Ordering::Relaxed),
        });
        pairs.filter(|pair| pair.count > 0)
    }

    /// Forgets all events. The nodes stay with the site.
    pub fn reset(&self) {
        self.total.store(0, Ordering::Relaxed);
        self.length.store(0, Ordering::Relaxed);
        self.nodes().for_each(|node| node.count.store(0, Ordering::Relaxed));
    }

    /// Makes a list lead to nodes that are elsewhere now, where `translate` says; it ends where that
    /// says nothing.
    #[cfg(feature = "live")]
    pub fn relocate(&self, translate: impl Fn(usize) -> Option<&'c Node>) {
        let mut link = self.head;
        for _ in 0..SITE_LIMIT {
            let node = translate(link.load(Ordering::Relaxed) as usize);
            let place = node.map_or(null_mut(), |node| core::ptr::from_ref(node).cast_mut());
            link.store(place, Ordering::Relaxed);
            let Some(node) = node else { return };
            link = &node.next;
        }
        link.store(null_mut(), Ordering::Relaxed);
    }

    fn find(&self, value: i64) -> Found<'c> {
        let mut link = self.head;
        let mut smallest: Option<(&Node, i64)> = None;
        for _ in 0..SITE_LIMIT {
            let Some(node) = follow(link) else {
                return Found::End(link);
            };
            let count = node.count.load(Ordering::Relaxed);
            if count == 0 {
                return Found::Free(node);
            }
            if holds(node, value) {
                return Found::Node(node);
            }
            if count >= 0 && smallest.is_none_or(|(_, least)| count < least) {
                smallest = Some((node, count));
            }
            link = &node.next;
        }
        match (smallest, follow(self.head)) {
            (Some((node, _)), _) | (None, Some(node)) => Found::Full(node),
            (None, None) => Found::End(self.head),
        }
    }

    fn nodes(&self) -> impl Iterator<Item = &'c Node> + use<'c> {
        let mut link = self.head;
        // The limit also ends a list that libgcov's races made longer.
        (0..SITE_LIMIT).map_while(move |_| {
            let node = follow(link)?;
            link = &node.next;
            Some(node)
        })
    }
}

#[inline(always)]
fn follow<'c>(link: &AtomicPtr<Node>) -> Option<&'c Node> {
    // SAFETY: links are NULL or point to a node, ours or libgcov's, that is never given back.
    unsafe { link.load(Ordering::Acquire).as_ref() }
}

#[inline(always)]
fn holds(node: &Node, value: i64) -> bool {
    node.value.load(Ordering::Relaxed) == value
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use super::*;
    use crate::raw::merge::Site;

    type Counters = [AtomicI64; 3];

    fn counters() -> Counters {
        [const { AtomicI64::new(0) }; 3]
    }

    fn site(counters: &Counters) -> LiveSite<'_> {
        // SAFETY: only this module's profiler writes the counters.
        unsafe { LiveSite::new(counters) }.unwrap()
    }

    fn kept(counters: &Counters) -> Vec<(i64, i64)> {
        site(counters).pairs().map(|pair| (pair.value, pair.count)).collect()
    }

    #[test]
    fn a_full_site_gives_a_place_to_a_value_that_insists() {
        let (counters, nodes) = (counters(), Nodes::<64>::new());
        for value in (0..32).chain(0..32) {
            site(&counters).count::<Plain, _>(value, &nodes);
        }
        site(&counters).count::<Plain, _>(100, &nodes);
        assert_eq!(kept(&counters)[0], (0, 1));
        site(&counters).count::<Plain, _>(100, &nodes);
        assert_eq!(kept(&counters)[0], (100, 1));
        assert_eq!(site(&counters).total(), 66);
        assert_eq!(counters[1].load(Ordering::Relaxed), 32);
    }

    #[test]
    fn both_forms_follow_the_rules_of_merging() {
        let values = || (0..5000i64).map(|i| (i * i + i / 7) % 41);
        let (plain, atomic, nodes) = (counters(), counters(), Nodes::<64>::new());
        let mut model = Site::new(0);
        for value in values() {
            site(&plain).count::<Plain, _>(value, &nodes);
            site(&atomic).count::<Atomic, _>(value, &nodes);
            model.merge(1).pair(Pair { value, count: 1 });
        }
        let model: Vec<_> = model.pairs.iter().map(|pair| (pair.value, pair.count)).collect();
        assert_eq!(kept(&plain), model);
        assert_eq!(kept(&atomic), model);
    }

    #[test]
    fn a_full_region_drops_and_counts() {
        let (counters, nodes) = (counters(), Nodes::<2>::new());
        (0..5).for_each(|value| site(&counters).count::<Plain, _>(value, &nodes));
        assert_eq!(kept(&counters), [(0, 1), (1, 1)]);
        assert_eq!((site(&counters).total(), nodes.dropped()), (5, 3));
    }

    #[test]
    fn a_reset_site_starts_anew_in_its_old_nodes() {
        let (counters, nodes) = (counters(), Nodes::<32>::new());
        (0..32).for_each(|value| site(&counters).count::<Plain, _>(value, &nodes));
        site(&counters).reset();
        assert_eq!(kept(&counters), []);
        for value in [7, 100, 3, 100] {
            site(&counters).count::<Plain, _>(value, &nodes);
        }
        assert_eq!(kept(&counters), [(7, 1), (100, 2), (3, 1)]);
        assert_eq!(counters[1].load(Ordering::Relaxed), 3);
        site(&counters).reset();
        for value in (100..132).chain([0]) {
            site(&counters).count::<Atomic, _>(value, &nodes);
        }
        let expected = [(0, 1)].into_iter().chain((101..132).map(|value| (value, 1)));
        assert!(kept(&counters).into_iter().eq(expected));
        assert_eq!((counters[1].load(Ordering::Relaxed), nodes.dropped()), (32, 0));
    }

    #[test]
    fn threads_lose_nothing_while_there_is_room() {
        let (counters, nodes) = (counters(), Nodes::<64>::new());
        let count = || {
            for i in 0..20_000i64 {
                site(&counters).count::<Atomic, _>(i % 31, &nodes);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(count);
            }
        });
        let kept: BTreeMap<_, _> = kept(&counters).into_iter().collect();
        assert_eq!(kept.len(), 31);
        assert_eq!(kept.values().sum::<i64>(), 80_000);
        assert_eq!(site(&counters).total(), 80_000);
    }

    #[test]
    fn threads_in_a_full_site_never_count_too_much() {
        let (counters, nodes) = (counters(), Nodes::<64>::new());
        let count = || {
            for i in 0..20_000i64 {
                site(&counters).count::<Atomic, _>(i * 7 % 64, &nodes);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(count);
            }
        });
        let kept = kept(&counters);
        let values: BTreeMap<_, _> = kept.iter().copied().collect();
        assert!(kept.len() <= SITE_LIMIT && values.len() == kept.len());
        assert!(kept.iter().map(|(_, count)| count).sum::<i64>() <= site(&counters).total());
        assert_eq!(counters[1].load(Ordering::Relaxed), 32);
    }
}
