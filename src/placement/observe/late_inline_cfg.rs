//! The code of one late copy as a graph of its own, to find its executions.
//!
//! Other late copies that are inlined there have counters of their own. The inside of such a copy is one
//! block here, and control leaves it as often as it enters.

use alloc::vec::Vec;

use super::flow_solver::{Node, Part, Solver};
use super::late::CounterOwners;
use super::members::Members;
use crate::placement::RuleSet;
use crate::program::listing::{Increment, Listing};

/// The executions of a late copy's blocks, as far as they are known.
#[derive(Clone, Copy)]
pub struct Executions<'m> {
    nodes: &'m Nodes,
    /// In the order of the copy's blocks.
    counts: &'m [Option<i64>],
}

impl Executions<'_> {
    /// Those of a block. Nothing is known of blocks that are not the copy's.
    pub fn of(&self, block: u32) -> Option<i64> {
        *self.counts.get(self.nodes.places[block as usize] as usize)?
    }
}

/// The executions of a late copy's blocks. `counters` are those of its function.
pub fn counts<'m>(
    place: u32,
    listing: &Listing,
    owners: &CounterOwners,
    members: &Members,
    (counters, rules): (&[i64], RuleSet),
    memory: &'m mut CfgMemory,
) -> Executions<'m> {
    let blocks = &members.of_late[place as usize];
    let mut building = Building::new(listing, members, blocks, memory);
    building.add_insides(|block| {
        let late = &members.of_block[block as usize];
        !late.is_empty() && late.iter().all(|late| owners.is_inlined_in(late, place))
    });
    building.connect();
    building.add_increments(owners.late[place as usize].function);
    let CfgMemory { nodes, part, solver, .. } = memory;
    Executions { nodes, counts: &solver.executions(part, counters, rules)[..blocks.len()] }
}

/// One after the other, the parts of listings use the same memory.
#[derive(Default)]
pub struct CfgMemory {
    nodes: Nodes,
    part: Part,
    solver: Solver,
    open: Vec<u32>,
}

impl CfgMemory {
    /// Turns to a listing of that many blocks.
    pub fn prepare(&mut self, blocks: usize) {
        self.nodes.clear();
        self.nodes.places.resize(blocks, NOWHERE);
    }
}

/// The blocks of a listing that are in a part, and their indexes there.
#[derive(Default)]
struct Nodes {
    /// For each block of the listing; `NOWHERE` for those that are not in the part.
    places: Vec<u32>,
    blocks: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Nodes {
    fn clear(&mut self) {
        for block in self.blocks.drain(..) {
            self.places[block as usize] = NOWHERE;
        }
    }

    fn insert(&mut self, block: u32, place: u32) {
        self.places[block as usize] = place;
        self.blocks.push(block);
    }

    fn get(&self, block: u32) -> Option<u32> {
        Some(self.places[block as usize]).filter(|&place| place != NOWHERE)
    }

    fn has(&self, block: u32) -> bool {
        self.get(block).is_some()
    }
}

/// A part as far as it is known.
struct Building<'b> {
    listing: &'b Listing,
    members: &'b Members,
    /// The copy's blocks, sorted.
    blocks: &'b [u32],
    /// First the copy's blocks, then what stands for the insides of others.
    part: &'b mut Part,
    nodes: &'b mut Nodes,
    open: &'b mut Vec<u32>,
}

impl<'b> Building<'b> {
    fn new(
        listing: &'b Listing,
        members: &'b Members,
        blocks: &'b [u32],
        memory: &'b mut CfgMemory,
    ) -> Self {
        let CfgMemory { nodes, part, open, .. } = memory;
        let Part { blocks: of_part, edges, increments } = part;
        of_part.clear();
        of_part.extend(blocks.iter().map(|&block| node(listing, block)));
        edges.clear();
        increments.clear();
        nodes.clear();
        blocks.iter().zip(0..).for_each(|(&block, place)| nodes.insert(block, place));
        Self { listing, members, blocks, part, nodes, open }
    }

    /// Adds one block for the inside of each copy that control enters from here.
    fn add_insides(&mut self, is_inside: impl Fn(u32) -> bool) {
        let members = self.members;
        for &first in self.blocks.iter().flat_map(|&block| members.successors.of(block)) {
            if !self.nodes.has(first) && is_inside(first) {
                self.add_inside(first, &is_inside);
            }
        }
    }

    /// Adds one block for all that is connected inside.
    fn add_inside(&mut self, first: u32, is_inside: &impl Fn(u32) -> bool) {
        let members = self.members;
        let number = self.part.blocks.len() as u32;
        let mut all = Node::default();
        self.nodes.insert(first, number);
        self.open.push(first);
        while let Some(block) = self.open.pop() {
            let Node { more_into, more_out } = node(self.listing, block);
            all.more_into |= more_into;
            all.more_out |= more_out;
            for &next in members.successors.of(block).iter().chain(members.predecessors.of(block)) {
                if !self.nodes.has(next) && is_inside(next) {
                    self.nodes.insert(next, number);
                    self.open.push(next);
                }
            }
        }
        self.part.blocks.push(all);
    }

    /// Adds the ways between the part's blocks, and notes which ways lead out of the part and into it.
    fn connect(&mut self) {
        let Part { blocks, edges, .. } = &mut *self.part;
        for &block in &self.nodes.blocks {
            let Some(from) = self.nodes.get(block) else { continue };
            let is_own = (from as usize) < self.blocks.len();
            for &to in self.members.successors.of(block) {
                match self.nodes.get(to) {
                    Some(to) if from != to || is_own => edges.push((from, to)),
                    Some(_) => {}
                    None => blocks[from as usize].more_out = true,
                }
            }
            if self.members.predecessors.of(block).iter().any(|&from| !self.nodes.has(from)) {
                blocks[from as usize].more_into = true;
            }
        }
        edges.sort_unstable();
    }

    /// Adds the increments of a function's counters.
    fn add_increments(&mut self, function: u32) {
        // An addition that its block does not write to the counter need not count that block.
        let is_its = |found: &&Increment| found.function == function && found.is_in_place;
        let of_it = self.listing.increments.iter().filter(is_its);
        for found in of_it {
            let Ok(block) = self.blocks.binary_search(&found.block) else { continue };
            self.part.increments.push((block as u32, found.counter));
        }
        self.part.increments.sort_unstable();
    }
}

fn node(listing: &Listing, block: u32) -> Node {
    let block = &listing.blocks[block as usize];
    Node { more_into: block.more_into, more_out: block.more_out }
}
