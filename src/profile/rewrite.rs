//! Makes profiles smaller or different, count by count.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Body, Function, Profile, Record, SymbolId, Symbols};

/// A factor for counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Multiplies.
    pub numerator: u64,
    /// Divides, not 0.
    pub denominator: u64,
}

impl Factor {
    /// Leaves counts as they are.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// The count multiplied, to the nearest; a count that is not 0 stays at least 1.
    pub fn apply(self, count: u64) -> u64 {
        let denominator = u128::from(self.denominator.max(1));
        let product = u128::from(count) * u128::from(self.numerator) + denominator / 2;
        let scaled = u64::try_from(product / denominator).unwrap_or(u64::MAX);
        scaled.max(u64::from(count > 0 && self.numerator > 0))
    }
}

impl Profile {
    /// Multiplies all counts, head counts and calls.
    pub fn scale(&mut self, factor: Factor) {
        for function in self.functions.values_mut() {
            function.scale(factor);
        }
    }

    /// Leaves out counts and targets of 0, and functions that have nothing left. Some compilers tell code
    /// that was not executed from unknown code; they lose that.
    pub fn drop_zeros(&mut self) {
        for function in self.functions.values_mut() {
            function.body.for_each_record_mut(&mut |record| {
                record.count = record.count.filter(|&count| count > 0);
                record.targets.retain(|_, &calls| calls > 0);
            });
            function.body.prune(&|_| true);
        }
        self.functions
            .retain(|_, function| function.head_count > 0 || !function.body.positions.is_empty());
    }

    /// Leaves out inlined bodies in which nothing was executed.
    pub fn prune_cold_inlined(&mut self) {
        for function in self.functions.values_mut() {
            function.body.prune(&|body| body.total() > 0);
        }
    }

    /// Adds inlined bodies to the functions themselves, as if these had been called.
    ///
    /// Takes the count of a body's first position for the body's entries.
    pub fn flatten(&mut self) {
        let functions = core::mem::take(&mut self.functions);
        for (symbol, mut function) in functions {
            let mut inlined = Vec::new();
            function.body.take_inlined(&mut inlined);
            self.add(symbol, function);
            while let Some((callee, body)) = inlined.pop() {
                let mut function = Function::of_inlined(body);
                function.body.take_inlined(&mut inlined);
                self.add(callee, function);
            }
        }
    }

