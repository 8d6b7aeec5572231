//! Reads what is in a site, and sets it back.

#[cfg(feature = "live")]
use core::ptr::null_mut;

use super::{LiveSite, follow_rarely as follow};
#[cfg(feature = "live")]
use crate::raw::merge::Site;
use crate::raw::merge::{Pair, SITE_LIMIT};
use crate::raw::site::{SUMMED, Shape, total_and_error};
use crate::runtime::atomic::{AtomicI64, AtomicPtr, Ordering};
use crate::runtime::counters::node::Node;
use crate::runtime::counters::nodes::Nodes;

impl<'c> LiveSite<'c> {
    /// The values in order of appearance, those without events left out.
    pub fn pairs(&self) -> Pairs<'c> {
        Pairs(self.nodes())
    }

    /// Number of events, and the bound on each count's error, given the sum of the counts.
    #[inline(always)]
    pub fn total_and_error(&self, counts: i64) -> (i64, i64) {
        total_and_error(self.0.first.load(Ordering::Relaxed), self.shape(), counts)
    }

    /// The largest numbers of a node and of an index that the site leads to, both counted from 1. `None` if it
    /// leads elsewhere, as in memory that holds no counters.
    pub fn reach<const N: usize, const I: usize>(&self, nodes: &Nodes<N, I>) -> Option<[usize; 2]> {
        let (mut link, mut largest) = (&self.0.head, 0);
        for _ in 0..=SITE_LIMIT {
            let place = link.load(Ordering::Relaxed);
            if place.is_null() {
                let (index, known) = (self.shape().index() as usize, self.shape().nodes());
                return (known <= SITE_LIMIT && nodes.has_index(index)).then_some([largest, index]);
            }
            let (number, node) = nodes.at(place.addr())?;
            (link, largest) = (&node.next, largest.max(number));
        }
        None
    }

    /// Forgets all events. The nodes and the index stay with the site.
    pub fn reset(&self) {
        // Exchanges rather than stores: the model checker knows the single order only of exchanges.
        let set = |counter: &AtomicI64, value| {
            counter.swap(value, Ordering::AcqRel);
        };
        let summed = self.0.first.load(Ordering::Relaxed) >= SUMMED;
        set(&self.0.first, if summed { SUMMED } else { 0 });
        // In one step, so that an index or lanes that the site gets meanwhile stay.
        self.0.shape.fetch_and(Shape::STAYS, Ordering::AcqRel);
        self.nodes().for_each(|node| set(&node.count, 0));
    }

    /// Goes back to what the site held before. The values there are what `name` makes of those in nodes.
    #[cfg(feature = "live")]
    pub fn set_back(&self, before: &Site, name: impl Fn(i64) -> i64) {
        self.reset();
        let (mut kept, mut left) = (Site::default(), before.pairs.clone());
        for value in self.nodes().map(|node| node.value.load(Ordering::Relaxed)) {
            let is = |pair: &&mut Pair| pair.count > 0 && pair.value == name(value);
            if let Some(pair) = left.iter_mut().find(is) {
                let _ = kept.pairs.push(Pair { value, count: core::mem::take(&mut pair.count) });
            }
        }
        // A value may have lost its node since. That of an address cannot have a node again.
        for pair in left.iter().filter(|pair| pair.count > 0 && name(pair.value) == pair.value) {
            let _ = kept.pairs.push(*pair);
        }
        let mut in_no_node = before.total;
        for (node, pair) in self.nodes().zip(&kept.pairs) {
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

    /// Makes a list lead to nodes in another place, as `translate` says. The list ends where that says
    /// nothing.
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

    /// The site's nodes, free ones at the end.
    #[inline(always)]
    pub(super) fn nodes(&self) -> List<'c> {
        List { link: &self.0.head, left: SITE_LIMIT }
    }
}

/// The nodes of a site.
#[derive(Clone)]
pub struct List<'c> {
    link: &'c AtomicPtr<Node>,
    /// Also ends a list that libgcov's races have made too long.
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
