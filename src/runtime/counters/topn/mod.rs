//! The values of a top-N site, and how often each was seen.
//!
//! A site is three counters laid out by the compiler ([`crate::raw::site`] says what is in them). The
//! third leads to a list of nodes. The layout is libgcov's (GCC 11 to 16), so that sites may be shared with
//! libraries that carry libgcov. A site with no more values than [`crate::raw::merge::SITE_LIMIT`] counts
//! them all, in the order of their appearance.
//!
//! A site with more uses the *Space-Saving* algorithm (Metwally, Agrawal, El Abbadi, 2005): a new value takes
//! the place, and the count, of a value with the smallest count, and that count goes up by one. The counts of
//! a site with N events and k places then always add up to N, so the smallest is at most N / k. The *floor*
//! is the largest count that was given away: no count is too small, none is too large by more than the floor,
//! and no value with more events than that is missing. A hand finds smallest counts by going round the list,
//! as a clock's does: where one was given away others like it are near.
//!
//! Other differences from libgcov:
//!
//! * Nodes come from a fixed region. The dump states how many events found none left.
//! * A node belongs to its site for ever. Lists only grow, at the end, by compare-and-swap from NULL, in the
//!   plain form too. So a signal handler between another profiler's load and store cannot lose nodes, a
//!   walker never meets a node that changed sites, and the walker's depth at the end of the list is the true
//!   length: no race pushes a site past its limit.
//! * A reset sets all counts to 0. Nodes with count 0 are free and taken in order, so the values stand in the
//!   order of their appearance since the reset, as in libgcov's new list.
//! * Sites of images that are known to have this runtime do not count their events, which would double the
//!   work of the atomic form. The number is the sum of the counts, and of the events in no node.
//! * In the atomic form a node says in its count that its value is being replaced, and a walker that raced
//!   with a replacement takes its increment back. So a value gets another's events only by the rule above.
//!   `tests/model` checks that for every order in which threads can meet.
//! * Whenever a process ends, memory holds a good site: each thread has at most one event that is missing, or
//!   stands at another value.
#![allow(unsafe_code)]

mod attribute;
mod content;
#[cfg(test)]
mod tests;

pub use content::{List, Pairs};

use super::node::Node;
use super::nodes::{INDEXES, NODES, Nodes};
use super::shared::may_lead;
use super::{Atomic, Plain, Update};
use crate::raw::merge::SITE_LIMIT;
use crate::raw::site::{REPLACING, SUMMED, Shape};
use crate::runtime::atomic::{AtomicI64, AtomicPtr, Ordering};

/// How an event is counted at a node.
pub trait NodeUpdate: Update {
    /// Whether other threads may count at the same time.
    const SHARED: bool;
    /// Counts an event at a node that held its value a moment ago; `false` if it no longer does.
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

/// Number of a node's events between two that [`hit_watched`] leaves to the caller.
pub const RARELY: i64 = 1024;

/// As [`Plain::hit`], at a node of a site without marks in its counts. Now and then it counts nothing, so that somebody
/// can look who counts there.
#[inline(always)]
pub fn hit_watched(node: &Node) -> bool {
    let before = node.count.load(Ordering::Relaxed);
    // A free node has no events.
    let hit = before & (RARELY - 1) != 0;
    if hit {
        node.count.store(before.wrapping_add(1), Ordering::Relaxed);
    }
    hit
}

/// Takes an increment back from a node that is free or has got another value, unless a reset has done so.
#[cold]
fn take_back(node: &Node) {
    let less = |count: i64| (count & !REPLACING != 0).then_some(count.wrapping_sub(1));
    let _ = node.count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less);
}

