//! Finds where counters are incremented: in memory, or on their way through registers and the stack.
//!
//! Compilers take the address of a function's counters into a register, and keep counters of loops in
//! registers or on the stack until the loop ends. So this follows through the blocks what registers and slots
//! of the stack hold: an address, or the value of a counter. Where ways meet, only what they agree on stays
//! known. Adding 1 to the value of a counter increments it, wherever the value is at the time.

use std::prelude::v1::*;

use super::counters::Counters;
use super::graph::{Graph, Increment};
use super::machine::{Machine, Place, Touch};
use super::state::{Register, highest};

/// What a function's instructions do. If it is simple, only additions to memory touch counters.
#[derive(Clone, Copy)]
pub struct Touches<'t> {
    pub all: &'t [(u32, Touch)],
    pub is_simple: bool,
}

/// The increments of a function's counters, by instruction.
pub fn increments<'c, M: Machine<'c>>(
    graph: &Graph,
    touches: Touches<'_>,
    counters: &Counters,
) -> Vec<Increment> {
    if touches.is_simple {
        let simple = touches.all.iter().filter_map(|&(instruction, touch)| match touch {
            Touch::Adds(Place::At(address), _, 1) => {
                let counter = counters.at(address)?;
                Some(Increment { instruction, counter, is_in_place: true })
            }
            _ => None,
        });
        return simple.collect();
    }
    let mut tracking = Tracking::new::<M>(graph, touches.all, counters);
    tracking.run();
    tracking.collect()
}

/// Most slots of the stack to follow.
const MOST_SLOTS: usize = 64;

/// Most times to go through a block. What is known only ever becomes less.
const ROUNDS: u8 = 12;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Value {
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

#[derive(Clone)]
struct State {
    registers: [Value; 64],
    /// A bit for each register that is known. Few are.
    known: u64,
    slots: Vec<(i64, Value)>,
    /// Bytes of an address.
    word: u8,
}

impl State {
    fn entry(stack: Register, word: u8) -> Self {
        let mut state = Self { registers: [Value::Unknown; 64], known: 0, slots: Vec::new(), word };
        state.set(stack, Value::Stack(0));
        state
    }

    fn get(&self, register: Register) -> Value {
        self.registers.get(usize::from(register)).copied().unwrap_or_default()
    }

    fn set(&mut self, register: Register, value: Value) {
        if let Some(known) = self.registers.get_mut(usize::from(register)) {
            *known = match value {
                Value::Constant(value) => Value::Constant(value & highest(self.word)),
                value => value,
            };
            let bit = 1 << register;
            self.known = if value == Value::Unknown { self.known & !bit } else { self.known | bit };
        }
    }

    fn slot(&self, place: i64) -> Value {
        let slot = self.slots.iter().find(|(known, _)| *known == place);
        slot.map_or(Value::Unknown, |&(_, value)| value)
    }

    fn set_slot(&mut self, place: i64, value: Value) {
        self.slots.retain(|(known, _)| *known != place);
        if value != Value::Unknown && self.slots.len() < MOST_SLOTS {
            self.slots.push((place, value));
        }
    }

    /// Keeps only what `other` knows as well; says whether that changed anything.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        let mut open = self.known;
        while open != 0 {
            let register = open.trailing_zeros() as usize;
            open &= open - 1;
            if self.registers[register] != other.registers[register] {
                self.registers[register] = Value::Unknown;
                self.known &= !(1 << register);
                changed = true;
            }
        }
        let before = self.slots.len();
        self.slots.retain(|&(place, value)| other.slot(place) == value);
        changed || before != self.slots.len()
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
            Value::Stack(place) => self.slot(place),
            _ => Value::Unknown,
        }
    }

    /// The address of the counters that an instruction writes in memory.
    fn written(&self, touch: Touch, counters: &Counters) -> Option<u64> {
        let (Touch::Adds(place, ..) | Touch::Stores(place, ..)) = touch else { return None };
        match self.place(place) {
            Value::Constant(address) if counters.at(address).is_some() => Some(address),
            _ => None,
        }
    }

    /// Updates the state for an instruction; returns the counters that the instruction increments.
    fn apply(&mut self, touch: Touch, counters: &Counters) -> Option<(u64, u8)> {
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
            self.set_slot(place, value);
        }
    }
}

/// What happens to counters.
enum Event {
    /// An increment of the counters in this many bytes from an address on.
    Increments(u64, u8),
    /// A write to the counters at an address.
    Writes(u64),
}

struct Tracking<'t> {
    graph: &'t Graph,
    touches: &'t [(u32, Touch)],
    counters: &'t Counters,
    changed_by_calls: &'static [Register],
    /// What is known at the start of each block, and how many times the block was gone through.
    states: Vec<(Option<State>, u8)>,
    out: Vec<Vec<u32>>,
    open: Vec<u32>,
    /// Whether known states no longer change.
    is_late: bool,
}

