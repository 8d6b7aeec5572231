//! Which line of a text became which.
//!
//! Lines that are equal and unique in both texts are the same ones, in the longest order that both have (patience
//! diff). Between two of them the search begins anew. For example, of the lines `a b } c }` and `a x } c d }` it pairs
//! `a` and `c` first, and then the braces around them; `b` became `x`, or is gone.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

/// More pairs of lines without a unique one are not compared.
const MOST_PAIRS: usize = 1 << 16;

/// Pairs of equal lines, in order. Lines are known by hashes.
pub fn pairs(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = vec![(0..old.len(), 0..new.len())];
    while let Some((mut rows, mut columns)) = open.pop() {
        while !rows.is_empty() && !columns.is_empty() && old[rows.start] == new[columns.start] {
            found.push((rows.start, columns.start));
            (rows.start, columns.start) = (rows.start + 1, columns.start + 1);
        }
        while !rows.is_empty() && !columns.is_empty() && old[rows.end - 1] == new[columns.end - 1] {
            (rows.end, columns.end) = (rows.end - 1, columns.end - 1);
            found.push((rows.end, columns.end));
        }
        if rows.is_empty() || columns.is_empty() {
            continue;
        }
        let anchors = anchors(old, new, rows.clone(), columns.clone());
        if anchors.is_empty() {
            found.extend(longest(old, new, rows, columns));
            continue;
        }
        let (mut row, mut column) = (rows.start, columns.start);
        for (anchor_row, anchor_column) in anchors {
            open.push((row..anchor_row, column..anchor_column));
            found.push((anchor_row, anchor_column));
            (row, column) = (anchor_row + 1, anchor_column + 1);
        }
        open.push((row..rows.end, column..columns.end));
    }
    found.sort_unstable();
    found
}

/// Lines that are unique in both ranges, in the longest order that both have.
fn anchors(
    old: &[u64],
    new: &[u64],
    rows: Range<usize>,
    columns: Range<usize>,
) -> Vec<(usize, usize)> {
    let unique = |text: &[u64], range: Range<usize>| {
        let mut places = HashMap::<u64, Option<usize>>::new();
        for place in range {
            places.entry(text[place]).and_modify(|known| *known = None).or_insert(Some(place));
        }
        places
    };
    let (rows, columns) = (unique(old, rows), unique(new, columns));
    let both = rows.iter().filter_map(|(line, row)| Some(((*row)?, (*columns.get(line)?)?)));
    let mut both: Vec<(usize, usize)> = both.collect();
    both.sort_unstable();
    ascending(&both)
}

/// The longest part of pairs, sorted by row, whose columns ascend.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the least column that ends such a part; and the pair before each pair.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (number, &(_, column)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < column);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        ends.truncate(ends.len().max(length));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut next = ends.last().copied();
    let mut part = Vec::new();
    while let Some(number) = next {
        part.push(pairs[number]);
        next = before[number];
    }
    part.reverse();
    part
}

/// The longest common part of two ranges, if they are small.
fn longest(
    old: &[u64],
    new: &[u64],
    rows: Range<usize>,
    columns: Range<usize>,
) -> Vec<(usize, usize)> {
    let (height, width) = (rows.len(), columns.len());
    if height.saturating_mul(width) > MOST_PAIRS {
        return Vec::new();
    }
    let is_same = |row: usize, column: usize| old[rows.start + row] == new[columns.start + column];
    let mut lengths = vec![vec![0u32; width + 1]; height + 1];
    for row in (0..height).rev() {
        for column in (0..width).rev() {
            lengths[row][column] = match is_same(row, column) {
                true => lengths[row + 1][column + 1] + 1,
                false => lengths[row + 1][column].max(lengths[row][column + 1]),
            };
        }
    }
    let (mut row, mut column, mut found) = (0, 0, Vec::new());
    while row < height && column < width {
        if is_same(row, column) {
            found.push((rows.start + row, columns.start + column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[row + 1][column] >= lengths[row][column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn paired(old: &str, new: &str) -> String {
        let lines = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        let pairs = pairs(&old, &new);
        assert!(pairs.is_sorted() && pairs.windows(2).all(|two| two[0].1 < two[1].1), "{pairs:?}");
        pairs
            .iter()
            .map(|&(row, column)| {
                assert_eq!(old[row], new[column]);
                char::from(old[row] as u8)
            })
            .collect()
    }

    #[test]
    fn equal_lines_are_paired_in_order() {
        assert_eq!(paired("ab}c}", "ax}cd}"), "a}c}");
        assert_eq!(paired("abc", "abc"), "abc");
        assert_eq!(paired("", "abc"), "");
        assert_eq!(paired("}}a}}", "}a}"), "}a}");
        assert_eq!(paired("abcde", "eabcd"), "abcd");
        assert_eq!(paired("xaayaa", "aazaa"), "aaaa");
    }
}
