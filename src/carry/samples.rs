//! Gives the counts of a sample profile of LLVM their new positions.
//!
//! What [`super::counts`] does for the other model, with totals and contexts, but without counts for new lines, which
//! LLVM infers, and without lines that went to new functions. A context is a chain of calls: where one of them is gone,
//! the context keeps the calls within. For example, `main:3 @ sort:5 @ less` becomes `sort:5 @ less` if
//! line 3 of `main` is gone.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::counts::new_symbol;
use super::functions::Functions;
use super::tally::{Class, Tally, Why};
use crate::profile::{SymbolId, Symbols};
use crate::samples::{Body, ContextId, Frame, Record, Samples, Site};
use crate::staleness::outline::Shape;

/// Lines are modulo this.
const LINES: i64 = 1 << 16;

/// What the profile shows of each function, inlined ones included.
pub fn shapes(
    samples: &Samples,
    name_of: &impl Fn(SymbolId) -> Vec<u8>,
) -> BTreeMap<SymbolId, Shape> {
    let mut shapes = BTreeMap::new();
    for (&context, body) in &samples.functions {
        let frames: Vec<Frame> = samples.contexts.frames(context).collect();
        for pair in frames.windows(2) {
            let line = shapes.entry(pair[0].function).or_insert_with(Shape::default);
            line.line(signed(pair[0].site)).calls.insert(name_of(pair[1].function));
        }
        add(&mut shapes, samples.contexts.function(context), body, name_of);
    }
    shapes
}

fn add(
    shapes: &mut BTreeMap<SymbolId, Shape>,
    symbol: SymbolId,
    body: &Body,
    name_of: &impl Fn(SymbolId) -> Vec<u8>,
) {
    let shape = shapes.entry(symbol).or_default();
    for (&site, record) in &body.records {
        let line = shape.line(signed(site));
        line.discriminators.insert(site.discriminator as u16);
        line.calls.extend(record.targets.keys().map(|&callee| name_of(callee)));
    }
    for &(site, callee) in body.inlined.keys() {
        shape.line(signed(site)).calls.insert(name_of(callee));
    }
    for (&(_, callee), inner) in &body.inlined {
        add(shapes, callee, inner, name_of);
    }
}

/// The profile with its counts at their new places, and how much was carried.
pub fn carry(samples: &Samples, functions: &Functions) -> (Samples, Tally) {
    let (symbol_list, traits) = (samples.symbol_list.clone(), samples.traits);
    let carried = Samples { symbol_list, traits, ..Samples::default() };
    let symbols = &samples.symbols;
    let mut carrying = Carrying { symbols, functions, carried, tally: Tally::default() };
    for (&context, body) in &samples.functions {
        let frames: Vec<Frame> = samples.contexts.frames(context).collect();
        carrying.function(&frames, body);
    }
    (carrying.carried, carrying.tally)
}

struct Carrying<'c> {
    symbols: &'c Symbols,
    functions: &'c Functions,
    carried: Samples,
    tally: Tally,
}

impl Carrying<'_> {
    fn function(&mut self, frames: &[Frame], body: &Body) {
        let Some(leaf) = frames.last() else { return };
        let Some((context, class)) = self.context(frames) else {
            self.tally.drop(leaf.function, body.sum().into(), Why::Gone);
            return;
        };
        let (body, _) = self.body(leaf.function, body, class);
        match self.carried.functions.get_mut(&context) {
            Some(known) => known.add(&body),
            None => _ = self.carried.functions.insert(context, body),
        }
    }

    /// The context now, with as many calls as are still there. `None` if the function is gone.
    fn context(&mut self, frames: &[Frame]) -> Option<(ContextId, Class)> {
        let (leaf, callers) = frames.split_last()?;
        let (function, mut class) = self.symbol(leaf.function)?;
        let mut context = self.carried.contexts.base(function);
        for frame in callers.iter().rev() {
            let line = signed(frame.site);
            let now =
                self.functions.became.get(&frame.function).and_then(|became| became.line(line));
            let Some((function, at_least)) = self.symbol(frame.function) else { break };
            let Some(now) = now else { break };
            class = class.max(at_least).max(class_of(line, now));
            let frame = Frame { function, site: moved(frame.site, now) };
            context = self.carried.contexts.called_from(context, frame);
        }
        Some((context, class))
    }

    /// The symbol of a function now, and what is at least the class of its counts. `None` if it is gone.
    fn symbol(&mut self, symbol: SymbolId) -> Option<(SymbolId, Class)> {
        let became = self.functions.became.get(&symbol).filter(|became| !became.is_gone)?;
        let class = if became.name.is_some() { Class::Renamed } else { Class::Exact };
        Some((new_symbol(self.symbols, symbol, became, &mut self.carried.symbols), class))
    }

    fn target(&mut self, symbol: SymbolId) -> SymbolId {
        match self.symbol(symbol) {
            Some((new, _)) => new,
            None => self.carried.symbols.symbol(self.symbols.name(symbol), None),
        }
    }

    /// The body of a function, and what it lost. `around` is the class of the calls around it.
    fn body(&mut self, symbol: SymbolId, body: &Body, around: Class) -> (Body, u64) {
        let Body { head, checksum, attributes, .. } = *body;
        let mut carried = Body { head, checksum, attributes, ..Body::default() };
        let mut lost = 0;
        for (&site, record) in &body.records {
            let line = signed(site);
            let Some(now) = self.functions.became[&symbol].line(line) else {
                self.tally.drop(symbol, record.count.into(), Why::NoLine(line));
                lost += record.count;
                continue;
            };
            self.tally.add(symbol, record.count.into(), around.max(class_of(line, now)));
            let targets = record.targets.iter().map(|(&target, &n)| (self.target(target), n));
            let record = Record { count: record.count, targets: targets.collect() };
            carried.add_record(moved(site, now), record);
        }
        for (&(site, callee), inner) in &body.inlined {
            lost += self.copy(symbol, (site, callee), inner, around, &mut carried);
        }
        carried.total = body.total.saturating_sub(lost);
        (carried, lost)
    }

    /// Moves an inlined copy into the carried body. Gives what was lost.
    fn copy(
        &mut self,
        symbol: SymbolId,
        (site, callee): (Site, SymbolId),
        inner: &Body,
        around: Class,
        carried: &mut Body,
    ) -> u64 {
        let line = signed(site);
        let now = self.functions.became[&symbol].line(line);
        let why = if now.is_none() { Why::NoLine(line) } else { Why::NoCallee(callee) };
        let Some((now, (new, at_least))) = now.zip(self.symbol(callee)) else {
            let lost = inner.sum();
            self.tally.drop(symbol, lost.into(), why);
            return lost;
        };
        let class = around.max(at_least).max(class_of(line, now));
        let (inner, lost) = self.body(callee, inner, class);
        carried.add_inlined((moved(site, now), new), inner);
        lost
    }
}

const fn class_of(line: i64, now: i64) -> Class {
    if line == now { Class::Exact } else { Class::Shifted }
}

/// Lines from the function's declaration, negative before it.
const fn signed(site: Site) -> i64 {
    let line = site.line as i64;
    if line < LINES / 2 { line } else { line - LINES }
}

/// A position on another line.
fn moved(site: Site, line: i64) -> Site {
    Site { line: line.rem_euclid(LINES) as u32, ..site }
}