    /// Keeps only the functions with the largest totals that together reach a share of all counts, in
    /// millionths.
    pub fn keep_hot(&mut self, share: u32) {
        let mut totals: Vec<(Reverse<u128>, SymbolId)> = self
            .functions
            .iter()
            .map(|(&s, function)| (Reverse(function.body.total()), s))
            .collect();
        totals.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| self.symbols.canonical_order(a.1, b.1)));
        let all: u128 = totals.iter().map(|(total, _)| total.0).sum();
        let (wanted, mut sum) = (all * u128::from(share), 0);
        for (total, symbol) in totals {
            if sum * 1_000_000 >= wanted {
                self.functions.remove(&symbol);
            }
            sum += total.0;
        }
    }

    /// Leaves out positions with a line beyond this one; gives their number.
    pub fn drop_lines_beyond(&mut self, farthest: u32) -> usize {
        let bodies = self.functions.values_mut().map(|function| &mut function.body);
        bodies.map(|body| body.drop_lines_beyond(farthest)).sum()
    }

    /// Leaves out functions, inlined bodies and targets of calls that no format can name: damaged debug information
    /// has such. Their names, or the paths of their files, are empty or have a NUL inside. Returns their number.
    pub fn drop_unnamed(&mut self) -> usize {
        let symbols = &self.symbols;
        let is_bad = |text: &[u8]| text.is_empty() || text.contains(&0);
        let is_unnamed = |symbol: SymbolId| {
            is_bad(symbols.name(symbol)) || symbols.declared_in(symbol).is_some_and(is_bad)
        };
        if !symbols.iter().any(is_unnamed) {
            return 0;
        }
        let before = self.functions.len();
        self.functions.retain(|&symbol, _| !is_unnamed(symbol));
        let bodies = self.functions.values_mut().map(|function| &mut function.body);
        let inside: usize = bodies.map(|body| body.drop_symbols(&is_unnamed)).sum();
        before - self.functions.len() + inside
    }

    /// Gives symbols other names and adds up what becomes equal. Ignores an empty name.
    pub fn rename(&mut self, mut name: impl FnMut(&[u8]) -> Vec<u8>) {
        self.change_symbols(|old, symbol, new| {
            let file = old.declared_in(symbol).map(|path| new.file(path));
            let old = old.name(symbol);
            let name = name(old);
            new.symbol(if name.is_empty() { old } else { &name }, file)
        });
    }

    /// Gives files other paths and adds up functions that become equal.
    pub fn rename_files(&mut self, mut path: impl FnMut(&[u8]) -> Vec<u8>) {
        self.change_symbols(|old, symbol, new| {
            let file = old.declared_in(symbol).map(|old| new.file(&path(old)));
            new.symbol(old.name(symbol), file)
        });
    }

    /// Says where functions are declared, if that is not known yet: `place` gives the path and the line for a name and
    /// the path that the profile has. Adds up functions that become equal.
    pub fn declare(&mut self, place: impl Fn(&[u8], Option<&[u8]>) -> Option<(Vec<u8>, u32)>) {
        self.change_symbols(|old, symbol, new| {
            let (name, path) = (old.name(symbol), old.declared_in(symbol));
            let known = old.declaration_line(symbol).is_some();
            let Some((path, line)) = place(name, path).filter(|_| !known) else {
                let file = path.map(|path| new.file(path));
                return new.symbol(name, file);
            };
            let file = new.file(&path);
            let declared = new.symbol(name, Some(file));
            new.set_declaration_line(declared, line);
            declared
        });
    }

    /// Replaces each symbol by the one that `change` makes of it.
    fn change_symbols(
        &mut self,
        mut change: impl FnMut(&Symbols, SymbolId, &mut Symbols) -> SymbolId,
    ) {
        let mut symbols = Symbols::default();
        let change = |old| {
            let new = change(&self.symbols, old, &mut symbols);
            if let Some(line) = self.symbols.declaration_line(old) {
                symbols.set_declaration_line(new, line);
            }
            new
        };
        let changed: Vec<SymbolId> = self.symbols.iter().map(change).collect();
        self.symbols = symbols;
        self.replace_symbols(|symbol| changed[symbol.index()]);
    }
}

impl Function {
    /// What an inlined body adds to the function itself, as if that had been called.
    pub fn of_inlined(body: Body) -> Self {
        Self { head_count: body.entries(), timestamp: 0, body }
    }

    /// Multiplies the function's counts, head count and calls.
    pub fn scale(&mut self, factor: Factor) {
        self.head_count = factor.apply(self.head_count);
        self.body.scale(factor);
    }
}

impl Body {
    /// Multiplies the body's counts and calls.
    pub fn scale(&mut self, factor: Factor) {
        self.for_each_record_mut(&mut |record| {
            record.count = record.count.map(|count| factor.apply(count));
            record.targets.iter_mut().for_each(|(_, calls)| *calls = factor.apply(*calls));
            record.target_error = factor.apply(record.target_error);
        });
    }

    /// Visits all records of this body and of bodies inlined in it.
    pub fn for_each_record_mut(&mut self, visit: &mut impl FnMut(&mut Record)) {
        for (_, record) in self.positions.iter_mut() {
            visit(record);
            record.inlined.iter_mut().for_each(|(_, body)| body.for_each_record_mut(visit));
        }
    }

