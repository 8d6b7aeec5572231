//! Gathers what the listings of all units say about each function.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::finding::{Ballot, Finding, InlinedEarly, Noted, Seen};
use super::{Chain, Evidence, Findings, Spot, Vote, Votes};
use crate::placement::starts::{Start, Starts};
use crate::placement::{Rule, RuleSet};
use crate::profile::{FileId, Position, SymbolId, Symbols};
use crate::program::listing::{Piece, Tables};

/// Adds what the listings of a unit say to what is known about each function.
pub fn take(
    tables: &Tables,
    findings: Vec<Vec<Finding>>,
    symbols: &mut Symbols,
    gathered: &mut Findings,
    starts: &mut Starts,
) {
    let known = vec![None; tables.functions.len()];
    let files = vec![None; tables.files.len()];
    let mut unit = Naming { tables, symbols, starts, known, files };
    unit.mention();
    for finding in findings.into_iter().flatten() {
        if let Some(address) = finding.address {
            gathered.addresses.insert(address, finding.function);
        }
        let of = &mut gathered.evidence[finding.function as usize];
        unit.add(finding, of);
    }
}

/// The names of a unit's functions and files in the profile.
struct Naming<'u> {
    tables: &'u Tables,
    symbols: &'u mut Symbols,
    starts: &'u mut Starts,
    /// For each function of the tables: its symbol and its file, once it was asked for.
    known: Vec<Option<(SymbolId, FileId)>>,
    /// The same for each file.
    files: Vec<Option<FileId>>,
}

impl Naming<'_> {
    fn file(&mut self, number: u32) -> FileId {
        let path = &self.tables.files[number as usize];
        *self.files[number as usize].get_or_insert_with(|| self.symbols.file(path))
    }

    /// Adds the starts of functions that are only mentioned.
    fn mention(&mut self) {
        for declared in &self.tables.mentioned {
            let file = self.file(declared.file);
            let symbol = self.symbols.symbol(&declared.name, Some(file));
            let start = Start { line: declared.line, symbol, end: None, is_outer: true };
            self.starts.add(file, start);
        }
    }

    /// The symbol of a function, and the file that declares it.
    fn function(&mut self, number: u32, noted: Option<Noted>) -> (SymbolId, FileId) {
        let declared = &self.tables.functions[number as usize];
        *self.known[number as usize].get_or_insert_with(|| {
            let file = self.symbols.file(&self.tables.files[declared.file as usize]);
            let symbol = noted.map(|noted| noted.symbol);
            let symbol = symbol.unwrap_or_else(|| self.symbols.symbol(&declared.name, Some(file)));
            let start = Start { line: declared.line, symbol, end: None, is_outer: false };
            if declared.has_place {
                self.starts.add(file, start);
            }
            (symbol, file)
        })
    }

    fn add(&mut self, finding: Finding, of: &mut Evidence) {
        let places = self.chains(&finding.chains, &mut of.chains);
        let mut spot = |chain: u32, file: u32, line, discriminator| Spot {
            chain: places[chain as usize],
            file: self.file(file),
            line,
            discriminator,
        };
        let vote = |ballot: Ballot| {
            let Ballot { chain, file, line, discriminator, .. } = ballot;
            let Ballot { instructions, count, before, is_join, .. } = ballot;
            let spot = spot(chain, file, line, discriminator);
            Vote { spot, count, before, instructions, is_sum: false, is_join }
        };
        of.found.push(finding.votes.into_iter().map(vote).collect());
        let mut placed = |Seen { chain, piece: Piece { file, line, discriminator, .. } }: Seen| {
            spot(chain, file, line, discriminator)
        };
        of.sites.extend(finding.sites.into_iter().map(|(site, spot)| (site, placed(spot))));
        of.calls.extend(finding.calls.into_iter().map(|(callee, spot)| (callee, placed(spot))));
    }

    /// Adds the copies of a finding to those that are known, and says where each of them is.
    fn chains(&mut self, found: &[InlinedEarly], chains: &mut Vec<Chain>) -> Vec<u32> {
        let mut places = Vec::with_capacity(found.len());
        let inlined = chains.iter().map(|chain| chain.once()).zip(0u32..).skip(1);
        let mut known: HashMap<Chain, u32> = inlined.collect();
        for (number, &InlinedEarly { caller, copy, noted }) in found.iter().enumerate() {
            let declared = &self.tables.functions[copy.function as usize];
            let (symbol, file) = self.function(copy.function, noted);
            let Noted { symbol, file, start } =
                noted.unwrap_or(Noted { symbol, file, start: declared.line });
            if number == 0 {
                if chains.is_empty() {
                    chains.push(Chain::itself(symbol, start, file));
                }
                places.push(0);
                continue;
            }
            let caller = places[caller as usize];
            let line = copy.line.wrapping_sub(chains[caller as usize].start) & 0xffff;
            let call = Position { line, discriminator: copy.discriminator };
            let chain = Chain { caller, call, symbol, start, file, calls: 1, column: 0 };
            places.push(*known.entry(chain).or_insert_with(|| {
                chains.push(chain);
                chains.len() as u32 - 1
            }));
        }
        count_calls(found, &places, chains);
        places
    }
}

