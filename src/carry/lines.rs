//! What became of the lines of a function.
//!
//! | what is known | rule | example |
//! |---|---|---|
//! | the text of both functions | A line of the same text is the same one, in order. | two lines were added before `less(a, b);`, so it stands two lines further down |
//! | | A line that was edited is the one that makes its calls, or else the next one, between two lines that are the same. | `if (less(a, b))` became `if (n > 1 && less(a, b))` |
//! | their code alone | The pattern of lines with code, calls and discriminators explains the other one with the fewest gaps: see [`alignment`](crate::staleness::alignment). | lines 2, 3, 5 and 8 had code, and line 5 called `less`; now lines 2, 3, 8 and 11 have code, and line 8 calls `less` |
//!
//! Texts are known where the sources of both programs are there.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::iter::repeat;
use core::ops::Range;

use super::texts::pairs;
use crate::staleness::alignment::{Fate, align};
use crate::staleness::outline::{Knows, Line, Shape};

/// Where each line of a function is now, by distance; `None` for those that are gone.
pub type Lines = BTreeMap<i64, Option<i64>>;

/// Aligns the lines of the old function with those of the new one.
pub fn lines(old: &Shape, new: &Shape, knows: Knows) -> Lines {
    if !old.texts.is_empty() && !new.texts.is_empty() {
        return by_text(old, new);
    }
    if new.lines.is_empty() {
        return unchanged(old);
    }
    let place = |(line, fate)| match fate {
        Fate::Same | Fate::Open(_) => (line, Some(line)),
        Fate::Moved(by) => (line, Some(line + by)),
        Fate::Gone => (line, None),
    };
    align(old, new, knows).into_iter().map(place).collect()
}

/// The lines with code that have no counterpart in the old function.
pub fn added(lines: &Lines, new: &Shape) -> BTreeSet<i64> {
    let known: BTreeSet<i64> = lines.values().copied().flatten().collect();
    new.lines.range(1..).map(|(&line, _)| line).filter(|line| !known.contains(line)).collect()
}

/// All lines are where they were.
pub fn unchanged(old: &Shape) -> Lines {
    old.lines.keys().map(|&line| (line, Some(line))).collect()
}

/// Aligns lines by their texts. Lines before the declaration stay, and those behind the texts move with the last one.
pub(super) fn by_text(old: &Shape, new: &Shape) -> Lines {
    let same: BTreeMap<i64, i64> = pairs(&old.texts, &new.texts)
        .into_iter()
        .map(|(row, column)| (row as i64, column as i64))
        .collect();
    let end = old.texts.len() as i64;
    let (mut from, mut into) = (1, 1);
    let mut lines: Lines = old.lines.range(..=0).map(|(&line, _)| (line, Some(line))).collect();
    let last = (end, new.texts.len() as i64);
    let pairs = same.range(1..).map(|(&row, &column)| (row, column)).chain([last]);
    for (row, column) in pairs.filter(|&(_, column)| column >= 1) {
        edited(old, new, from..row, into..column, &mut lines);
        if row < end && old.lines.contains_key(&row) {
            lines.insert(row, Some(column));
        }
        (from, into) = (row + 1, column + 1);
    }
    let behind = old.lines.range(end.max(1)..);
    lines.extend(behind.map(|(&line, _)| (line, Some(line + last.1 - last.0))));
    lines
}

/// Pairs lines with code between two that are the same: those that make the same calls, and those between them in
/// order.
fn edited(old: &Shape, new: &Shape, rows: Range<i64>, columns: Range<i64>, lines: &mut Lines) {
    let within = |shape: &'_ Shape, range: Range<i64>| -> Vec<(i64, Line)> {
        match range.is_empty() {
            true => Vec::new(),
            false => shape.lines.range(range).map(|(&at, line)| (at, line.clone())).collect(),
        }
    };
    let (rows, columns) = (within(old, rows), within(new, columns));
    let (mut row, mut column) = (0, 0);
    while row < rows.len() {
        let calling = next_call(&rows[row..], &columns[column..]);
        let (until, to) =
            calling.map_or((rows.len(), columns.len()), |(a, b)| (row + a, column + b));
        let now = columns[column..to].iter().map(|&(at, _)| Some(at)).chain(repeat(None));
        lines.extend(rows[row..until].iter().map(|&(line, _)| line).zip(now));
        if calling.is_some() {
            lines.insert(rows[until].0, Some(columns[to].0));
        }
        (row, column) = (until + 1, (to + 1).min(columns.len()));
    }
}

/// The first line that makes a call that a new line makes, too, and that line.
fn next_call(rows: &[(i64, Line)], columns: &[(i64, Line)]) -> Option<(usize, usize)> {
    rows.iter().enumerate().find_map(|(row, (_, line))| {
        let makes_them = |(_, now): &(i64, Line)| !now.calls.is_disjoint(&line.calls);
        Some((row, columns.iter().position(makes_them)?))
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const KNOWS: Knows = Knows { calls: true, profile_is_whole: true };

    /// A function whose lines are letters; a capital letter is a line that calls the function of that name.
    fn shape(text: &str) -> Shape {
        let texts = text.bytes().map(u64::from).collect();
        let mut shape = Shape { texts, ..Shape::default() };
        for (distance, letter) in (0..).zip(text.bytes()).filter(|(_, letter)| *letter != b' ') {
            let line = shape.line(distance);
            line.calls.extend(letter.is_ascii_uppercase().then(|| vec![letter]));
        }
        shape
    }

    fn places(old: &Shape, new: &Shape) -> Vec<(i64, Option<i64>)> {
        lines(old, new, KNOWS).into_iter().collect()
    }

    #[test]
    fn lines_of_the_same_text_are_the_same() {
        let (old, new) = (shape("fabc"), shape("fab  c"));
        let expected = [(0, Some(0)), (1, Some(1)), (2, Some(2)), (3, Some(5))];
        assert_eq!(places(&old, &new), expected);
        assert_eq!(places(&old, &old), places(&old, &shape("fabcd")));
    }

    #[test]
    fn an_edited_line_is_the_one_that_makes_its_calls_or_the_next_one() {
        let (old, mut new) = (shape("fa bQ c"), shape("fa xyzQ c"));
        // The text of the call has changed, too.
        new.texts[6] = 1;
        let expected = [(0, 0), (1, 1), (3, 3), (4, 6), (6, 8)].map(|(old, new)| (old, Some(new)));
        assert_eq!(places(&old, &new), expected);
        assert_eq!(places(&shape("fabc"), &shape("fac"))[2], (2, None));
    }

    #[test]
    fn without_texts_calls_and_code_tell() {
        let without = |text| Shape { texts: Vec::new(), ..shape(text) };
        let (old, new) = (without("fab dQ gh Ri"), without("fab   dQ gh Ri"));
        assert_eq!(places(&old, &new)[4], (5, Some(7)));
    }

    #[test]
    fn lines_before_and_behind_the_texts_stay_and_move() {
        let (mut old, new) = (shape("fab"), shape("f ab"));
        old.line(-1);
        old.line(7);
        let expected = [(-1, -1), (0, 0), (1, 2), (2, 3), (7, 8)];
        assert_eq!(places(&old, &new), expected.map(|(old, new)| (old, Some(new))));
    }
}
