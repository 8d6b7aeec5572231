//! The profile model: what all AutoFDO formats say, each in its own bytes.
//!
//! A profile has functions with counts at source positions. A position is a line, counted from the line that
//! declares the function, and a discriminator. It holds an execution count, the targets of calls, and the
//! bodies inlined there, which have positions of their own. Name and declaring file identify a symbol, so
//! that statics of equal name stay apart. Byte layouts, and what readers of each version want, belong to
//! [`crate::formats`].

mod files;
mod merge;
pub mod overlap;
mod rare;
mod rewrite;
pub mod stacks;
mod summary;
mod symbols;

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::workers::{Alone, Workers};

pub use files::Found;
/// The maps of bodies.
pub use litemap::LiteMap as Map;
pub use rare::RareMap;
pub use rewrite::Factor;
pub use summary::{Audit, CUTOFFS, Cutoff, LARGEST_COUNT, Summary, Tally};
pub use symbols::{Adopted, FileId, Newcomers, SymbolId, Symbols};

/// Deepest nesting of inlined bodies that is read from files, so that no file exhausts the stack.
pub const DEEPEST: usize = 1024;

/// A profile.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Names of everything in the profile.
    pub symbols: Symbols,
    /// Functions that have counts of their own.
    pub functions: BTreeMap<SymbolId, Function>,
}

/// A function that has counts of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Times it was entered.
    pub head_count: u64,
    /// Rank among the functions by first execution, from 1; 0 if unknown.
    pub timestamp: u64,
    /// Its counts.
    pub body: Body,
}

/// Counts at the positions of a function or of one inlined copy of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// By position.
    pub positions: Map<Position, Record>,
}

/// A place in the source, relative to the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Lines from the function's declaration, modulo 2^16 if before it.
    pub line: u32,
    /// Discriminator, 0 if there is none.
    pub discriminator: u16,
}

impl Position {
    /// A position without discriminator.
    pub const fn line(line: u32) -> Self {
        Self { line, discriminator: 0 }
    }

    /// Lines from the function's declaration, negative before it. Other writers of version 4 may count lines
    /// modulo 2^24; this finds their sign, too.
    pub const fn signed_line(self) -> i64 {
        match self.line {
            line @ 0x8000..=0xffff => line as i64 - 0x1_0000,
            line @ 0xff_8000.. => line as i64 - 0x100_0000,
            line => line as i64,
        }
    }
}

/// What is known about a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Times it was executed, `None` if only calls or inlined bodies are known.
    pub count: Option<u64>,
    /// Whether the count is an estimate: it was inferred that it belongs here. Of the formats only JSON tells this.
    pub is_estimate: bool,
    /// Functions called from here, with the number of calls.
    pub targets: RareMap<SymbolId, u64>,
    /// How far each of these numbers may be wrong, because more functions were called than could be kept
    /// apart. Only JSON tells this.
    pub target_error: u64,
    /// Bodies inlined here.
    pub inlined: RareMap<SymbolId, Body>,
}

impl Record {
    /// Times it was executed: as often as it called functions, if it has no count of its own.
    pub fn executions(&self) -> Option<u64> {
        let add = |sum: u64, &calls: &u64| sum.saturating_add(calls);
        let calls = || self.targets.values().fold(0, add);
        self.count.or_else(|| (!self.targets.is_empty()).then(calls))
    }
}

impl Profile {
    /// Most bytes of a form that repeats each name where it is used, as text and JSON do. Anything larger was
    /// made to use up memory.
    pub fn most_text(&self) -> usize {
        const LEAST_TEXT: usize = 64 << 20;
        const A_RECORD: usize = 512;
        const A_BYTE_OF_NAMES: usize = 128;
        let names = self.symbols.iter().map(|symbol| self.symbols.name(symbol).len());
        let paths = self.symbols.files().map(|file| self.symbols.path(file).len());
        let names: usize = names.chain(paths).sum();
        let mut records = 0;
        for function in self.functions.values() {
            function.body.for_each_record(&mut |record| {
                records += 1 + record.targets.len() + record.inlined.len();
            });
        }
        LEAST_TEXT + A_BYTE_OF_NAMES * names + A_RECORD * records
    }

