//! The control-flow graph of a function's machine code, with the counters that its blocks increment.
//!
//! [`super::values`] finds out which counters the blocks increment.

use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::HashSet;

use super::counters::Counters;
use super::image::Image;
use super::machine::{Glance, Machine, Next, Place, Touch};
use super::values::{Touches, increments};

/// Most ways out of one jump. No more entries of a table are read.
const LONGEST_TABLE: usize = 4096;

/// The graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Blocks, by address.
    pub blocks: Vec<Block>,
    /// From, to: indexes of blocks.
    pub edges: Vec<(u32, u32)>,
    /// Addresses of all instructions, in the order of the blocks.
    pub instructions: Vec<u64>,
    /// Increments, by instruction.
    pub increments: Vec<Increment>,
    /// Direct calls: the instruction, and the address that it calls.
    pub calls: Vec<(u32, u64)>,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Indexes of the block's instructions; empty for the block that stands for a table of jumps.
    pub instructions: Range<u32>,
    /// Control may also come from elsewhere.
    pub more_into: bool,
    /// Control may also go elsewhere.
    pub more_out: bool,
}

/// A counter: its function, and its number.
pub type Counter = (u32, u32);

/// An increment of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Increment {
    /// Index of the instruction in the graph.
    pub instruction: u32,
    /// The counter that it increments.
    pub counter: Counter,
    /// Whether the block also writes the counter to its place in memory.
    pub is_in_place: bool,
}

/// Makes the graph of the code in some ranges. An instruction that cannot be decoded ends a range.
pub fn graph<'c, M: Machine<'c>>(
    machine: &mut M,
    image: &Image<'c>,
    counters: &Counters,
    ranges: &[Range<u64>],
) -> Graph {
    let mut reading = Reading { is_simple: true, ..Reading::default() };
    for range in ranges {
        reading.range(machine, image, counters, range);
    }
    reading.follow_tables(image);
    reading.finish::<M>(counters)
}

/// The code as far as it has been read.
#[derive(Default)]
struct Reading {
    instructions: Vec<u64>,
    is_filler: Vec<bool>,
    /// What each instruction does, by instruction.
    touches: Vec<(u32, Touch)>,
    /// Where each instruction leads, by instruction, except to the next one.
    leads: Vec<(u32, Next)>,
    /// Whether counters are only ever added to in memory.
    is_simple: bool,
    /// Addresses that control is known to go to.
    targets: Vec<u64>,
    /// First instructions of the ranges.
    starts: Vec<u32>,
    /// Last instructions of the ranges.
    ends: Vec<u32>,
    has_tables: bool,
    /// Addresses that instructions take.
    taken: Vec<u64>,
    /// Addresses in tables of jumps.
    from_tables: Vec<u64>,
}

impl Reading {
    fn range<'c, M: Machine<'c>>(
        &mut self,
        machine: &mut M,
        image: &Image<'c>,
        counters: &Counters,
        range: &Range<u64>,
    ) {
        let first = self.instructions.len();
        let Some((section, start)) = image.place(range.start) else { return };
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let end = section.len().min(start.saturating_add(length));
        let mut offset = start;
        while offset < end {
            let address = range.start + (offset - start) as u64;
            let Some(glance) = machine.glance(address, section, offset) else { break };
            self.instruction(address, &glance, counters);
            offset += glance.length;
        }
        if self.instructions.len() > first {
            self.starts.push(first as u32);
            self.ends.push(self.instructions.len() as u32 - 1);
        }
    }

    fn instruction(&mut self, address: u64, glance: &Glance, counters: &Counters) {
        let number = self.instructions.len() as u32;
        self.instructions.push(address);
        self.is_filler.push(glance.is_filler);
        for &touch in &glance.touches {
            match touch {
                Touch::Refers(address) => self.taken.push(address),
                Touch::Takes(_, address) => {
                    self.taken.push(address);
                    self.is_simple &= counters.at(address).is_none();
                }
                Touch::Loads(_, Place::At(address), _) | Touch::Sums(_, Place::At(address), _) => {
                    self.is_simple &= counters.at(address).is_none();
                }
                _ => {}
            }
            self.touches.push((number, touch));
        }
        match glance.next {
            Next::Following | Next::IndirectCall => {}
            next => {
                if let Next::Jump(target) | Next::Branch(target) = next {
                    self.targets.push(target);
                }
                self.has_tables |= next == Next::IndirectJump;
                self.leads.push((number, next));
            }
        }
    }

    fn is_instruction(&self, address: u64) -> bool {
        self.find(address).is_some()
    }

    /// The instruction at an address. Ranges are not always in the order of their addresses.
    fn find(&self, address: u64) -> Option<u32> {
        self.starts.iter().zip(&self.ends).find_map(|(&start, &end)| {
            let range = &self.instructions[start as usize..=end as usize];
            range.binary_search(&address).ok().map(|place| start + place as u32)
        })
    }

