//! The addresses that instructions take in one step or several, whatever the way to them: each is followed by the
//! next one in memory.

use super::state::{Effect, Register};

/// What registers held last.
pub struct Taken {
    registers: [Option<u64>; 64],
}

impl Default for Taken {
    fn default() -> Self {
        Self { registers: [None; 64] }
    }
}

impl Taken {
    /// The address that a register holds after an effect.
    pub fn after(&mut self, effect: Effect) -> Option<u64> {
        match effect {
            Effect::Constant(to, value) => self.set(to, value),
            Effect::Copy(to, from, offset) => {
                let value = self.get(from)?.wrapping_add_signed(offset);
                self.set(to, value)
            }
            _ => None,
        }
    }

    fn get(&self, register: Register) -> Option<u64> {
        *self.registers.get(usize::from(register))?
    }

    fn set(&mut self, register: Register, value: u64) -> Option<u64> {
        *self.registers.get_mut(usize::from(register))? = Some(value);
        Some(value)
    }
}