/// The image that owns the site that this image's profiler counts.
pub enum Owner<const N: usize = NODES, const I: usize = INDEXES> {
    /// This image.
    Here,
    /// Another image with this runtime. The site must lead to that image's own nodes.
    There(&'static Nodes<N, I>),
    /// An image that may have other profilers, even libgcov's.
    Unknown,
}

/// The most events that [`LiveSite::count_many`] leaves at all nodes of a site, or in none: with those that follow one
/// by one the total still is a number.
const MOST_EVENTS: i64 = SUMMED / 2;

/// The three counters of a site.
#[repr(C)]
pub struct Counters {
    /// See [`SUMMED`].
    pub first: AtomicI64,
    /// See [`Shape`].
    pub shape: AtomicI64,
    /// The first node. On 32 bits it fills the first half of a counter; libgcov reads that half on
    /// little-endian machines.
    pub head: AtomicPtr<Node>,
}

/// A site in the program's memory.
#[derive(Clone, Copy)]
pub struct LiveSite<'c>(&'c Counters);

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

    /// Counts an event with this value. `nodes` are this image's, `owner` names the owner of a site by its
    /// address.
    #[inline(always)]
    pub fn count<U: NodeUpdate, const N: usize, const I: usize>(
        self,
        value: i64,
        nodes: &Nodes<N, I>,
        owner: fn(usize) -> Owner<N, I>,
    ) {
        if self.0.first.load(Ordering::Relaxed) < SUMMED
            || !self.known(value, nodes).is_some_and(|node| U::hit(node, value))
        {
            self.count_slowly(value, nodes, U::SHARED, owner);
        }
    }

    /// The first node.
    #[inline(always)]
    pub fn first(&self) -> Option<&'c Node> {
        follow(&self.0.head)
    }

    /// Counts an event in the plain form if its value has a node at hand behind the first one; `false` if not. For a
    /// site that began with [`SUMMED`], whose nodes all are in this region.
    #[inline(always)]
    pub fn count_behind<const N: usize, const I: usize>(
        self,
        first: &Node,
        value: i64,
        nodes: &Nodes<N, I>,
    ) -> bool {
        match self.shape().index() {
            0 => listed_behind(first, value).is_some_and(hit_watched),
            // Such a site never gets lanes.
            index => {
                let node = nodes.own_index(index).and_then(|index| nodes.look_up(index, value));
                node.is_some_and(|node| Plain::hit(node, value))
            }
        }
    }

    /// Counts many events with this value at once, in the plain form.
    pub fn count_many<const N: usize, const I: usize>(
        self,
        value: i64,
        times: u64,
        nodes: &Nodes<N, I>,
        owner: fn(usize) -> Owner<N, I>,
    ) {
        let Some(more) = times.checked_sub(1) else { return };
        self.count_slowly(value, nodes, Plain::SHARED, owner);
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        let add = |counter: &AtomicI64, most: i64| {
            let before = counter.load(Ordering::Relaxed);
            counter.store(before.saturating_add(more).min(most).max(before), Ordering::Relaxed);
        };
        let node = self.nodes().find(|node| node.holds(value) && node.pair().count > 0);
        if let Some(node) = node {
            add(&node.count, MOST_EVENTS / SITE_LIMIT as i64);
        }
        // Only libgcov makes a total negative, see `count_slowly`.
        let first = self.0.first.load(Ordering::Relaxed);
        if (0..SUMMED).contains(&first) || node.is_none() && first >= 0 {
            add(&self.0.first, (first & SUMMED).wrapping_add(MOST_EVENTS));
        }
    }

    /// The node of the value, if it is at hand. As little work as possible: programs spend their time here.
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
        let index = self.shape().index();
        if index != 0
            && let Some(index) = nodes.index(index, first)
        {
            return nodes.look_up(index, value);
        }
        listed_behind(first, value)
    }

    /// Where the site is.
    #[inline(always)]
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self.0).addr()
    }

    /// Whether threads count elsewhere, too.
    #[inline(always)]
    pub fn has_lanes(&self) -> bool {
        self.0.shape.load(Ordering::Relaxed) & Shape::LANES.0 != 0
    }

    /// Its second counter.
    #[inline(always)]
    pub fn shape(&self) -> Shape {
        Shape(self.0.shape.load(Ordering::Acquire))
    }

    /// Says that threads count elsewhere, too.
    pub fn divide(&self) {
        self.0.shape.fetch_or(Shape::LANES.0, Ordering::AcqRel);
    }

    fn add_shape(&self, more: Shape) {
        self.0.shape.fetch_add(more.0, Ordering::AcqRel);
    }
}

/// The node of a value in a list behind its first node.
#[inline(always)]
fn listed_behind<'c>(first: &Node, value: i64) -> Option<&'c Node> {
    let mut link = &first.next;
    let mut left = SITE_LIMIT;
    while let Some(node) = follow(link) {
        if node.holds(value) {
            return Some(node);
        }
        link = &node.next;
        // Nobody else can make a list a ring.
        left = if cfg!(feature = "live") { left.checked_sub(1)? } else { left };
    }
    None
}

/// As [`follow`], where programs do not spend their time.
#[cfg_attr(feature = "live", inline(never))]
#[cfg_attr(not(feature = "live"), inline(always))]
fn follow_rarely<'c>(link: &AtomicPtr<Node>) -> Option<&'c Node> {
    follow(link)
}

#[inline(always)]
fn follow<'c>(link: &AtomicPtr<Node>) -> Option<&'c Node> {
    let node = link.load(Ordering::Acquire);
    if !may_lead::<Node>(core::ptr::from_ref(link).addr(), node.addr()) {
        return None;
    }
    // SAFETY: links are NULL or point to a node, ours or libgcov's, and no node is ever given back. In a file they lead
    // to a place in it, where any bytes are a node.
    unsafe { node.as_ref() }
}
