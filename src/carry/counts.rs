//! Gives the counts of a profile their new positions.
//!
//! For example, 500 at line 8 of `sift` stands at line 11 now, and so does the copy of `less` that is inlined there.
//! The lines of the copy move as those of `less` do. A line that is new gets the lower count of the lines around it, as
//! an estimate: gcc takes a line without a count for one that is never executed.

use alloc::collections::{BTreeMap, BTreeSet};

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
        split_off: BTreeMap::new(),
        tally: Tally::default(),
    };
    for (&symbol, function) in &profile.functions {
        carrying.function(symbol, function);
    }
    for (symbol, (mut body, function)) in core::mem::take(&mut carrying.split_off) {
        estimate(&mut body, &functions.new[function].lines, None);
        carrying.carried.add(symbol, Function::of_inlined(body));
    }
    (carrying.carried, carrying.tally)
}

struct Carrying<'c> {
    symbols: &'c Symbols,
    functions: &'c Functions,
    carried: Profile,
    /// Functions that have lines of others now.
    split_off: BTreeMap<SymbolId, (Body, usize)>,
    tally: Tally,
}

impl Carrying<'_> {
    fn function(&mut self, symbol: SymbolId, function: &Function) {
        let Some((new, class)) = self.symbol(symbol) else {
            self.gone(symbol, &function.body, Why::Gone);
            return;
        };
        let mut body = self.body(symbol, &function.body, class);
        let added = &self.functions.became[&symbol].added;
        estimate(&mut body, added, Some(function.head_count));
        let Function { head_count, timestamp, .. } = *function;
        self.carried.add(new, Function { head_count, timestamp, body });
    }

    /// The symbol of a function now, and what is at least the class of its counts. `None` if it is gone.
    fn symbol(&mut self, symbol: SymbolId) -> Option<(SymbolId, Class)> {
        let became = self.functions.became.get(&symbol).filter(|became| !became.is_gone)?;
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

    /// A function, or a copy of it, that is gone. Some of its lines may have gone elsewhere.
    fn gone(&mut self, symbol: SymbolId, body: &Body, why: Why) {
        for (&position, record) in &body.positions {
            if !self.went(symbol, position, record) {
                self.drop(symbol, record, why);
            }
        }
    }

    /// Carries a record to the function that its line went to. Gives whether there is one.
    fn went(&mut self, symbol: SymbolId, position: Position, record: &Record) -> bool {
        let became = self.functions.became.get(&symbol);
        let place = became.and_then(|became| became.elsewhere.get(&position.signed_line()));
        let Some(&(function, line)) = place else { return false };
        let new = &self.functions.new[function];
        let file = self.symbols.declared_in(symbol).map(|_| self.carried.symbols.file(&new.file));
        let symbol_now = self.carried.symbols.symbol(&new.name, file);
        let record = self.record(symbol, record, Class::Renamed);
        let (body, _) = self.split_off.entry(symbol_now).or_insert((Body::default(), function));
        body.add_record(moved(position, line), record);
        true
    }

    /// The body of a function. `around` is the class of the calls around it.
    fn body(&mut self, symbol: SymbolId, body: &Body, around: Class) -> Body {
        let mut carried = Body::default();
        let became = &self.functions.became[&symbol];
        for (&position, record) in &body.positions {
            let line = position.signed_line();
            let Some(new) = became.line(line) else {
                if !self.went(symbol, position, record) {
                    self.drop(symbol, record, Why::NoLine(line));
                }
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
                    let mut body = self.body(callee, body, class.max(at_least));
                    estimate(&mut body, &self.functions.became[&callee].added, None);
                    carried.inline(new, body);
                }
                None => self.gone(callee, body, Why::NoCallee(callee)),
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

/// Gives lines that are new the lower count of the lines around them. `head` stands for the line before the first.
fn estimate(body: &mut Body, added: &BTreeSet<i64>, head: Option<u64>) {
    let mut known = BTreeMap::<i64, u64>::new();
    for (position, record) in &body.positions {
        let inlined = record.inlined.values().map(Body::entries).max();
        let count = record.count.max(inlined);
        let most = known.entry(position.signed_line()).or_default();
        *most = (*most).max(count.unwrap_or(0));
    }
    known.extend(head.filter(|&head| head > 0).map(|head| (0, head)));
    for &line in added.iter().filter(|line| !known.contains_key(line)) {
        let before = known.range(..line).next_back().map(|(_, &count)| count);
        let behind = known.range(line..).next().map(|(_, &count)| count);
        let Some(count) = before.into_iter().chain(behind).min() else { continue };
        let Ok(at) = u32::try_from(line) else { continue };
        let record = Record { count: Some(count), is_estimate: true, ..Record::default() };
        body.add_record(Position::line(at), record);
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

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::carry::functions::NewFunction;

    /// `f` has 8 at line 3, 5 at line 4 and a copy of `g` at line 5, which has 2 at line 1.
    fn profile() -> (Profile, [SymbolId; 2]) {
        let mut profile = Profile::default();
        let [f, g] = [b"f", b"g"].map(|name| profile.symbols.symbol(name, None));
        let counted = |count| Record { count: Some(count), ..Record::default() };
        let copy = Body { positions: [(Position::line(1), counted(2))].into_iter().collect() };
        let calling = Record { inlined: [(g, copy)].into_iter().collect(), ..Record::default() };
        let positions = [(3, counted(8)), (4, counted(5)), (5, calling)];
        let positions = positions.map(|(line, record)| (Position::line(line), record));
        let body = Body { positions: positions.into_iter().collect() };
        profile.add(f, Function { head_count: 9, timestamp: 0, body });
        (profile, [f, g])
    }

    fn lines(lines: &[(i64, Option<i64>)]) -> Became {
        Became { lines: lines.iter().copied().collect(), ..Became::default() }
    }

    /// The line and the count of each position of a function.
    fn of(profile: &Profile, name: &[u8]) -> Vec<(u32, Option<u64>)> {
        let is_it = |symbol: &&SymbolId| profile.symbols.name(**symbol) == name;
        let Some(symbol) = profile.functions.keys().find(is_it) else { return Vec::new() };
        let positions = profile.functions[symbol].body.positions.iter();
        positions.map(|(position, record)| (position.line, record.count)).collect()
    }

    fn shares(tally: &Tally) -> [u128; 4] {
        [Class::Exact, Class::Shifted, Class::Renamed, Class::Dropped].map(|class| tally.of(class))
    }

    #[test]
    fn copies_move_with_their_calls_and_with_their_own_lines() {
        let (profile, [f, g]) = profile();
        let became =
            [(f, lines(&[(3, Some(3)), (4, None), (5, Some(8))])), (g, lines(&[(1, Some(2))]))];
        let functions = Functions { became: became.into_iter().collect(), new: Vec::new() };
        let (carried, tally) = carry(&profile, &functions);
        assert_eq!(of(&carried, b"f"), [(3, Some(8)), (8, None)]);
        assert_eq!(shares(&tally), [8, 2, 0, 5]);
        assert_eq!(tally.losses()[0].reasons, [(Why::NoLine(4), 5)]);
        assert!((tally.carried() - 10.0 / 15.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_gone_is_left_out_and_named() {
        let (profile, [f, g]) = profile();
        let became = [(f, lines(&[(3, Some(3)), (4, Some(4)), (5, Some(5))]))];
        let functions = Functions { became: became.into_iter().collect(), new: Vec::new() };
        let (_, tally) = carry(&profile, &functions);
        assert_eq!(shares(&tally), [13, 0, 0, 2]);
        assert_eq!(tally.losses()[0].reasons, [(Why::NoCallee(g), 2)]);
        let (carried, tally) = carry(&profile, &Functions::default());
        assert_eq!((carried.functions.len(), tally.carried()), (0, 0.0));
    }

    #[test]
    fn new_lines_get_the_lower_count_around_them() {
        let (profile, [f, g]) = profile();
        let mut became = lines(&[(3, Some(4)), (4, Some(6)), (5, Some(7))]);
        became.added = [1, 5, 9].into_iter().collect();
        let became = [(f, became), (g, lines(&[(1, Some(1))]))];
        let functions = Functions { became: became.into_iter().collect(), new: Vec::new() };
        let (carried, tally) = carry(&profile, &functions);
        let expected = [(1, 8), (4, 8), (5, 5), (6, 5)].map(|(line, count)| (line, Some(count)));
        assert_eq!(of(&carried, b"f")[..4], expected);
        assert_eq!(of(&carried, b"f")[4..], [(7, None), (9, Some(2))]);
        assert_eq!(shares(&tally), [0, 15, 0, 0]);
    }

    #[test]
    fn lines_go_to_a_new_function() {
        let (profile, [f, g]) = profile();
        let mut became = lines(&[(3, Some(3)), (4, None), (5, Some(5))]);
        became.elsewhere.insert(4, (0, 2));
        let became = [(f, became), (g, lines(&[(1, Some(1))]))];
        let (name, file, lines) = (b"part".to_vec(), b"f.c".to_vec(), [2, 3].into_iter().collect());
        let new = vec![NewFunction { name, file, lines }];
        let functions = Functions { became: became.into_iter().collect(), new };
        let (carried, tally) = carry(&profile, &functions);
        assert_eq!(of(&carried, b"part"), [(2, Some(5)), (3, Some(5))]);
        assert_eq!(shares(&tally), [10, 0, 5, 0]);
    }
}
