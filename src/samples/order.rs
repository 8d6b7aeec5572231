//! The order in which LLVM's formats list things.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Body, ContextId, Record, Samples, Site, number};
use crate::profile::{SymbolId, Symbols};

/// Names by rank: numbers first, in their order, then names, bytewise. LLVM has this order since version 17.
pub struct Ranks(Vec<u32>);

impl Ranks {
    /// Ranks of all names.
    pub fn new(symbols: &Symbols) -> Self {
        let mut order: Vec<SymbolId> = symbols.iter().collect();
        order.sort_by_cached_key(|&symbol| {
            let name = symbols.name(symbol);
            let number = number(name);
            (number.is_none(), number, name)
        });
        let mut ranks = vec![0; order.len()];
        for (rank, symbol) in (0..).zip(order) {
            ranks[symbol.index()] = rank;
        }
        Self(ranks)
    }

    /// The rank of a symbol.
    pub fn of(&self, symbol: SymbolId) -> u32 {
        self.0[symbol.index()]
    }

    /// Targets by the number of calls, the most first, then by name.
    pub fn targets(&self, record: &Record) -> Vec<(SymbolId, u64)> {
        let mut targets: Vec<_> = record.targets.iter().map(|(&s, &calls)| (s, calls)).collect();
        targets.sort_unstable_by_key(|&(symbol, calls)| (Reverse(calls), self.of(symbol)));
        targets
    }

    /// Inlined copies by position, then by name.
    pub fn inlined<'b>(&self, body: &'b Body) -> Vec<(Site, SymbolId, &'b Body)> {
        let inlined = body.inlined.iter().map(|(&(site, callee), body)| (site, callee, body));
        let mut inlined: Vec<_> = inlined.collect();
        inlined.sort_unstable_by_key(|&(site, callee, _)| (site, self.of(callee)));
        inlined
    }
}

impl Samples {
    /// Functions by total, the largest first, then by context.
    pub fn order(&self, ranks: &Ranks) -> Vec<ContextId> {
        let total = |context: &ContextId| Reverse(self.functions[context].total);
        let mut order: Vec<(Reverse<u64>, ContextId)> =
            self.functions.keys().map(|context| (total(context), *context)).collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.contexts.compare(ranks, a.1, b.1))
        });
        order.into_iter().map(|(_, context)| context).collect()
    }

    /// The symbols of functions, of inlined copies, of targets and of frames.
    pub fn used(&self) -> Vec<SymbolId> {
        let mut used = vec![false; self.symbols.iter().count()];
        for (&context, body) in &self.functions {
            self.contexts.frames(context).for_each(|frame| used[frame.function.index()] = true);
            body.for_each_body(&mut |body| {
                let targets = body.records.values().flat_map(|record| record.targets.keys());
                targets.for_each(|target| used[target.index()] = true);
                body.inlined.keys().for_each(|(_, callee)| used[callee.index()] = true);
            });
        }
        self.symbols.iter().filter(|symbol| used[symbol.index()]).collect()
    }

    /// Most frames of all contexts together. More were made to use up memory.
    pub fn most_frames(&self) -> usize {
        const LEAST_FRAMES: usize = 16 << 20;
        const A_FUNCTION: usize = 64;
        LEAST_FRAMES + A_FUNCTION * self.functions.len()
    }

    /// Most bytes of a form that repeats each name where it is used. Anything larger was made to use up memory.
    pub fn most_text(&self) -> usize {
        const LEAST_TEXT: usize = 64 << 20;
        const A_RECORD: usize = 512;
        const A_BYTE_OF_NAMES: usize = 128;
        let mut records = 0;
        for (&context, body) in &self.functions {
            records += self.contexts.depth(context);
            body.for_each_body(&mut |body| {
                let targets = body.records.values().map(|record| 1 + record.targets.len());
                records += 1 + targets.sum::<usize>();
            });
        }
        LEAST_TEXT + A_BYTE_OF_NAMES * self.symbols.name_bytes() + A_RECORD * records
    }
}
