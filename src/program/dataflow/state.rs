//! What is known at a place in machine code: which registers and stack slots hold addresses.
//!
//! Only constant addresses and places on the stack are followed: the address of a site's counters is
//! constant, kept in registers and spilled to the stack, perhaps far from the call. Where ways through the
//! code meet, only what they agree on stays known.

use crate::program::dataflow::held::{Held, Kept, Pool};

/// A register, with the machine's number for it.
pub type Register = u8;

/// What a register or a slot of the stack holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A constant.
    Address(u64),
    /// A place on the stack, relative to the stack pointer on entry.
    Stack(i64),
}

impl Value {
    const fn plus(self, offset: i64) -> Self {
        match self {
            Self::Address(address) => Self::Address(address.wrapping_add_signed(offset)),
            Self::Stack(place) => Self::Stack(place.wrapping_add(offset)),
        }
    }
}

/// The site whose counters were handed over for the next call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pending {
    /// No site.
    #[default]
    None,
    /// The site at this address.
    Site(u64),
    /// One site or another, depending on the way.
    Several,
}

impl Pending {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, other) | (other, Self::None) => other,
            (a, b) if a == b => a,
            _ => Self::Several,
        }
    }
}

/// What an instruction does to the values followed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Sets a register to a constant.
    Constant(Register, u64),
    /// Sets a register to another one, plus an offset.
    Copy(Register, Register, i64),
    /// Packs the parts of another vector register into the first one, besides its own.
    Pack(Register, Register),
    /// Loads a register from memory at another one, plus an offset.
    Load(Register, Register, i64),
    /// Loads a register from memory at a constant address.
    LoadConstant(Register, u64),
    /// Stores a register to memory at another one, plus an offset.
    Store(Register, i64, Register),
    /// Stores a constant to memory at a register, plus an offset.
    StoreConstant(Register, i64, u64),
    /// Stores a register to memory that is not on the stack.
    StoreElsewhere(Register),
    /// Stores a constant to memory that is not on the stack.
    StoreConstantElsewhere(u64),
    /// Makes a register unknown.
    Clear(Register),
}

/// The highest address of this many bytes.
pub const fn highest(word: u8) -> u64 {
    if word < 8 { (1 << (8 * word)) - 1 } else { u64::MAX }
}

/// What is at the addresses of a program.
pub trait Addresses {
    /// Whether the counters of an indirect-call site are at this address.
    fn is_site(&self, address: u64) -> bool;
    /// Where a function starts, if this is its address. Some addresses also tell the kind of code.
    fn function(&self, address: u64) -> Option<u64>;
    /// The address that is in memory when the program runs, if it is constant.
    fn word(&self, address: u64) -> Option<u64>;
}

/// What is known at the place at hand.
pub struct State {
    held: Held<Option<Value>>,
    /// The highest address.
    highest: u64,
    /// The site of the next call.
    pub pending: Pending,
    /// The function that was handed over for the next call, if it is constant.
    pub callee: Option<u64>,
}

/// What is known at a place.
#[derive(Clone, Copy)]
pub struct StateAt {
    held: Kept,
    pending: Pending,
    callee: Option<u64>,
}

/// Memory for the states of a function.
#[derive(Default)]
pub struct States(Pool<Option<Value>>);

impl States {
    /// Keeps a state.
    pub fn keep(&mut self, state: &State) -> StateAt {
        let State { ref held, pending, callee, .. } = *state;
        StateAt { held: self.0.keep(held), pending, callee }
    }

    /// Makes a state one that is kept.
    pub fn restore(&self, at: &StateAt, state: &mut State) {
        self.0.restore(&at.held, &mut state.held);
        (state.pending, state.callee) = (at.pending, at.callee);
    }

    /// Keeps only what `other` knows as well; says whether that changed anything.
    pub fn join(&mut self, at: &mut StateAt, other: &State) -> bool {
        let before = (at.pending, at.callee);
        at.pending = at.pending.join(other.pending);
        at.callee = at.callee.filter(|_| at.callee == other.callee);
        self.0.join(&mut at.held, &other.held) || before != (at.pending, at.callee)
    }
}

impl State {
    /// The state on entry to a function, with this register as the stack pointer and addresses of this many
    /// bytes.
    pub fn entry(stack_pointer: Register, word: u8) -> Self {
        let mut held = Held::new();
        held.set(stack_pointer, Some(Value::Stack(0)));
        Self { held, highest: highest(word), pending: Pending::None, callee: None }
    }

    /// Follows one effect.
    pub fn apply(&mut self, effect: Effect, addresses: &impl Addresses) {
        match effect {
            Effect::Constant(to, value) => self.set(to, Some(Value::Address(value))),
            Effect::Copy(to, from, offset) => {
                self.set(to, self.get(from).map(|value| value.plus(offset)));
            }
            Effect::Pack(to, from) => self.pack(to, from, addresses),
            Effect::Load(to, base, offset) => {
                let value = match self.get(base).map(|value| value.plus(offset)) {
                    Some(Value::Stack(place)) => self.held.slot(place),
                    Some(Value::Address(address)) => addresses.word(address).map(Value::Address),
                    None => None,
                };
                self.set(to, value);
            }
            Effect::LoadConstant(to, address) => {
                self.set(to, addresses.word(address).map(Value::Address));
            }
            Effect::Store(base, offset, from) => {
                self.store(base, offset, self.get(from), addresses)
            }
            Effect::StoreConstant(base, offset, value) => {
                self.store(base, offset, Some(Value::Address(value)), addresses);
            }
            Effect::StoreElsewhere(from) => self.hand_over(self.get(from), addresses),
            Effect::StoreConstantElsewhere(value) => {
                self.hand_over(Some(Value::Address(value)), addresses);
            }
            Effect::Clear(register) => self.set(register, None),
        }
    }

    /// The constant in a register.
    pub fn constant(&self, register: Register) -> Option<u64> {
        match self.get(register)? {
            Value::Address(address) => Some(address),
            Value::Stack(_) => None,
        }
    }

    fn get(&self, register: Register) -> Option<Value> {
        self.held.get(register)
    }

    fn set(&mut self, register: Register, value: Option<Value>) {
        let value = match value {
            Some(Value::Address(address)) => Some(Value::Address(address & self.highest)),
            value => value,
        };
        self.held.set(register, value);
    }

    /// Only a site matters among the parts.
    fn pack(&mut self, to: Register, from: Register, addresses: &impl Addresses) {
        let is_site = |value: &Value| match value {
            Value::Address(address) => addresses.is_site(*address),
            Value::Stack(_) => false,
        };
        let value = self.get(to).filter(is_site).or(self.get(from).filter(is_site));
        self.set(to, value);
    }

    fn store(
        &mut self,
        base: Register,
        offset: i64,
        value: Option<Value>,
        addresses: &impl Addresses,
    ) {
        match (self.get(base).map(|base| base.plus(offset)), value) {
            (Some(Value::Stack(place)), value) => self.held.set_slot(place, value, usize::MAX),
            (_, value) => self.hand_over(value, addresses),
        }
    }

    /// A site's address leaves the function only for the pair that the profiler reads.
    fn hand_over(&mut self, value: Option<Value>, addresses: &impl Addresses) {
        let Some(Value::Address(address)) = value else { return };
        if addresses.is_site(address) {
            self.pending = Pending::Site(address);
        } else if let Some(function) = addresses.function(address) {
            self.callee = Some(function);
        }
    }
}
