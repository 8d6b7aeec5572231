//! What registers and slots of the stack hold at a place in machine code.
//!
//! There are many places and registers, and few registers hold anything of interest. So a state is kept as the values
//! that are known, one behind the other in the memory of a function.

use std::prelude::v1::*;

use crate::program::dataflow::state::Register;

/// Most registers of a machine.
const REGISTERS: usize = 64;

/// What registers and slots hold. An unknown value is the default.
pub struct Held<V> {
    registers: [V; REGISTERS],
    /// A bit for each register that is known.
    known: u64,
    /// The slots that are known, by their places.
    slots: Vec<(i64, V)>,
}

impl<V: Copy + Default + PartialEq> Held<V> {
    /// Nothing is known.
    pub fn new() -> Self {
        Self { registers: [V::default(); REGISTERS], known: 0, slots: Vec::new() }
    }

    /// What a register holds.
    pub fn get(&self, register: Register) -> V {
        self.registers.get(usize::from(register)).copied().unwrap_or_default()
    }

    /// Notes what a register holds.
    pub fn set(&mut self, register: Register, value: V) {
        if let Some(known) = self.registers.get_mut(usize::from(register)) {
            *known = value;
            let bit = 1 << register;
            self.known = if value == V::default() { self.known & !bit } else { self.known | bit };
        }
    }

    /// What a slot holds.
    pub fn slot(&self, place: i64) -> V {
        let found = self.slots.binary_search_by_key(&place, |&(known, _)| known);
        found.map_or(V::default(), |slot| self.slots[slot].1)
    }

    /// Notes what a slot holds, if not more than that many slots are known.
    pub fn set_slot(&mut self, place: i64, value: V, most: usize) {
        let is_known = value != V::default();
        match self.slots.binary_search_by_key(&place, |&(known, _)| known) {
            Ok(slot) if is_known => self.slots[slot].1 = value,
            Ok(slot) => _ = self.slots.remove(slot),
            Err(slot) if is_known && self.slots.len() < most => {
                self.slots.insert(slot, (place, value));
            }
            Err(_) => {}
        }
    }
}

/// A state that is kept in a [`Pool`].
#[derive(Clone, Copy)]
pub struct Kept {
    /// A bit for each register that is known.
    known: u64,
    /// Place of the first one's value. The others follow.
    first: usize,
    /// Place of the first slot, and number of slots.
    slots: (usize, usize),
}

/// Memory for the states of a function.
#[derive(Default)]
pub struct Pool<V> {
    registers: Vec<V>,
    slots: Vec<(i64, V)>,
}

impl<V: Copy + Default + PartialEq> Pool<V> {
    /// Keeps a state.
    pub fn keep(&mut self, held: &Held<V>) -> Kept {
        let (first, slot) = (self.registers.len(), self.slots.len());
        self.registers.extend(bits(held.known).map(|register| held.registers[register]));
        self.slots.extend(&held.slots);
        Kept { known: held.known, first, slots: (slot, held.slots.len()) }
    }

    /// Makes a state one that is kept.
    pub fn restore(&self, kept: &Kept, held: &mut Held<V>) {
        let forgotten = bits(held.known & !kept.known);
        forgotten.for_each(|register| held.registers[register] = V::default());
        held.known = kept.known;
        for (register, &value) in bits(kept.known).zip(&self.registers[kept.first..]) {
            held.registers[register] = value;
        }
        let (slot, slots) = kept.slots;
        held.slots.clear();
        held.slots.extend(&self.slots[slot..slot + slots]);
    }

    /// Keeps only what `other` knows as well; says whether that changed anything.
    pub fn join(&mut self, kept: &mut Kept, other: &Held<V>) -> bool {
        let (known, slots) = (kept.known, kept.slots.1);
        let values = self.registers[kept.first..].iter();
        let differs = |(register, value): &(usize, &V)| other.registers[*register] != **value;
        // Mostly all values are the same.
        if known & !other.known != 0 || bits(known).zip(values).any(|found| differs(&found)) {
            self.join_registers(kept, other);
        }
        if slots > 0 {
            self.join_slots(kept, other);
        }
        known != kept.known || slots != kept.slots.1
    }

    fn join_registers(&mut self, kept: &mut Kept, other: &Held<V>) {
        let mut place = kept.first;
        for (register, from) in bits(kept.known).zip(kept.first..) {
            let value = self.registers[from];
            if other.registers[register] == value {
                self.registers[place] = value;
                place += 1;
            } else {
                kept.known &= !(1 << register);
            }
        }
    }

    fn join_slots(&mut self, kept: &mut Kept, other: &Held<V>) {
        let (first, slots) = kept.slots;
        kept.slots.1 = 0;
        for from in first..first + slots {
            let (place, value) = self.slots[from];
            if other.slot(place) == value {
                self.slots[first + kept.slots.1] = (place, value);
                kept.slots.1 += 1;
            }
        }
    }
}

/// The numbers of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        (lowest < 64).then(|| {
            set &= set - 1;
            lowest as usize
        })
    })
}
