//! Adds profiles.

use alloc::collections::btree_map::Entry;

use super::{Body, Function, Position, Profile, Record, SymbolId};

impl Profile {
    /// Adds another profile, with its counts multiplied by `weight`.
    ///
    /// Adds counts, head counts and call targets. Keeps the smallest timestamp that is not 0.
    pub fn merge(&mut self, other: &Self, weight: u64) {
        let own = self.symbols.adopt_all(&other.symbols);
        for (&symbol, function) in &other.functions {
            let function_here = self.functions.entry(own.of(symbol)).or_default();
            function_here.merge(function, weight, &mut |id| own.of(id));
        }
    }

    /// Adds a function that uses symbols of this profile.
    pub fn add(&mut self, symbol: SymbolId, function: Function) {
        match self.functions.entry(symbol) {
            Entry::Vacant(place) => _ = place.insert(function),
            Entry::Occupied(known) => known.into_mut().add(&function, 1),
        }
    }

    /// Replaces the functions' symbols by others, and adds what becomes equal.
    pub(super) fn replace_symbols(&mut self, of: impl Fn(SymbolId) -> SymbolId) {
        for (symbol, function) in core::mem::take(&mut self.functions) {
            let own = self.functions.entry(of(symbol)).or_default();
            own.merge(&function, 1, &mut |symbol| of(symbol));
        }
    }
}

impl Function {
    /// Adds another function of the same profile, with its counts multiplied by `weight`.
    pub fn add(&mut self, other: &Self, weight: u64) {
        self.merge(other, weight, &mut |symbol| symbol);
    }

    pub(super) fn merge(
        &mut self,
        other: &Self,
        weight: u64,
        adopt: &mut impl FnMut(SymbolId) -> SymbolId,
    ) {
        add(&mut self.head_count, other.head_count, weight);
        self.timestamp = match (self.timestamp, other.timestamp) {
            (0, timestamp) | (timestamp, 0) => timestamp,
            (a, b) => a.min(b),
        };
        self.body.merge(&other.body, weight, adopt);
    }
}

impl Body {
    /// Adds what is known about a position.
    pub fn add_record(&mut self, position: Position, record: Record) {
        match self.positions.get_mut(&position) {
            Some(known) => known.merge(&record, 1, &mut |symbol| symbol),
            None => _ = self.positions.insert(position, record),
        }
    }

    fn merge(&mut self, other: &Self, weight: u64, adopt: &mut impl FnMut(SymbolId) -> SymbolId) {
        for (&position, record) in &other.positions {
            self.positions.entry(position).or_default().merge(record, weight, adopt);
        }
    }
}

impl Record {
    /// Adds a body of the same profile that was inlined here.
    pub fn inline(&mut self, callee: SymbolId, body: Body) {
        match self.inlined.get_mut(&callee) {
            Some(known) => known.merge(&body, 1, &mut |symbol| symbol),
            None => _ = self.inlined.insert(callee, body),
        }
    }

    fn merge(&mut self, other: &Self, weight: u64, adopt: &mut impl FnMut(SymbolId) -> SymbolId) {
        if let Some(count) = other.count {
            add(self.count.get_or_insert(0), count, weight);
            self.is_estimate |= other.is_estimate;
        }
        for (&target, &count) in &other.targets {
            add(self.targets.entry(adopt(target)).or_default(), count, weight);
        }
        add(&mut self.target_error, other.target_error, weight);
        for (&callee, body) in &other.inlined {
            let callee = adopt(callee);
            self.inlined.entry(callee).or_default().merge(body, weight, adopt);
        }
    }
}

fn add(sum: &mut u64, count: u64, weight: u64) {
    *sum = sum.saturating_add(count.saturating_mul(weight));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(head_count: u64, timestamp: u64, count: u64, calls: u64) -> Profile {
        let mut profile = Profile::default();
        let file = profile.symbols.file(b"a.c");
        let (f, g) = (profile.symbols.symbol(b"f", Some(file)), profile.symbols.symbol(b"g", None));
        let mut function = Function { head_count, timestamp, ..Function::default() };
        let record = function.body.positions.entry(Position::line(1)).or_default();
        record.count = Some(count);
        record.targets.insert(g, calls);
        record.inlined.entry(g).or_default();
        profile.functions.insert(f, function);
        profile
    }

    #[test]
    fn everything_is_added_and_the_first_execution_stays() {
        let mut sum = profile(1, 0, 10, 4);
        sum.merge(&profile(2, 7, 20, 5), 3);
        sum.merge(&profile(1, 9, 1, 1), 1);
        assert_eq!(sum.functions, profile(8, 7, 71, 20).functions);
    }
}