impl<'t> Tracking<'t> {
    fn new<'c, M: Machine<'c>>(
        graph: &'t Graph,
        touches: &'t [(u32, Touch)],
        counters: &'t Counters,
    ) -> Self {
        let blocks = graph.blocks.len();
        let mut out = vec![Vec::new(); blocks];
        for &(from, to) in &graph.edges {
            out[from as usize].push(to);
        }
        let mut states = vec![(None, 0); blocks];
        let mut open = Vec::new();
        for (number, block) in graph.blocks.iter().enumerate() {
            let _ = block;
            if number == 0 {
                states[number].0 = Some(State::entry(M::STACK, M::WORD));
                open.push(number as u32);
            }
        }
        let changed_by_calls = M::CHANGED_BY_CALLS;
        Self { graph, touches, counters, changed_by_calls, states, out, open, is_late: false }
    }

    fn run(&mut self) {
        self.run_open();
        // Only exceptions lead to the other blocks, or jumps through a table that was not found. What the
        // ends of all blocks agree on is known there, and what is known behind them no longer changes.
        if self.states.iter().all(|(state, _)| state.is_some()) {
            return;
        }
        let Some(agreed) = self.agreed() else { return };
        for block in 0..self.states.len() as u32 {
            if self.states[block as usize].0.is_none() {
                self.states[block as usize].0 = Some(agreed.clone());
                self.is_late = true;
                self.open.push(block);
                self.run_open();
            }
        }
    }

    /// What the ends of all blocks agree on.
    fn agreed(&self) -> Option<State> {
        let mut agreed: Option<State> = None;
        for (block, (state, _)) in self.states.iter().enumerate() {
            let Some(state) = state else { continue };
            let mut state = state.clone();
            self.follow(block as u32, &mut state, &mut |_, _| {});
            match &mut agreed {
                Some(agreed) => _ = agreed.join(&state),
                None => agreed = Some(state),
            }
        }
        agreed
    }

    fn run_open(&mut self) {
        while let Some(block) = self.open.pop() {
            let (Some(state), rounds) = &mut self.states[block as usize] else { continue };
            if *rounds >= ROUNDS {
                continue;
            }
            *rounds += 1;
            let mut state = state.clone();
            self.follow(block, &mut state, &mut |_, _| {});
            for place in 0..self.out[block as usize].len() {
                let next = self.out[block as usize][place];
                let known = &mut self.states[next as usize].0;
                let changed = match known {
                    Some(_) if self.is_late => false,
                    Some(known) => known.join(&state),
                    None => {
                        *known = Some(state.clone());
                        true
                    }
                };
                if changed {
                    self.open.push(next);
                }
            }
        }
    }

    /// Follows the instructions of a block.
    fn follow(&self, block: u32, state: &mut State, happens: &mut dyn FnMut(u32, Event)) {
        let range = &self.graph.blocks[block as usize].instructions;
        let first = self.touches.partition_point(|&(of, _)| of < range.start);
        let first_call = self.graph.calls.partition_point(|&(of, _)| of < range.start);
        let mut calls = self.graph.calls[first_call..].iter().peekable();
        for &(instruction, touch) in &self.touches[first..] {
            if instruction >= range.end {
                break;
            }
            while calls.next_if(|&&(of, _)| of < instruction).is_some() {
                for &register in self.changed_by_calls {
                    state.set(register, Value::Unknown);
                }
            }
            if let Some(address) = state.written(touch, self.counters) {
                happens(instruction, Event::Writes(address));
            }
            if let Some((address, size)) = state.apply(touch, self.counters) {
                happens(instruction, Event::Increments(address, size));
            }
        }
    }

    fn collect(mut self) -> Vec<Increment> {
        let mut found = Vec::new();
        // For the block at hand.
        let (mut events, mut written) = (Vec::new(), Vec::new());
        let states = core::mem::take(&mut self.states);
        for (block, (state, rounds)) in states.into_iter().enumerate() {
            let Some(mut state) = state.filter(|_| rounds < ROUNDS) else { continue };
            events.clear();
            written.clear();
            self.follow(block as u32, &mut state, &mut |instruction, event| match event {
                Event::Increments(address, size) => events.push((instruction, address, size)),
                Event::Writes(address) => written.push((instruction, address)),
            });
            for &(instruction, address, size) in &events {
                let is_it = |&(when, to): &(u32, u64)| to == address && when >= instruction;
                let is_in_place = written.iter().any(is_it);
                for place in (0..u64::from(size.max(8))).step_by(8) {
                    let counter = self.counters.at(address.wrapping_add(place));
                    let increment =
                        counter.map(|counter| Increment { instruction, counter, is_in_place });
                    found.extend(increment);
                }
            }
        }
        found.sort_by_key(|found| found.instruction);
        found
    }
}
