//! The values of a top-N site: which there were, and how often each.
//!
//! A site is three counters laid out by the compiler ([`crate::raw::gcov::site`] says what is in them),
//! the last of which leads to a list of nodes. The layout is libgcov's (GCC 11 to 16), so that sites may
//! be shared with libraries that carry libgcov. As long as there are no more than [`SITE_LIMIT`] values
//! they are all counted, in the order of their appearance.
//!
//! A site with more is kept by the *Space-Saving* algorithm (Metwally, Agrawal, El Abbadi, 2005): a
//! new value takes the place, and the count, of one with the smallest count, which goes up by one.
//! The counts of a site with N events and k places then always add up to N, so the smallest is at
//! most N / k; no count is too small, none is too large by more than the largest count that was
//! given away, the *floor*, and no value with more events than that is missing. Smallest counts are
//! found by going round the list with a hand, as a clock does: where one was given away others like
//! it are near.
//!
//! What else is different from libgcov:
//!
//! * Nodes come from a fixed region. Events for which none was left are counted, and stand in the
//!   dump.
//! * A node belongs to its site for ever. Lists only grow, at the end, by compare-and-swap from
//!   NULL, in the plain form too: a signal handler between another profiler's load and store cannot
//!   lose nodes, a walker never meets a node that changed sites, and the depth at which a walker
//!   finds the end is the true length, so no race pushes a site past its limit.
//! * A reset sets all counts to 0. Nodes with count 0 are free and taken in order, so that the values
//!   stand in the order of their appearance since the reset, as in libgcov's new list.
//! * In the image's own sites the number of events is not counted, which would double the work of
//!   the atomic form: it is the sum of the counts, and of the events in no node.
//! * In the atomic form a node whose value is being replaced says so in its count, and a walker that
//!   raced with a replacement takes its increment back. So no value ever gets another's events but by
//!   the rule above. `tests/model` checks that for every order in which threads can meet.
//! * Whenever a process ends, what lies in memory is a good site: at most one event of each thread is
//!   missing, or stands at another value.
#![allow(unsafe_code)]

use core::ptr::null_mut;

use super::nodes::{Index, Node, Nodes};
use super::{Atomic, Plain, Update};
use crate::raw::gcov::site::{REPLACING, SUMMED, Shape, total_and_error};
#[cfg(feature = "live")]
use crate::raw::merge::Site;
use crate::raw::merge::{Pair, SITE_LIMIT};
use crate::runtime::atomic::{AtomicI64, AtomicPtr, Ordering};

/// A site with so many nodes has an index.
const MANY: usize = if SITE_LIMIT < 9 { SITE_LIMIT } else { 9 };

/// How an event is counted at a node.
pub trait NodeUpdate: Update {
    /// Whether other threads may count at the same time.
    const SHARED: bool;
    /// Counts an event at a node that held its value a moment ago; `false` if it does no more.
    fn hit(node: &Node, value: i64) -> bool;
}

impl NodeUpdate for Plain {
    const SHARED: bool = false;

    #[inline(always)]
    fn hit(node: &Node, _value: i64) -> bool {
        let before = node.count.load(Ordering::Relaxed);
        if before > 0 {
            node.count.store(before.wrapping_add(1), Ordering::Relaxed);
        }
        before > 0
    }
}

impl NodeUpdate for Atomic {
    const SHARED: bool = true;

    #[inline(always)]
    fn hit(node: &Node, value: i64) -> bool {
        let before = node.count.fetch_add(1, Ordering::AcqRel);
        let hit = before > 0 && node.holds(value);
        if !hit {
            take_back(node);
        }
        hit
    }
}

/// Takes an increment back from a node that is free or has got another value, unless a reset has done
/// so.
#[cold]
fn take_back(node: &Node) {
    let less = |count: i64| (count & !REPLACING != 0).then_some(count.wrapping_sub(1));
    let _ = node.count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less);
}

/// The three counters of a site.
#[repr(C)]
pub struct Counters {
    /// See [`SUMMED`].
    pub first: AtomicI64,
    /// See [`Shape`].
    pub shape: AtomicI64,
    /// The first node. On 32 bits the first half of a counter, on little-endian machines the one that
    /// libgcov reads.
    pub head: AtomicPtr<Node>,
}

/// A site in the program's memory.
#[derive(Clone, Copy)]
pub struct LiveSite<'c>(&'c Counters);

