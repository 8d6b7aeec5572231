//! What is known about a function whose instructions are being followed: the instructions, and the states at those that
//! jumps lead to.

use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::HashMap;

use crate::program::dataflow::state::{Effect, State, StateAt, States};
use crate::program::decode::{Machine, Next};
use crate::program::object_file::image::{Image, Symbol};

/// Numbers by address. Most addresses are those of one function.
struct Places {
    start: u64,
    /// For each byte of the function; 0 where there is none, and else one more.
    near: Vec<u32>,
    far: HashMap<u64, u32>,
}

impl Places {
    fn of(function: &Symbol, image: &Image<'_>) -> Self {
        let start = function.address;
        let bytes = image.place(start).map_or(0, |(section, offset)| section.len() - offset);
        let near = vec![0; bytes.min((function.end - start) as usize)];
        Self { start, near, far: HashMap::new() }
    }

    fn near(&self, address: u64) -> Option<usize> {
        let place = usize::try_from(address.checked_sub(self.start)?).ok()?;
        (place < self.near.len()).then_some(place)
    }

    fn get(&self, address: u64) -> Option<u32> {
        match self.near(address) {
            Some(place) => self.near[place].checked_sub(1),
            None => self.far.get(&address).copied(),
        }
    }

    fn insert(&mut self, address: u64, number: u32) {
        match self.near(address) {
            Some(place) => self.near[place] = number + 1,
            None => _ = self.far.insert(address, number),
        }
    }
}

/// An instruction.
#[derive(Clone)]
pub struct Step {
    /// Its effects, see [`Followed::effects`].
    effects: Range<u32>,
    length: u32,
    /// Where control goes.
    pub next: Next,
}

impl Step {
    /// The address of the next instruction, if this one is at `address`.
    pub const fn after(&self, address: u64) -> Option<u64> {
        address.checked_add(self.length as u64)
    }
}

/// The number of what cannot be decoded.
const NO_STEP: u32 = u32::MAX - 1;

/// The instructions of a function that have been followed.
pub struct Followed {
    /// Their indexes in `steps`.
    places: Places,
    steps: Vec<Step>,
    effects: Vec<Effect>,
}

impl Followed {
    /// None yet.
    pub fn new(function: &Symbol, image: &Image<'_>) -> Self {
        Self { places: Places::of(function, image), steps: Vec::new(), effects: Vec::new() }
    }

    /// The instruction at an address. It is decoded once.
    pub fn step<'c, M: Machine<'c>>(
        &mut self,
        address: u64,
        machine: &mut M,
        image: &Image<'c>,
    ) -> Option<Step> {
        let number = match self.places.get(address) {
            Some(number) => number,
            None => {
                let number = self.decode(address, machine, image).unwrap_or(NO_STEP);
                self.places.insert(address, number);
                number
            }
        };
        self.steps.get(number as usize).cloned()
    }

    fn decode<'c, M: Machine<'c>>(
        &mut self,
        address: u64,
        machine: &mut M,
        image: &Image<'c>,
    ) -> Option<u32> {
        let (section, offset) = image.place(address)?;
        let step = machine.decode(address, section, offset)?;
        let first = self.effects.len() as u32;
        self.effects.extend_from_slice(&step.effects);
        let effects = first..self.effects.len() as u32;
        self.steps.push(Step { effects, length: step.length as u32, next: step.next });
        Some(self.steps.len() as u32 - 1)
    }

    /// The effects of an instruction.
    pub fn effects(&self, step: &Step) -> &[Effect] {
        &self.effects[step.effects.start as usize..step.effects.end as usize]
    }

    /// Whether a way has led to an address.
    pub fn has(&self, address: u64) -> bool {
        self.places.get(address).is_some()
    }

    /// The next instruction of a function that no way has led to.
    pub fn unseen(&self, sweep: &mut u64, image: &Image<'_>, function: &Symbol) -> Option<u64> {
        loop {
            *sweep = image.next_code(*sweep);
            if *sweep >= function.end {
                return None;
            }
            match self.places.get(*sweep) {
                None => return Some(*sweep),
                Some(number) => *sweep = self.steps.get(number as usize)?.after(*sweep)?,
            }
        }
    }
}

/// What is known where a jump leads to.
struct Target {
    state: StateAt,
    /// Whether nobody has gone on from there since it became known.
    is_new: bool,
}

/// The states of a function as far as they are known.
pub struct Known {
    memory: States,
    /// The indexes of targets, and these. There states are kept before instructions.
    places: Places,
    targets: Vec<Target>,
    /// Places to go on from.
    open: Vec<u64>,
    /// Places behind calls that may not return.
    behind_calls: Vec<(u64, StateAt)>,
    /// What all jumps through tables agree on, and what all calls agree on.
    at_tables: Option<StateAt>,
    after_calls: Option<StateAt>,
    /// What is known everywhere.
    at_entry: StateAt,
}

impl Known {
    /// Only the state on entry.
    pub fn new(function: &Symbol, image: &Image<'_>, state: &State) -> Self {
        let mut memory = States::default();
        let at_entry = memory.keep(state);
        Self {
            memory,
            places: Places::of(function, image),
            targets: Vec::new(),
            open: Vec::new(),
            behind_calls: Vec::new(),
            at_tables: None,
            after_calls: None,
            at_entry,
        }
    }

    /// Whether a state is kept before an instruction.
    pub fn has(&self, address: u64) -> bool {
        self.places.get(address).is_some()
    }

    /// Notes that control goes to an address in this state.
    pub fn reach(&mut self, address: u64, state: &State) {
        match self.places.get(address) {
            Some(number) => {
                let target = &mut self.targets[number as usize];
                if !self.memory.join(&mut target.state, state) {
                    return;
                }
                target.is_new = true;
            }
            None => {
                self.places.insert(address, self.targets.len() as u32);
                self.targets.push(Target { state: self.memory.keep(state), is_new: true });
            }
        }
        self.open.push(address);
    }

    /// A place to go on from, in this state.
    pub fn go_on(&mut self, state: &mut State) -> Option<u64> {
        while let Some(address) = self.open.pop() {
            let number = self.places.get(address)?;
            let target = &mut self.targets[number as usize];
            // It may have been noted more than once.
            if core::mem::take(&mut target.is_new) {
                self.memory.restore(&target.state, state);
                return Some(address);
            }
        }
        None
    }

    /// Notes a place behind a call that may not return.
    pub fn leave_behind(&mut self, address: u64, state: &State) {
        self.behind_calls.push((address, self.memory.keep(state)));
    }

    /// The last such place, and the state there.
    pub fn behind_call(&mut self, state: &mut State) -> Option<u64> {
        let (address, at) = self.behind_calls.pop()?;
        self.memory.restore(&at, state);
        Some(address)
    }

    /// The state at a place that no way leads to.
    pub fn guess(&self, state: &mut State) {
        let at = self.at_tables.or(self.after_calls).unwrap_or(self.at_entry);
        self.memory.restore(&at, state);
    }

    /// Notes the state at a jump through a table.
    pub fn agree_at_tables(&mut self, state: &State) {
        agree(&mut self.at_tables, state, &mut self.memory);
    }

    /// Notes the state behind a call.
    pub fn agree_after_calls(&mut self, state: &State) {
        agree(&mut self.after_calls, state, &mut self.memory);
    }
}

fn agree(known: &mut Option<StateAt>, state: &State, memory: &mut States) {
    match known {
        Some(known) => _ = memory.join(known, state),
        None => *known = Some(memory.keep(state)),
    }
}