    /// The summary that belongs to the counts.
    pub fn summary(&self) -> Summary {
        let mut tally = Tally::default();
        self.functions.values().for_each(|function| tally.add(function));
        tally.summary()
    }

    /// Which symbols the profile uses, by index: functions, inlined functions and call targets.
    pub fn used_symbols(&self) -> Vec<bool> {
        self.used_symbols_with(&Alone)
    }

    /// The same with these workers.
    pub fn used_symbols_with(&self, workers: &impl Workers) -> Vec<bool> {
        let mut used = vec![false; self.symbols.iter().count()];
        let functions: Vec<(&SymbolId, &Function)> = self.functions.iter().collect();
        let inside = workers.map(&functions, |(_, function)| function.body.symbols());
        let outside = functions.into_iter().map(|(symbol, _)| symbol);
        outside.chain(inside.iter().flatten()).for_each(|symbol| used[symbol.index()] = true);
        used
    }

    /// The least share of all counts, from 0 to 1, in inlined bodies whose function has no linkage name. Debug
    /// information of gcc names functions that are local to an object as the source does: `f<main()::<lambda(int)> >`.
    /// gcc finds functions by these names, too; clang finds them by linkage names only. Static C++ functions that are
    /// no templates do not count: their names look like linkage names of C.
    pub fn share_without_linkage_name(&self) -> f64 {
        let has_none = |symbol| self.symbols.name(symbol).iter().any(|byte| b"<( ".contains(byte));
        let (mut all, mut without) = (0, 0);
        for function in self.functions.values() {
            all += function.body.total();
            without += function.body.total_in(&has_none);
        }
        if all == 0 { 0.0 } else { without as f64 / all as f64 }
    }

    /// Whether any position has a discriminator.
    pub fn has_discriminators(&self) -> bool {
        self.functions.values().any(|function| function.body.has_discriminators())
    }
}

impl Body {
    /// Gives back memory reserved for further positions. Most of a large profile's memory is in its small
    /// bodies.
    pub fn shrink(&mut self) {
        let mut positions = mem::take(&mut self.positions).into_tuple_vec();
        positions.shrink_to_fit();
        self.positions = Map::from_sorted_store_unchecked(positions);
    }

    /// The targets of calls and inlined functions, some of them several times.
    fn symbols(&self) -> Vec<SymbolId> {
        let mut symbols = Vec::new();
        self.for_each_record(&mut |record| {
            symbols.extend(record.targets.keys().chain(record.inlined.keys()));
        });
        symbols
    }

    /// Whether any position has a discriminator, here or in bodies inlined here.
    pub fn has_discriminators(&self) -> bool {
        self.positions.iter().any(|(position, record)| {
            position.discriminator != 0 || record.inlined.values().any(Self::has_discriminators)
        })
    }

    /// Whether bodies are inlined into each other to more levels than this.
    pub fn is_deeper_than(&self, levels: usize) -> bool {
        let is_deeper = |body: &Self| levels == 0 || body.is_deeper_than(levels - 1);
        self.positions.values().any(|record| record.inlined.values().any(is_deeper))
    }

    /// Visits all records of this body and of bodies inlined in it.
    pub fn for_each_record<'b>(&'b self, visit: &mut impl FnMut(&'b Record)) {
        for record in self.positions.values() {
            visit(record);
            record.inlined.values().for_each(|body| body.for_each_record(visit));
        }
    }

    /// Sum of all counts in the outermost inlined bodies of these functions.
    fn total_in(&self, is_one: &impl Fn(SymbolId) -> bool) -> u128 {
        let inlined = self.positions.values().flat_map(|record| &record.inlined);
        let total = |(&callee, body): (&SymbolId, &Self)| match is_one(callee) {
            true => body.total(),
            false => body.total_in(is_one),
        };
        inlined.map(total).sum()
    }

    /// Sum of all counts, those of inlined bodies included.
    pub fn total(&self) -> u128 {
        let mut total = 0;
        self.for_each_record(&mut |record| total += u128::from(record.count.unwrap_or(0)));
        total
    }
}