enum Found<'c> {
    /// The value's node.
    Node(&'c Node),
    /// The first node that a reset has freed. The value has none: values fill nodes in order.
    Free(&'c Node),
    /// The link at the end of a list with room for more.
    End(&'c AtomicPtr<Node>),
    /// A full list without the value.
    Full,
    /// Not the value's node, but one that is about to get a value, and may be the value's then.
    Unknown,
}

/// An event on its way to a node that is not at hand.
struct Event<'n, const N: usize, const I: usize> {
    value: i64,
    nodes: &'n Nodes<N, I>,
    shared: bool,
}

impl<'c> LiveSite<'c> {
    /// Takes the counters of a site.
    ///
    /// # Safety
    ///
    /// The third counter must be 0 or have been set by a profiler, this one or libgcov's.
    pub const unsafe fn new(counters: &'c [AtomicI64; 3]) -> Self {
        // SAFETY: aligned at least as a pointer, no smaller, and profilers keep a pointer in the third
        // and nothing else.
        Self(unsafe { &*counters.as_ptr().cast() })
    }

    /// The site with these counters.
    pub const fn of(counters: &'c Counters) -> Self {
        Self(counters)
    }

    /// Counts an event with this value. `owns` says whether something at an address is of this image.
    #[inline(always)]
    pub fn count<U: NodeUpdate, const N: usize, const I: usize>(
        self,
        value: i64,
        nodes: &Nodes<N, I>,
        owns: fn(usize) -> bool,
    ) {
        if self.0.first.load(Ordering::Relaxed) < SUMMED
            || !self.known(value, nodes).is_some_and(|node| U::hit(node, value))
        {
            self.count_slowly(value, nodes, U::SHARED, owns);
        }
    }

    /// The value's node, if it is at hand. As little as possible: programs spend their time here.
    #[inline(always)]
    fn known<'n, const N: usize, const I: usize>(
        &self,
        value: i64,
        nodes: &'n Nodes<N, I>,
    ) -> Option<&'n Node>
    where
        'c: 'n,
    {
        let first = follow(&self.0.head)?;
        if first.holds(value) {
            return Some(first);
        }
        if let Some(index) = nodes.index(self.shape().index(), first) {
            return nodes.look_up(index, value);
        }
        let mut link = &first.next;
        while let Some(node) = follow(link) {
            if node.holds(value) {
                return Some(node);
            }
            link = &node.next;
        }
        None
    }

    #[inline(always)]
    fn shape(&self) -> Shape {
        Shape(self.0.shape.load(Ordering::Acquire))
    }

    fn add_shape(&self, more: Shape) {
        self.0.shape.fetch_add(more.0, Ordering::AcqRel);
    }

    /// Counts an event with a value that has no node at hand, or at a site whose events libgcov may
    /// look for in the first counter.
    #[cold]
    #[inline(never)]
    fn count_slowly<const N: usize, const I: usize>(
        self,
        value: i64,
        nodes: &Nodes<N, I>,
        shared: bool,
        owns: fn(usize) -> bool,
    ) {
        let first = &self.0.first;
        let mut total = first.load(Ordering::Relaxed);
        if total == 0 && owns(core::ptr::from_ref(first).addr()) {
            let (yes, no) = (Ordering::Relaxed, Ordering::Relaxed);
            total = first.compare_exchange(0, SUMMED, yes, no).err().unwrap_or(SUMMED);
        }
        // Only libgcov, merging a file into memory, makes a total negative; it counts no further.
        if total < 0 {
            return;
        }
        let event = Event { value, nodes, shared };
        let counted =
            self.known(value, nodes).is_some_and(|node| event.hit(node)) || self.attribute(&event);
        if total < SUMMED || !counted {
            let before = first.fetch_add(1, Ordering::Relaxed);
            if total < SUMMED && before >= SUMMED && counted {
                // The site's image has counted its first event there meanwhile.
                first.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Finds or makes a place for an event; `false` if there is none.
    fn attribute<const N: usize, const I: usize>(&self, event: &Event<'_, N, I>) -> bool {
        let mut fresh = None;
        let node = loop {
            if self.shape().nodes() >= SITE_LIMIT && self.index(event.nodes).is_some() {
                break None;
            }
            match self.find(event.value) {
                Found::Node(node) => break event.hit(node).then_some(node),
                Found::Free(node) => {
                    if event.take(node, 0) {
                        self.add_shape(Shape::NODE);
                        break Some(node);
                    }
                }
                Found::Full | Found::Unknown => break None,
                Found::End(link) => {
                    let Some(node) = fresh.take().or_else(|| event.nodes.take(event.value)) else {
                        return false;
                    };
                    let place = core::ptr::from_ref(node).cast_mut();
                    let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
                    if link.compare_exchange(null_mut(), place, yes, no).is_ok() {
                        self.add_shape(Shape::NODE);
                        break Some(node);
                    }
                    // Another thread, or a handler on top of this one, was first: look again.
                    fresh = Some(node);
                }
            }
        };
        if let Some(fresh) = fresh {
            event.nodes.give_back(fresh);
        }
        match self.index(event.nodes).or_else(|| self.make_index(event)) {
            Some(index) if index.try_lock() => {
                let counted = self.settle(node, index, event);
                index.unlock();
                counted
            }
            Some(_) if node.is_none() => self.hit_in_list(event),
            _ => node.is_some(),
        }
    }

    /// Makes the index, which is locked, lead to the node that has taken an event; if none has, the
    /// event is counted now. Whether it was.
    fn settle<const N: usize, const I: usize>(
        &self,
        node: Option<&Node>,
        index: &Index,
        event: &Event<'_, N, I>,
    ) -> bool {
        let full = self.shape().nodes() >= SITE_LIMIT;
        let complete = full && event.nodes.complete(index, self.nodes());
        let known = event.nodes.look_up(index, event.value);
        match (node, known) {
            (Some(node), None) => {
                event.nodes.enter(index, node);
                true
            }
            (Some(_), Some(_)) => true,
            (None, Some(known)) => event.hit(known),
            (None, None) if full && !complete && self.hit_in_list(event) => true,
            (None, None) => full && self.give_place(index, event),
        }
    }

    /// Counts an event at its value's node, if there is one.
    fn hit_in_list<const N: usize, const I: usize>(&self, event: &Event<'_, N, I>) -> bool {
        let node = self.nodes().find(|node| node.holds(event.value));
        node.is_some_and(|node| event.hit(node))
    }

    #[inline(always)]
    fn index<'n, const N: usize, const I: usize>(
        &self,
        nodes: &'n Nodes<N, I>,
    ) -> Option<&'n Index> {
        nodes.index(self.shape().index(), follow(&self.0.head)?)
    }

    /// Makes an index if there are enough nodes: in a site of others only when it is full, as it is to
    /// libgcov then, which takes the whole counter for the number of nodes.
    #[cold]
    fn make_index<'n, const N: usize, const I: usize>(
        &self,
        event: &Event<'n, N, I>,
    ) -> Option<&'n Index> {
        let own = self.0.first.load(Ordering::Relaxed) >= SUMMED;
        let shape = self.shape();
        if shape.index() != 0 || shape.nodes() < if own { MANY } else { SITE_LIMIT } {
            return None;
        }
        let number = event.nodes.reserve_index(follow(&self.0.head)?)?;
        let with_index = |shape: i64| {
            let without = Shape(shape).index() == 0;
            without.then(|| shape.wrapping_add(Shape::of_index(number).0))
        };
        // One that lost the race stays unused.
        let _ = self.0.shape.fetch_update(Ordering::AcqRel, Ordering::Acquire, with_index);
        self.index(event.nodes)
    }

    /// Counts an event with a new value at a full site.
    fn give_place<const N: usize, const I: usize>(
        &self,
        index: &Index,
        event: &Event<'_, N, I>,
    ) -> bool {
        let Some((node, count)) = self.smallest(index) else { return false };
        let given = event.take(node, count);
        if given {
            event.nodes.enter(index, node);
        }
        given
    }

    /// The next node of a full site, beginning at the hand, that has no more than the smallest count,
    /// and its count. `None` if other threads have kept raising all of them meanwhile.
    fn smallest(&self, index: &Index) -> Option<(&'c Node, i64)> {
        let first = follow(&self.0.head)?;
        let hand = follow(&index.hand).unwrap_or(first);
        let mut floor = self.shape().floor();
        for _ in 0..2 {
            let (mut node, mut least) = (hand, i64::MAX);
            for _ in 0..SITE_LIMIT {
                let count = node.count.load(Ordering::Acquire);
                let next = follow(&node.next).unwrap_or(first);
                if (0..=floor).contains(&count) {
                    index.hand.store(core::ptr::from_ref(next).cast_mut(), Ordering::Relaxed);
                    return Some((node, count));
                }
                least = if count < 0 { least } else { least.min(count) };
                node = next;
            }
            if least == i64::MAX {
                break;
            }
            self.add_shape(Shape::of_floor(least.wrapping_sub(floor)));
            floor = least;
        }
        None
    }

    /// The values in order of appearance, those without events left out.
    pub fn pairs(&self) -> Pairs<'c> {
        Pairs(self.nodes())
    }

    /// Number of events, and by how much each count may be wrong, given the sum of the counts.
    #[inline(always)]
    pub fn total_and_error(&self, counts: i64) -> (i64, i64) {
        total_and_error(self.0.first.load(Ordering::Relaxed), self.shape(), counts)
    }

    /// Forgets all events. The nodes and the index stay with the site.
    pub fn reset(&self) {
        // Exchanged, not stored: only of such steps the model checker knows the one order they have.
        let set = |counter: &AtomicI64, value| {
            counter.swap(value, Ordering::AcqRel);
        };
        let summed = self.0.first.load(Ordering::Relaxed) >= SUMMED;
        set(&self.0.first, if summed { SUMMED } else { 0 });
        set(&self.0.shape, Shape::of_index(self.shape().index()).0);
        self.nodes().for_each(|node| set(&node.count, 0));
    }

    /// Goes back to what the site was before.
    #[cfg(feature = "live")]
    pub fn set_back(&self, before: &Site) {
        self.reset();
        let mut in_no_node = before.total;
        for (node, pair) in self.nodes().zip(&before.pairs) {
            node.value.store(pair.value, Ordering::Relaxed);
            node.count.store(pair.count, Ordering::Relaxed);
            self.add_shape(Shape::NODE);
            in_no_node = in_no_node.wrapping_sub(pair.count);
        }
        self.add_shape(Shape::of_floor(before.error.wrapping_sub(in_no_node)));
        let summed = self.0.first.load(Ordering::Relaxed) >= SUMMED;
        let more = if summed { in_no_node } else { before.total };
        self.0.first.fetch_add(more, Ordering::Relaxed);
    }

    /// Makes a list lead to nodes that are elsewhere now, where `translate` says; it ends where that
    /// says nothing.
    #[cfg(feature = "live")]
    pub fn relocate(&self, translate: impl Fn(usize) -> Option<&'c Node>) {
        let mut link = &self.0.head;
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
        let mut link = &self.0.head;
        let mut unknown = false;
        for _ in 0..SITE_LIMIT {
            let Some(node) = follow(link) else {
                return if unknown { Found::Unknown } else { Found::End(link) };
            };
            match node.count.load(Ordering::Acquire) {
                0 if unknown => return Found::Unknown,
                0 => return Found::Free(node),
                count => unknown |= count < 0,
            }
            if node.holds(value) {
                return Found::Node(node);
            }
            link = &node.next;
        }
        Found::Full
    }

    /// Its nodes, free ones at the end.
    #[inline(always)]
    fn nodes(&self) -> List<'c> {
        List { link: &self.0.head, left: SITE_LIMIT }
    }
}

