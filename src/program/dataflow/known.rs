//! What is known at a place in machine code about counters: which registers and slots of the stack hold their addresses
//! and values.

use crate::program::counters::Counters;
use crate::program::dataflow::held::Held;
use crate::program::dataflow::state::{Register, highest};
use crate::program::decode::{Place, Touch};

/// Most slots of the stack to follow.
const MOST_SLOTS: usize = 64;

/// What a register or a slot of the stack holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value {
    #[default]
    Unknown,
    /// A constant.
    Constant(u64),
    /// A place on the stack, relative to the stack pointer on entry.
    Stack(i64),
    /// The value of counters: address of the first, and size of all in bytes.
    Counter(u64, u8),
}

impl Value {
    /// The counters whose value it is: address of the first, and size of all in bytes.
    fn counter(self) -> Option<(u64, u8)> {
        match self {
            Self::Counter(address, size) => Some((address, size)),
            _ => None,
        }
    }

    /// The value with an offset added. That of a counter stays one if it is incremented.
    fn plus(self, offset: i64) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value.wrapping_add_signed(offset)),
            Self::Stack(place) => Self::Stack(place.wrapping_add(offset)),
            Self::Counter(..) if offset == 0 || offset == 1 => self,
            _ => Self::Unknown,
        }
    }

    /// The sum of two values, if that increments a counter. Vectors of counters are incremented by a vector of
    /// ones.
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (vector @ Self::Counter(_, 16..), _) | (_, vector @ Self::Counter(_, 16..)) => vector,
            (counter @ Self::Counter(..), Self::Constant(1))
            | (Self::Constant(1), counter @ Self::Counter(..)) => counter,
            _ => Self::Unknown,
        }
    }
}

/// What is known at the place at hand.
pub struct State {
    /// What registers and slots hold.
    pub held: Held<Value>,
    /// Bytes of an address.
    word: u8,
}

impl State {
    /// The state on entry to a function, with this register as the stack pointer and addresses of this many bytes.
    pub fn entry(stack: Register, word: u8) -> Self {
        let mut state = Self { held: Held::new(), word };
        state.set(stack, Value::Stack(0));
        state
    }

    fn get(&self, register: Register) -> Value {
        self.held.get(register)
    }

    fn set(&mut self, register: Register, value: Value) {
        let value = match value {
            Value::Constant(value) => Value::Constant(value & highest(self.word)),
            value => value,
        };
        self.held.set(register, value);
    }

    /// Forgets what a register holds.
    pub fn forget(&mut self, register: Register) {
        self.held.set(register, Value::Unknown);
    }

    /// What a place is: an address, or a slot of the stack.
    fn place(&self, place: Place) -> Value {
        match place {
            Place::At(address) => Value::Constant(address),
            Place::Behind(register, offset) => match self.get(register) {
                Value::Constant(address) => {
                    Value::Constant(address.wrapping_add_signed(offset) & highest(self.word))
                }
                Value::Stack(place) => Value::Stack(place.wrapping_add(offset)),
                _ => Value::Unknown,
            },
        }
    }

    /// The value in memory.
    fn memory(&self, place: Place, size: u8, counters: &Counters) -> Value {
        match self.place(place) {
            Value::Constant(address) if counters.at(address).is_some() => {
                Value::Counter(address, size)
            }
            Value::Stack(place) => self.held.slot(place),
            _ => Value::Unknown,
        }
    }

    /// The address of the counters that an instruction writes in memory.
    pub fn written(&self, touch: Touch, counters: &Counters) -> Option<u64> {
        let (Touch::Adds(place, ..) | Touch::Stores(place, ..)) = touch else { return None };
        match self.place(place) {
            Value::Constant(address) if counters.at(address).is_some() => Some(address),
            _ => None,
        }
    }

    /// Updates the state for an instruction; returns the counters that the instruction increments.
    pub fn apply(&mut self, touch: Touch, counters: &Counters) -> Option<(u64, u8)> {
        match touch {
            Touch::Adds(place, size, amount) => {
                let counter = self.memory(place, size, counters).counter();
                if amount != 1 {
                    self.store(place, Value::Unknown);
                }
                return counter.filter(|_| amount == 1);
            }
            Touch::Sums(to, place, size) => {
                let value = self.memory(place, size, counters);
                self.set(to, value);
                return value.counter();
            }
            Touch::Moves(to, from, offset) => {
                let value = self.get(from).plus(offset);
                self.set(to, value);
                return value.counter().filter(|_| offset == 1);
            }
            Touch::Joins(to, from) => {
                let value = self.get(to).joined(self.get(from));
                self.set(to, value);
                return value.counter();
            }
            Touch::Loads(to, place, size) => self.set(to, self.memory(place, size, counters)),
            Touch::Stores(place, from, size) if size >= self.word => {
                self.store(place, self.get(from));
            }
            Touch::Stores(place, ..) | Touch::Spoils(place) => self.store(place, Value::Unknown),
            Touch::Takes(to, value) => self.set(to, Value::Constant(value)),
            Touch::Sets(register) => self.set(register, Value::Unknown),
            Touch::Refers(_) | Touch::Indexes(..) => {}
        }
        None
    }

    /// Stores a value, if the place is on the stack.
    fn store(&mut self, place: Place, value: Value) {
        if let Value::Stack(place) = self.place(place) {
            self.held.set_slot(place, value, MOST_SLOTS);
        }
    }
}
