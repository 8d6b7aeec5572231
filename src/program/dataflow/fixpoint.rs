//! The engine: goes through the blocks of a function until what is known at their starts no longer changes.
//!
//! The worklist gives the first block in reverse postorder, so that a block waits for those before it, and a loop
//! settles before what follows it. Each visit makes less known at the start of some block, and a block that was visited
//! [`MOST_VISITS`] times knows nothing more. So the cost is linear in the size of the function.
//!
//! Only exceptions lead to some blocks, or jumps through a table that was not found. What holds behind all calls, or at
//! all such jumps, is known there. What is known in other blocks is not changed for that.
//!
//! Behind a call that never returns there is code where something else may be known. With [`Calls::MayNotReturn`], a
//! call at the end of a block returns only if nothing else leads to the next block.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::prelude::v1::*;

use super::abstract_state::{Addresses, Pending, State};
use super::state_pool::{Kept, StatePool};
use crate::program::cfg::{Block, Graph};
use crate::program::decode::{Effect, Machine, Next, Register};

/// Most visits of a block whose start is known in part.
const MOST_VISITS: u8 = 12;

/// The register that holds the descriptor of a thread's variable, and then the variable's place: x0, and rax,
/// which happens to have the same number.
const DESCRIPTOR: Register = 0;

/// What is taken for granted about calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// All of them return.
    Return,
    /// Some may not.
    MayNotReturn,
}

/// What happens at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An increment of the counters in this many bytes from an address on.
    Increments(u64, u8),
    /// A write to the counters at an address.
    Writes(u64),
    /// The call of the site at this address.
    CallsSite(u64),
    /// The return from a call.
    Returns,
    /// A jump to a computed address.
    JumpsByTable,
}

/// A block on the way to the fixpoint.
#[derive(Debug, Default)]
struct Stage {
    /// What is known at its start, once a path has led there.
    start: Option<Start>,
    visits: u8,
    is_in_worklist: bool,
    /// Whether the start no longer changes.
    is_final: bool,
    /// Its place in reverse postorder.
    rank: u32,
    /// Its first effect, its first lead, and its first edge.
    effect: usize,
    lead: usize,
    edge: usize,
}

/// What is known at the start of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    contents: Kept,
    pending: Pending,
    callee: Option<u64>,
}

/// Memory for one function after the other.
#[derive(Debug, Default)]
pub struct FixpointMemory {
    stages: Vec<Stage>,
    pool: StatePool,
    /// What is known at the current place.
    state: State,
    /// Blocks in reverse postorder.
    order: Vec<u32>,
    /// Ranks of blocks to visit.
    worklist: BinaryHeap<Reverse<u32>>,
    /// Blocks that end with a call that may not return.
    doubtful: Vec<u32>,
}

/// The analysis of a function.
pub struct Fixpoint<'f, 'c> {
    graph: &'f Graph,
    addresses: Addresses<'f, 'c>,
    calls: Calls,
    changed_by_calls: &'static [Register],
    memory: &'f mut FixpointMemory,
}

impl<'f, 'c> Fixpoint<'f, 'c> {
    /// Finds out what is known at the start of each block.
    pub fn find<'m, M: Machine<'m>>(
        graph: &'f Graph,
        addresses: Addresses<'f, 'c>,
        calls: Calls,
        memory: &'f mut FixpointMemory,
    ) -> Self {
        memory.start(graph);
        let changed_by_calls = M::CHANGED_BY_CALLS;
        let mut fixpoint = Self { graph, addresses, calls, changed_by_calls, memory };
        if !graph.blocks.is_empty() {
            fixpoint.memory.state = State::entry(M::STACK);
            fixpoint.reach(0);
            fixpoint.run();
            fixpoint.enter_unreached();
        }
        fixpoint
    }

    /// Passes the events of all blocks, block by block.
    pub fn events(&mut self, mut happens: impl FnMut(u32, Event)) {
        for block in 0..self.graph.blocks.len() as u32 {
            self.follow::<true>(block, &mut |instruction, event, _| happens(instruction, event));
        }
    }

    fn run(&mut self) {
        loop {
            while let Some(Reverse(rank)) = self.memory.worklist.pop() {
                self.visit(self.memory.order[rank as usize]);
            }
            let Some(block) = self.memory.doubtful.pop() else { return };
            let is_reached = |next: &Stage| next.start.is_some();
            if self.memory.stages.get(block as usize + 1).is_some_and(|next| !is_reached(next)) {
                self.follow::<false>(block, &mut |_, _, _| {});
                self.reach_next(block);
            }
        }
    }

