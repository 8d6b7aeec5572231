//! Which blocks of a listing belong to which late copies.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::adjacency::Adjacency;
use super::late::{Late, NOBODY, Owners};
use crate::convert::gcov::listing::Listing;

/// The blocks of each late copy. A block may belong to several.
pub struct Members {
    /// For each late copy: its blocks, sorted.
    pub of_late: Vec<Vec<u32>>,
    /// For each block: the late copies that have it.
    pub of_block: Vec<Vec<u32>>,
    /// For each block: its successors.
    pub successors: Adjacency<u32>,
    /// For each block: its predecessors.
    pub predecessors: Adjacency<u32>,
}

impl Members {
    /// Finds the blocks.
    pub fn of(listing: &Listing, owners: &Owners) -> Self {
        let blocks = listing.blocks.len();
        let edges = listing.edges.iter().copied();
        let mut members = Self {
            of_late: vec![Vec::new(); owners.late.len()],
            of_block: vec![Vec::new(); blocks],
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
        if late != NOBODY && !of_block.contains(&late) {
            of_block.push(late);
            self.of_late[late as usize].push(block);
        }
    }

    /// A block that increments a counter belongs to the late copy around it if the counter is that copy's. Otherwise
    /// it belongs to the late copy of the counter's function, if there is only one.
    fn add_incrementing(&mut self, listing: &Listing, owners: &Owners) {
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
                        for late in self.of_block[neighbour as usize].clone() {
                            self.add(block, late);
                        }
                    }
                }
            }
        }
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
