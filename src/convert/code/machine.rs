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

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address.
    At(u64),
    /// At a register, plus an offset.
    Behind(Register, i64),
}

/// What an instruction does that matters for counters: where values go that may be theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Memory of so many bytes grows by a constant.
    Adds(Place, u8, i64),
    /// A register becomes the sum of memory of so many bytes and something that is not known.
    Sums(Register, Place, u8),
    /// A register is read from memory of so many bytes.
    Loads(Register, Place, u8),
    /// A register is written to memory of so many bytes.
    Stores(Place, Register, u8),
    /// Memory becomes something else.
    Spoils(Place),
    /// A register becomes another one, plus a constant.
    Moves(Register, Register, i64),
    /// A register becomes the sum of itself and another one.
    Joins(Register, Register),
    /// A register becomes a constant.
    Takes(Register, u64),
    /// A register becomes something else.
    Sets(Register),
    /// An address, to which an index is added.
    Refers(u64),
}

/// One instruction, as far as it matters for counters.
#[derive(Clone, Debug)]
pub struct Glance {
    /// Its length in bytes.
    pub length: usize,
    /// What it does, in order.
    pub touches: heapless::Vec<Touch, 4>,
    /// Where control goes.
    pub next: Next,
    /// Whether it only fills the space before the next one.
    pub is_filler: bool,
}

impl Glance {
    /// An instruction that does nothing that matters.
    pub const fn new(length: usize, next: Next) -> Self {
        Self { length, touches: heapless::Vec::new(), next, is_filler: false }
    }

    /// Adds what it does. What has no room is not looked at.
    pub fn push(&mut self, touch: Touch) {
        let _ = self.touches.push(touch);
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

    /// The same, but only what matters for counters, which is faster. Instructions are asked for by
    /// address, function by function.
    fn glance(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Glance>;
}
