//! The control-flow graph of a function's machine code.

use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::HashSet;

use super::dataflow::materialized::Materialized;
use super::decode::{Effect, Instruction, Machine, Next, highest};
use super::object_file::image::Image;

/// Most ways out of one jump. No more entries of a table are read.
const LONGEST_TABLE: usize = 4096;

/// Mean length of an instruction.
const BYTES: usize = 4;

/// The graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Blocks, by address.
    pub blocks: Vec<Block>,
    /// From, to: indexes of blocks.
    pub edges: Vec<(u32, u32)>,
    /// Addresses of all instructions, in the order of the blocks.
    pub instructions: Vec<u64>,
    /// Effects, by instruction.
    pub effects: Vec<(u32, Effect)>,
    /// Where instructions lead, except only to the next one; by instruction.
    pub leads: Vec<(u32, Next)>,
    /// Addresses that instructions take.
    pub taken: Vec<u64>,
    /// Whether the target of some jump is unknown.
    pub is_open: bool,
    /// Direct calls: the instruction, and the address that it calls.
    pub calls: Vec<(u32, u64)>,
    /// Instructions that call, or may call, a function at a computed address.
    pub indirect_calls: Vec<u32>,
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

/// Makes graphs, one after the other, in the same memory.
#[derive(Default)]
pub struct Maker {
    reading: Reading,
    graph: Graph,
    blocks: OfBlocks,
}

impl Maker {
    /// Makes the graph of the code in some ranges. An instruction that cannot be decoded ends a range.
    pub fn graph<'c, M: Machine<'c>>(
        &mut self,
        machine: &mut M,
        image: &Image<'c>,
        ranges: &[Range<u64>],
    ) -> &Graph {
        let Self { reading, graph, blocks } = self;
        reading.start::<M>();
        for range in ranges {
            reading.range(machine, image, range);
        }
        reading.follow_tables(image);
        graph.start();
        let mut linking = Linking::new(reading, graph, blocks);
        linking.follow_leads();
        linking.fall_through();
        linking.follow_table();
        linking.finish();
        core::mem::swap(&mut graph.instructions, &mut reading.instructions);
        core::mem::swap(&mut graph.indirect_calls, &mut reading.indirect_calls);
        core::mem::swap(&mut graph.effects, &mut reading.effects);
        core::mem::swap(&mut graph.leads, &mut reading.leads);
        core::mem::swap(&mut graph.taken, &mut reading.taken);
        graph
    }
}

impl Graph {
    fn start(&mut self) {
        self.blocks.clear();
        self.edges.clear();
        self.calls.clear();
    }

    /// Whether a block ends with a direct call.
    pub fn ends_with_call(&self, block: u32) -> bool {
        let Some(last) = self.blocks[block as usize].instructions.end.checked_sub(1) else {
            return false;
        };
        let lead = self.leads.binary_search_by_key(&last, |&(of, _)| of);
        lead.is_ok_and(|lead| matches!(self.leads[lead].1, Next::Call(_)))
    }
}

/// The code as far as it has been read.
#[derive(Default)]
struct Reading {
    instructions: Vec<u64>,
    is_filler: Vec<bool>,
    /// The effects of each instruction, by instruction.
    effects: Vec<(u32, Effect)>,
    /// Where each instruction leads, by instruction, except only to the next one.
    leads: Vec<(u32, Next)>,
    /// Addresses that control is known to go to.
    targets: Vec<u64>,
    /// First instructions of the ranges.
    starts: Vec<u32>,
    /// Last instructions of the ranges.
    ends: Vec<u32>,
    has_tables: bool,
    /// Instructions that call a computed address, or jump to one.
    indirect_calls: Vec<u32>,
    /// Addresses that instructions take.
    taken: Vec<u64>,
    /// Where code takes addresses in steps: what registers held last.
    registers: Option<Materialized>,
    /// Addresses that distances in tables are counted from, besides the tables' own.
    bases: Vec<u64>,
    /// Addresses in tables of jumps.
    from_tables: Vec<u64>,
}

impl Reading {
    /// Turns to another function.
    fn start<'c, M: Machine<'c>>(&mut self) {
        self.registers = (!M::TAKES_WHOLE_ADDRESSES).then(|| Materialized::new(M::WORD));
        self.has_tables = false;
        self.instructions.clear();
        self.is_filler.clear();
        self.effects.clear();
        self.leads.clear();
        self.starts.clear();
        self.ends.clear();
        for addresses in
            [&mut self.targets, &mut self.taken, &mut self.bases, &mut self.from_tables]
        {
            addresses.clear();
        }
        self.indirect_calls.clear();
    }

