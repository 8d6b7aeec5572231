//! How alike two profiles are.
//!
//! A count is worth its share of all counts of its profile. The overlap of two profiles is the sum of the
//! smaller shares over everything that both have: 1 if all shares are equal, 0 if they have nothing in
//! common. For one function the shares are those of the function's own counts.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Body, Function, Profile, SymbolId, Symbols};

/// Two profiles, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The symbols of both.
    pub symbols: Symbols,
    /// Names without a file that several files declare. They are compared with none of these.
    pub ambiguous: usize,
    /// Overlap of all counts, position by position, 0 to 1.
    pub counts: f64,
    /// Overlap of the totals of functions, 0 to 1.
    pub functions: f64,
    /// The functions of both, in canonical order.
    pub rows: Vec<Row>,
}

/// A function of two profiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The function, in the comparison's symbols.
    pub function: SymbolId,
    /// The function's share of all counts in the first and the second profile; `None` where it is missing.
    pub shares: [Option<f64>; 2],
    /// Overlap of the function's counts, 0 to 1.
    pub overlap: f64,
}

/// Two profiles whose symbols are the same.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The symbols of both.
    pub symbols: Symbols,
    /// Names without a file that several files declare. They are compared with none of these.
    pub ambiguous: usize,
    /// The profiles. Their own symbols are of no use any more.
    pub profiles: [Profile; 2],
}

impl Pair {
    /// Finds what is the same in both. A name without a file stands for the only function of that name in either
    /// of them.
    pub fn new(mut first: Profile, mut second: Profile) -> Self {
        let mut symbols = first.symbols.clone();
        let adopted = symbols.adopt_all(&second.symbols);
        let mut used = first.used_symbols();
        used.resize(symbols.iter().count(), false);
        for (symbol, is_used) in second.symbols.iter().zip(second.used_symbols()) {
            used[adopted.of(symbol).index()] |= is_used;
        }
        let found = symbols.find_files(&used);
        if found.is_any() {
            first.replace_symbols(|symbol| found.of(symbol));
        }
        second.replace_symbols(|symbol| found.of(adopted.of(symbol)));
        Self { symbols, ambiguous: found.ambiguous, profiles: [first, second] }
    }
}

impl Comparison {
    /// Compares two profiles.
    pub fn new(first: Profile, second: Profile) -> Self {
        Self::of(&Pair::new(first, second))
    }

    /// Compares two profiles.
    pub fn of(pair: &Pair) -> Self {
        let Pair { symbols, ambiguous, profiles: [first, second] } = pair;
        let totals = [first, second].map(total);
        let all: BTreeSet<SymbolId> =
            first.functions.keys().chain(second.functions.keys()).copied().collect();
        let mut all: Vec<SymbolId> = all.into_iter().collect();
        all.sort_by(|&a, &b| symbols.canonical_order(a, b));
        let (symbols, ambiguous) = (symbols.clone(), *ambiguous);
        let mut comparison =
            Self { symbols, ambiguous, counts: 0.0, functions: 0.0, rows: Vec::new() };
        for symbol in all {
            let pair = [first, second].map(|profile| profile.functions.get(&symbol));
            comparison.function(symbol, pair, totals);
        }
        if totals == [0.0, 0.0] {
            // Neither was executed, so they agree.
            (comparison.counts, comparison.functions) = (1.0, 1.0);
        }
        comparison
    }

    fn function(&mut self, symbol: SymbolId, pair: [Option<&Function>; 2], totals: [f64; 2]) {
        let own = pair.map(|function| function.map_or(0.0, |f| f.body.total() as f64));
        let share = |place: usize| pair[place].map(|_| part(own[place], totals[place]));
        let shares = [share(0), share(1)];
        let mut overlap = if own == [0.0, 0.0] { 1.0 } else { 0.0 };
        if let [Some(first), Some(second)] = pair {
            self.counts += shared(&self.symbols, &first.body, &second.body, totals);
            self.functions += f64::min(part(own[0], totals[0]), part(own[1], totals[1]));
            if own != [0.0, 0.0] {
                overlap = shared(&self.symbols, &first.body, &second.body, own);
            }
        }
        self.rows.push(Row { function: symbol, shares, overlap });
    }
}

/// Sum of the smaller shares that the counts of two bodies have of these totals. Goes through them in
/// canonical order, since sums of floating point numbers depend on it.
fn shared(symbols: &Symbols, first: &Body, second: &Body, totals: [f64; 2]) -> f64 {
    let mut sum = 0.0;
    for (position, record) in &first.positions {
        let Some(other) = second.positions.get(position) else { continue };
        let share = |count: Option<u64>, total| part(count.unwrap_or(0) as f64, total);
        sum += f64::min(share(record.count, totals[0]), share(other.count, totals[1]));
        for (callee, body) in symbols.sorted(&other.inlined) {
            if let Some(own) = record.inlined.get(&callee) {
                sum += shared(symbols, own, body, totals);
            }
        }
    }
    sum
}

fn total(profile: &Profile) -> f64 {
    profile.functions.values().map(|function| function.body.total()).sum::<u128>() as f64
}

fn part(count: f64, total: f64) -> f64 {
    if total > 0.0 { count / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Position;

    fn profile(functions: &[(&str, &[u64])]) -> Profile {
        let mut profile = Profile::default();
        for &(name, counts) in functions {
            let symbol = profile.symbols.symbol(name.as_bytes(), None);
            let mut function = Function::default();
            for (line, &count) in (0..).zip(counts) {
                let record = function.body.positions.entry(Position::line(line)).or_default();
                record.count = Some(count);
            }
            profile.add(symbol, function);
        }
        profile
    }

    #[test]
    fn shares_count_and_not_counts() {
        let (a, b) = (profile(&[("f", &[1, 3])]), profile(&[("f", &[100, 300])]));
        let same = Comparison::new(a, b);
        assert_eq!((same.counts, same.functions, same.rows[0].overlap), (1.0, 1.0, 1.0));
    }

    #[test]
    fn counts_that_fill_their_type() {
        let a = profile(&[("f", &[u64::MAX, u64::MAX, u64::MAX]), ("g", &[u64::MAX])]);
        let same = Comparison::new(a.clone(), a.clone());
        assert_eq!((same.counts, same.functions, same.rows[0].overlap), (1.0, 1.0, 1.0));
        let other = Comparison::new(a, profile(&[("f", &[u64::MAX]), ("g", &[u64::MAX])]));
        assert_eq!(
            (other.counts, other.functions, other.rows[0].shares[0]),
            (0.5, 0.75, Some(0.75))
        );
    }

    #[test]
    fn what_is_missing_and_what_differs() {
        let a = profile(&[("only_a", &[5]), ("f", &[5, 0])]);
        let b = profile(&[("f", &[5, 5]), ("only_b", &[0])]);
        let compared = Comparison::new(a, b);
        assert_eq!((compared.counts, compared.functions), (0.5, 0.5));
        let shares: Vec<_> = compared.rows.iter().map(|row| (row.shares, row.overlap)).collect();
        assert_eq!(
            shares,
            [([Some(0.5), Some(1.0)], 0.5), ([Some(0.5), None], 0.0), ([None, Some(0.0)], 1.0)]
        );
    }
}