    fn drop_lines_beyond(&mut self, farthest: u32) -> usize {
        let before = self.positions.len();
        // By line.
        if self.positions.last().is_some_and(|(position, _)| position.line > farthest) {
            self.positions.retain(|position, _| position.line <= farthest);
        }
        let mut dropped = before - self.positions.len();
        for (_, record) in self.positions.iter_mut() {
            let inlined = record.inlined.iter_mut();
            dropped += inlined.map(|(_, body)| body.drop_lines_beyond(farthest)).sum::<usize>();
        }
        dropped
    }

    fn drop_symbols(&mut self, is_dropped: &impl Fn(SymbolId) -> bool) -> usize {
        let mut dropped = 0;
        for (_, record) in self.positions.iter_mut() {
            let before = record.inlined.len() + record.targets.len();
            record.inlined.retain(|&symbol, _| !is_dropped(symbol));
            record.targets.retain(|&symbol, _| !is_dropped(symbol));
            dropped += before - record.inlined.len() - record.targets.len();
            let inlined = record.inlined.iter_mut();
            dropped += inlined.map(|(_, body)| body.drop_symbols(is_dropped)).sum::<usize>();
        }
        dropped
    }

    /// Leaves out inlined bodies that are not worth keeping, and empty positions.
    fn prune(&mut self, keep: &impl Fn(&Self) -> bool) {
        for (_, record) in self.positions.iter_mut() {
            record.inlined.iter_mut().for_each(|(_, body)| body.prune(keep));
            record.inlined.retain(|_, body| !body.positions.is_empty() && keep(body));
        }
        self.positions.retain(|_, record| {
            record.count.is_some() || !record.targets.is_empty() || !record.inlined.is_empty()
        });
    }

    /// Moves inlined bodies out, and puts calls in their place.
    fn take_inlined(&mut self, inlined: &mut Vec<(SymbolId, Self)>) {
        for (_, record) in self.positions.iter_mut() {
            for (callee, body) in core::mem::take(&mut record.inlined) {
                let calls = record.targets.entry(callee).or_default();
                *calls = calls.saturating_add(body.entries());
                inlined.push((callee, body));
            }
            if record.count.is_none() {
                record.count =
                    Some(record.targets.values().fold(0, |sum, c| c.saturating_add(sum)));
            }
        }
    }

