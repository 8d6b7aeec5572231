//! The regions of a mapping, and their decoding. [`counter`](super::counter) has the values of their counts.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Indexed, Part};
use super::counter::Counter;
use super::numbers::Numbers;

/// A region of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// What it is.
    pub kind: Kind,
    /// Its executions; of a condition, how often it was true.
    pub count: Counter,
    /// Its file: place in [`Function::files`](super::Function::files).
    pub file: u32,
    /// Its first character.
    pub start: Place,
    /// The character behind its last.
    pub end: Place,
}

/// A character of a file. Both numbers start at 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The byte in the line.
    pub column: u32,
}

/// Kinds of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Code.
    Code,
    /// The use of a macro, or an inclusion. Its text is the file with this number.
    Expansion(u32),
    /// Code that the preprocessor skipped.
    Skipped,
    /// A gap between code. A line takes its count only if no other region counts the line.
    Gap,
    /// A branch, with the counter of its not being taken.
    Branch(Counter),
    /// A decision of several conditions, for MC/DC.
    Decision {
        /// Index in the bitmap.
        bitmap: u32,
        /// Number of conditions.
        conditions: u32,
    },
    /// A condition of a decision, with the counter of its being false.
    Condition(Counter, Condition),
}

/// The place of a condition in its decision. A number of 0 means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its number.
    pub number: u32,
    /// The condition that is evaluated next if this one is true.
    pub if_true: u32,
    /// The condition that is evaluated next if this one is false.
    pub if_false: u32,
}

/// Fewest bytes of a region.
const SMALLEST: usize = 5;
const GAP: u32 = 1 << 31;
const EXPANSION: u64 = 1 << 2;

/// Reads the regions of all files.
pub fn regions(numbers: &mut Numbers<'_>, files: usize) -> Result<Vec<Region>, Finding> {
    let mut regions = Vec::new();
    for file in 0..files {
        let number = numbers.next_length(SMALLEST)?;
        regions.reserve(number);
        let mut line = 0;
        for _ in 0..number {
            regions.push(region(numbers, file as u32, files, &mut line)?);
        }
    }
    Ok(regions)
}

fn region(
    numbers: &mut Numbers<'_>,
    file: u32,
    files: usize,
    line: &mut u32,
) -> Result<Region, Finding> {
    let (kind, count) = kind(numbers, files)?;
    let start = *numbers;
    let first = line.checked_add(numbers.next_u32()?);
    let column = numbers.next_u32()?;
    let last = first.zip(Some(numbers.next_u32()?)).and_then(|(line, more)| line.checked_add(more));
    let (Some(first), Some(last)) = (first, last) else {
        return start.fail(Defect::Number(Part::Mapping));
    };
    *line = first;
    let end = numbers.next_u32()?;
    let kind = if end & GAP == 0 { kind } else { Kind::Gap };
    let (column, end) = match (column, end & !GAP) {
        (0, 0) => (1, u32::MAX),
        columns => columns,
    };
    let start = Place { line: first, column };
    Ok(Region { kind, count, file, start, end: Place { line: last, column: end } })
}

fn kind(numbers: &mut Numbers<'_>, files: usize) -> Result<(Kind, Counter), Finding> {
    let start = *numbers;
    let word = numbers.next()?;
    let count = Counter::new(word, &start)?;
    if count != Counter::Zero {
        return Ok((Kind::Code, count));
    }
    let number = word >> 3;
    if word & EXPANSION != 0 {
        return match u32::try_from(number) {
            Ok(file) if u64::from(file) < files as u64 => Ok((Kind::Expansion(file), count)),
            _ => {
                let (what, all) = (Indexed::File, files as u64);
                start.fail(Defect::Index { what, number: all, found: number })
            }
        };
    }
    let mut counter = || Counter::new(numbers.next()?, &start);
    match number {
        0 => Ok((Kind::Code, count)),
        2 => Ok((Kind::Skipped, count)),
        4 => {
            let (taken, other) = (counter()?, counter()?);
            Ok((Kind::Branch(other), taken))
        }
        5 => {
            let (bitmap, conditions) = (numbers.next_u32()?, numbers.next_u32()?);
            Ok((Kind::Decision { bitmap, conditions }, count))
        }
        6 => {
            let (taken, other) = (counter()?, counter()?);
            let [number, if_true, if_false] =
                [numbers.next_u32()?, numbers.next_u32()?, numbers.next_u32()?];
            Ok((Kind::Condition(other, Condition { number, if_true, if_false }), taken))
        }
        _ => start.fail(Defect::Kind(number)),
    }
}
