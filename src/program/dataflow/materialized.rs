//! The addresses that straight-line code materialises: each instruction is followed by the next one in memory.

use crate::program::decode::{Effect, Register, highest};

/// What registers held last.
#[derive(Debug)]
pub struct Materialized {
    registers: [Option<u64>; 64],
    /// The highest address.
    highest: u64,
}

impl Materialized {
    /// Nothing, with addresses of this many bytes.
    pub const fn new(word: u8) -> Self {
        Self { registers: [None; 64], highest: highest(word) }
    }

    /// The address that a register holds after an effect.
    pub fn after(&mut self, effect: Effect) -> Option<u64> {
        match effect {
            Effect::Constant(to, value) => self.set(to, value),
            Effect::Copy(to, from, offset) => {
                let value = self.plus(from, offset)?;
                self.set(to, value)
            }
            _ => None,
        }
    }

    /// The address in a register, plus an offset.
    pub fn plus(&self, register: Register, offset: i64) -> Option<u64> {
        let held = (*self.registers.get(usize::from(register))?)?;
        Some(held.wrapping_add_signed(offset) & self.highest)
    }

    fn set(&mut self, register: Register, value: u64) -> Option<u64> {
        *self.registers.get_mut(usize::from(register))? = Some(value & self.highest);
        Some(value & self.highest)
    }
}
