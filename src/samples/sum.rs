//! Sums of many records or bodies at once. To add them one by one would move the later positions each time, and take
//! quadratic time if the positions descend.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use litemap::LiteMap;
use litemap::store::Store;

use super::{Body, Record, Site};
use crate::profile::{Map, SymbolId};

/// The map of entries in any order. `sum` makes one value of those with the same key, which keep their order.
pub fn map<K: Ord, V, S: Store<K, V> + From<Vec<(K, V)>>>(
    entries: Vec<(K, V)>,
    sum: impl Fn(Vec<V>) -> V,
) -> LiteMap<K, V, S> {
    if ascends(&entries) {
        return LiteMap::from_sorted_store_unchecked(entries.into());
    }
    let groups = groups(entries).into_iter();
    let entries =
        groups.map(|(key, mut values)| (key, alone(&mut values).unwrap_or_else(|| sum(values))));
    LiteMap::from_sorted_store_unchecked(entries.collect::<Vec<_>>().into())
}

/// Whether no key stands twice or after a larger one.
pub fn ascends<K: Ord, V>(entries: &[(K, V)]) -> bool {
    entries.is_sorted_by(|(a, _), (b, _)| a < b)
}

/// The values of each key. What sums bodies within bodies goes through these in a loop: each level of iterators would
/// need more of the stack.
pub fn groups<K: Ord, V>(mut entries: Vec<(K, V)>) -> Vec<(K, Vec<V>)> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut groups: Vec<(K, Vec<V>)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        match groups.last_mut().filter(|(last, _)| *last == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The only value, if there is only one.
pub fn alone<V>(values: &mut Vec<V>) -> Option<V> {
    if values.len() == 1 { values.pop() } else { None }
}

/// The sum of counts.
pub fn counts(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

impl Record {
    /// The sum of records.
    pub fn sum_of(records: Vec<Self>) -> Self {
        let count = counts(records.iter().map(|record| record.count));
        let targets = records.into_iter().flat_map(|record| record.targets);
        Self { count, targets: map(targets.collect(), counts) }
    }
}

impl Body {
    /// The sum of bodies, with the first checksum that is not 0.
    pub fn sum_of(mut bodies: Vec<Self>) -> Self {
        let mut sum = Self::sum_without_copies(&mut bodies);
        let mut inlined = Vec::new();
        for (place, mut bodies) in groups(copies(bodies)) {
            let body = match alone(&mut bodies) {
                Some(body) => body,
                None => Self::sum_of(bodies),
            };
            inlined.push((place, body));
        }
        inlined.shrink_to_fit();
        sum.inlined = Map::from_sorted_store_unchecked(inlined);
        sum
    }

    fn sum_without_copies(bodies: &mut [Self]) -> Self {
        let all = |number: fn(&Self) -> u64| counts(bodies.iter().map(number));
        let (head, total) = (all(|body| body.head), all(|body| body.total));
        let checksum = bodies.iter().map(|body| body.checksum).find(|&checksum| checksum != 0);
        let attributes = bodies.iter().fold(0, |all, body| all | body.attributes);
        let records = bodies.iter_mut().flat_map(|body| mem::take(&mut body.records));
        let records = map(records.collect(), Record::sum_of);
        let checksum = checksum.unwrap_or(0);
        Self { head, total, checksum, attributes, records, ..Self::default() }
    }
}

fn copies(bodies: Vec<Body>) -> Vec<((Site, SymbolId), Body)> {
    bodies.into_iter().flat_map(|body| body.inlined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Symbols;

    #[test]
    fn all_at_once_or_one_by_one() {
        let mut symbols = Symbols::default();
        let [f, g] = [b"f".as_slice(), b"g"].map(|name| symbols.symbol(name, None));
        let record =
            |calls: [(_, u64); 2]| Record { count: 3, targets: calls.into_iter().collect() };
        let body = |line: u32, checksum, inlined: Option<Body>| Body {
            head: u64::MAX - 1,
            total: line.into(),
            checksum,
            attributes: 1 << line,
            records: [(Site::line(line), record([(f, 1), (g, u64::MAX)]))].into_iter().collect(),
            inlined: inlined.map(|body| ((Site::line(9), g), body)).into_iter().collect(),
        };
        let bodies = vec![
            body(3, 0, None),
            body(2, 7, Some(body(5, 0, None))),
            body(3, 8, Some(body(4, 1, None))),
            body(1, 0, Some(body(5, 2, None))),
        ];
        let mut one_by_one = bodies[0].clone();
        bodies[1..].iter().for_each(|body| one_by_one.add(body));
        assert_eq!(Body::sum_of(bodies), one_by_one);
        assert_eq!(one_by_one.records.len(), 3);
    }
}
