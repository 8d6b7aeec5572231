//! Maps a site's address to its image's nodes, if another image's profiler counts the site.
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
const MOST_IMAGES: usize = 32;

/// The images.
#[repr(C)]
pub struct ImageTable {
    /// Number of entries that have ever been in use. Nobody need look at the others.
    used: AtomicUsize,
    entries: [Entry; MOST_IMAGES],
}

#[repr(C)]
struct Entry {
    /// NULL if the entry is free.
    nodes: AtomicPtr<Nodes>,
    start: AtomicUsize,
    end: AtomicUsize,
    is_live: AtomicBool,
}

impl ImageTable {
    /// No images.
    pub const fn new() -> Self {
        Self { used: AtomicUsize::new(0), entries: [const { Entry::new() }; MOST_IMAGES] }
    }

    /// Adds an image at these addresses. Only one thread may do so at a time.
    pub fn add(&self, image: Range<usize>, nodes: &'static Nodes, is_live: bool) {
        let free = |entry: &&Entry| entry.nodes.load(Ordering::Relaxed).is_null();
        let Some((number, entry)) = (1..).zip(&self.entries).find(|(_, entry)| free(entry)) else {
            return;
        };
        // Whoever reads these bounds sees that the nodes before them have changed.
        fence(Ordering::Release);
        entry.start.store(image.start, Ordering::Relaxed);
        entry.end.store(image.end, Ordering::Relaxed);
        entry.is_live.store(is_live, Ordering::Relaxed);
        entry.nodes.store(core::ptr::from_ref(nodes).cast_mut(), Ordering::Release);
        self.used.fetch_max(number, Ordering::Release);
    }

    /// Takes an image out.
    pub fn remove(&self, nodes: &'static Nodes) {
        for entry in &self.entries {
            if core::ptr::eq(entry.nodes.load(Ordering::Relaxed), nodes) {
                entry.nodes.store(null_mut(), Ordering::Relaxed);
            }
        }
    }

    /// The nodes of the image that owns the counter at this address, if that image is here. Looks among `all`
    /// images or only among those with live counters.
    pub fn find(&self, address: usize, all: bool) -> Option<&'static Nodes> {
        let used = self.used.load(Ordering::Acquire);
        let entry = self.entries.iter().take(used).find_map(|entry| entry.nodes_of(address, all));
        // SAFETY: the image has a site that is being counted, so it stays.
        entry.and_then(|nodes| unsafe { nodes.as_ref() })
    }
}

impl Entry {
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

impl Default for ImageTable {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NODES: [Nodes; 2] = [const { Nodes::new() }; 2];

    fn found(images: &ImageTable, address: usize, all: bool) -> Option<usize> {
        let found = images.find(address, all)?;
        NODES.iter().position(|nodes| core::ptr::eq(nodes, found))
    }

    #[test]
    fn each_has_its_own() {
        let images = ImageTable::new();
        images.add(100..200, &NODES[0], true);
        images.add(200..300, &NODES[1], false);
        let live = [99, 100, 199, 200, 300].map(|address| found(&images, address, false));
        assert_eq!(live, [None, Some(0), Some(0), None, None]);
        assert_eq!([200, 300].map(|address| found(&images, address, true)), [Some(1), None]);
        images.remove(&NODES[0]);
        assert_eq!([100, 200].map(|address| found(&images, address, true)), [None, Some(1)]);
        images.add(400..500, &NODES[0], false);
        let all = [100, 400, 200].map(|address| found(&images, address, true));
        assert_eq!(all, [None, Some(0), Some(1)]);
        assert_eq!(found(&images, 400, false), None);
    }

    #[test]
    fn one_too_many_has_none() {
        let images = ImageTable::new();
        (0..=MOST_IMAGES).for_each(|number| images.add(number..number + 1, &NODES[0], true));
        let found = [MOST_IMAGES - 1, MOST_IMAGES].map(|address| found(&images, address, true));
        assert_eq!(found, [Some(0), None]);
    }
}
