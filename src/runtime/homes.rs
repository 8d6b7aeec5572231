//! Where the values of a site belong that another image's profiler counts.
//!
//! Profilers are interposable, so that one image's count the sites of all. Where its values lie does not
//! matter to a site, unless its counters are live: then they must be in the same file, or nobody finds
//! them when the process is gone. Images whose counters are live say here where these are, and which
//! nodes belong to them.
//!
//! Profilers look here without a lock. The image of a site that is being counted cannot go away
//! meanwhile, but others can: an entry is valid only if its nodes are the same before and after
//! its bounds are read.
#![allow(unsafe_code)]

use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};

use super::counters::nodes::Nodes;

/// Images with live counters in one process. What is beyond lies in the file of the image whose
/// profiler counts it.
const MOST: usize = 32;

/// The images.
#[repr(C)]
pub struct Homes {
    /// Entries that have ever been in use: all others need not be looked at.
    used: AtomicUsize,
    entries: [Home; MOST],
}

#[repr(C)]
struct Home {
    /// NULL if the entry is free.
    nodes: AtomicPtr<Nodes>,
    start: AtomicUsize,
    end: AtomicUsize,
}

impl Homes {
    /// No images.
    pub const fn new() -> Self {
        Self { used: AtomicUsize::new(0), entries: [const { Home::new() }; MOST] }
    }

    /// Adds an image with counters at these addresses. Only one thread at a time may do so.
    pub fn add(&self, counters: Range<usize>, nodes: &'static Nodes) {
        let free = |home: &&Home| home.nodes.load(Ordering::Relaxed).is_null();
        let Some((number, home)) = (1..).zip(&self.entries).find(|(_, home)| free(home)) else {
            return;
        };
        // Whoever reads these bounds finds that the nodes before them are not the same any more.
        fence(Ordering::Release);
        home.start.store(counters.start, Ordering::Relaxed);
        home.end.store(counters.end, Ordering::Relaxed);
        home.nodes.store(core::ptr::from_ref(nodes).cast_mut(), Ordering::Release);
        self.used.fetch_max(number, Ordering::Release);
    }

    /// Takes an image out.
    pub fn remove(&self, nodes: &'static Nodes) {
        for home in &self.entries {
            if core::ptr::eq(home.nodes.load(Ordering::Relaxed), nodes) {
                home.nodes.store(null_mut(), Ordering::Relaxed);
            }
        }
    }

    /// The nodes of the image that has a counter at this address, if it is here.
    pub fn find(&self, address: usize) -> Option<&'static Nodes> {
        let used = self.used.load(Ordering::Acquire);
        let home = self.entries.iter().take(used).find_map(|home| home.nodes_of(address));
        // SAFETY: the image has a site that is being counted, so it stays.
        home.and_then(|nodes| unsafe { nodes.as_ref() })
    }
}

impl Home {
    const fn new() -> Self {
        let (start, end) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { nodes: AtomicPtr::new(null_mut()), start, end }
    }

    fn nodes_of(&self, address: usize) -> Option<*const Nodes> {
        let nodes = self.nodes.load(Ordering::Acquire);
        let start = self.start.load(Ordering::Relaxed);
        let end = self.end.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let same = core::ptr::eq(nodes, self.nodes.load(Ordering::Relaxed));
        (same && (start..end).contains(&address)).then_some(nodes.cast_const())
    }
}

impl Default for Homes {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NODES: [Nodes; 2] = [const { Nodes::new() }; 2];

    fn found(homes: &Homes, address: usize) -> Option<usize> {
        let found = homes.find(address)?;
        NODES.iter().position(|nodes| core::ptr::eq(nodes, found))
    }

    #[test]
    fn each_has_its_own() {
        let homes = Homes::new();
        homes.add(100..200, &NODES[0]);
        homes.add(200..300, &NODES[1]);
        assert_eq!(
            [99, 100, 199, 200, 300].map(|address| found(&homes, address)),
            [None, Some(0), Some(0), Some(1), None]
        );
        homes.remove(&NODES[0]);
        assert_eq!([100, 200].map(|address| found(&homes, address)), [None, Some(1)]);
        homes.add(400..500, &NODES[0]);
        assert_eq!([100, 400, 200].map(|address| found(&homes, address)), [None, Some(0), Some(1)]);
    }

    #[test]
    fn one_too_many_has_none() {
        let homes = Homes::new();
        (0..=MOST).for_each(|number| homes.add(number..number + 1, &NODES[0]));
        assert_eq!([MOST - 1, MOST].map(|address| found(&homes, address)), [Some(0), None]);
    }
}
