//! Sample profiles as profiles of the other model: contexts become inlined copies.

use alloc::vec::Vec;
use core::{iter, mem};

use super::layout::TooLarge;
use super::{Body, Record, Samples, Site, sum};
use crate::profile::{self, Map, Position, Profile, RareMap, SymbolId};

/// Bits of a discriminator of code generation that the front end has set.
const BASE_BITS: u32 = 0xff;

/// Why there are no counts by source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPositions {
    /// The positions are numbers of pseudo-probes. Only the compiler that placed the probes knows their lines.
    #[error(
        "expected counts by line, found counts by pseudo-probe: only clang, which placed the probes, finds \
         their places"
    )]
    Probes,
    /// There are too many contexts.
    #[error(transparent)]
    TooLarge(TooLarge),
}

impl Samples {
    /// The profile with counts by source position. It has no totals, checksums, attributes and no list of symbols;
    /// of longer discriminators it has 16 bits, and of those of code generation the front end's.
    pub fn into_profile(self) -> Result<Profile, NoPositions> {
        match self.traits.probes {
            true => Err(NoPositions::Probes),
            false => self.into_listing().map_err(NoPositions::TooLarge),
        }
    }

    /// The same, but with the numbers of pseudo-probes in place of lines, if these are what it has: something to look
    /// at, and not for compilers.
    pub fn into_listing(mut self) -> Result<Profile, TooLarge> {
        if self.traits.contexts {
            self.nest()?;
        }
        let mask = if self.traits.flow_sensitive { BASE_BITS } else { u16::MAX.into() };
        let mut profile = Profile { symbols: self.symbols, ..Profile::default() };
        for (context, body) in self.functions {
            let symbol = self.contexts.function(context);
            let head_count = body.head;
            let body = counts(&body, mask);
            profile.add(symbol, profile::Function { head_count, timestamp: 0, body });
        }
        Ok(profile)
    }
}

/// Positions come in any order: masks change it, and inlined copies stand between records. A loop calls this for the
/// copies, because each level of iterators would need more of the stack.
fn counts(body: &Body, mask: u32) -> profile::Body {
    let mut entries = records(body, mask);
    for (&(site, callee), inlined) in &body.inlined {
        let inlined = counts(inlined, mask);
        entries.push((position(site, mask), copy(callee, inlined)));
    }
    let mut sum = self::body(entries);
    sum.shrink();
    sum
}

fn position(site: Site, mask: u32) -> Position {
    Position { line: site.line, discriminator: (site.discriminator & mask) as u16 }
}

fn records(body: &Body, mask: u32) -> Vec<(Position, profile::Record)> {
    let records = body.records.iter().map(|(&site, record)| {
        let Record { count, targets } = record.clone();
        let record = profile::Record { count: Some(count), targets, ..Default::default() };
        (position(site, mask), record)
    });
    records.collect()
}

fn copy(callee: SymbolId, body: profile::Body) -> profile::Record {
    profile::Record { inlined: iter::once((callee, body)).collect(), ..Default::default() }
}

/// The sum of what stands at the positions of a body.
fn body(entries: Vec<(Position, profile::Record)>) -> profile::Body {
    if sum::ascends(&entries) {
        return profile::Body { positions: Map::from_sorted_store_unchecked(entries) };
    }
    let mut positions = Vec::new();
    for (position, mut records) in sum::groups(entries) {
        let record = match sum::alone(&mut records) {
            Some(record) => record,
            None => record(records),
        };
        positions.push((position, record));
    }
    profile::Body { positions: Map::from_sorted_store_unchecked(positions) }
}

/// The sum of records.
fn record(mut records: Vec<profile::Record>) -> profile::Record {
    let mut sum = without_copies(&mut records);
    let mut inlined = Vec::new();
    for (callee, mut bodies) in sum::groups(copies(records)) {
        let body = match sum::alone(&mut bodies) {
            Some(body) => body,
            None => body(positions(bodies)),
        };
        inlined.push((callee, body));
    }
    sum.inlined = RareMap::from_sorted_store_unchecked(inlined.into());
    sum
}

fn without_copies(records: &mut [profile::Record]) -> profile::Record {
    let count = records.iter().filter_map(|record| record.count).reduce(u64::saturating_add);
    let targets = records.iter_mut().flat_map(|record| mem::take(&mut record.targets));
    let targets = sum::map(targets.collect(), sum::counts);
    profile::Record { count, targets, ..Default::default() }
}

fn copies(records: Vec<profile::Record>) -> Vec<(SymbolId, profile::Body)> {
    records.into_iter().flat_map(|record| record.inlined).collect()
}

fn positions(bodies: Vec<profile::Body>) -> Vec<(Position, profile::Record)> {
    bodies.into_iter().flat_map(|body| body.positions).collect()
}