    /// Looks for tables of jumps at the taken addresses. Tables hold distances from the table, or addresses.
    fn follow_tables(&mut self, image: &Image<'_>) {
        if !self.has_tables {
            return;
        }
        self.taken.sort_unstable();
        self.taken.dedup();
        let mut found = HashSet::new();
        for (place, &table) in self.taken.iter().enumerate() {
            if image.is_code(table) {
                continue;
            }
            let end = self.taken.get(place + 1).copied().unwrap_or(u64::MAX);
            let distance = |entry: u64| {
                let distance = image.half_word(table.checked_add(4 * entry)?)? as i32;
                Some(table.wrapping_add_signed(distance.into()))
            };
            let address = |entry: u64| image.word(table.checked_add(8 * entry)?);
            let is_before = |entry: u64, size: u64| table.saturating_add(size * entry) < end;
            let mut targets: Vec<u64> = (0..LONGEST_TABLE as u64)
                .take_while(|&entry| is_before(entry, 4))
                .map_while(distance)
                .take_while(|&target| self.is_instruction(target))
                .collect();
            if targets.is_empty() {
                targets = (0..LONGEST_TABLE as u64)
                    .take_while(|&entry| is_before(entry, 8))
                    .map_while(address)
                    .take_while(|&target| self.is_instruction(target))
                    .collect();
            }
            found.extend(targets);
        }
        self.from_tables = found.into_iter().collect();
        self.from_tables.sort_unstable();
    }

    /// Drops the edges from code that only fills the space before a block: control never comes there.
    fn drop_fillers(&self, graph: &mut Graph) {
        let mut is_reached = vec![false; graph.blocks.len()];
        graph.edges.iter().for_each(|&(_, to)| is_reached[to as usize] = true);
        let is_filler = |block: u32| {
            let Range { start, end } = graph.blocks[block as usize].instructions;
            start < end && self.is_filler[start as usize..end as usize].iter().all(|&filler| filler)
        };
        graph.edges.retain(|&(from, _)| is_reached[from as usize] || !is_filler(from));
    }

    fn finish<'c, M: Machine<'c>>(mut self, counters: &Counters) -> Graph {
        let mut leaders = vec![false; self.instructions.len() + 1];
        let targets = core::mem::take(&mut self.targets);
        for &address in targets.iter().chain(&self.from_tables) {
            if let Some(place) = self.find(address) {
                leaders[place as usize] = true;
            }
        }
        self.starts.iter().for_each(|&start| leaders[start as usize] = true);
        for (number, next) in &self.leads {
            leaders[*number as usize + 1] |= !matches!(next, Next::Call(_));
        }
        let mut graph = Graph::default();
        // The block of each instruction.
        let mut block_of = Vec::with_capacity(self.instructions.len());
        for (number, &leads) in leaders[..self.instructions.len()].iter().enumerate() {
            let number = number as u32;
            if leads {
                graph.blocks.push(Block { instructions: number..number, ..Block::default() });
            }
            block_of.push(graph.blocks.len() as u32 - 1);
            graph.blocks.last_mut().into_iter().for_each(|block| block.instructions.end += 1);
        }
        let block_at = |address| self.find(address).map(|place| block_of[place as usize]);
        // All jumps through tables lead to one block, and that leads to the targets of all tables.
        let table = graph.blocks.len() as u32;
        let is_known = !self.from_tables.is_empty();
        let mut falls_through = vec![true; graph.blocks.len()];
        for (number, next) in &self.leads {
            let block = block_of[*number as usize];
            match *next {
                Next::Call(target) => graph.calls.push((*number, target)),
                Next::Branch(target) | Next::Jump(target) => {
                    falls_through[block as usize] = matches!(next, Next::Branch(_));
                    match block_at(target) {
                        Some(to) => graph.edges.push((block, to)),
                        None => {
                            graph.blocks[block as usize].more_out = true;
                            if matches!(next, Next::Jump(_)) {
                                graph.calls.push((*number, target));
                            }
                        }
                    }
                }
                Next::IndirectJump => {
                    falls_through[block as usize] = false;
                    match is_known {
                        true => graph.edges.push((block, table)),
                        false => graph.blocks[block as usize].more_out = true,
                    }
                }
                Next::End => {
                    falls_through[block as usize] = false;
                    graph.blocks[block as usize].more_out = true;
                }
                Next::Following | Next::IndirectCall => {}
            }
        }
        self.ends.iter().for_each(|&end| {
            let block = block_of[end as usize] as usize;
            graph.blocks[block].more_out |= falls_through[block];
            falls_through[block] = false;
        });
        for (block, falls) in falls_through.into_iter().enumerate() {
            if falls {
                graph.edges.push((block as u32, block as u32 + 1));
            }
        }
        if is_known {
            let to = self.from_tables.iter().filter_map(|&target| block_at(target));
            graph.edges.extend(to.map(|to| (table, to)));
            let end = self.instructions.len() as u32;
            graph.blocks.push(Block { instructions: end..end, ..Block::default() });
        }
        graph.edges.sort_unstable();
        graph.edges.dedup();
        self.drop_fillers(&mut graph);
        let mut is_reached = vec![false; graph.blocks.len()];
        graph.edges.iter().for_each(|&(_, to)| is_reached[to as usize] = true);
        for (block, is_reached) in graph.blocks.iter_mut().zip(is_reached) {
            // The target of some jump is unknown, or an exception comes in here.
            block.more_into = !is_reached || self.has_tables && !is_known;
        }
        if let Some(entry) = graph.blocks.first_mut() {
            entry.more_into = true;
        }
        graph.instructions = self.instructions;
        let touches = Touches { all: &self.touches, is_simple: self.is_simple };
        graph.increments = increments::<M>(&graph, touches, counters);
        graph
    }
}
