//! Gathers what the listings of all units say about each function.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::finding::{Called, Finding, InlinedEarly, LocalObservation, Noted, Seen};
use super::{
    Callee, CodeAddress, Evidence, Findings, InlineInstance, Observation, Observations,
    SourcePosition,
};
use crate::placement::starts::{Start, Starts};
use crate::placement::{Rule, RuleSet};
use crate::profile::{FileId, Position, SymbolId, Symbols};
use crate::program::listing::{Piece, Tables};

/// Adds what the listings of a unit say to what is known about each function.
pub fn take(
    image: u32,
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
            gathered.addresses.insert(CodeAddress { image, address }, finding.function);
        }
        let of = &mut gathered.evidence[finding.function as usize];
        unit.add(image, finding, of);
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

    fn add(&mut self, image: u32, finding: Finding, of: &mut Evidence) {
        let places = self.instances(&finding.instances, &mut of.instances);
        let mut at = |instance: u32, file: u32, line, discriminator| SourcePosition {
            instance: places[instance as usize],
            file: self.file(file),
            line,
            discriminator,
        };
        let observation = |local: LocalObservation| {
            let LocalObservation { instance, file, line, discriminator, .. } = local;
            let LocalObservation { instructions, count, before, is_join, .. } = local;
            let at = at(instance, file, line, discriminator);
            Observation { at, count, before, instructions, is_sum: false, is_join }
        };
        of.found.push(finding.observations.into_iter().map(observation).collect());
        let mut placed =
            |Seen { instance, piece: Piece { file, line, discriminator, .. } }: Seen| {
                at(instance, file, line, discriminator)
            };
        of.sites.extend(finding.sites.into_iter().map(|(site, at)| (site, placed(at))));
        let callee = |callee| match callee {
            Called::Function(place) => Callee::Function(place),
            Called::Address(address) => Callee::At(CodeAddress { image, address }),
        };
        let calls = finding.calls.into_iter().map(|(called, at)| (callee(called), placed(at)));
        of.calls.extend(calls);
    }

    /// Adds the copies of a finding to those that are known, and says where each of them is.
    fn instances(
        &mut self,
        found: &[InlinedEarly],
        instances: &mut Vec<InlineInstance>,
    ) -> Vec<u32> {
        let mut places = Vec::with_capacity(found.len());
        let inlined = instances.iter().map(|instance| instance.once()).zip(0u32..).skip(1);
        let mut known: HashMap<InlineInstance, u32> = inlined.collect();
        for (number, &InlinedEarly { caller, copy, noted }) in found.iter().enumerate() {
            let declared = &self.tables.functions[copy.function as usize];
            let (symbol, file) = self.function(copy.function, noted);
            let Noted { symbol, file, start } =
                noted.unwrap_or(Noted { symbol, file, start: declared.line });
            if number == 0 {
                if instances.is_empty() {
                    instances.push(InlineInstance::itself(symbol, start, file));
                }
                places.push(0);
                continue;
            }
            let caller = places[caller as usize];
            let line = copy.line.wrapping_sub(instances[caller as usize].start) & 0xffff;
            let call = Position { line, discriminator: copy.discriminator };
            let instance =
                InlineInstance { caller, call, symbol, start, file, calls: 1, column: 0 };
            places.push(*known.entry(instance).or_insert_with(|| {
                instances.push(instance);
                instances.len() as u32 - 1
            }));
        }
        count_calls(found, &places, instances);
        places
    }
}

/// Counts the calls that share a copy. They have different columns.
fn count_calls(found: &[InlinedEarly], places: &[u32], instances: &mut [InlineInstance]) {
    let column = |(place, of): (&u32, &InlinedEarly)| (*place, of.copy.column);
    let mut columns: Vec<(u32, u32)> = places.iter().zip(found).map(column).collect();
    columns.sort_unstable();
    columns.dedup();
    for calls in columns.chunk_by(|a, b| a.0 == b.0) {
        let instance = &mut instances[calls[0].0 as usize];
        instance.calls = instance.calls.max(calls.len() as u32);
        instance.column = calls[0].1;
    }
}

impl Observations {
    /// The observations of a function in all listings, and observations for sums. They are sorted by file, line,
    /// copy and discriminator.
    pub fn of(&mut self, evidence: &Evidence, rules: RuleSet) -> &[Observation] {
        self.sort(&evidence.found, rules.has(Rule::SumsOfBlocks))
    }

    fn sort(&mut self, listings: &[Vec<Observation>], wants_sums: bool) -> &[Observation] {
        let Self { order, sorted } = self;
        order.clear();
        sorted.clear();
        for (observations, listing) in listings.iter().zip(0u32..) {
            let observations = observations.iter().zip(0u32..);
            order.extend(
                observations.map(|(observation, place)| (position(observation.at), listing, place)),
            );
        }
        order.sort_unstable();
        // Sums are those of one listing.
        for observations in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let first = sorted.len();
            let observation = |&(_, listing, place): &_| listings[listing as usize][place as usize];
            sorted.extend(observations.iter().map(observation));
            sorted.extend(sum(&sorted[first..]).filter(|_| wants_sums));
        }
        sorted
    }
}

/// A number that is larger for positions that come later.
fn position(SourcePosition { instance, file, line, discriminator }: SourcePosition) -> u128 {
    let place = u64::from(file.index() as u32) << 32 | u64::from(line);
    u128::from(place) << 64 | u128::from(instance) << 16 | u128::from(discriminator)
}

/// The observation for the sum of those blocks of a copy that have instructions of one position, if there are several.
fn sum(observations: &[Observation]) -> Option<Observation> {
    let mut blocks = observations.iter().filter(|observation| observation.instructions > 0);
    let (first, _) = (blocks.clone().next()?, blocks.clone().nth(1)?);
    let sum =
        blocks.try_fold(0i64, |sum, observation| Some(sum.saturating_add(observation.count?)))?;
    let instructions = observations.iter().map(|observation| observation.instructions).sum();
    Some(Observation { count: Some(sum), instructions, is_sum: true, ..*first })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a condition's copies is one more observation. Marks and single blocks get no sum.
    #[test]
    fn sums_of_copies() {
        let file = Symbols::default().file(b"a.c");
        let at = |line| SourcePosition { instance: 0, file, line, discriminator: 0 };
        let observation = |line, count, instructions| Observation {
            at: at(line),
            count: Some(count),
            before: None,
            instructions,
            is_sum: false,
            is_join: false,
        };
        let observations = vec![
            observation(1, 1, 2),
            observation(2, 5, 1),
            observation(1, 10, 2),
            observation(3, 4, 1),
            observation(3, 8, 0),
        ];
        let mut memory = Observations::default();
        let observations = memory.sort(&[observations, vec![observation(1, 7, 2)]], true);
        assert!(observations.is_sorted_by_key(|observation| observation.at.line));
        let sums: Vec<&Observation> =
            observations.iter().filter(|observation| observation.is_sum).collect();
        assert_eq!(sums, [&Observation { is_sum: true, ..observation(1, 11, 4) }]);
    }
}
