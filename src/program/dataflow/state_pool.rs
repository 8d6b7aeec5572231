//! What registers and slots of the stack hold at a place, and memory for many such states.
//!
//! There are many places and registers, and few registers hold anything of interest. So a state is kept as the values
//! that are known, one behind the other in the memory of a function.

use std::prelude::v1::*;

use super::abstract_value::Value;
use crate::program::decode::Register;

/// Most registers of a machine.
const REGISTERS: usize = 64;

/// Most slots of the stack to follow. This bounds the cost of a join.
const MOST_SLOTS: usize = 256;

/// What registers and slots hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    registers: [Value; REGISTERS],
    /// A bit for each register that is known.
    known: u64,
    /// The slots that are known, by their places.
    slots: Vec<(i64, Value)>,
}

impl Default for Contents {
    /// Nothing is known.
    fn default() -> Self {
        Self { registers: [Value::Unknown; REGISTERS], known: 0, slots: Vec::new() }
    }
}

impl Contents {
    /// What a register holds.
    pub fn get(&self, register: Register) -> Value {
        self.registers.get(usize::from(register)).copied().unwrap_or_default()
    }

    /// Notes what a register holds.
    pub fn set(&mut self, register: Register, value: Value) {
        if let Some(held) = self.registers.get_mut(usize::from(register)) {
            *held = value;
            let bit = 1 << register;
            self.known = if value == Value::Unknown { self.known & !bit } else { self.known | bit };
        }
    }

    /// What a slot holds.
    pub fn slot(&self, place: i64) -> Value {
        let found = self.slots.binary_search_by_key(&place, |&(known, _)| known);
        found.map_or(Value::Unknown, |slot| self.slots[slot].1)
    }

    /// Notes what a slot holds, unless too many slots are known.
    pub fn set_slot(&mut self, place: i64, value: Value) {
        let is_known = value != Value::Unknown;
        match self.slots.binary_search_by_key(&place, |&(known, _)| known) {
            Ok(slot) if is_known => self.slots[slot].1 = value,
            Ok(slot) => _ = self.slots.remove(slot),
            Err(slot) if is_known && self.slots.len() < MOST_SLOTS => {
                self.slots.insert(slot, (place, value));
            }
            Err(_) => {}
        }
    }
}

impl Contents {
    /// Keeps only what `other` knows as well.
    pub fn keep_common(&mut self, other: &Self) {
        for register in bits(self.known) {
            if self.registers[register] != other.registers[register] {
                self.set(register as Register, Value::Unknown);
            }
        }
        self.slots.retain(|&(place, value)| other.slot(place) == value);
    }
}

/// A state that is kept in a [`StatePool`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// A bit for each register that is known.
    known: u64,
    /// Place of the first one's value. The others follow.
    first: usize,
    /// Place of the first slot, and number of slots.
    slots: (usize, usize),
}

impl Kept {
    /// Forgets everything.
    pub fn forget(&mut self) {
        (self.known, self.slots.1) = (0, 0);
    }
}

/// Memory for the states of a function.
#[derive(Debug, Default)]
pub struct StatePool {
    registers: Vec<Value>,
    slots: Vec<(i64, Value)>,
}

impl StatePool {
    /// Drops all states.
    pub fn clear(&mut self) {
        self.registers.clear();
        self.slots.clear();
    }

    /// Keeps a state.
    pub fn keep(&mut self, contents: &Contents) -> Kept {
        let (first, slot) = (self.registers.len(), self.slots.len());
        self.registers.extend(bits(contents.known).map(|register| contents.registers[register]));
        self.slots.extend(&contents.slots);
        Kept { known: contents.known, first, slots: (slot, contents.slots.len()) }
    }

    /// Makes a state one that is kept.
    pub fn restore(&self, kept: &Kept, contents: &mut Contents) {
        let forgotten = bits(contents.known & !kept.known);
        forgotten.for_each(|register| contents.registers[register] = Value::Unknown);
        contents.known = kept.known;
        for (register, &value) in bits(kept.known).zip(&self.registers[kept.first..]) {
            contents.registers[register] = value;
        }
        let (slot, slots) = kept.slots;
        contents.slots.clear();
        contents.slots.extend(&self.slots[slot..slot + slots]);
    }

    /// Keeps only what `other` knows as well; says whether that changed anything.
    pub fn join(&mut self, kept: &mut Kept, other: &Contents) -> bool {
        let before = (kept.known, kept.slots.1);
        let values = self.registers[kept.first..].iter();
        // Mostly all values are the same.
        if bits(kept.known).zip(values).any(|(register, value)| other.registers[register] != *value)
        {
            self.join_registers(kept, other);
        }
        if kept.slots.1 > 0 {
            self.join_slots(kept, other);
        }
        before != (kept.known, kept.slots.1)
    }

    fn join_registers(&mut self, kept: &mut Kept, other: &Contents) {
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

    /// Both have their slots by place.
    fn join_slots(&mut self, kept: &mut Kept, other: &Contents) {
        let (first, slots) = kept.slots;
        let mut others = other.slots.iter().peekable();
        kept.slots.1 = 0;
        for from in first..first + slots {
            let slot = self.slots[from];
            while others.next_if(|other| other.0 < slot.0).is_some() {}
            if others.peek() == Some(&&slot) {
                self.slots[first + kept.slots.1] = slot;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(registers: &[(Register, Value)], slots: &[(i64, Value)]) -> Contents {
        let mut contents = Contents::default();
        registers.iter().for_each(|&(register, value)| contents.set(register, value));
        slots.iter().for_each(|&(slot, value)| contents.set_slot(slot, value));
        contents
    }

    #[test]
    fn a_join_keeps_what_both_know() {
        let [a, b, c] = [1, 2, 3].map(Value::Constant);
        let mut pool = StatePool::default();
        let mut kept =
            pool.keep(&contents(&[(0, a), (3, b), (63, c)], &[(-16, a), (-8, b), (0, c)]));
        let other = contents(&[(0, a), (3, c), (63, c)], &[(-24, a), (-16, a), (-8, c), (0, c)]);
        assert!(pool.join(&mut kept, &other));
        let mut joined = Contents::default();
        pool.restore(&kept, &mut joined);
        assert_eq!(joined, contents(&[(0, a), (63, c)], &[(-16, a), (0, c)]));
        assert!(!pool.join(&mut kept, &other), "nothing more becomes less known");
        assert!(pool.join(&mut kept, &Contents::default()));
        pool.restore(&kept, &mut joined);
        assert_eq!(joined, Contents::default());
    }

    #[test]
    fn unknown_values_take_no_room() {
        let mut contents = contents(&[(5, Value::Stack(0))], &[(8, Value::Stack(0))]);
        contents.set(5, Value::Unknown);
        contents.set_slot(8, Value::Unknown);
        assert_eq!(contents, Contents::default());
        contents.set(Register::MAX, Value::Stack(0));
        assert_eq!(contents, Contents::default(), "there is no such register");
    }
}
