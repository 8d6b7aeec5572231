//! Which blocks of a listing belong to which late copies.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::adjacency::Adjacency;
use super::late::{CounterOwners, Late, NO_OWNER};
use crate::program::listing::Listing;

/// The blocks of each late copy. A block may belong to several.
pub struct Members {
    /// For each late copy: its blocks, sorted.
    pub of_late: Vec<Vec<u32>>,
    /// For each block: the late copies that have it.
    pub of_block: Vec<FewCopies>,
    /// For each block: its successors.
    pub successors: Adjacency<u32>,
    /// For each block: its predecessors.
    pub predecessors: Adjacency<u32>,
}

impl Members {
    /// Finds the blocks.
    pub fn of(listing: &Listing, owners: &CounterOwners) -> Self {
        let blocks = listing.blocks.len();
        let edges = listing.edges.iter().copied();
        let mut members = Self {
            of_late: vec![Vec::new(); owners.late.len()],
            of_block: vec![FewCopies::default(); blocks],
            successors: Adjacency::new(blocks, edges.clone()),
            predecessors: Adjacency::new(blocks, edges.map(|(from, to)| (to, from))),
        };
        for piece in &listing.pieces {
            members.add(piece.block, owners.of_copy[piece.copy as usize]);
        }
        members.add_incrementing(listing, owners);
        members.add_inheriting(listing);
        members.of_late.iter_mut().for_each(|blocks| blocks.sort_unstable());
        members
    }

    fn add(&mut self, block: u32, late: u32) {
        let of_block = &mut self.of_block[block as usize];
        if late != NO_OWNER && of_block.add(late) {
            self.of_late[late as usize].push(block);
        }
    }

    /// Adds a block to the late copies of another one.
    fn add_all(&mut self, block: u32, neighbour: u32) {
        let FewCopies { first, ref others } = self.of_block[neighbour as usize];
        let others = others.clone();
        self.add(block, first);
        others.into_iter().for_each(|late| self.add(block, late));
    }

    /// A block that increments a counter belongs to the late copy around it if the counter is that copy's. Otherwise
    /// it belongs to the late copy of the counter's function, if there is only one.
    fn add_incrementing(&mut self, listing: &Listing, owners: &CounterOwners) {
        let only = only_copies(&owners.late);
        for increment in &listing.increments {
            let around = owners.of_copy[increment.copy as usize];
            let is_its = |late: &Late| late.function == increment.function;
            if owners.late.get(around as usize).is_some_and(is_its) {
                self.add(increment.block, around);
            } else if let Some(&Some(only)) = only.get(&increment.function) {
                self.add(increment.block, only);
            }
        }
    }

    /// A block whose line may belong to anything belongs to the late copies of its neighbours.
    fn add_inheriting(&mut self, listing: &Listing) {
        for _ in 0..2 {
            for &(from, to) in &listing.edges {
                for (block, neighbour) in [(from, to), (to, from)] {
                    if listing.blocks[block as usize].inherits {
                        self.add_all(block, neighbour);
                    }
                }
            }
        }
    }
}

/// Late copies. Mostly there is one at most, which needs no memory besides.
#[derive(Clone)]
pub struct FewCopies {
    first: u32,
    others: Vec<u32>,
}

impl Default for FewCopies {
    fn default() -> Self {
        Self { first: NO_OWNER, others: Vec::new() }
    }
}

impl FewCopies {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let first = Some(self.first).filter(|&first| first != NO_OWNER);
        first.into_iter().chain(self.others.iter().copied())
    }

    /// Adds one; says whether it is new.
    fn add(&mut self, late: u32) -> bool {
        if self.iter().any(|known| known == late) {
            return false;
        }
        match self.first {
            NO_OWNER => self.first = late,
            _ => self.others.push(late),
        }
        true
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.first == NO_OWNER
    }
}

/// The late copy of each function, `None` if there are several.
fn only_copies(late: &[Late]) -> HashMap<u32, Option<u32>> {
    let mut only = HashMap::new();
    for (late, place) in late.iter().zip(0u32..) {
        only.entry(late.function).and_modify(|only| *only = None).or_insert(Some(place));
    }
    only
}
