//! Counters that survive a warm reset in memory. The program takes them over when it starts again.
//!
//! The memory holds the counters, the nodes of their sites, and a mark. A reset comes without warning, so nothing is
//! written to the memory at that moment. The mark identifies the build that the counters belong to. The counts are as
//! the reset left them: an event may be missing at each place that was counting, as in a snapshot at any other moment.
//!
//! | words of the mark | content |
//! |---|---|
//! | 0, 1 | [`MAGIC`], and all its bits inverted |
//! | 2, 3 | signature of all objects, and of the addresses of their counters, of the nodes and of the memory |
//! | 4, 5 | number of starts that the counts come from, and all its bits inverted |
//!
//! The runtime also checks memory with the right mark: sites may point only to nodes.
#![allow(unsafe_code)]

use crate::runtime::atomic::{AtomicU32, Ordering};
use core::ops::Range;

use super::bare::{BareImage, Families, Misplaced, Resettable, ResettableFamilies, each};
use crate::raw::layout::Signature;

/// "csrt" on a little-endian machine.
pub const MAGIC: u32 = 0x7472_7363;

/// The mark.
#[repr(C)]
pub struct Retained([AtomicU32; 6]);

impl Retained {
    /// No mark.
    pub const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; 6])
    }

    /// How many starts have counted, this one included.
    pub fn starts(&self) -> u32 {
        let [.., starts, inverted] = &self.0;
        let starts = starts.load(Ordering::Relaxed);
        if inverted.load(Ordering::Relaxed) == !starts { starts.max(1) } else { 1 }
    }

    /// Says how many starts have counted.
    pub fn set_starts(&self, number: u32) {
        let [.., starts, inverted] = &self.0;
        starts.store(number, Ordering::Relaxed);
        inverted.store(!number, Ordering::Relaxed);
    }

    fn words(signature: u64) -> [u32; 4] {
        [MAGIC, !MAGIC, signature as u32, (signature >> 32) as u32]
    }

    fn is_of(&self, signature: u64) -> bool {
        let mut words = self.0.iter().zip(Self::words(signature));
        words.all(|(word, expected)| word.load(Ordering::Relaxed) == expected)
    }

    /// Marks the memory. Writes the first word last.
    fn mark(&self, signature: u64) {
        self.set_starts(1);
        let [first, others @ ..] = Self::words(signature);
        let [place, places @ ..] = &self.0;
        places.iter().zip(others).for_each(|(place, word)| place.store(word, Ordering::Release));
        place.store(first, Ordering::Release);
    }

    fn unmark(&self) {
        self.0.iter().take(2).for_each(|word| word.store(0, Ordering::Release));
    }
}

impl Default for Retained {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory to be retained, and what its mark must know of it.
pub struct Room {
    memory: Range<usize>,
    signature: Signature,
}

impl Room {
    /// Whether a place is in the memory. Adds it to the signature.
    pub fn holds(&mut self, place: Range<usize>) -> bool {
        self.signature.word(place.start as u64);
        self.signature.word(place.end as u64);
        place.is_empty() || self.memory.start <= place.start && place.end <= self.memory.end
    }
}

impl BareImage {
    /// Takes over the counters in memory, or sets the memory to zero. Returns whether the counters were taken over.
    ///
    /// # Safety
    ///
    /// Nothing else may use the memory, and nothing may count during the call. All objects must be registered before
    /// the call, and the memory for nodes must be given before it.
    pub unsafe fn retain(
        &self,
        families: Families,
        resettable: ResettableFamilies,
        mark: &Retained,
        memory: Range<usize>,
    ) -> Result<bool, Misplaced> {
        let mut room = Room { memory: memory.clone(), signature: Signature::new() };
        let mark_place = core::ptr::from_ref(mark).addr();
        room.signature.word(self.signature(families).ok_or(Misplaced)?);
        let mut well_placed = room.holds(memory.clone())
            & room.holds(self.nodes.place())
            & room.holds(mark_place..mark_place.wrapping_add(size_of::<Retained>()));
        for family in each(resettable) {
            well_placed &= family.is_retained(&mut room);
        }
        if !well_placed {
            return Err(Misplaced);
        }
        let signature = room.signature.value();
        if mark.is_of(signature) && self.take_over_nodes(resettable).is_some() {
            mark.set_starts(mark.starts().saturating_add(1));
            return Ok(true);
        }
        mark.unmark();
        for address in memory {
            // SAFETY: the caller has promised this memory; it holds nothing but atomics.
            unsafe { core::ptr::with_exposed_provenance_mut::<u8>(address).write(0) };
        }
        // Counters of one byte do not begin with 0.
        each(resettable).for_each(Resettable::reset);
        mark.mark(signature);
        Ok(false)
    }

    /// Finds out which nodes and indexes are in use. `None` if a site points to anything else.
    fn take_over_nodes(&self, resettable: ResettableFamilies) -> Option<()> {
        let mut used = [0; 2];
        for family in each(resettable) {
            family.take_over(&self.nodes, &mut used)?;
        }
        self.nodes.take_over(used);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Memory {
        mark: Retained,
        counters: [u32; 16],
    }

    impl Memory {
        fn retain(&mut self, without: usize) -> Result<bool, Misplaced> {
            let start = core::ptr::from_mut(self).expose_provenance();
            let memory = start..start + size_of::<Self>() - without;
            // A test's stack has no room for the nodes of a hosted image.
            static IMAGE: BareImage = BareImage::new();
            // SAFETY: nobody else uses it, and there is nothing that counts.
            unsafe { IMAGE.retain(|_| None, |_| None, &self.mark, memory) }
        }
    }

    fn noise() -> Memory {
        let words = [const { AtomicU32::new(0xa5a5_a5a5) }; 6];
        Memory { mark: Retained(words), counters: [0xa5a5_a5a5; 16] }
    }

    #[test]
    fn memory_is_taken_over_by_the_same_build_alone() {
        let mut memory = noise();
        assert_eq!(memory.mark.starts(), 1);
        assert_eq!(memory.retain(0), Ok(false));
        assert_eq!((memory.counters, memory.mark.starts()), ([0; 16], 1));
        memory.counters = [7; 16];
        for starts in [2, 3] {
            assert_eq!(memory.retain(0), Ok(true));
            assert_eq!((memory.counters, memory.mark.starts()), ([7; 16], starts));
        }
        // Memory with other bounds counts as another build.
        assert_eq!(memory.retain(8), Ok(false));
        assert_eq!((memory.counters[13], memory.counters[14]), (0, 7));
    }

    #[test]
    fn any_flipped_bit_of_the_mark_makes_it_another() {
        for bit in 0..4 * 32 {
            let mut memory = noise();
            assert_eq!((memory.retain(0), memory.retain(0)), (Ok(false), Ok(true)));
            memory.mark.0[bit / 32].fetch_xor(1 << (bit % 32), Ordering::Relaxed);
            assert_eq!(memory.retain(0), Ok(false), "{bit}");
        }
    }

    #[test]
    fn a_mark_outside_of_the_memory_is_misplaced() {
        let mut memory = noise();
        let without = size_of_val(&memory.counters) + 4;
        assert_eq!(memory.retain(without), Err(Misplaced));
        assert_eq!(memory.counters, [0xa5a5_a5a5; 16]);
    }
}
