//! Converts LLVM's counters to a profile by position, so that a page has one model for both.
//!
//! The body of a function holds one body for each hash of its control flow, named after the hash. In such a body,
//! each counter is a line with the counter's number, and each site of indirect calls is a line with discriminator 1.

use std::prelude::v1::*;

use hashbrown::HashMap;

use crate::counters::summary::LEAST_PSEUDO_COUNT;
use crate::counters::{self, Function, ValueKind, file_and_symbol, name_ref};
use crate::profile::{Body, Position, Profile, SymbolId, Symbols};

/// A profile whose lines are the counters.
pub fn by_position(counted: &counters::Profile) -> Profile {
    let mut profile = Profile::default();
    let mut by_hash = HashMap::new();
    for function in &counted.functions {
        let symbol = symbol(&mut profile.symbols, &function.name);
        by_hash.insert(name_ref(&function.name), symbol);
    }
    for function in &counted.functions {
        add(&mut profile, function, &by_hash);
    }
    let trace = counted.traces.iter().max_by_key(|trace| trace.weight);
    let started = trace.into_iter().flat_map(|trace| &trace.functions);
    for (time, name) in (1..).zip(started) {
        let function = by_hash.get(name).and_then(|symbol| profile.functions.get_mut(symbol));
        if let Some(function) = function.filter(|function| function.timestamp == 0) {
            function.timestamp = time;
        }
    }
    profile
}

/// The symbol of a name.
fn symbol(symbols: &mut Symbols, name: &[u8]) -> SymbolId {
    let (file, symbol) = file_and_symbol(name);
    let file = file.map(|file| symbols.file(file));
    symbols.symbol(symbol, file)
}

fn add(profile: &mut Profile, function: &Function, by_hash: &HashMap<u64, SymbolId>) {
    let symbol = symbol(&mut profile.symbols, &function.name);
    let hash = profile.symbols.symbol(format!("{:#018x}", function.hash).as_bytes(), None);
    let unknown = profile.symbols.symbol(b"unknown", None);
    let entries = function.counters.first().copied().unwrap_or_default();
    let is_real = entries < LEAST_PSEUDO_COUNT;
    let into = profile.functions.entry(symbol).or_default();
    if is_real {
        into.head_count = into.head_count.saturating_add(entries);
    }
    let body = into.body.positions.entry(Position::line(0)).or_default();
    let body = body.inlined.entry(hash).or_default();
    for (line, &count) in (0..).zip(&function.counters).filter(|_| is_real) {
        let record = body.positions.entry(Position::line(line)).or_default();
        record.count = Some(record.count.unwrap_or_default().saturating_add(count));
    }
    targets(function, body, |value| by_hash.get(&value).copied().unwrap_or(unknown));
}

fn targets(function: &Function, body: &mut Body, target: impl Fn(u64) -> SymbolId) {
    for (line, site) in (0..).zip(&function.values[ValueKind::IndirectCall as usize]) {
        if site.values.is_empty() {
            continue;
        }
        let record = body.positions.entry(Position { line, discriminator: 1 }).or_default();
        for value in &site.values {
            let calls = record.targets.entry(target(value.value)).or_insert(0);
            *calls = calls.saturating_add(value.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Site, Trace, Value};

    fn function(name: &[u8], hash: u64, counters: &[u64]) -> Function {
        Function { name: name.into(), hash, counters: counters.into(), ..Function::default() }
    }

    #[test]
    fn counters_are_lines_below_their_hash() {
        let mut main = function(b"main", 1, &[2, 9]);
        let called = [(name_ref(b"a.c;f"), 5), (77, 3), (78, 1)];
        let values = called.map(|(value, count)| Value { value, count }).to_vec();
        main.values[ValueKind::IndirectCall as usize] = vec![Site::default(), Site { values }];
        let others = [function(b"a.c;f", 3, &[4]), function(b"main", 2, &[10])];
        let hot = function(b"hot", 4, &[u64::MAX - 1, 7]);
        let trace = Trace { weight: 1, functions: vec![name_ref(b"a.c;f"), 5, name_ref(b"main")] };
        let counted = counters::Profile {
            functions: [vec![main], others.into(), vec![hot]].concat(),
            traces: vec![Trace::default(), trace],
            ..counters::Profile::default()
        };
        let profile = by_position(&counted);
        let names: Vec<&[u8]> =
            profile.functions.keys().map(|&symbol| profile.symbols.name(symbol)).collect();
        assert_eq!(names, [b"main".as_slice(), b"f", b"hot"]);
        let functions: Vec<_> = profile.functions.iter().collect();
        let told = functions.iter().map(|(_, f)| (f.head_count, f.timestamp, f.body.total()));
        assert_eq!(told.collect::<Vec<_>>(), [(12, 3, 21), (4, 1, 4), (0, 0, 0)]);
        assert_eq!(profile.symbols.declared_in(*functions[1].0), Some(b"a.c".as_slice()));
        let bodies = &functions[0].1.body.positions[&Position::line(0)].inlined;
        let body = bodies.values().next().unwrap();
        let site = &body.positions[&Position { line: 1, discriminator: 1 }];
        let calls: Vec<_> =
            site.targets.iter().map(|(&s, &n)| (profile.symbols.name(s), n)).collect();
        assert_eq!(calls, [(b"f".as_slice(), 5), (b"unknown", 4)]);
    }
}
