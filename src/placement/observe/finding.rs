//! What one listing says about each function that has counters in it.

use alloc::vec;
use alloc::vec::Vec;

use super::adjacency::Adjacency;
use super::candidates::{Candidates, ListingView, Unit};
use super::late::{CounterOwners, Late, NO_OWNER};
use super::late_inline_cfg::{self, CfgMemory, Executions};
use super::members::Members;
use crate::placement::solve::counted::Counted;
use crate::profile::{FileId, SymbolId};
use crate::program::listing::{self, Analysis, Copy, Listing, Piece, Tables};

/// A piece of the source in a copy of a finding.
#[derive(Clone, Copy)]
pub struct Seen {
    /// Index of the copy in [`Finding::instances`].
    pub instance: u32,
    /// The piece.
    pub piece: Piece,
}

/// An observation in terms of a finding.
pub struct LocalObservation {
    /// Index of the copy in [`Finding::instances`].
    pub instance: u32,
    /// See [`Piece`].
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The discriminator.
    pub discriminator: u16,
    /// Number of instructions.
    pub instructions: u32,
    /// See [`Observation::count`](super::Observation::count).
    pub count: Option<i64>,
    /// See [`Observation::before`](super::Observation::before).
    pub before: Option<i64>,
    /// See [`Observation::is_join`](super::Observation::is_join).
    pub is_join: bool,
}

impl Analysis for Candidates<'_, '_> {
    type Unit = Unit;
    type Finding = Vec<Finding>;
    type Memory = CfgMemory;

    fn unit(&self, tables: &Tables) -> Unit {
        self.unit(tables)
    }

    fn wants(&self, unit: &Unit, copies: &[Option<u32>]) -> bool {
        self.may_have_run(unit, copies)
    }

    fn listing(&self, unit: &Unit, listing: &Listing, memory: &mut CfgMemory) -> Vec<Finding> {
        ListingView { candidates: self, unit, listing }.findings(memory)
    }
}

/// What a listing says about one function.
pub struct Finding {
    /// Index of the function.
    pub(super) function: u32,
    /// Copies inlined early. The first one stands for the function itself.
    pub(super) instances: Vec<InlinedEarly>,
    /// The instances of these observations are those of this finding.
    pub(super) observations: Vec<LocalObservation>,
    /// Numbers of sites, and the places of their calls.
    pub(super) sites: Vec<(u32, Seen)>,
    /// The functions that it calls, and the places of the calls.
    pub(super) calls: Vec<(Called, Seen)>,
    /// Where its code is, if it is not inlined.
    pub(super) address: Option<u64>,
}

/// A function that another one calls.
#[derive(Clone, Copy)]
pub(super) enum Called {
    /// By its index.
    Function(u32),
    /// By the address of its code.
    Address(u64),
}

/// A copy of a function that was inlined before the compiler laid the counters out.
#[derive(Clone, Copy)]
pub struct InlinedEarly {
    /// Index of the caller in [`Finding::instances`].
    pub caller: u32,
    /// The copy in the listing.
    pub copy: Copy,
    /// What the notes say about its function, if there is only one candidate.
    pub noted: Option<Noted>,
}

/// A function in the notes.
#[derive(Clone, Copy)]
pub struct Noted {
    pub symbol: SymbolId,
    /// The file that declares it.
    pub file: FileId,
    /// Line of the declaration.
    pub start: u32,
}

impl Noted {
    fn of(function: &Counted<'_>) -> Self {
        Self { symbol: function.symbol, file: function.file, start: function.start() }
    }
}

/// What belongs to each late copy of a listing. A copy that came early belongs to the late one around it.
struct Belongings {
    /// For each copy of the listing: its index among those of its late copy.
    instances: Vec<u32>,
    /// For each late copy: its early copies.
    copies: Adjacency<u32>,
    /// The pieces of the source.
    pieces: Adjacency<Piece>,
    /// The calls.
    calls: Adjacency<listing::Call>,
}

impl Belongings {
    fn of(listing: &Listing, owners: &CounterOwners) -> Self {
        let late = owners.late.len();
        let owned = |copy: u32| Some(owners.of_copy[copy as usize]).filter(|&of| of != NO_OWNER);
        let mut sizes = vec![0u32; late];
        let instance = |&of: &u32| {
            let size = sizes.get_mut(of as usize)?;
            *size += 1;
            Some(*size - 1)
        };
        let instances =
            owners.of_copy.iter().map(instance).map(Option::unwrap_or_default).collect();
        let copies = (0..listing.copies.len() as u32).filter_map(|copy| Some((owned(copy)?, copy)));
        let pieces = listing.pieces.iter().filter_map(|piece| Some((owned(piece.copy)?, *piece)));
        let calls = listing.calls.iter().filter_map(|call| Some((owned(call.piece.copy)?, *call)));
        Self {
            instances,
            copies: Adjacency::new(late, copies),
            pieces: Adjacency::new(late, pieces),
            calls: Adjacency::new(late, calls),
        }
    }

    fn seen(&self, piece: &Piece) -> Seen {
        Seen { instance: self.instances[piece.copy as usize], piece: *piece }
    }
}

