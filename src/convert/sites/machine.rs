//! What decoders of machine code have in common.

use super::state::{Effect, Register};

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To the next one.
    Following,
    /// To this address.
    Jump(u64),
    /// To this address or to the next instruction.
    Branch(u64),
    /// To an address that is computed: a table of jumps, or the call of another function instead of
    /// a return.
    IndirectJump,
    /// Into this function, then to the next instruction.
    Call(u64),
    /// Into a function whose address is computed, then to the next instruction.
    IndirectCall,
    /// Out of the function.
    End,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its length in bytes.
    pub length: usize,
    /// What it does, in order.
    pub effects: heapless::Vec<Effect, 8>,
    /// Where control goes.
    pub next: Next,
}

impl Step {
    /// An instruction without effects.
    pub const fn new(length: usize, next: Next) -> Self {
        Self { length, effects: heapless::Vec::new(), next }
    }

    /// Where the next instruction is, if this one is at `address`.
    pub const fn after(&self, address: u64) -> Option<u64> {
        address.checked_add(self.length as u64)
    }

    /// Adds an effect. An instruction with more effects than have room changes what nobody follows.
    pub fn push(&mut self, effect: Effect) {
        let _ = self.effects.push(effect);
    }
}

/// A decoder of code in `'c`.
pub trait Machine<'c> {
    /// The stack pointer.
    const STACK: Register;
    /// Registers that hold something else after a call.
    const CHANGED_BY_CALLS: &'static [Register];

    /// A decoder.
    fn new() -> Self;

    /// Decodes the instruction at `address`, of which `section` has the bytes from `offset` on.
    fn decode(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Step>;
}