    fn visit(&mut self, block: u32) {
        let stage = &mut self.memory.stages[block as usize];
        stage.is_in_worklist = false;
        stage.visits = stage.visits.saturating_add(1);
        if !self.follow::<false>(block, &mut |_, _, _| {}) {
            return;
        }
        match self.calls == Calls::MayNotReturn && self.graph.ends_with_call(block) {
            true => self.memory.doubtful.push(block),
            false => self.reach_next(block),
        }
    }

    /// Goes on from the end of a block.
    fn reach_next(&mut self, block: u32) {
        let edges = &self.graph.edges[self.memory.stages[block as usize].edge..];
        for &(_, next) in edges.iter().take_while(|&&(from, _)| from == block) {
            self.reach(next);
        }
    }

    /// Notes that a path leads from the current place to a block.
    fn reach(&mut self, block: u32) {
        let FixpointMemory { stages, pool, state, worklist, .. } = &mut *self.memory;
        let stage = &mut stages[block as usize];
        let State { contents, pending, callee } = &*state;
        let is_less = match &mut stage.start {
            Some(_) if stage.is_final => false,
            Some(start) => {
                let before = (start.pending, start.callee);
                start.pending = start.pending.join(*pending);
                start.callee = start.callee.filter(|_| start.callee == *callee);
                let is_less = pool.join(&mut start.contents, contents);
                if is_less && stage.visits >= MOST_VISITS {
                    start.contents.forget();
                }
                is_less || before != (start.pending, start.callee)
            }
            start => {
                let contents = pool.keep(contents);
                *start = Some(Start { contents, pending: *pending, callee: *callee });
                true
            }
        };
        if is_less && !core::mem::replace(&mut stage.is_in_worklist, true) {
            worklist.push(Reverse(stage.rank));
        }
    }

    /// Enters the blocks that no path has led to.
    fn enter_unreached(&mut self) {
        if self.memory.stages.iter().all(|stage| stage.start.is_some()) {
            return;
        }
        let guess = self.known_anywhere();
        for stage in &mut self.memory.stages {
            stage.is_final = stage.start.is_some();
        }
        for block in 0..self.graph.blocks.len() as u32 {
            if self.memory.stages[block as usize].start.is_none() {
                self.memory.state.clone_from(&guess);
                self.reach(block);
                self.run();
            }
        }
    }

    /// What holds wherever control comes in by an exception or through an unknown table.
    fn known_anywhere(&mut self) -> State {
        let (mut behind_calls, mut at_tables) = (None::<State>, None::<State>);
        for block in 0..self.graph.blocks.len() as u32 {
            self.follow::<true>(block, &mut |_, event, state| {
                let known = match event {
                    Event::Returns => &mut behind_calls,
                    Event::JumpsByTable => &mut at_tables,
                    _ => return,
                };
                match known {
                    Some(known) => known.contents.keep_common(&state.contents),
                    None => {
                        *known =
                            Some(State { contents: state.contents.clone(), ..State::default() })
                    }
                }
            });
        }
        at_tables.filter(|_| self.graph.is_open).or(behind_calls).unwrap_or_default()
    }

    /// Follows the instructions of a block, if a path leads there. With `TELLS`, `happens` gets the events and the
    /// states behind them. Says whether control goes on to other blocks.
    fn follow<const TELLS: bool>(
        &mut self,
        block: u32,
        happens: &mut impl FnMut(u32, Event, &State),
    ) -> bool {
        let FixpointMemory { stages, pool, state, .. } = &mut *self.memory;
        let Stage { start: Some(start), effect, lead, .. } = stages[block as usize] else {
            return false;
        };
        pool.restore(&start.contents, &mut state.contents);
        (state.pending, state.callee) = (start.pending, start.callee);
        let end = self.graph.blocks[block as usize].instructions.end;
        let of_block = |&&(of, _): &&(u32, Next)| of < end;
        let mut leads = self.graph.leads[lead..].iter().take_while(of_block).peekable();
        for &(instruction, effect) in &self.graph.effects[effect..] {
            if instruction >= end {
                break;
            }
            while let Some(&(of, next)) = leads.next_if(|&&(of, _)| of < instruction) {
                self.leave::<TELLS>(of, next, happens);
            }
            self.apply::<TELLS>(instruction, effect, happens);
        }
        leads.fold(true, |_, &(of, next)| self.leave::<TELLS>(of, next, happens))
    }