    fn range<'c, M: Machine<'c>>(
        &mut self,
        machine: &mut M,
        image: &Image<'c>,
        range: &Range<u64>,
    ) {
        let first = self.instructions.len();
        let Some((section, start)) = image.place(range.start) else { return };
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let end = section.len().min(start.saturating_add(length));
        self.expect((end - start) / BYTES);
        let (mut offset, mut instruction) = (start, Instruction::new());
        while offset < end {
            let address = range.start + (offset - start) as u64;
            let code = image.next_code(address);
            if code != address {
                offset = offset.saturating_add((code - address) as usize);
                continue;
            }
            let decoded = machine.decode(address, section, offset, &mut instruction);
            let Some(()) = decoded else { break };
            self.instruction(address, &instruction);
            offset += instruction.length;
        }
        if self.instructions.len() > first {
            self.starts.push(first as u32);
            self.ends.push(self.instructions.len() as u32 - 1);
        }
    }

    /// Makes room for instructions.
    fn expect(&mut self, instructions: usize) {
        self.instructions.reserve(instructions);
        self.is_filler.reserve(instructions);
        self.effects.reserve(instructions);
    }

    fn instruction(&mut self, address: u64, instruction: &Instruction) {
        let number = self.instructions.len() as u32;
        self.instructions.push(address);
        self.is_filler.push(instruction.is_filler);
        for &effect in &instruction.effects {
            if let Effect::Refer(address) | Effect::Constant(_, address) = effect {
                self.taken.push(address);
            }
            self.take_in_steps(effect);
            self.effects.push((number, effect));
        }
        match instruction.next {
            Next::Following => return,
            Next::Jump(target) | Next::Branch(target) => self.targets.push(target),
            Next::IndirectJump | Next::IndirectBranch => {
                self.has_tables = true;
                self.indirect_calls.push(number);
            }
            Next::IndirectCall => self.indirect_calls.push(number),
            Next::Call(_) | Next::End | Next::MayEnd => {}
        }
        self.leads.push((number, instruction.next));
    }

    fn take_in_steps(&mut self, effect: Effect) {
        let Some(registers) = &mut self.registers else { return };
        match effect {
            Effect::Constant(..) => _ = registers.after(effect),
            Effect::Copy(..) => self.taken.extend(registers.after(effect)),
            Effect::Index(from, offset) => {
                self.taken.extend(registers.plus(from, offset));
                self.bases.extend(registers.plus(from, 0));
            }
            _ => {}
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

    /// Notes for each instruction, and for the end, whether a block starts there.
    fn leaders(&self, leaders: &mut Vec<bool>) {
        leaders.clear();
        leaders.resize(self.instructions.len() + 1, false);
        for &address in self.targets.iter().chain(&self.from_tables) {
            if let Some(place) = self.find(address) {
                leaders[place as usize] = true;
            }
        }
        self.starts.iter().for_each(|&start| leaders[start as usize] = true);
        for (number, next) in &self.leads {
            let is_call = matches!(next, Next::Call(_) | Next::IndirectCall);
            leaders[*number as usize + 1] |= !is_call;
        }
    }

    /// Looks for tables of jumps at the taken addresses. Tables hold distances from the table, or addresses.
    fn follow_tables(&mut self, image: &Image<'_>) {
        if !self.has_tables {
            return;
        }
        let (word, highest) = (image.word.into(), highest(image.word));
        self.taken.sort_unstable();
        self.taken.dedup();
        self.bases.sort_unstable();
        self.bases.dedup();
        let mut found = HashSet::new();
        for (place, &table) in self.taken.iter().enumerate() {
            if image.is_code(table) {
                continue;
            }
            let end = self.taken.get(place + 1).copied().unwrap_or(u64::MAX);
            let number = |entry: u64| Some(image.half_word(table.checked_add(4 * entry)?)? as i32);
            let address = |entry: u64| image.word(table.checked_add(word * entry)?);
            let is_before = |entry: u64, size: u64| table.saturating_add(size * entry) < end;
            let counted_from = |base: u64| -> Vec<u64> {
                (0..LONGEST_TABLE as u64)
                    .take_while(|&entry| is_before(entry, 4))
                    .map_while(number)
                    .map(|distance| base.wrapping_add_signed(distance.into()) & highest)
                    .take_while(|&target| self.is_instruction(target))
                    .collect()
            };
            let bases = core::iter::once(&table).chain(&self.bases);
            let mut targets = bases.map(|&base| counted_from(base)).find(|found| !found.is_empty());
            if targets.is_none() {
                let addresses = (0..LONGEST_TABLE as u64)
                    .take_while(|&entry| is_before(entry, word))
                    .map_while(address)
                    .take_while(|&target| self.is_instruction(target));
                targets = Some(addresses.collect());
            }
            let targets = targets.unwrap_or_default();
            found.extend(targets);
        }
        self.from_tables.extend(found);
        self.from_tables.sort_unstable();
    }
}

/// What is known about blocks while they are linked.
#[derive(Default)]
struct OfBlocks {
    /// For each instruction: whether a block starts there.
    leaders: Vec<bool>,
    /// The block of each instruction.
    of_instructions: Vec<u32>,
    /// For each block: whether control may go on to the next one.
    falls_through: Vec<bool>,
    /// For each block: whether an edge leads to it.
    is_reached: Vec<bool>,
}

/// The graph as far as its blocks are linked.
struct Linking<'r> {
    reading: &'r Reading,
    graph: &'r mut Graph,
    blocks: &'r mut OfBlocks,
    /// All jumps through tables lead to this block, and it leads to the targets of all tables. `None` if these
    /// are unknown.
    table: Option<u32>,
}

impl<'r> Linking<'r> {
    /// Divides the instructions into blocks.
    fn new(reading: &'r Reading, graph: &'r mut Graph, blocks: &'r mut OfBlocks) -> Self {
        let OfBlocks { leaders, of_instructions, falls_through, .. } = blocks;
        reading.leaders(leaders);
        of_instructions.clear();
        for (&leads, number) in leaders[..reading.instructions.len()].iter().zip(0u32..) {
            if leads {
                graph.blocks.push(Block { instructions: number..number, ..Block::default() });
            }
            of_instructions.push(graph.blocks.len() as u32 - 1);
            graph.blocks.last_mut().into_iter().for_each(|block| block.instructions.end += 1);
        }
        falls_through.clear();
        falls_through.resize(graph.blocks.len(), true);
        let table = (!reading.from_tables.is_empty()).then_some(graph.blocks.len() as u32);
        Self { reading, graph, blocks, table }
    }

