//! The transfer functions: how each [`Effect`] changes what registers and slots of the stack hold.
//!
//! Before an indirect call, the code stores the address of the call's site and that of the callee where the profiler
//! reads them. So the state also has the site and the callee that were stored last.

use std::collections::BTreeMap;

use super::abstract_value::Value;
use super::state_pool::Contents;
use crate::program::counters::{Counters, Sites};
use crate::program::decode::{Effect, Memory, Register, highest};
use crate::program::object_file::image::{Image, Symbol};

/// The site whose address was stored for the next call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pending {
    /// No site.
    #[default]
    None,
    /// The site at this address.
    Site(u64),
    /// One site or another, depending on the path.
    Several,
}

impl Pending {
    /// What is pending where two paths meet.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, other) | (other, Self::None) => other,
            (a, b) if a == b => a,
            _ => Self::Several,
        }
    }
}

/// What is at the addresses of a program.
#[derive(Clone, Copy)]
pub struct Addresses<'a, 'c> {
    pub image: &'a Image<'c>,
    pub counters: &'a Counters,
    pub sites: &'a Sites,
    /// Functions by the addresses where they start.
    pub functions: &'a BTreeMap<u64, Symbol>,
}

impl Addresses<'_, '_> {
    /// Where a function starts, if this is its address. Some addresses also tell the kind of code.
    fn function(&self, address: u64) -> Option<u64> {
        let start = self.image.start(address);
        self.functions.contains_key(&start).then_some(start)
    }

    /// Whether an indirect call with this constant in its register asks the dynamic linker for the place of a thread's
    /// variable.
    pub fn asks_for_variable(&self, descriptor: Option<u64>) -> bool {
        descriptor.is_some_and(|address| self.image.is_thread_descriptor(address))
    }

    /// Whether a constant may be stored for a call.
    fn is_for_call(&self, value: u64) -> bool {
        self.sites.has(value) || self.function(value).is_some()
    }
}

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// What registers and slots hold.
    pub contents: Contents,
    /// The site of the next call.
    pub pending: Pending,
    /// The function that was stored for the next call, if it is constant.
    pub callee: Option<u64>,
}

impl State {
    /// The state on entry to a function, with this register as the stack pointer.
    pub fn entry(stack_pointer: Register) -> Self {
        let mut state = Self::default();
        state.contents.set(stack_pointer, Value::Stack(0));
        state
    }

    /// The constant in a register.
    pub fn constant(&self, register: Register) -> Option<u64> {
        match self.contents.get(register) {
            Value::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The address of the counters that an effect writes in memory.
    pub fn written(&self, effect: Effect, addresses: &Addresses<'_, '_>) -> Option<u64> {
        let (Effect::AddToMemory(memory, ..) | Effect::Store(memory, ..)) = effect else {
            return None;
        };
        match self.place(memory, addresses) {
            Value::Constant(address) if addresses.counters.at(address).is_some() => Some(address),
            _ => None,
        }
    }

    /// Follows an effect. Returns the counters that it increments: address of the first, and size of all in bytes.
    pub fn apply(&mut self, effect: Effect, addresses: &Addresses<'_, '_>) -> Option<(u64, u8)> {
        match effect {
            Effect::AddToMemory(memory, size, amount) => {
                let counter = self.load(memory, size, addresses).counter();
                if amount != 1 {
                    self.store(memory, Value::Unknown, addresses);
                }
                return counter.filter(|_| amount == 1);
            }
            Effect::AddMemory(to, memory, size) => {
                let value = self.load(memory, size, addresses);
                let value = if value.counter().is_some() { value } else { Value::Unknown };
                self.set(to, value, addresses);
                return value.counter();
            }
            Effect::Copy(to, from, offset) => {
                let value = self.contents.get(from).plus(offset);
                self.set(to, value, addresses);
                return value.counter().filter(|_| offset == 1);
            }
            Effect::Add(to, from) => {
                let value = self.contents.get(to).sum(self.contents.get(from));
                self.set(to, value, addresses);
                return value.counter();
            }
            Effect::Constant(to, value) => self.set(to, Value::Constant(value), addresses),
            Effect::Load(to, memory, size) => {
                self.set(to, self.load(memory, size, addresses), addresses);
            }
            Effect::Pack(to, from) => self.pack(to, from, addresses),
            Effect::Store(memory, from, size) => {
                let is_whole = size >= addresses.image.word;
                let value = if is_whole { self.contents.get(from) } else { Value::Unknown };
                self.store(memory, value, addresses);
            }
            Effect::StoreConstant(memory, value) => {
                let value = Some(value).filter(|&value| addresses.is_for_call(value));
                self.store(memory, value.map_or(Value::Unknown, Value::Constant), addresses);
            }
            Effect::StoreUnknown(memory) => self.store(memory, Value::Unknown, addresses),
            Effect::Clear(register) => self.contents.set(register, Value::Unknown),
            Effect::Refer(_) | Effect::Index(..) => {}
        }
        None
    }

    /// Forgets what calls change, with the results in these registers.
    pub fn return_from_call(&mut self, changed: &[Register]) {
        changed.iter().for_each(|&register| self.contents.set(register, Value::Unknown));
        (self.pending, self.callee) = (Pending::None, None);
    }

    fn set(&mut self, register: Register, value: Value, addresses: &Addresses<'_, '_>) {
        let value = match value {
            Value::Constant(value) => Value::Constant(value & highest(addresses.image.word)),
            value => value,
        };
        self.contents.set(register, value);
    }

    /// What some memory is: an address, or a slot of the stack.
    fn place(&self, memory: Memory, addresses: &Addresses<'_, '_>) -> Value {
        match memory {
            Memory::At(address) => Value::Constant(address),
            Memory::Behind(register, offset) => match self.contents.get(register) {
                Value::Constant(address) => {
                    let address = address.wrapping_add_signed(offset);
                    Value::Constant(address & highest(addresses.image.word))
                }
                Value::Stack(slot) => Value::Stack(slot.wrapping_add(offset)),
                _ => Value::Unknown,
            },
            Memory::Elsewhere => Value::Unknown,
        }
    }

    fn load(&self, memory: Memory, size: u8, addresses: &Addresses<'_, '_>) -> Value {
        match self.place(memory, addresses) {
            Value::Constant(address) if addresses.counters.at(address).is_some() => {
                Value::Counter(address, size)
            }
            Value::Constant(address) => {
                addresses.sites.stored_at(address).map_or(Value::Unknown, Value::Constant)
            }
            Value::Stack(slot) => self.contents.slot(slot),
            _ => Value::Unknown,
        }
    }

    /// Only a site matters among the parts of a vector.
    fn pack(&mut self, to: Register, from: Register, addresses: &Addresses<'_, '_>) {
        let site = |register: Register| {
            let value = self.contents.get(register);
            matches!(value, Value::Constant(address) if addresses.sites.has(address))
                .then_some(value)
        };
        let value = site(to).or_else(|| site(from)).unwrap_or_default();
        self.contents.set(to, value);
    }

    /// Stores a value. A site's address leaves the function only for the pair that the profiler reads.
    fn store(&mut self, memory: Memory, value: Value, addresses: &Addresses<'_, '_>) {
        match (self.place(memory, addresses), value) {
            (Value::Stack(slot), value) => self.contents.set_slot(slot, value),
            (_, Value::Constant(address)) if addresses.sites.has(address) => {
                self.pending = Pending::Site(address);
            }
            (_, Value::Constant(address)) => {
                self.callee = addresses.function(address).or(self.callee);
            }
            _ => {}
        }
    }
}
