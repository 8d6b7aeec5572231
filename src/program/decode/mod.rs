//! The common part of decoders of machine code: what an instruction does, and where control goes.

pub mod aarch64;
pub mod arm;
pub mod riscv;
pub mod x86;

use crate::program::object_file::image::Image;

/// A register, with the machine's number for it.
pub type Register = u8;

/// The highest address of this many bytes.
pub const fn highest(word: u8) -> u64 {
    if word < 8 { (1 << (8 * word)) - 1 } else { u64::MAX }
}

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

/// Some memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// At an address.
    At(u64),
    /// At the address in a register, plus an offset.
    Behind(Register, i64),
    /// Elsewhere: with an index, or a thread's own.
    Elsewhere,
}

/// What an instruction does, as far as it may matter for addresses and counters. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Sets a register to a constant.
    Constant(Register, u64),
    /// Sets a register to another one, plus an offset.
    Copy(Register, Register, i64),
    /// Adds a register to the first one.
    Add(Register, Register),
    /// Adds memory of this size to a register.
    AddMemory(Register, Memory, u8),
    /// Packs the parts of another vector register into the first one, besides its own.
    Pack(Register, Register),
    /// Loads a register from memory of this size.
    Load(Register, Memory, u8),
    /// Stores a register to memory of this size.
    Store(Memory, Register, u8),
    /// Stores a constant to memory.
    StoreConstant(Memory, u64),
    /// Sets memory to some other value.
    StoreUnknown(Memory),
    /// Adds a constant to memory of this size.
    AddToMemory(Memory, u8, i64),
    /// Makes a register unknown.
    Clear(Register),
    /// Uses an address with an index added to it.
    Refer(u64),
    /// Uses the address in a register, plus an offset, with an index added to it.
    Index(Register, i64),
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Length in bytes.
    pub length: usize,
    /// Effects, in order.
    pub effects: heapless::Vec<Effect, 8>,
    /// Where control goes.
    pub next: Next,
    /// Whether it only fills the space before the next instruction.
    pub is_filler: bool,
}

impl Instruction {
    /// No instruction yet.
    pub const fn new() -> Self {
        let effects = heapless::Vec::new();
        Self { length: 0, effects, next: Next::Following, is_filler: false }
    }

    /// Turns to another instruction. As far as is known, it has no effects.
    pub fn start(&mut self, length: usize, next: Next) {
        self.effects.clear();
        (self.length, self.next, self.is_filler) = (length, next, false);
    }

    /// Adds an effect. No analysis follows what an instruction with too many effects changes.
    pub fn push(&mut self, effect: Effect) {
        let _ = self.effects.push(effect);
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
    /// Whether each address of a counter is whole in an instruction or in a word of memory. Elsewhere code takes it in
    /// steps, or counts it from that of another counter.
    const TAKES_WHOLE_ADDRESSES: bool = false;

    /// A decoder for the code of an image.
    fn new(image: &'c Image<'c>) -> Self;

    /// Decodes the instruction at `address`. Its bytes are in `section` from `offset` on. Callers go by address,
    /// function by function, and use the memory of the last instruction again. `None` if there is no instruction.
    fn decode(
        &mut self,
        address: u64,
        section: &'c [u8],
        offset: usize,
        instruction: &mut Instruction,
    ) -> Option<()>;
}