/// The nodes of a site.
#[derive(Clone)]
pub struct List<'c> {
    link: &'c AtomicPtr<Node>,
    /// Also ends a list that libgcov's races made longer.
    left: usize,
}

impl<'c> Iterator for List<'c> {
    type Item = &'c Node;

    #[inline(always)]
    fn next(&mut self) -> Option<&'c Node> {
        self.left = self.left.checked_sub(1)?;
        let node = follow(self.link)?;
        self.link = &node.next;
        Some(node)
    }
}

/// The values of a site.
#[derive(Clone)]
pub struct Pairs<'c>(List<'c>);

impl Iterator for Pairs<'_> {
    type Item = Pair;

    #[inline(always)]
    fn next(&mut self) -> Option<Pair> {
        loop {
            let pair = self.0.next()?.pair();
            if pair.count > 0 {
                return Some(pair);
            }
        }
    }
}

impl<const N: usize, const I: usize> Event<'_, N, I> {
    #[inline(never)]
    fn hit(&self, node: &Node) -> bool {
        if self.shared { Atomic::hit(node, self.value) } else { Plain::hit(node, self.value) }
    }

    /// Gives the event the place of a node whose count is still `count`, which goes up by one.
    fn take(&self, node: &Node, count: i64) -> bool {
        if !self.shared {
            node.value.store(self.value, Ordering::Relaxed);
            node.count.store(count.wrapping_add(1), Ordering::Relaxed);
            return true;
        }
        let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
        let replacing = count | REPLACING;
        if count < 0 || node.count.compare_exchange(count, replacing, yes, no).is_err() {
            return false;
        }
        node.value.store(self.value, Ordering::Relaxed);
        // What others add meanwhile they take back themselves. In two steps, as a reset may come.
        node.count.fetch_add(1, Ordering::AcqRel);
        node.count.fetch_and(!REPLACING, Ordering::AcqRel);
        true
    }
}

