//! Which copies in a listing came late, with counters of their own, and which code is theirs.

use alloc::vec::Vec;

use super::adjacency::Adjacency;
use super::candidates::ListingView;
use crate::program::listing::{Listing, Piece};

/// No late copy.
pub const NO_OWNER: u32 = u32::MAX;

/// The copy of a function that brought its own counters.
pub struct Late {
    /// Its index in the listing.
    pub copy: u32,
    /// The function.
    pub function: u32,
    /// Index of the late copy that it is inlined in; `NO_OWNER` for the listing's own function.
    pub around: u32,
}

/// The late copies of a listing, and their code.
pub struct CounterOwners {
    /// The late copies, each behind those that it is inlined in.
    pub late: Vec<Late>,
    /// For each copy of the listing: the late copy that owns its code, by its index in `late`, or `NO_OWNER`.
    pub of_copy: Vec<u32>,
}

impl CounterOwners {
    /// Whether a late copy is inlined in another one, however deep.
    pub fn is_inlined_in(&self, mut copy: u32, outer: u32) -> bool {
        while let Some(late) = self.late.get(copy as usize) {
            copy = late.around;
            if copy == outer {
                return true;
            }
        }
        false
    }

    fn add(&mut self, copy: u32, function: Option<u32>, around: u32) {
        let owner = match function {
            Some(function) => {
                self.late.push(Late { copy, function, around });
                self.late.len() as u32 - 1
            }
            None => around,
        };
        self.of_copy.push(owner);
    }
}

impl ListingView<'_, '_, '_> {
    /// Finds the late copies.
    pub fn owners(&self) -> CounterOwners {
        // By block, as in the listing.
        let pieces = self.listing.pieces.iter().map(|piece| (piece.copy, *piece));
        let by_copy = Adjacency::new(self.listing.copies.len(), pieces);
        let incremented = incremented(self.listing);
        let of_copy = Vec::with_capacity(self.listing.copies.len());
        let mut owners = CounterOwners { late: Vec::new(), of_copy };
        for (copy, number) in self.listing.copies.iter().zip(0u32..) {
            let caller = owners.of_copy.get(copy.caller as usize);
            let around = caller.copied().unwrap_or(NO_OWNER);
            let enclosing = owners.late.get(around as usize).map(|late| late.function);
            let candidates = &self.unit.functions[copy.function as usize];
            let pieces = by_copy.of(number);
            let counts = || counted(pieces, &incremented, candidates);
            if !copy.has_code && self.is_inside_itself(number) {
                // A guess at the target of an indirect call, which the compiler took back.
                owners.of_copy.push(NO_OWNER);
                continue;
            }
            let function = match (candidates.first(), number) {
                (None, _) => None,
                (Some(&first), 0) => counts().or(Some(first)),
                (Some(&first), _) if self.is_recursive(number) => Some(first),
                (Some(&first), _) => {
                    let may_be =
                        |function| Some(function) != enclosing || self.is_inside_itself(number);
                    let own = counts().filter(|&function| may_be(function));
                    own.or_else(|| (!self.is_noted(enclosing, pieces)).then_some(first))
                }
            };
            owners.add(number, function, around);
        }
        owners
    }

    /// Whether a function is inlined in itself. GCC does that late only.
    fn is_recursive(&self, number: u32) -> bool {
        let mut around = self.around(number);
        around.next() == Some(self.listing.copies[number as usize].function) && self.is_one(number)
    }

    /// Whether a function is inlined in itself, directly or in others that are.
    fn is_inside_itself(&self, number: u32) -> bool {
        let function = self.listing.copies[number as usize].function;
        self.is_one(number) && self.around(number).any(|around| around == function)
    }

    /// Whether the function of a copy is known for certain.
    fn is_one(&self, number: u32) -> bool {
        let copy = &self.listing.copies[number as usize];
        self.unit.functions[copy.function as usize].len() == 1
    }

    /// The functions that a copy is inlined in, from the innermost one.
    fn around(&self, mut number: u32) -> impl Iterator<Item = u32> {
        core::iter::from_fn(move || {
            let caller = self.listing.copies[number as usize].caller;
            let is_inlined = caller != number;
            number = caller;
            is_inlined.then(|| self.listing.copies[caller as usize].function)
        })
    }

    /// Whether the notes of a function have the lines of most of these pieces.
    fn is_noted(&self, function: Option<u32>, pieces: &[Piece]) -> bool {
        let Some(function) = function else { return false };
        let function = &self.candidates.functions[function as usize];
        let is_noted = |piece: &&Piece| {
            let file = self.unit.files[piece.file as usize];
            file.is_some_and(|file| function.has(file, piece.line))
        };
        2 * pieces.iter().filter(is_noted).count() >= pieces.len()
    }
}

/// The blocks with increments, each with a function whose counter it increments, sorted.
fn incremented(listing: &Listing) -> Vec<(u32, u32)> {
    let of = listing.increments.iter().map(|found| (found.block, found.function));
    let mut incremented: Vec<_> = of.collect();
    incremented.sort_unstable();
    incremented
}

/// The first of these functions whose counters the blocks of the pieces increment.
fn counted(pieces: &[Piece], incremented: &[(u32, u32)], candidates: &[u32]) -> Option<u32> {
    let of_blocks = pieces.chunk_by(|a, b| a.block == b.block).flat_map(|pieces| {
        let at = pieces[0].block;
        let first = incremented.partition_point(|&(block, _)| block < at);
        incremented[first..].iter().take_while(move |&&(block, _)| block == at)
    });
    let mut functions = of_blocks.map(|&(_, function)| function);
    functions.find(|function| candidates.contains(function))
}
