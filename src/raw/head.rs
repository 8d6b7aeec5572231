//! The head of a function, before its counts: the record of its family, and how many counters of each kind
//! follow.

use super::kind::{Kind, Rules};
use super::layout::Word;

/// Room for the head of a function: the words of its record, and the numbers of counters of its kinds.
pub type Head = [Word; 4 + Rules::SLOTS / 2];

/// Puts the numbers of counters into a room, behind a record.
#[derive(Clone, Copy, Debug)]
pub struct NumbersWriter {
    kinds: u32,
    /// A number that waits for the other half of its word; 0 if there is none.
    first: u32,
    used: usize,
}

impl NumbersWriter {
    /// Begins behind a record of this many words.
    #[inline(always)]
    pub const fn behind(record: usize) -> Self {
        Self { kinds: 0, first: 0, used: record }
    }

    /// Adds a kind, above those added before, with the number of its counters. Leaves out a kind without
    /// counters.
    #[inline(always)]
    pub fn add(&mut self, kind: Kind, number: u32, room: &mut Head) {
        if number == 0 {
            return;
        }
        self.kinds |= kind.bit();
        match core::mem::take(&mut self.first) {
            0 => self.first = number,
            first => self.put(first, number, room),
        }
    }

    /// Ends the numbers; gives the kinds, and the number of words used with the record.
    #[inline(always)]
    pub fn finish(mut self, room: &mut Head) -> (u32, usize) {
        if self.first != 0 {
            self.put(self.first, 0, room);
        }
        (self.kinds, self.used)
    }

    #[inline(always)]
    fn put(&mut self, first: u32, second: u32, room: &mut Head) {
        if let Some(free) = room.get_mut(self.used) {
            *free = word(first, second);
            self.used = self.used.wrapping_add(1);
        }
    }
}

/// Two halves, one behind the other in memory. Built in a register: loading a word that was stored in halves
/// would wait for the stores.
#[inline(always)]
pub const fn word(first: u32, second: u32) -> Word {
    let (low, high) =
        if cfg!(target_endian = "little") { (first, second) } else { (second, first) };
    (low as u64 | (high as u64) << 32).to_ne_bytes()
}