impl ListingView<'_, '_, '_> {
    /// What it says about each late copy.
    pub fn findings(&self, memory: &mut CfgMemory) -> Vec<Finding> {
        let owners = self.owners();
        let members = Members::of(self.listing, &owners);
        let belongings = Belongings::of(self.listing, &owners);
        memory.prepare(self.listing.blocks.len());
        let finding = |place| self.finding(place, &owners, &members, &belongings, memory);
        (0..owners.late.len() as u32).map(finding).collect()
    }

    fn finding(
        &self,
        place: u32,
        owners: &CounterOwners,
        members: &Members,
        belongings: &Belongings,
        memory: &mut CfgMemory,
    ) -> Finding {
        let late = &owners.late[place as usize];
        let instances = self.instances(late, belongings.copies.of(place), belongings);
        let counters = &*self.candidates.functions[late.function as usize].counters;
        let counters = (counters, self.candidates.rules);
        let counts =
            late_inline_cfg::counts(place, self.listing, owners, members, counters, memory);
        let pieces = belongings.pieces.of(place);
        let joins = self.joins(late, members, counts, pieces);
        let observations = observations(counts, &joins, pieces, belongings);
        let calls = belongings.calls.of(place);
        let sites = sites(late.function, calls, belongings);
        let calls = self.calls(place, calls, owners, belongings);
        let address = (late.copy == 0).then_some(self.listing.address);
        Finding { function: late.function, instances, observations, sites, calls, address }
    }

    /// The blocks of a late copy that several blocks lead to, and that are no block of the notes with lines: none of
    /// their lines has a block that was executed as often. They are sorted.
    fn joins(
        &self,
        late: &Late,
        members: &Members,
        counts: Executions<'_>,
        pieces: &[Piece],
    ) -> Vec<u32> {
        let function = &self.candidates.functions[late.function as usize];
        let Ok(flow) = &function.flow else { return Vec::new() };
        let is_noted = |piece: &Piece| {
            let count = counts.of(piece.block)?;
            let file = self.unit.files[piece.file as usize]?;
            let mut lines = function.blocks_of(file, piece.line).iter();
            lines.find(|line| flow.blocks[line.block as usize] == count)
        };
        let of_blocks = pieces.chunk_by(|a, b| a.block == b.block);
        let is_join = |pieces: &&[Piece]| {
            members.predecessors.of(pieces[0].block).len() > 1
                && pieces.iter().all(|piece| is_noted(piece).is_none())
        };
        of_blocks.filter(is_join).map(|pieces| pieces[0].block).collect()
    }

    /// A late copy, and those that were inlined early in it.
    fn instances(&self, late: &Late, copies: &[u32], belongings: &Belongings) -> Vec<InlinedEarly> {
        let itself = Noted::of(&self.candidates.functions[late.function as usize]);
        let instance = |&number: &u32| {
            let copy = self.listing.copies[number as usize];
            let is_itself = number == late.copy;
            let caller = if is_itself { 0 } else { belongings.instances[copy.caller as usize] };
            InlinedEarly {
                caller,
                copy,
                noted: if is_itself { Some(itself) } else { self.noted(&copy) },
            }
        };
        copies.iter().map(instance).collect()
    }

    /// What the notes say about a copy's function, if there is only one candidate.
    fn noted(&self, copy: &Copy) -> Option<Noted> {
        let candidates = &self.unit.functions[copy.function as usize];
        let mut noted =
            candidates.iter().map(|&place| Noted::of(&self.candidates.functions[place as usize]));
        let first = noted.next()?;
        noted.all(|other| other.symbol == first.symbol).then_some(first)
    }

    /// The calls of known functions: those of the code, then those that became late copies.
    fn calls(
        &self,
        place: u32,
        calls: &[listing::Call],
        owners: &CounterOwners,
        belongings: &Belongings,
    ) -> Vec<(Called, Seen)> {
        let direct = |call: &listing::Call| match call.callee {
            listing::Callee::Address(address) => {
                Some((Called::Address(address), belongings.seen(&call.piece)))
            }
            listing::Callee::Site(..) => None,
        };
        let inner = owners.late.iter().filter(|inner| inner.around == place);
        let inlined = inner.map(|inner| self.late_call(inner, belongings));
        calls.iter().filter_map(direct).chain(inlined).collect()
    }

    /// The call that became a late copy.
    fn late_call(&self, inner: &Late, belongings: &Belongings) -> (Called, Seen) {
        let Copy { caller, line, discriminator, .. } = self.listing.copies[inner.copy as usize];
        let around = &self.listing.copies[caller as usize];
        let file = self.unit.file_of[around.function as usize];
        let piece = Piece {
            block: 0,
            copy: caller,
            file,
            line,
            discriminator,
            instructions: 0,
            before: None,
            is_jump: false,
        };
        (Called::Function(inner.function), belongings.seen(&piece))
    }
}

/// Observations for the pieces of a late copy, whose blocks were executed that often. Some of them are joins.
fn observations(
    counts: Executions<'_>,
    joins: &[u32],
    pieces: &[Piece],
    belongings: &Belongings,
) -> Vec<LocalObservation> {
    let observation = |piece: &Piece| {
        let Piece { block, copy, file, line, discriminator, instructions, before, .. } = *piece;
        let instance = belongings.instances[copy as usize];
        let (count, before) = (counts.of(block), before.and_then(|before| counts.of(before)));
        // The compiler merges code that is the same in several places. On some of the ways there, a jump is all that
        // is left of it.
        let count = count.filter(|_| !piece.is_jump);
        let is_join = joins.binary_search(&block).is_ok();
        LocalObservation {
            instance,
            file,
            line,
            discriminator,
            instructions,
            count,
            before,
            is_join,
        }
    };
    pieces.iter().map(observation).collect()
}

/// The calls of a function's sites among these calls.
fn sites(function: u32, calls: &[listing::Call], belongings: &Belongings) -> Vec<(u32, Seen)> {
    let site = |call: &listing::Call| match call.callee {
        listing::Callee::Site(of, site) if of == function => {
            Some((site, belongings.seen(&call.piece)))
        }
        _ => None,
    };
    calls.iter().filter_map(site).collect()
}
