//! Finds where counters are incremented: in memory, or on their way through registers and the stack.
//!
//! Compilers take the address of a function's counters into a register, and keep counters of loops in
//! registers or on the stack until the loop ends. So this follows through the blocks what registers and slots
//! of the stack hold: an address, or the value of a counter. Where ways meet, only what they agree on stays
//! known. Adding 1 to the value of a counter increments it, wherever the value is at the time.

use std::prelude::v1::*;

use crate::program::cfg::{Block, Graph, Increment};
use crate::program::counters::Counters;
use crate::program::dataflow::held::{Kept, Pool};
use crate::program::dataflow::known::{State, Value};
use crate::program::dataflow::state::Register;
use crate::program::decode::{Machine, Place, Touch};

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

/// Most times to go through a block. What is known only ever becomes less.
const ROUNDS: u8 = 12;

/// What happens to counters.
enum Event {
    /// An increment of the counters in this many bytes from an address on.
    Increments(u64, u8),
    /// A write to the counters at an address.
    Writes(u64),
}

/// A block on the way through the graph.
struct Stage {
    /// What is known at its start, once a way has led there.
    start: Option<Kept>,
    /// How many times the block was gone through.
    rounds: u8,
    /// Whether nobody has gone through it since that became known.
    is_new: bool,
    /// Its first touch, its first call, and its first edge.
    touch: usize,
    call: usize,
    edge: usize,
}

struct Tracking<'t> {
    graph: &'t Graph,
    touches: &'t [(u32, Touch)],
    counters: &'t Counters,
    changed_by_calls: &'static [Register],
    /// For each block of the graph.
    stages: Vec<Stage>,
    pool: Pool<Value>,
    /// What is known at the place at hand.
    state: State,
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
        let mut tracking = Self {
            graph,
            touches,
            counters,
            changed_by_calls: M::CHANGED_BY_CALLS,
            stages: stages(graph, touches),
            pool: Pool::default(),
            state: State::entry(M::STACK, M::WORD),
            open: Vec::new(),
            is_late: false,
        };
        if let Some(first) = tracking.stages.first_mut() {
            first.start = Some(tracking.pool.keep(&tracking.state.held));
            tracking.open.push(0);
        }
        tracking
    }

    fn run(&mut self) {
        self.run_open();
        // Only exceptions lead to the other blocks, or jumps through a table that was not found. What the
        // ends of all blocks agree on is known there, and what is known behind them no longer changes.
        if self.stages.iter().all(|stage| stage.start.is_some()) {
            return;
        }
        let Some(agreed) = self.agreed() else { return };
        self.is_late = true;
        for block in 0..self.stages.len() as u32 {
            let start = &mut self.stages[block as usize].start;
            if start.is_none() {
                *start = Some(agreed);
                self.open.push(block);
                self.run_open();
            }
        }
    }

    /// What the ends of all blocks agree on.
    fn agreed(&mut self) -> Option<Kept> {
        let mut agreed: Option<Kept> = None;
        for block in 0..self.stages.len() as u32 {
            let Some(start) = self.stages[block as usize].start else { continue };
            self.follow::<false>(block, &start, &mut |_, _| {});
            match &mut agreed {
                Some(agreed) => _ = self.pool.join(agreed, &self.state.held),
                None => agreed = Some(self.pool.keep(&self.state.held)),
            }
        }
        agreed
    }

    fn run_open(&mut self) {
        while let Some(block) = self.open.pop() {
            let stage = &mut self.stages[block as usize];
            let Some(start) = stage.start.filter(|_| stage.rounds < ROUNDS) else { continue };
            stage.rounds += 1;
            if !core::mem::take(&mut stage.is_new) {
                continue;
            }
            let edges = self.graph.edges[stage.edge..].iter();
            self.follow::<false>(block, &start, &mut |_, _| {});
            for &(_, next) in edges.take_while(|(from, _)| *from == block) {
                if self.reach(next) {
                    self.open.push(next);
                }
            }
        }
    }

    /// Notes that a way leads from the place at hand to a block. Says whether less is known there now.
    fn reach(&mut self, block: u32) -> bool {
        let stage = &mut self.stages[block as usize];
        let is_less = match &mut stage.start {
            Some(_) if self.is_late => false,
            Some(known) => self.pool.join(known, &self.state.held),
            known => {
                *known = Some(self.pool.keep(&self.state.held));
                true
            }
        };
        stage.is_new |= is_less;
        is_less
    }

    /// Follows the instructions of a block. With `TELLS`, `happens` gets what they do to counters.
    fn follow<const TELLS: bool>(
        &mut self,
        block: u32,
        start: &Kept,
        happens: &mut impl FnMut(u32, Event),
    ) {
        self.pool.restore(start, &mut self.state.held);
        let Stage { touch, call, .. } = self.stages[block as usize];
        let end = self.graph.blocks[block as usize].instructions.end;
        let mut calls = self.graph.calls[call..].iter().peekable();
        for &(instruction, touch) in &self.touches[touch..] {
            if instruction >= end {
                break;
            }
            while calls.next_if(|&&(of, _)| of < instruction).is_some() {
                self.changed_by_calls.iter().for_each(|&register| self.state.forget(register));
            }
            if TELLS && let Some(address) = self.state.written(touch, self.counters) {
                happens(instruction, Event::Writes(address));
            }
            let counter = self.state.apply(touch, self.counters);
            if TELLS && let Some((address, size)) = counter {
                happens(instruction, Event::Increments(address, size));
            }
        }
    }

    fn collect(mut self) -> Vec<Increment> {
        let mut found = Vec::new();
        // For the block at hand.
        let (mut events, mut written) = (Vec::new(), Vec::new());
        for block in 0..self.stages.len() as u32 {
            let Stage { start, rounds, .. } = self.stages[block as usize];
            let Some(start) = start.filter(|_| rounds < ROUNDS) else { continue };
            events.clear();
            written.clear();
            self.follow::<true>(block, &start, &mut |instruction, event| match event {
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

/// The blocks of a graph, which are in the order of their instructions.
fn stages(graph: &Graph, touches: &[(u32, Touch)]) -> Vec<Stage> {
    let (mut touch, mut call, mut edge) = (0, 0, 0);
    let stage = |(block, number): (&Block, u32)| {
        let first = block.instructions.start;
        touch += touches[touch..].iter().take_while(|&&(of, _)| of < first).count();
        call += graph.calls[call..].iter().take_while(|&&(of, _)| of < first).count();
        edge += graph.edges[edge..].iter().take_while(|&&(from, _)| from < number).count();
        Stage { start: None, rounds: 0, is_new: true, touch, call, edge }
    };
    graph.blocks.iter().zip(0..).map(stage).collect()
}