    fn block_at(&self, address: u64) -> Option<u32> {
        self.reading.find(address).map(|place| self.blocks.of_instructions[place as usize])
    }

    /// Adds the edges of jumps, and the direct calls.
    fn follow_leads(&mut self) {
        for &(number, next) in &self.reading.leads {
            let block = self.blocks.of_instructions[number as usize];
            let to = match next {
                Next::Following | Next::IndirectCall => continue,
                Next::Call(target) => {
                    self.graph.calls.push((number, target));
                    continue;
                }
                Next::Branch(target) => self.block_at(target),
                Next::Jump(target) => {
                    let to = self.block_at(target);
                    // A jump out of the function is its last call.
                    let call = to.is_none().then_some((number, target));
                    self.graph.calls.extend(call);
                    to
                }
                Next::IndirectJump | Next::IndirectBranch => self.table,
                Next::End | Next::MayEnd => None,
            };
            self.blocks.falls_through[block as usize] =
                matches!(next, Next::Branch(_) | Next::IndirectBranch | Next::MayEnd);
            match to {
                Some(to) => self.graph.edges.push((block, to)),
                None => self.graph.blocks[block as usize].more_out = true,
            }
        }
    }

    /// Adds the edges to the next blocks. At the end of a range, the next instruction is unknown.
    fn fall_through(&mut self) {
        for &end in &self.reading.ends {
            let block = self.blocks.of_instructions[end as usize] as usize;
            self.graph.blocks[block].more_out |= self.blocks.falls_through[block];
            self.blocks.falls_through[block] = false;
        }
        for (&falls, block) in self.blocks.falls_through.iter().zip(0u32..) {
            if falls {
                self.graph.edges.push((block, block + 1));
            }
        }
    }

    /// Adds the block that stands for the tables of jumps.
    fn follow_table(&mut self) {
        let Some(table) = self.table else { return };
        for &target in &self.reading.from_tables {
            let to = self.block_at(target);
            self.graph.edges.extend(to.map(|to| (table, to)));
        }
        let end = self.reading.instructions.len() as u32;
        self.graph.blocks.push(Block { instructions: end..end, ..Block::default() });
    }

    /// Drops the edges from code that only fills the space before a block: control never comes there.
    fn drop_fillers(&mut self) {
        self.find_reached();
        let Graph { blocks, edges, .. } = &mut *self.graph;
        let is_filler = |block: u32| {
            let Range { start, end } = blocks[block as usize].instructions;
            let fillers = &self.reading.is_filler[start as usize..end as usize];
            !fillers.is_empty() && fillers.iter().all(|&filler| filler)
        };
        let is_reached = &self.blocks.is_reached;
        edges.retain(|&(from, _)| is_reached[from as usize] || !is_filler(from));
    }

    /// Notes for each block whether an edge leads to it.
    fn find_reached(&mut self) {
        let is_reached = &mut self.blocks.is_reached;
        is_reached.clear();
        is_reached.resize(self.graph.blocks.len(), false);
        self.graph.edges.iter().for_each(|&(_, to)| is_reached[to as usize] = true);
    }

    fn finish(mut self) {
        self.graph.edges.sort_unstable();
        self.graph.edges.dedup();
        self.drop_fillers();
        let is_open = self.reading.has_tables && self.table.is_none();
        self.graph.is_open = is_open;
        self.find_reached();
        for (block, is_reached) in self.graph.blocks.iter_mut().zip(&self.blocks.is_reached) {
            // Control comes into a block without edges by an exception.
            block.more_into = !is_reached || is_open;
        }
        if let Some(entry) = self.graph.blocks.first_mut() {
            entry.more_into = true;
        }
    }
}
