//! Where a site's values belong if another image's profiler counts the site.
//!
//! Profilers are interposable, so one image's profilers count the sites of all images. A site does not care
//! where its values lie, unless counters are live. Then site and values must be in the same file, or nobody
//! finds the values when the process is gone. Nor may values of other images be among live ones, since a
//! forked child takes those out of its memory. So images say here where they are, and which nodes belong to
//! them.
//!
//! Profilers look here without a lock. The image of a site that is being counted cannot go away
//! meanwhile, but others can: an entry is valid only if its nodes are the same before and after
//! its bounds are read.
#![allow(unsafe_code)]

use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

use super::counters::nodes::Nodes;

/// Most images in one process. The sites of any further image belong to the image whose profiler counts them.
const MOST: usize = 32;

/// The images.
#[repr(C)]
pub struct Homes {
    /// Number of entries that have ever been in use. Nobody need look at the others.
    used: AtomicUsize,
    entries: [Home; MOST],
}

#[repr(C)]
struct Home {
    /// NULL if the entry is free.
    nodes: AtomicPtr<Nodes>,
    start: AtomicUsize,
    end: AtomicUsize,
    is_live: AtomicBool,
}

impl Homes {
    /// No images.
    pub const fn new() -> Self {
        Self { used: AtomicUsize::new(0), entries: [const { Home::new() }; MOST] }
    }

    /// Adds an image at these addresses. Only one thread may do so at a time.
    pub fn add(&self, image: Range<usize>, nodes: &'static Nodes, is_live: bool) {
        let free = |home: &&Home| home.nodes.load(Ordering::Relaxed).is_null();
        let Some((number, home)) = (1..).zip(&self.entries).find(|(_, home)| free(home)) else {
            return;
        };
        // Whoever reads these bounds sees that the nodes before them have changed.
        fence(Ordering::Release);
        home.start.store(image.start, Ordering::Relaxed);
        home.end.store(image.end, Ordering::Relaxed);
        home.is_live.store(is_live, Ordering::Relaxed);
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

    /// The nodes of the image that owns the counter at this address, if that image is here. Looks among `all`
    /// images or only among those with live counters.
    pub fn find(&self, address: usize, all: bool) -> Option<&'static Nodes> {
        let used = self.used.load(Ordering::Acquire);
        let home = self.entries.iter().take(used).find_map(|home| home.nodes_of(address, all));
        // SAFETY: the image has a site that is being counted, so it stays.
        home.and_then(|nodes| unsafe { nodes.as_ref() })
    }
}

impl Home {
    const fn new() -> Self {
        let (start, end) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_live = AtomicBool::new(false);
        Self { nodes: AtomicPtr::new(null_mut()), start, end, is_live }
    }

    fn nodes_of(&self, address: usize, all: bool) -> Option<*const Nodes> {
        let nodes = self.nodes.load(Ordering::Acquire);
        let start = self.start.load(Ordering::Relaxed);
        let end = self.end.load(Ordering::Relaxed);
        let is_wanted = all || self.is_live.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let same = core::ptr::eq(nodes, self.nodes.load(Ordering::Relaxed));
        (same && is_wanted && (start..end).contains(&address)).then_some(nodes.cast_const())
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

    fn found(homes: &Homes, address: usize, all: bool) -> Option<usize> {
        let found = homes.find(address, all)?;
        NODES.iter().position(|nodes| core::ptr::eq(nodes, found))
    }

    #[test]
    fn each_has_its_own() {
        let homes = Homes::new();
        homes.add(100..200, &NODES[0], true);
        homes.add(200..300, &NODES[1], false);
        let live = [99, 100, 199, 200, 300].map(|address| found(&homes, address, false));
        assert_eq!(live, [None, Some(0), Some(0), None, None]);
        assert_eq!([200, 300].map(|address| found(&homes, address, true)), [Some(1), None]);
        homes.remove(&NODES[0]);
        assert_eq!([100, 200].map(|address| found(&homes, address, true)), [None, Some(1)]);
        homes.add(400..500, &NODES[0], false);
        let all = [100, 400, 200].map(|address| found(&homes, address, true));
        assert_eq!(all, [None, Some(0), Some(1)]);
        assert_eq!(found(&homes, 400, false), None);
    }

    #[test]
    fn one_too_many_has_none() {
        let homes = Homes::new();
        (0..=MOST).for_each(|number| homes.add(number..number + 1, &NODES[0], true));
        let found = [MOST - 1, MOST].map(|address| found(&homes, address, true));
        assert_eq!(found, [Some(0), None]);
    }
}
