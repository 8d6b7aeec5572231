//! Where an event goes if its value has no node at hand: to a new or free node, or, at a full site, to the
//! node of another value.

use core::ptr::null_mut;

use super::{LiveSite, NodeUpdate, Owner, follow_rarely as follow};
use crate::raw::merge::SITE_LIMIT;
use crate::raw::site::{REPLACING, SUMMED, Shape};
use crate::runtime::atomic::{AtomicPtr, Ordering};
use crate::runtime::counters::index::Index;
use crate::runtime::counters::node::Node;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::{Atomic, Plain};

/// A site with this many nodes has an index.
const INDEXED_FROM: usize = if SITE_LIMIT < 9 { SITE_LIMIT } else { 9 };

/// No more than a site's nodes can be given away while an event looks for one.
const MOST_ATTEMPTS: usize = 4 * SITE_LIMIT;

enum Found<'c> {
    /// The value's node.
    Node(&'c Node),
    /// The first node that a reset has freed. The value has no node: values fill nodes in order.
    Free(&'c Node),
    /// The link at the end of a list with room for more.
    End(&'c AtomicPtr<Node>),
    /// A full list without the value.
    Full,
    /// Some node is about to get a value, perhaps this one. No node has it now.
    Unknown,
}

/// An event on its way to a node that is not at hand.
struct Event<'n, const N: usize, const I: usize> {
    value: i64,
    nodes: &'n Nodes<N, I>,
    shared: bool,
}

impl<'c> LiveSite<'c> {
    /// Counts an event whose value has no node at hand, or at a site where libgcov may look for events in the
    /// first counter.
    #[cold]
    #[inline(never)]
    pub fn count_slowly<const N: usize, const I: usize>(
        self,
        value: i64,
        own: &Nodes<N, I>,
        shared: bool,
        owner: fn(usize) -> Owner<N, I>,
    ) {
        let first = &self.0.first;
        let mut total = first.load(Ordering::Relaxed);
        // A site keeps to the region that it began with.
        let (nodes, known) = match follow(&self.0.head) {
            Some(head) if total != 0 && own.has(head) => (own, true),
            _ => match owner(core::ptr::from_ref(first).addr()) {
                Owner::Here => (own, true),
                Owner::There(theirs) => (theirs, true),
                Owner::Unknown => {
                    own.lend();
                    (own, false)
                }
            },
        };
        if total == 0 && known {
            let (yes, no) = (Ordering::Relaxed, Ordering::Relaxed);
            total = first.compare_exchange(0, SUMMED, yes, no).err().unwrap_or(SUMMED);
        }
        // Only libgcov makes a total negative, merging a file into memory, and it then counts no further.
        if total < 0 {
            return;
        }
        let event = Event { value, nodes, shared };
        // The caller has looked for the value in its own region.
        let look = total < SUMMED || !core::ptr::eq(nodes, own);
        let hit = look && self.known(value, nodes).is_some_and(|node| event.hit(node));
        let counted = hit || self.attribute(&event);
        if total < SUMMED || !counted {
            let before = first.fetch_add(1, Ordering::Relaxed);
            if total < SUMMED && before >= SUMMED && counted {
                // Meanwhile the site's image has counted its first event there.
                first.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Finds or makes a place for an event; `false` if there is none.
    fn attribute<const N: usize, const I: usize>(&self, event: &Event<'_, N, I>) -> bool {
        let mut fresh = None;
        let mut node = None;
        // Whenever an attempt fails, another event has got a node.
        for _ in 0..MOST_ATTEMPTS {
            if self.shape().nodes() >= SITE_LIMIT && self.index(event.nodes).is_some() {
                break;
            }
            match self.find(event.value) {
                Found::Node(known) => {
                    node = event.hit(known).then_some(known);
                    break;
                }
                Found::Free(free) => {
                    if event.take(free, 0) {
                        self.add_shape(Shape::NODE);
                        node = Some(free);
                        break;
                    }
                }
                Found::Full | Found::Unknown => break,
                Found::End(link) => {
                    let Some(new) = fresh.take().or_else(|| event.nodes.take(event.value)) else {
                        return false;
                    };
                    let place = core::ptr::from_ref(new).cast_mut();
                    let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
                    if link.compare_exchange(null_mut(), place, yes, no).is_ok() {
                        self.add_shape(Shape::NODE);
                        node = Some(new);
                        break;
                    }
                    // Another thread, or a handler on top of this one, was first: look again.
                    fresh = Some(new);
                }
            }
        }
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

    /// Makes the locked index lead to the node that has taken an event. If none has, counts the event now.
    /// Says whether the event is counted.
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

    /// Counts an event at the node of its value, if there is one.
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

    /// Makes an index if there are enough nodes. A site of an unknown image gets one only when it is full:
    /// libgcov takes the whole counter for the number of nodes, and so finds the site full.
    #[cold]
    fn make_index<'n, const N: usize, const I: usize>(
        &self,
        event: &Event<'n, N, I>,
    ) -> Option<&'n Index> {
        let own = self.0.first.load(Ordering::Relaxed) >= SUMMED;
        let shape = self.shape();
        if shape.index() != 0 || shape.nodes() < if own { INDEXED_FROM } else { SITE_LIMIT } {
            return None;
        }
        let number = event.nodes.reserve_index(follow(&self.0.head)?)?;
        let with_index = |shape: i64| {
            let without = Shape(shape).index() == 0;
            without.then(|| shape.wrapping_add(Shape::of_index(number).0))
        };
        // An index that lost the race stays unused.
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
        let before = node.value.load(Ordering::Relaxed);
        let given = event.take(node, count);
        if given {
            // Boards need the space more: there, slots of lost values stay until the table is filled anew.
            if cfg!(feature = "runtime") {
                event.nodes.remove(index, node, before);
            }
            event.nodes.enter(index, node);
        }
        given
    }

    /// The first node from the hand on that has no more than the smallest count, and that count. `None` if
    /// other threads have kept raising all counts meanwhile.
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
}

impl<const N: usize, const I: usize> Event<'_, N, I> {
    #[inline(never)]
    fn hit(&self, node: &Node) -> bool {
        if self.shared { Atomic::hit(node, self.value) } else { Plain::hit(node, self.value) }
    }

    /// Gives the event the place of a node, if its count is still `count`. The count goes up by one.
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
        // Other threads take back themselves what they add meanwhile. Two steps, as a reset may come between.
        node.count.fetch_add(1, Ordering::AcqRel);
        node.count.fetch_and(!REPLACING, Ordering::AcqRel);
        true
    }
}
