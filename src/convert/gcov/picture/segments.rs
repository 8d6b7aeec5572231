//! The blocks of each copy of a function that was inlined several times.
//!
//! The compiler copies a function's blocks together, so the blocks of one copy have numbers between those of the copies
//! before and behind it. A line that has equally many blocks in each copy tells where the copies' numbers are. That also
//! holds for lines where the copies differ, because the compiler has removed blocks of some of them.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::long_lines::is_long;
use super::pairing::{Count, Key};
use super::{Lines, Painter};
use crate::convert::gcov::counted::Line;
use crate::profile::SymbolId;

/// The numbers of a copy's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    chain: u32,
    /// Empty as long as nothing is known.
    blocks: Range<u32>,
}

/// The blocks of a line by copies.
#[derive(Debug, Default)]
pub struct Segmented {
    /// Each copy, and its place among the lines.
    pub copies: Vec<(u32, Range<usize>)>,
    pub lines: Vec<Line>,
}

/// For each function with several copies: the segments of the copies, in their order.
#[derive(Debug, Default)]
pub struct Segments(HashMap<SymbolId, Vec<Segment>>);

impl Painter<'_, '_> {
    /// Finds the segments of copies by the lines that have equally many blocks in each.
    pub fn segments(&self, of_function: &[Line], found: &Lines) -> Segments {
        let mut segments = Segments::default();
        for (chain, of) in (0..).zip(&self.picture.chains).skip(1) {
            let copies = segments.0.entry(of.symbol).or_default();
            copies.push(Segment { chain, blocks: 0..0 });
        }
        segments.0.retain(|_, copies| copies.len() > 1);
        if segments.0.is_empty() {
            return segments;
        }
        for (places, keys) in &found.seen {
            let (lines, keys) = (&of_function[places.clone()], &found.keys[keys.clone()]);
            let Some(symbol) = self.only_function(keys) else { continue };
            if let Some(copies) = segments.0.get_mut(&symbol) {
                let entries =
                    lines.partition_point(|line| line.block >= self.function.notes.blocks);
                add(&lines[entries..], copies);
            }
        }
        let are_apart = |copies: &[Segment]| {
            copies.windows(2).all(|pair| pair[0].blocks.end <= pair[1].blocks.start)
        };
        segments.0.retain(|_, copies| !copies[0].blocks.is_empty() && are_apart(copies));
        segments
    }

    /// Which blocks of a line each copy has. There is no answer if the pieces of the line contradict it.
    pub fn segmented(
        &self,
        segments: &Segments,
        lines: &[Line],
        keys: &[Key],
    ) -> Option<Segmented> {
        let copies = segments.0.get(&self.only_function(keys)?)?;
        if is_long(keys.len(), lines.len()) {
            return None;
        }
        let copy_of = |line: &Line| {
            let number = self.number_of(line);
            let place = copies.partition_point(|copy| copy.blocks.end <= number);
            let copy = copies.get(place).filter(|copy| copy.blocks.contains(&number))?;
            Some((copy.chain, *line))
        };
        let mut by_copy: Vec<(u32, Line)> = lines.iter().map(copy_of).collect::<Option<_>>()?;
        by_copy.sort_by_key(|&(chain, _)| chain);
        let mut segmented = Segmented::default();
        for of_copy in by_copy.chunk_by(|a, b| a.0 == b.0) {
            let first = segmented.lines.len();
            segmented.lines.extend(of_copy.iter().map(|&(_, line)| line));
            segmented.copies.push((of_copy[0].0, first..segmented.lines.len()));
        }
        keys.iter().all(|key| self.agrees(key, &segmented)).then_some(segmented)
    }

    /// Whether the copy of a piece has a block that was executed as often.
    fn agrees(&self, key: &Key, segmented: &Segmented) -> bool {
        let chain = key.spot.chain;
        let found = segmented.copies.binary_search_by_key(&chain, |&(chain, _)| chain);
        let Ok(place) = found else { return false };
        match key.count {
            Count::Exactly(count) => {
                let lines = &segmented.lines[segmented.copies[place].1.clone()];
                lines.iter().any(|line| self.count(line) == count)
            }
            _ => true,
        }
    }

    /// The function that all these pieces are inlined copies of.
    fn only_function(&self, keys: &[Key]) -> Option<SymbolId> {
        let symbol = |key: &Key| match key.spot.chain {
            0 => None,
            chain => Some(self.picture.chains[chain as usize].symbol),
        };
        let first = symbol(&keys[0])?;
        keys.iter().all(|key| symbol(key) == Some(first)).then_some(first)
    }
}

/// Extends the segments of copies by a line, if each copy may have equally many of its blocks.
fn add(lines: &[Line], copies: &mut [Segment]) {
    if lines.is_empty() || !lines.len().is_multiple_of(copies.len()) {
        return;
    }
    let size = lines.len() / copies.len();
    for (copy, lines) in copies.iter_mut().zip(lines.chunks(size)) {
        let its = lines[0].block..lines[size - 1].block + 1;
        copy.blocks = match copy.blocks.is_empty() {
            true => its,
            false => copy.blocks.start.min(its.start)..copy.blocks.end.max(its.end),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Symbols;

    #[test]
    fn lines_with_equally_many_blocks_in_each_copy() {
        let file = Symbols::default().file(b"a.c");
        let lines = |blocks: &[u32]| -> Vec<Line> {
            blocks.iter().map(|&block| Line { file, line: 1, block }).collect()
        };
        let mut copies = [1, 2].map(|chain| Segment { chain, blocks: 0..0 });
        add(&lines(&[4, 5, 19]), &mut copies);
        assert!(copies[0].blocks.is_empty());
        add(&lines(&[4, 19]), &mut copies);
        add(&lines(&[3, 9, 17, 18]), &mut copies);
        assert_eq!(copies.map(|copy| copy.blocks), [3..10, 17..20]);
    }
}