    /// How often the body was entered, as far as one can tell.
    pub fn entries(&self) -> u64 {
        let first = self.positions.values().next();
        first.map_or(0, |record| match record.count {
            Some(count) => count,
            None => {
                let inlined = record.inlined.values().map(Self::entries);
                let calls = record.targets.values().copied();
                inlined.chain(calls).fold(0, u64::saturating_add)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Position;

    /// `f` has 10 on line 1; line 2 calls `g` 3 times and has `g` inlined, 7 and 0 on its lines.
    fn profile() -> (Profile, SymbolId, SymbolId) {
        let mut profile = Profile::default();
        let [f, g] = [b"f.llvm.1", b"g.llvm.2"].map(|name| profile.symbols.symbol(name, None));
        let count = |count| Record { count: Some(count), ..Record::default() };
        let mut inlined = Body::default();
        inlined.positions.insert(Position::line(1), count(7));
        inlined.positions.insert(Position::line(2), count(0));
        let mut function = Function { head_count: 10, ..Function::default() };
        function.body.positions.insert(Position::line(1), count(10));
        let targets = [(g, 3)].into_iter().collect();
        let inlined = [(g, inlined)].into_iter().collect();
        let call = Record { targets, inlined, ..Record::default() };
        function.body.positions.insert(Position::line(2), call);
        profile.add(f, function);
        (profile, f, g)
    }

    #[test]
    fn scaled_counts_are_rounded_and_stay_executed() {
        let factor = |numerator, denominator| Factor { numerator, denominator };
        for (count, by, expected) in [
            (10, factor(1, 4), 3),
            (10, factor(3, 1), 30),
            (1, factor(1, 1000), 1),
            (0, factor(1, 1000), 0),
            (9, factor(0, 1), 0),
            (u64::MAX, factor(2, 1), u64::MAX),
            (u64::MAX, factor(1, 1), u64::MAX),
        ] {
            assert_eq!(by.apply(count), expected, "{count} {by:?}");
        }
    }

    #[test]
    fn zeros_are_dropped() {
        let (mut profile, f, g) = profile();
        let all = profile.functions[&f].body.total();
        profile.add(g, Function::default());
        profile.drop_zeros();
        assert_eq!(profile.functions.len(), 1);
        let call = &profile.functions[&f].body.positions[&Position::line(2)];
        assert_eq!(call.inlined[&g].positions.len(), 1);
        assert_eq!(profile.functions[&f].body.total(), all);
    }

    #[test]
    fn inlined_bodies_without_counts_are_pruned() {
        let (mut profile, f, g) = profile();
        let warm = profile.clone();
        profile.prune_cold_inlined();
        assert_eq!(profile.functions, warm.functions);
        profile.scale(Factor { numerator: 0, denominator: 1 });
        profile.prune_cold_inlined();
        let call = &profile.functions[&f].body.positions[&Position::line(2)];
        assert!(!call.inlined.contains_key(&g) && call.targets.contains_key(&g));
    }

    #[test]
    fn flattened_bodies_are_called() {
        let (mut profile, f, g) = profile();
        profile.flatten();
        let call = &profile.functions[&f].body.positions[&Position::line(2)];
        assert_eq!((call.count, call.targets[&g]), (Some(10), 10));
        assert_eq!((profile.functions[&g].head_count, profile.functions[&g].body.total()), (7, 7));
    }

    #[test]
    fn hot_functions_are_kept() {
        let (mut profile, f, g) = profile();
        let mut cold = Function::default();
        cold.body.positions.entry(Position::line(1)).or_default().count = Some(3);
        profile.add(g, cold);
        let mut whole = profile.clone();
        whole.keep_hot(1_000_000);
        assert_eq!(whole.functions.len(), 2);
        profile.keep_hot(850_000);
        assert_eq!(profile.functions.keys().collect::<Vec<_>>(), [&f]);
    }

    #[test]
    fn functions_without_a_name_are_dropped() {
        let (mut profile, f, _) = profile();
        assert_eq!(profile.drop_unnamed(), 0);
        profile.rename(|name| if name[0] == b'g' { b"g\0".to_vec() } else { name.to_vec() });
        assert_eq!(profile.drop_unnamed(), 2);
        let call = &profile.functions[&f].body.positions[&Position::line(2)];
        assert!(call.targets.is_empty() && call.inlined.is_empty());
        let file = profile.symbols.file(b"");
        let nowhere = profile.symbols.symbol(b"h", Some(file));
        profile.add(nowhere, Function::default());
        assert_eq!((profile.drop_unnamed(), profile.functions.len()), (1, 1));
    }

    #[test]
    fn renamed_functions_are_added() {
        let (mut profile, ..) = profile();
        profile.rename(|_| b"one".to_vec());
        let (&symbol, one) = profile.functions.first_key_value().unwrap();
        assert_eq!(profile.symbols.name(symbol), b"one");
        assert_eq!(one.body.positions[&Position::line(2)].targets[&symbol], 3);
        profile.rename(|_| Vec::new());
        assert_eq!(profile.symbols.name(*profile.functions.keys().next().unwrap()), b"one");
    }

    #[test]
    fn functions_of_renamed_files_are_added() {
        let mut profile = Profile::default();
        for path in [b"old/a.c", b"new/a.c"] {
            let file = profile.symbols.file(path);
            let f = profile.symbols.symbol(b"f", Some(file));
            profile.add(f, Function { head_count: 2, ..Function::default() });
        }
        profile.rename_files(|path| [b"new", &path[3..]].concat());
        let (&f, function) = profile.functions.first_key_value().unwrap();
        assert_eq!(profile.symbols.declared_in(f), Some(b"new/a.c".as_slice()));
        assert_eq!((profile.functions.len(), function.head_count), (1, 4));
    }
}
