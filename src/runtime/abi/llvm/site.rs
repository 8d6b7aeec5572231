//! Sites of values: slots that lead to heads.
//!
//! A slot is a pointer that the compiler lays out for LLVM's list of values. Here it leads to the three words that a
//! top-N site of gcov's has in place, so that both families count values in one way. These *heads* come from
//! `__llvm_prf_vnds`, where the compiler has reserved one place for each site, of the same size. Where it lays out no
//! slots (`-vp-static-alloc=false`), a function gets its slots with its first value, from the region of nodes.
#![allow(unsafe_code)]

use crate::runtime::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use core::ptr::null_mut;

use super::Sections;
use crate::raw::site::SUMMED;
use crate::runtime::counters::node::Node;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::shared::may_lead;
use crate::runtime::counters::topn::{Counters, LiveSite};

/// The head of a site.
pub type Head = Counters;

/// Bytes of a slot: the compilers lay out 64 bits for it on all machines.
pub const SLOT: usize = 8;

/// A slot of the compiler's.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Slot(AtomicPtr<Head>);

/// What a site without events leads to.
static NONE: Head =
    Head { first: AtomicI64::new(0), shape: AtomicI64::new(0), head: AtomicPtr::new(null_mut()) };

/// The site of a slot.
#[inline(always)]
pub fn of(slot: &'static Slot) -> LiveSite<'static> {
    begun(slot).unwrap_or(LiveSite::of(&NONE))
}

/// The site of a slot that has a head.
#[inline(always)]
pub fn begun(slot: &'static Slot) -> Option<LiveSite<'static>> {
    let head = slot.0.load(Ordering::Acquire);
    if !may_lead::<Head>(core::ptr::from_ref(slot).addr(), head.addr()) {
        return None;
    }
    // SAFETY: NULL, or `Heads::site` has put a head there, which stays as long as the image.
    unsafe { head.as_ref() }.map(LiveSite::of)
}

/// Where the head of a slot is, 0 if it has none.
#[cfg(not(feature = "runtime"))]
pub fn head_address(slot: &Slot) -> usize {
    slot.0.load(Ordering::Acquire).addr()
}

/// A site without events.
#[inline(always)]
pub fn none() -> LiveSite<'static> {
    LiveSite::of(&NONE)
}

/// Slots for this many sites, from nodes that nobody else has; `None` if there are not enough left.
pub fn slots_from_nodes(number: usize, nodes: &'static Nodes) -> Option<*const Slot> {
    let nodes = nodes.take_run(number.wrapping_mul(SLOT).div_ceil(size_of::<Node>()))?;
    Some(nodes.as_ptr().cast())
}

/// Makes a slot and its site lead to heads and nodes in another place, as `translate` says.
#[cfg(feature = "live")]
pub fn relocate(slot: &'static Slot, translate: &dyn Fn(usize) -> Option<&'static Node>) {
    let head = translate(slot.0.load(Ordering::Relaxed).addr());
    let place = head.map_or(null_mut(), |head| core::ptr::from_ref(head).cast_mut().cast());
    slot.0.store(place, Ordering::Relaxed);
    of(slot).relocate(translate);
}

/// The heads of an image, and how many are in use.
#[derive(Debug)]
pub struct Heads {
    used: AtomicUsize,
}

impl Heads {
    /// None in use.
    pub const fn new() -> Self {
        Self { used: AtomicUsize::new(0) }
    }

    /// The site of a slot. Gives the slot a head if it has none; `None` if there is none left.
    pub fn site(
        &self,
        slot: &'static Slot,
        sections: &Sections,
        nodes: &'static Nodes,
    ) -> Option<LiveSite<'static>> {
        if let Some(site) = begun(slot) {
            return Some(site);
        }
        let head = self.take(sections).or_else(|| from_nodes(nodes))?;
        // SAFETY: memory of a head, which nobody else has.
        unsafe { &*head }.first.store(SUMMED, Ordering::Relaxed);
        let (yes, no) = (Ordering::AcqRel, Ordering::Acquire);
        // A head that lost the race stays unused.
        let _ = slot.0.compare_exchange(null_mut(), head, yes, no);
        begun(slot)
    }

    /// Takes new heads from nodes, as any of these may be in use.
    #[cfg(not(feature = "runtime"))]
    pub fn exhaust(&self) {
        self.used.store(usize::MAX, Ordering::Relaxed);
    }

    fn take(&self, sections: &Sections) -> Option<*mut Head> {
        let first = sections.heads.start.next_multiple_of(align_of::<Head>());
        let number = sections.heads.end.saturating_sub(first) / size_of::<Head>();
        if self.used.load(Ordering::Relaxed) >= number {
            return None;
        }
        let used = self.used.fetch_add(1, Ordering::Relaxed);
        let place = first.wrapping_add(used.wrapping_mul(size_of::<Head>()));
        (used < number).then(|| core::ptr::with_exposed_provenance_mut(place))
    }
}

impl Default for Heads {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = assert!(size_of::<Head>() <= size_of::<Node>());

/// A node as a head: of the same size, and nobody else has it.
fn from_nodes(nodes: &'static Nodes) -> Option<*mut Head> {
    let node = nodes.take(0)?;
    node.count.store(0, Ordering::Relaxed);
    Some(core::ptr::from_ref(node).cast_mut().cast())
}

/// Notes that a function is called for the first time, unless it was called before. `time` is that of the next
/// function.
#[inline(always)]
pub fn note_first_call(probe: &AtomicI64, time: &AtomicU32) {
    if matches!(probe.load(Ordering::Relaxed), 0 | -1) {
        let now = time.fetch_add(1, Ordering::Relaxed);
        probe.store(i64::from(now), Ordering::Relaxed);
    }
}

/// The size that stands for its class, as LLVM has it: small sizes and powers of two up to 512 are their own, any
/// other up to there is the class's smallest, and 513 stands for all above.
#[inline(always)]
pub const fn size_class(size: u64) -> u64 {
    match size {
        0..=8 => size,
        513.. => 513,
        _ if size.is_power_of_two() => size,
        _ => (1 << (u64::BITS - 1 - size.leading_zeros())) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn classes_of_sizes() {
        let sizes = [0, 8, 9, 15, 16, 17, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1 << 40];
        let classes = [0, 8, 9, 9, 16, 17, 17, 32, 33, 129, 256, 257, 257, 512, 513, 513];
        assert_eq!(sizes.map(size_class), classes);
    }
}
