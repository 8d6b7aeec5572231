//! The common part of decoders of machine code.

pub mod aarch64;
pub mod arm;
pub mod riscv;
pub mod x86;

use crate::program::dataflow::state::{Effect, Register};
use crate::program::object_file::image::Image;

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To the next instruction.
    Following,
    /// To this address.
    Jump(u64),
    /// To this address or to the next instruction.
    Branch(u64),
    /// To a computed address: through a table of jumps, or to another function that is called instead of a
    /// return.
    IndirectJump,
    /// To a computed address or to the next instruction.
    IndirectBranch,
    /// Into this function, then to the next instruction.
    Call(u64),
    /// Into a function at a computed address, then to the next instruction.
    IndirectCall,
    /// Out of the function.
    End,
    /// Out of the function or to the next instruction.
    MayEnd,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// Length in bytes.
    pub length: usize,
    /// Effects, in order.
    pub effects: heapless::Vec<Effect, 8>,
    /// Where control goes.
    pub next: Next,
}

impl Step {
    /// An instruction without effects.
    pub const fn new(length: usize, next: Next) -> Self {
        Self { length, effects: heapless::Vec::new(), next }
    }

    /// The address of the next instruction, if this one is at `address`.
    pub const fn after(&self, address: u64) -> Option<u64> {
        address.checked_add(self.length as u64)
    }

    /// Adds an effect. Nobody follows what an instruction with too many effects changes.
    pub fn push(&mut self, effect: Effect) {
        let _ = self.effects.push(effect);
    }
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address.
    At(u64),
    /// At the address in a register, plus an offset.
    Behind(Register, i64),
}

/// What an instruction does to counters: the ways that their values and addresses may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Adds a constant to memory of this size.
    Adds(Place, u8, i64),
    /// Sets a register to the sum of memory of this size and an unknown value.
    Sums(Register, Place, u8),
    /// Loads a register from memory of this size.
    Loads(Register, Place, u8),
    /// Stores a register to memory of this size.
    Stores(Place, Register, u8),
    /// Sets memory to some other value.
    Spoils(Place),
    /// Sets a register to another one, plus a constant.
    Moves(Register, Register, i64),
    /// Adds a register to the first one.
    Joins(Register, Register),
    /// Sets a register to a constant.
    Takes(Register, u64),
    /// Sets a register to some other value.
    Sets(Register),
    /// Uses an address with an index added to it.
    Refers(u64),
    /// Uses the address in a register, plus an offset, with an index added to it.
    Indexes(Register, i64),
}

/// One instruction, as far as it matters for counters.
#[derive(Clone, Debug)]
pub struct Glance {
    /// Length in bytes.
    pub length: usize,
    /// What it does, in order.
    pub touches: heapless::Vec<Touch, 8>,
    /// Where control goes.
    pub next: Next,
    /// Whether it only fills the space before the next instruction.
    pub is_filler: bool,
}

impl Glance {
    /// No instruction yet.
    pub const fn new() -> Self {
        let touches = heapless::Vec::new();
        Self { length: 0, touches, next: Next::Following, is_filler: false }
    }

    /// Turns to another instruction. As far as is known, it does nothing to counters.
    pub fn start(&mut self, length: usize, next: Next) {
        self.touches.clear();
        (self.length, self.next, self.is_filler) = (length, next, false);
    }

    /// Adds what the instruction does. Ignores what finds no room.
    pub fn push(&mut self, touch: Touch) {
        let _ = self.touches.push(touch);
    }
}

/// A decoder for code that lives as long as `'c`.
pub trait Machine<'c>: Sized {
    /// The number of the stack pointer.
    const STACK: Register;
    /// Registers that have another value after a call.
    const CHANGED_BY_CALLS: &'static [Register];
    /// Bytes of an address, and of a register that holds one.
    const WORD: u8;
    /// Whether instructions that add to memory have the address in them, unless another instruction takes that
    /// address into a register.
    const ADDS_AT_ADDRESSES: bool = false;

    /// Whether instructions take the addresses of counters whole, or from another counter of the same function.
    const TAKES_WHOLE_ADDRESSES: bool = false;

    /// A decoder for the code of an image.
    fn new(image: &'c Image<'c>) -> Self;

    /// Decodes the instruction at `address`. Its bytes are in `section` from `offset` on.
    fn decode(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Step>;

    /// The same, perhaps without [`Effect::Clear`], which is faster.
    fn decode_moves(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Step> {
        self.decode(address, section, offset)
    }

    /// Decodes only what matters for counters, which may be faster. Callers go by address, function by
    /// function, and use the memory of the last glance again. `None` if there is no instruction.
    fn glance(
        &mut self,
        address: u64,
        section: &'c [u8],
        offset: usize,
        glance: &mut Glance,
    ) -> Option<()> {
        let step = self.decode(address, section, offset)?;
        glance.start(step.length, step.next);
        glance.is_filler = section.get(offset..).is_some_and(Self::is_filler);
        let touches = step.effects.iter().filter_map(|&effect| touch(effect, Self::WORD));
        touches.for_each(|touch| glance.push(touch));
        Some(())
    }

    /// Whether the instruction at the start of some code only fills the space before the next one.
    fn is_filler(_code: &[u8]) -> bool {
        false
    }
}

/// What an effect does to counters, on a machine with words of this size.
const fn touch(effect: Effect, word: u8) -> Option<Touch> {
    Some(match effect {
        Effect::Constant(to, value) => Touch::Takes(to, value),
        Effect::Copy(to, from, offset) => Touch::Moves(to, from, offset),
        Effect::Load(to, base, offset) => Touch::Loads(to, Place::Behind(base, offset), word),
        Effect::Store(base, offset, from) => Touch::Stores(Place::Behind(base, offset), from, word),
        Effect::StoreConstant(base, offset, _) => Touch::Spoils(Place::Behind(base, offset)),
        Effect::LoadConstant(to, _) | Effect::Clear(to) | Effect::Pack(to, _) => Touch::Sets(to),
        Effect::StoreElsewhere(_) | Effect::StoreConstantElsewhere(_) => return None,
    })
}
