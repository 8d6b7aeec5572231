//! What one listing says about each function that has counters in it.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::Callee;
use super::candidates::{Candidates, ListingView, Unit};
use super::late::{Late, Owners};
use super::members::Members;
use super::part;
use crate::convert::gcov::listing::{self, Copy, Listing, Piece, Tables};
use crate::convert::gcov::source::Analysis;
use crate::profile::SymbolId;

/// A piece of the source in a copy of a finding.
#[derive(Clone, Copy)]
pub struct Seen {
    /// Index of the copy in [`Finding::chains`].
    pub chain: u32,
    /// The piece.
    pub piece: Piece,
}

/// A vote in terms of a finding.
pub struct Ballot {
    /// The piece.
    pub seen: Seen,
    /// See [`Vote::count`](super::Vote::count).
    pub count: Option<i64>,
    /// See [`Vote::before`](super::Vote::before).
    pub before: Option<i64>,
}

impl Analysis for Candidates<'_, '_> {
    type Unit = Unit;
    type Finding = Vec<Finding>;

    fn unit(&self, tables: &Tables) -> Unit {
        self.unit(tables)
    }

    fn listing(&self, unit: &Unit, listing: &Listing) -> Vec<Finding> {
        ListingView { candidates: self, unit, listing }.findings()
    }
}

/// What a listing says about one function.
pub struct Finding {
    /// Index of the function.
    pub(super) function: u32,
    /// Copies inlined early. The first one stands for the function itself.
    pub(super) chains: Vec<InlinedEarly>,
    /// The chains of these votes are those of this finding.
    pub(super) votes: Vec<Ballot>,
    /// Numbers of sites, and the places of their calls.
    pub(super) sites: Vec<(u32, Seen)>,
    /// The functions that it calls, and the places of the calls.
    pub(super) calls: Vec<(Callee, Seen)>,
    /// Where its code is, if it is not inlined.
    pub(super) address: Option<u64>,
}

/// A copy of a function that was inlined before the compiler laid the counters out.
#[derive(Clone, Copy)]
pub struct InlinedEarly {
    /// Index of the caller in [`Finding::chains`].
    pub caller: u32,
    /// The copy in the listing.
    pub copy: Copy,
    /// Its symbol in the notes, if there is only one candidate.
    pub symbol: Option<SymbolId>,
}

/// The early copies of a late one, and the index among them of each of the listing's copies.
struct Early {
    chains: Vec<InlinedEarly>,
    chain_of: HashMap<u32, u32>,
}

impl Early {
    fn seen(&self, piece: &Piece) -> Option<Seen> {
        let chain = *self.chain_of.get(&piece.copy)?;
        Some(Seen { chain, piece: *piece })
    }
}

impl ListingView<'_, '_, '_> {
    /// What it says about each late copy.
    pub fn findings(&self) -> Vec<Finding> {
        let owners = self.owners();
        let members = Members::of(self.listing, &owners);
        (0..owners.late.len() as u32).map(|place| self.finding(place, &owners, &members)).collect()
    }

    fn finding(&self, place: u32, owners: &Owners, members: &Members) -> Finding {
        let late = &owners.late[place as usize];
        let early = self.early(place, owners);
        let votes = self.votes(place, owners, members, &early);
        let sites = self.sites(late.function, &early);
        let calls = self.calls(place, owners, &early);
        let address = (late.copy == 0).then_some(self.listing.address);
        Finding { function: late.function, chains: early.chains, votes, sites, calls, address }
    }

    /// The copies that were inlined early in a late one.
    fn early(&self, place: u32, owners: &Owners) -> Early {
        let late = &owners.late[place as usize];
        let copies = &self.listing.copies;
        let symbol = Some(self.candidates.functions[late.function as usize].symbol);
        let itself = InlinedEarly { caller: 0, copy: copies[late.copy as usize], symbol };
        let mut chains = Vec::from([itself]);
        let mut chain_of: HashMap<u32, u32> = [(late.copy, 0)].into_iter().collect();
        for (number, copy) in copies.iter().enumerate().skip(late.copy as usize + 1) {
            if owners.of_copy[number] == place
                && let Some(&caller) = chain_of.get(&copy.caller)
            {
                chain_of.insert(number as u32, chains.len() as u32);
                chains.push(InlinedEarly { caller, copy: *copy, symbol: self.symbol(copy) });
            }
        }
        Early { chains, chain_of }
    }

    /// The symbol of a copy's function, if there is only one candidate.
    fn symbol(&self, copy: &Copy) -> Option<SymbolId> {
        let candidates = &self.unit.functions[copy.function as usize];
        let mut symbols =
            candidates.iter().map(|&place| self.candidates.functions[place as usize].symbol);
        let first = symbols.next()?;
        symbols.all(|other| other == first).then_some(first)
    }

    fn votes(&self, place: u32, owners: &Owners, members: &Members, early: &Early) -> Vec<Ballot> {
        let function = owners.late[place as usize].function;
        let counters = &self.candidates.functions[function as usize].counters;
        let counts = part::counts(place, self.listing, owners, members, counters);
        let blocks = &members.of_late[place as usize];
        let count = |block: u32| counts[blocks.binary_search(&block).ok()?];
        let vote = |piece: &Piece| {
            let (count, before) = (count(piece.block), piece.before.and_then(count));
            Some(Ballot { seen: early.seen(piece)?, count, before })
        };
        self.listing.pieces.iter().filter_map(vote).collect()
    }

    /// The calls of a function's sites.
    fn sites(&self, function: u32, early: &Early) -> Vec<(u32, Seen)> {
        let site = |call: &listing::Call| match call.callee {
            listing::Callee::Site(of, site) if of == function => {
                Some((site, early.seen(&call.piece)?))
            }
            _ => None,
        };
        self.listing.calls.iter().filter_map(site).collect()
    }

    /// The calls of known functions: those of the code, then those that became late copies.
    fn calls(&self, place: u32, owners: &Owners, early: &Early) -> Vec<(Callee, Seen)> {
        let direct = |call: &listing::Call| match call.callee {
            listing::Callee::Address(address) => {
                Some((Callee::Address(address), early.seen(&call.piece)?))
            }
            listing::Callee::Site(..) => None,
        };
        let inner = owners.late.iter().filter(|inner| inner.around == place);
        let inlined = inner.filter_map(|inner| self.late_call(inner, early));
        self.listing.calls.iter().filter_map(direct).chain(inlined).collect()
    }

    /// The call that became a late copy.
    fn late_call(&self, inner: &Late, early: &Early) -> Option<(Callee, Seen)> {
        let Copy { caller, line, discriminator, .. } = self.listing.copies[inner.copy as usize];
        let around = &self.listing.copies[caller as usize];
        let file = self.unit.file_of[around.function as usize];
        let (block, instructions, before) = (0, 0, None);
        let piece = Piece { block, copy: caller, file, line, discriminator, instructions, before };
        Some((Callee::Function(inner.function), early.seen(&piece)?))
    }
}
