//! Where the counts of a function's blocks stand in the source.
//!
//! Finding that out changes nothing, so many functions can be looked at together; what was found is
//! credited one function after the other.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::copies::{self, Chain, Link};
use super::lines::{Extent, Home, Owner};
use super::profile::{Conversion, Counted, Inline};
use crate::formats::gcno::Line;
use crate::profile::{Body, FileId, Map, Position, Record, SymbolId};

/// A position in a function, or in a body inlined there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) function: SymbolId,
    /// Calls that were inlined, outermost first.
    pub(super) within: Vec<(Position, SymbolId)>,
    pub(super) position: Position,
}

/// What a function's lines say.
#[derive(Default)]
pub(super) struct Positions {
    /// Places with their counts.
    pub(super) credited: Vec<(Place, u64)>,
    /// Executed lines that lie in no known function.
    outside: usize,
    /// Executed lines that several functions share.
    ambiguous: usize,
    /// What is to be said of these.
    details: Vec<String>,
}

/// A line of a block: its file, number and executions.
type Executed = (FileId, u32, i64);

impl Conversion {
    /// Finds the places of a function's lines.
    pub(super) fn positions(&self, counted: &Counted<'_>) -> Positions {
        let executions = |line: &Line| counted.flow.blocks[line.block as usize];
        let executed = |line| (counted.file(line), line.line, executions(line));
        let mut lines: Vec<Executed> = counted.lines().iter().map(executed).collect();
        lines.sort_unstable();
        let mut positions = Positions::default();
        for blocks in lines.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (file, line, _) = blocks[0];
            match self.owner(counted, file, line) {
                Owner::One(home) => {
                    let place = self.place(counted, home, Position::line(line - home.start));
                    let count = self.count(counted, home, blocks).max(0) as u64;
                    positions.credited.push((place, count));
                }
                _ if blocks.iter().all(|&(.., count)| count <= 0) => {}
                Owner::Nobody => {
                    positions.outside += 1;
                    self.dropped(file, line, "no known function", &mut positions);
                }
                Owner::Several => {
                    positions.ambiguous += 1;
                    self.dropped(file, line, "several functions", &mut positions);
                }
            }
        }
        positions
    }

    fn dropped(&self, file: FileId, line: u32, why: &str, positions: &mut Positions) {
        if self.verbose {
            let path = String::from_utf8_lossy(self.profile.symbols.path(file));
            positions.details.push(format!("{path}:{line}: lies in {why}; dropped"));
        }
    }

    /// The executions of a line, of those of its blocks.
    fn count(&self, counted: &Counted<'_>, home: Home, blocks: &[Executed]) -> i64 {
        // A function without notes has no counters of its own, nor have those through which it came
        // here: so all its copies were counted here, and as many blocks as copies are one of each.
        let symbols = &self.profile.symbols;
        let counts_here =
            |chain: &&Chain| !chain.iter().any(|link| counted.known.has(link.home.symbol, symbols));
        let (file, line, _) = blocks[0];
        let chains = self.copies.chains(counted.extent.symbol, file, line);
        let counts = blocks.iter().map(|&(.., count)| count);
        if copies::to(home.symbol, chains).filter(counts_here).count() == blocks.len() {
            return counts.fold(0, |sum, count| sum.saturating_add(count.max(0)));
        }
        counts.max().unwrap_or(0)
    }

    /// Whose line it is that was found in a function.
    pub(super) fn owner(&self, counted: &Counted<'_>, file: FileId, line: u32) -> Owner {
        let extent = &counted.extent;
        let chains = self.copies.chains(extent.symbol, file, line);
        match self.lines.owner(file, line, extent, chains) {
            // A position cannot be before its function: so the line has been changed with #line.
            Owner::One(home) if line < home.start => Owner::Nobody,
            owner => owner,
        }
    }

    /// The place of a position in a function, or in its copy if there is one only.
    pub(super) fn place(&self, counted: &Counted<'_>, home: Home, position: Position) -> Place {
        let nested = match self.inline {
            Inline::Flat => None,
            Inline::Nested if home.symbol == counted.extent.symbol => None,
            Inline::Nested => self.only_copy(&counted.extent, home),
        };
        match nested {
            Some(within) => Place { function: counted.extent.symbol, within, position },
            None => Place { function: home.symbol, within: Vec::new(), position },
        }
    }

    /// The calls that lead to the one copy of a function in another.
    fn only_copy(&self, outer: &Extent, home: Home) -> Option<Vec<(Position, SymbolId)>> {
        let copies = self.copies.between(outer.symbol, home.symbol);
        // Copies may differ in what positions do not tell, the column.
        let mut copies = copies.iter().map(|chain| calls(outer, chain));
        let within = copies.next()?;
        copies.all(|other| other == within).then_some(within)?
    }

    /// Adds the counts of a function's lines to the profile.
    pub(super) fn credit(&mut self, function: SymbolId, positions: &mut Positions) {
        let Positions { credited, outside, ambiguous, details } = positions;
        self.statistics.lines_outside += *outside;
        self.statistics.lines_ambiguous += *ambiguous;
        self.statistics.details.append(details);
        for run in credited.chunk_by(|(a, _), (b, _)| a.function == b.function) {
            let body = &mut self.profile.functions.entry(run[0].0.function).or_default().body;
            if body.positions.is_empty() {
                body.positions = Map::with_capacity(run.len());
            }
            for (place, count) in run {
                let lines = match place.function == function {
                    true if place.within.is_empty() => &mut self.statistics.lines,
                    true => &mut self.statistics.lines_nested,
                    false => &mut self.statistics.lines_inlined,
                };
                *lines += 1;
                // Lines are ascending, and most functions are counted once.
                let first = Record { count: Some(*count), ..Record::default() };
                let is_there = || body.positions.try_append(place.position, first).is_some();
                if !place.within.is_empty() || is_there() {
                    let sum = record(body, place).count.get_or_insert(0);
                    *sum = sum.saturating_add(*count);
                }
            }
        }
    }

    /// The record at a place.
    pub(super) fn record(&mut self, place: &Place) -> &mut Record {
        let function = self.profile.functions.entry(place.function).or_default();
        record(&mut function.body, place)
    }
}

/// The record at a place of a function with this body.
fn record<'b>(mut body: &'b mut Body, place: &Place) -> &'b mut Record {
    for &(call, callee) in &place.within {
        body = body.positions.entry(call).or_default().inlined.entry(callee).or_default();
    }
    body.positions.entry(place.position).or_default()
}

/// The calls of a chain, unless one stands before its function, through `#line`.
fn calls(from: &Extent, chain: &Chain) -> Option<Vec<(Position, SymbolId)>> {
    let starts = [from.start].into_iter().chain(chain.iter().map(|link| link.home.start));
    let call = |(link, start): (&Link, u32)| {
        let line = link.line.checked_sub(start)?;
        Some((Position { line, discriminator: link.discriminator }, link.home.symbol))
    };
    chain.iter().zip(starts).map(call).collect()
}