/// Counts the calls that share a copy. They have different columns.
fn count_calls(found: &[InlinedEarly], places: &[u32], chains: &mut [Chain]) {
    let column = |(place, of): (&u32, &InlinedEarly)| (*place, of.copy.column);
    let mut columns: Vec<(u32, u32)> = places.iter().zip(found).map(column).collect();
    columns.sort_unstable();
    columns.dedup();
    for calls in columns.chunk_by(|a, b| a.0 == b.0) {
        let chain = &mut chains[calls[0].0 as usize];
        chain.calls = chain.calls.max(calls.len() as u32);
        chain.column = calls[0].1;
    }
}

impl Votes {
    /// The votes of a function in all listings, and votes for sums. They are sorted by file, line, copy and
    /// discriminator.
    pub fn of(&mut self, evidence: &Evidence, rules: RuleSet) -> &[Vote] {
        self.sort(&evidence.found, rules.has(Rule::SumsOfBlocks))
    }

    fn sort(&mut self, listings: &[Vec<Vote>], wants_sums: bool) -> &[Vote] {
        let Self { order, sorted } = self;
        order.clear();
        sorted.clear();
        for (votes, listing) in listings.iter().zip(0u32..) {
            let votes = votes.iter().zip(0u32..);
            order.extend(votes.map(|(vote, place)| (key(vote.spot), listing, place)));
        }
        order.sort_unstable();
        // Sums are those of one listing.
        for votes in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let first = sorted.len();
            let vote = |&(_, listing, place): &_| listings[listing as usize][place as usize];
            sorted.extend(votes.iter().map(vote));
            sorted.extend(sum(&sorted[first..]).filter(|_| wants_sums));
        }
        sorted
    }
}

/// A number that is larger for pieces of the source that come later.
fn key(Spot { chain, file, line, discriminator }: Spot) -> u128 {
    let place = u64::from(file.index() as u32) << 32 | u64::from(line);
    u128::from(place) << 64 | u128::from(chain) << 16 | u128::from(discriminator)
}

/// The vote for the sum of those blocks of a copy that have instructions of one piece of the source, if there are
/// several.
fn sum(votes: &[Vote]) -> Option<Vote> {
    let mut blocks = votes.iter().filter(|vote| vote.instructions > 0);
    let (first, _) = (blocks.clone().next()?, blocks.clone().nth(1)?);
    let sum = blocks.try_fold(0i64, |sum, vote| Some(sum.saturating_add(vote.count?)))?;
    let instructions = votes.iter().map(|vote| vote.instructions).sum();
    Some(Vote { count: Some(sum), instructions, is_sum: true, ..*first })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a condition's copies is one more vote. Marks and single blocks get no sum.
    #[test]
    fn sums_of_copies() {
        let file = Symbols::default().file(b"a.c");
        let spot = |line| Spot { chain: 0, file, line, discriminator: 0 };
        let vote = |line, count, instructions| Vote {
            spot: spot(line),
            count: Some(count),
            before: None,
            instructions,
            is_sum: false,
            is_join: false,
        };
        let votes =
            vec![vote(1, 1, 2), vote(2, 5, 1), vote(1, 10, 2), vote(3, 4, 1), vote(3, 8, 0)];
        let mut memory = Votes::default();
        let votes = memory.sort(&[votes, vec![vote(1, 7, 2)]], true);
        assert!(votes.is_sorted_by_key(|vote| vote.spot.line));
        let sums: Vec<&Vote> = votes.iter().filter(|vote| vote.is_sum).collect();
        assert_eq!(sums, [&Vote { is_sum: true, ..vote(1, 11, 4) }]);
    }
}