#[inline(always)]
fn follow<'c>(link: &AtomicPtr<Node>) -> Option<&'c Node> {
    // SAFETY: links are NULL or point to a node, ours or libgcov's, that is never given back.
    unsafe { link.load(Ordering::Acquire).as_ref() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use super::*;

    const OWNED: fn(usize) -> bool = |_| true;
    const ANOTHERS: fn(usize) -> bool = |_| false;

    fn counters() -> Counters {
        let (first, shape) = (AtomicI64::new(0), AtomicI64::new(0));
        Counters { first, shape, head: AtomicPtr::new(null_mut()) }
    }

    fn site(counters: &Counters) -> LiveSite<'_> {
        LiveSite::of(counters)
    }

    fn region<const N: usize>() -> Nodes<N, 2> {
        Nodes::new()
    }

    fn floor(counters: &Counters) -> i64 {
        site(counters).shape().floor()
    }

    fn length(counters: &Counters) -> usize {
        site(counters).shape().nodes()
    }

    fn kept(counters: &Counters) -> Vec<(i64, i64)> {
        site(counters).pairs().map(|pair| (pair.value, pair.count)).collect()
    }

    fn total(counters: &Counters) -> i64 {
        site(counters).total_and_error(site(counters).pairs().map(|pair| pair.count).sum()).0
    }

    fn count<U: NodeUpdate, const N: usize>(
        counters: &Counters,
        nodes: &Nodes<N, 2>,
        values: impl IntoIterator<Item = i64>,
    ) {
        values.into_iter().for_each(|value| site(counters).count::<U, _, _>(value, nodes, OWNED));
    }

    #[test]
    fn a_new_value_takes_place_and_count_of_the_next_smallest() {
        let (counters, nodes) = (counters(), region::<100>());
        count::<Plain, _>(&counters, &nodes, (0..64).chain(0..63));
        assert_eq!(floor(&counters), 0);
        count::<Plain, _>(&counters, &nodes, [100]);
        assert_eq!((kept(&counters)[63], floor(&counters)), ((100, 2), 1));
        count::<Plain, _>(&counters, &nodes, [101, 102, 101]);
        assert_eq!(kept(&counters)[..3], [(101, 4), (102, 3), (2, 2)]);
        assert_eq!((total(&counters), floor(&counters)), (131, 2));
        assert_eq!(length(&counters), 64);
    }

    /// The bounds that Space-Saving promises, for values of many distributions.
    #[test]
    fn no_count_is_too_small_nor_too_large_by_more_than_the_floor() {
        let distributions: [fn(i64) -> i64; 5] = [
            |i| i % 65,
            |i| i * 7919 % 200,
            |i| (i * i + i / 7) % 1000,
            |i| 1000 / (1 + i * 7919 % 1000),
            |i| if i < 9000 { i } else { i % 50 },
        ];
        for (number, value) in distributions.into_iter().enumerate() {
            let (plain, atomic) = (counters(), counters());
            let (nodes, more) = (region::<100>(), region::<100>());
            count::<Plain, _>(&plain, &nodes, (0..20_000).map(value));
            count::<Atomic, _>(&atomic, &more, (0..20_000).map(value));
            assert_eq!(kept(&plain), kept(&atomic), "distribution {number}");
            let floor = floor(&plain);
            assert!(floor <= 20_000 / 64, "distribution {number}: {floor}");
            let mut truth = BTreeMap::new();
            (0..20_000).for_each(|i| *truth.entry(value(i)).or_insert(0) += 1);
            let kept: BTreeMap<_, _> = kept(&plain).into_iter().collect();
            assert_eq!((kept.len(), kept.values().sum::<i64>()), (truth.len().min(64), 20_000));
            for (value, truth) in truth {
                let most = kept.get(&value).map_or(truth..=floor, |&count| count - floor..=count);
                assert!(most.contains(&truth), "distribution {number}: {value}, {truth} times");
            }
        }
    }

    #[test]
    fn a_full_region_drops_and_counts() {
        let (counters, nodes) = (counters(), region::<2>());
        count::<Plain, _>(&counters, &nodes, 0..5);
        assert_eq!(kept(&counters), [(0, 1), (1, 1)]);
        assert_eq!((total(&counters), nodes.dropped()), (5, 3));
    }

    #[test]
    fn sites_of_others_are_counted_as_libgcov_does() {
        let (counters, nodes) = (counters(), region::<100>());
        for value in (0..80).chain(0..10) {
            site(&counters).count::<Atomic, _, _>(value, &nodes, ANOTHERS);
        }
        assert_eq!(counters.first.load(Ordering::Relaxed), 90);
        assert_eq!((total(&counters), kept(&counters)[20]), (90, (4, 2)));
        counters.first.store(-5, Ordering::Relaxed);
        count::<Plain, _>(&counters, &nodes, [0]);
        assert_eq!(total(&counters), -5);
    }

    /// With more full sites than indexes, those without one keep what they have.
    #[test]
    fn a_full_site_without_an_index_says_what_it_lost() {
        let (sites, nodes) = ([counters(), counters(), counters()], region::<300>());
        sites.iter().for_each(|counters| count::<Plain, _>(counters, &nodes, (0..70).chain(0..5)));
        assert_eq!((kept(&sites[1])[0], total(&sites[1])), ((64, 2), 75));
        assert_eq!((kept(&sites[2])[0], total(&sites[2])), ((0, 2), 75));
        assert_eq!(kept(&sites[2]).iter().map(|(_, count)| count).sum::<i64>(), 69);
    }

    #[test]
    fn a_reset_site_starts_anew_in_its_old_nodes() {
        let (counters, nodes) = (counters(), region::<64>());
        count::<Plain, _>(&counters, &nodes, 0..70);
        site(&counters).reset();
        nodes.reset_indexes();
        assert_eq!((kept(&counters), total(&counters)), (Vec::new(), 0));
        count::<Plain, _>(&counters, &nodes, [7, 100, 3, 100]);
        assert_eq!(kept(&counters), [(7, 1), (100, 2), (3, 1)]);
        assert_eq!((length(&counters), total(&counters)), (3, 4));
        site(&counters).reset();
        nodes.reset_indexes();
        count::<Atomic, _>(&counters, &nodes, 100..165);
        let expected = [(164, 2)].into_iter().chain((101..164).map(|value| (value, 1)));
        assert!(kept(&counters).into_iter().eq(expected));
        assert_eq!((length(&counters), nodes.dropped()), (64, 0));
    }

    /// Counts in four threads; gives what was kept.
    fn in_threads(counters: &Counters, value: fn(i64) -> i64) -> BTreeMap<i64, i64> {
        let nodes = region::<200>();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| count::<Atomic, _>(counters, &nodes, (0..20_000).map(value)));
            }
        });
        let kept = kept(counters);
        let values: BTreeMap<_, _> = kept.iter().copied().collect();
        assert_eq!(values.len(), kept.len(), "a value has two nodes");
        values
    }

    #[test]
    fn threads_lose_nothing_while_there_is_room() {
        let counters = counters();
        let kept = in_threads(&counters, |i| i % 63);
        assert_eq!(kept.len(), 63);
        assert_eq!(kept.values().sum::<i64>(), 80_000);
        assert_eq!(total(&counters), 80_000);
    }

    #[test]
    fn threads_in_a_full_site_never_count_too_much() {
        let counters = counters();
        let kept = in_threads(&counters, |i| i * 7 % 128);
        assert_eq!((kept.len(), length(&counters)), (64, 64));
        assert!(kept.values().sum::<i64>() <= 80_000);
        assert_eq!(total(&counters), 80_000);
    }
}
