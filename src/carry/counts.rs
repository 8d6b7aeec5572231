//! Gives the counts of a profile their new positions.
//!
//! For example, 500 at line 8 of `sift` stands at line 11 now, and so does the copy of `less` that is inlined there. The
//! lines of the copy move as those of `less` do.

use super::functions::{Became, Functions};
use super::tally::{Class, Tally, Why};
use crate::profile::{Body, Function, Position, Profile, Record, SymbolId, Symbols};

/// Lines before the function's declaration are modulo this.
const LINES: i64 = 1 << 16;

/// The profile with its counts at their new places, and how much was carried.
pub fn carry(profile: &Profile, functions: &Functions) -> (Profile, Tally) {
    let mut carrying = Carrying {
        symbols: &profile.symbols,
        functions,
        carried: Profile::default(),
        tally: Tally::default(),
    };
    for (&symbol, function) in &profile.functions {
        carrying.function(symbol, function);
    }
    (carrying.carried, carrying.tally)
}

struct Carrying<'c> {
    symbols: &'c Symbols,
    functions: &'c Functions,
    carried: Profile,
    tally: Tally,
}

impl Carrying<'_> {
    fn function(&mut self, symbol: SymbolId, function: &Function) {
        let Some((new, class)) = self.symbol(symbol) else {
            self.tally.drop(symbol, function.body.total(), Why::Gone);
            return;
        };
        let body = self.body(symbol, &function.body, class);
        let Function { head_count, timestamp, .. } = *function;
        self.carried.add(new, Function { head_count, timestamp, body });
    }

    /// The symbol of a function now, and what is at least the class of its counts. `None` if it is gone.
    fn symbol(&mut self, symbol: SymbolId) -> Option<(SymbolId, Class)> {
        let became = self.functions.get(&symbol)?;
        let class = if became.name.is_some() { Class::Renamed } else { Class::Exact };
        let symbols = &mut self.carried.symbols;
        let new = new_symbol(self.symbols, symbol, became, symbols);
        Some((new, class))
    }

    /// The target of a call. Functions that no profile describes may still be there.
    fn target(&mut self, symbol: SymbolId) -> SymbolId {
        if let Some((new, _)) = self.symbol(symbol) {
            return new;
        }
        let file = self.symbols.declared_in(symbol).map(|path| self.carried.symbols.file(path));
        self.carried.symbols.symbol(self.symbols.name(symbol), file)
    }

    /// The body of a function. `around` is the class of the calls around it.
    fn body(&mut self, symbol: SymbolId, body: &Body, around: Class) -> Body {
        let mut carried = Body::default();
        let became = &self.functions[&symbol];
        for (&position, record) in &body.positions {
            let line = position.signed_line();
            let Some(new) = became.line(line) else {
                self.drop(symbol, record, Why::NoLine(line));
                continue;
            };
            let class = if new == line { around } else { around.max(Class::Shifted) };
            let record = self.record(symbol, record, class);
            carried.add_record(moved(position, new), record);
        }
        carried
    }

    fn record(&mut self, symbol: SymbolId, record: &Record, class: Class) -> Record {
        self.tally.add(symbol, record.count.unwrap_or(0).into(), class);
        let mut carried = Record {
            count: record.count,
            is_estimate: record.is_estimate,
            target_error: record.target_error,
            ..Record::default()
        };
        for (&target, &calls) in &record.targets {
            *carried.targets.entry(self.target(target)).or_default() += calls;
        }
        for (&callee, body) in &record.inlined {
            match self.symbol(callee) {
                Some((new, at_least)) => {
                    let body = self.body(callee, body, class.max(at_least));
                    carried.inline(new, body);
                }
                None => self.tally.drop(symbol, body.total(), Why::NoCallee(callee)),
            }
        }
        carried
    }

    /// Notes that a record is left out.
    fn drop(&mut self, symbol: SymbolId, record: &Record, why: Why) {
        let inlined: u128 = record.inlined.values().map(Body::total).sum();
        let count = u128::from(record.count.unwrap_or(0));
        self.tally.drop(symbol, count + inlined, why);
    }
}

/// The symbol of a function now.
pub(super) fn new_symbol(
    old: &Symbols,
    symbol: SymbolId,
    became: &Became,
    new: &mut Symbols,
) -> SymbolId {
    let path = became.file.as_deref().or_else(|| old.declared_in(symbol));
    let file = path.map(|path| new.file(path));
    new.symbol(became.name.as_deref().unwrap_or_else(|| old.name(symbol)), file)
}

/// A position on another line.
fn moved(position: Position, line: i64) -> Position {
    if line == position.signed_line() {
        return position;
    }
    let line = if line < 0 { line + LINES } else { line };
    Position { line: line as u32, ..position }
}
