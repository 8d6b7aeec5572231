//! Lines that went to a new function.
//!
//! A line that its function does not have any more may stand in a function that is new: someone split the old one. For
//! example, the lines of `call` that prepare a frame stand in `prepare` now, which the old program did not have, and
//! `call` calls it. A new function takes lines of the old function that has most of its text. It needs a fair share of
//! its own lines from there, since lines such as `return 0;` stand in many functions.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::lines::by_text;
use super::texts::pairs;
use crate::staleness::outline::Shape;

/// Least share of a new function's lines with code that come from the old function.
const LEAST_SHARE: f64 = 0.25;
/// Fewer lines do not show a split.
const FEWEST: usize = 2;

/// An old function, and which of its lines are gone.
pub struct Loser<'s, K> {
    /// What it is known by.
    pub key: K,
    /// Its lines.
    pub shape: &'s Shape,
    /// Those that are gone.
    pub gone: BTreeSet<i64>,
}

/// Where lines went: for a loser, the new function by its index, and the line there.
pub type Moves<K> = BTreeMap<K, BTreeMap<i64, (usize, i64)>>;

/// Finds the lines that went to new functions.
pub fn moves<K: Copy + Ord>(losers: &[Loser<'_, K>], new: &[&Shape]) -> Moves<K> {
    let mut candidates = Vec::new();
    for (number, shape) in new.iter().enumerate() {
        let texts: BTreeSet<u64> = shape.texts.iter().copied().collect();
        for loser in losers {
            let found = went(loser, &texts, shape);
            let share = found.len() as f64 / shape.lines.len().max(1) as f64;
            if found.len() >= FEWEST && share >= LEAST_SHARE {
                candidates.push((share, number, loser.key, found));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut moves, mut taken) = (Moves::new(), BTreeSet::new());
    for (_, number, key, found) in candidates {
        let of: &mut BTreeMap<_, _> = moves.entry(key).or_default();
        for (line, now) in found {
            if !of.contains_key(&line) && taken.insert((number, now)) {
                of.insert(line, (number, now));
            }
        }
    }
    moves
}

/// The lines of a loser that stand in a new function, with code in both.
fn went<K>(loser: &Loser<'_, K>, texts: &BTreeSet<u64>, new: &Shape) -> Vec<(i64, i64)> {
    let old = loser.shape;
    let text = |line: &i64| old.texts.get(usize::try_from(*line).ok()?);
    let is_there = |line: &&i64| text(line).is_some_and(|text| texts.contains(text));
    if loser.gone.iter().filter(is_there).count() < FEWEST {
        return Vec::new();
    }
    let same = pairs(&old.texts, &new.texts).into_iter();
    let same = same.map(|(row, column)| (row as i64, column as i64));
    let same: Vec<(i64, i64)> = same
        .filter(|(row, column)| loser.gone.contains(row) && new.lines.contains_key(column))
        .collect();
    let (Some(&(first, _)), Some(&(last, _))) = (same.first(), same.last()) else { return same };
    // Between these, lines may have been edited.
    let lines = by_text(old, new).into_iter();
    let between =
        lines.filter(|(line, _)| (first..=last).contains(line) && loser.gone.contains(line));
    between.filter_map(|(line, now)| Some((line, now?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        let texts: Vec<u64> = text.bytes().map(u64::from).collect();
        let mut shape = Shape { texts, ..Shape::default() };
        (0..text.len() as i64).for_each(|line| _ = shape.line(line));
        shape
    }

    #[test]
    fn lines_go_to_the_new_function_that_has_them() {
        let (old, split, other) = (shape("fabcdefgh"), shape("pcdez"), shape("qrstuvwxyzh"));
        let gone = BTreeSet::from([3, 4, 5, 8]);
        let loser = Loser { key: "f", shape: &old, gone };
        let moves = moves(&[loser], &[&other, &split]);
        let expected = BTreeMap::from([(3, (1, 1)), (4, (1, 2)), (5, (1, 3))]);
        assert_eq!(moves, BTreeMap::from([("f", expected)]));
    }
}