    fn apply<const TELLS: bool>(
        &mut self,
        instruction: u32,
        effect: Effect,
        happens: &mut impl FnMut(u32, Event, &State),
    ) {
        let state = &mut self.memory.state;
        if TELLS && let Some(address) = state.written(effect, &self.addresses) {
            happens(instruction, Event::Writes(address), state);
        }
        let counter = state.apply(effect, &self.addresses);
        if TELLS && let Some((address, size)) = counter {
            happens(instruction, Event::Increments(address, size), state);
        }
    }

    /// Follows control out of an instruction. Says whether it goes on in the function.
    fn leave<const TELLS: bool>(
        &mut self,
        instruction: u32,
        next: Next,
        happens: &mut impl FnMut(u32, Event, &State),
    ) -> bool {
        let state = &mut self.memory.state;
        let mut tell = |event, state: &State| {
            if TELLS {
                happens(instruction, event, state);
            }
        };
        let site = match state.pending {
            Pending::Site(site) => Some(site),
            Pending::None | Pending::Several => None,
        };
        let is_tail = next == Next::IndirectJump && state.pending != Pending::None;
        let calls = match next {
            Next::IndirectCall => !self.addresses.asks_for_variable(state.constant(DESCRIPTOR)),
            Next::IndirectJump | Next::IndirectBranch => state.pending != Pending::None,
            Next::Call(target) => state.callee == Some(target),
            Next::Jump(target) => {
                state.callee == Some(target) && self.graph.instructions.first() != Some(&target)
            }
            _ => false,
        };
        if let (true, Some(site)) = (calls, site) {
            tell(Event::CallsSite(site), state);
        }
        match next {
            Next::IndirectCall if !calls => state.contents.set(DESCRIPTOR, Default::default()),
            Next::Call(_) | Next::IndirectCall => {
                state.return_from_call(self.changed_by_calls);
                tell(Event::Returns, state);
            }
            Next::IndirectJump | Next::IndirectBranch if !calls => {
                tell(Event::JumpsByTable, state);
            }
            _ => {}
        }
        !is_tail
    }
}

impl FixpointMemory {
    /// Turns to another function.
    fn start(&mut self, graph: &Graph) {
        self.pool.clear();
        self.worklist.clear();
        self.doubtful.clear();
        self.stages.clear();
        let (mut effect, mut lead, mut edge) = (0, 0, 0);
        let stage = |(block, number): (&Block, u32)| {
            let first = block.instructions.start;
            effect += graph.effects[effect..].iter().take_while(|&&(of, _)| of < first).count();
            lead += graph.leads[lead..].iter().take_while(|&&(of, _)| of < first).count();
            edge += graph.edges[edge..].iter().take_while(|&&(from, _)| from < number).count();
            Stage { effect, lead, edge, ..Stage::default() }
        };
        self.stages.extend(graph.blocks.iter().zip(0..).map(stage));
        reverse_postorder(graph, &mut self.order);
        for (rank, &block) in (0..).zip(&self.order) {
            self.stages[block as usize].rank = rank;
        }
    }
}

/// The blocks of a graph in reverse postorder. Blocks that no path leads to come last, with what they lead to.
pub fn reverse_postorder(graph: &Graph, order: &mut Vec<u32>) {
    let blocks = graph.blocks.len();
    let mut edges = vec![0; blocks + 1];
    graph.edges.iter().for_each(|&(from, _)| edges[from as usize + 1] += 1);
    (0..blocks).for_each(|block| edges[block + 1] += edges[block]);
    let (mut is_seen, mut next) = (vec![false; blocks], edges.clone());
    let mut path = Vec::new();
    order.clear();
    for root in 0..blocks as u32 {
        let first = order.len();
        if !core::mem::replace(&mut is_seen[root as usize], true) {
            path.push(root);
        }
        while let Some(&block) = path.last() {
            let block = block as usize;
            if next[block] == edges[block + 1] {
                order.extend(path.pop());
                continue;
            }
            let (_, to) = graph.edges[next[block]];
            next[block] += 1;
            if !core::mem::replace(&mut is_seen[to as usize], true) {
                path.push(to);
            }
        }
        order[first..].reverse();
    }
}
