//! Finds blocks for the positions of a line that has very many of both, such as a function with thousands of
//! inlined copies.
//!
//! [`Pairing::in_order`] compares each position of a copy with each block. Here it sees a few positions at once, and
//! only blocks that may suit them. Known counts are found as there; where counts leave doubt, an order across many
//! positions may be missed.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::pairing::Pairing;
use crate::placement::facts::is_long;
use crate::placement::facts::position_evidence::{Count, PositionEvidence};

/// Pieces to find blocks for at once.
const AT_ONCE: usize = 128;

/// A line with very many positions and blocks.
pub struct LongLine<'c> {
    /// The count of each block.
    counts: &'c [i64],
    /// The blocks by their counts, in order.
    by_count: Vec<(i64, usize)>,
    /// Those that no position has yet, in order.
    free: BTreeSet<usize>,
    free_by_count: BTreeSet<(i64, usize)>,
}

impl<'c> LongLine<'c> {
    /// The line whose blocks have these counts, if it is long.
    pub fn new(positions: usize, counts: &'c [i64]) -> Option<Self> {
        is_long(positions, counts.len()).then(|| Self::of(counts))
    }

    fn of(counts: &'c [i64]) -> Self {
        let free_by_count: BTreeSet<_> = counts.iter().copied().zip(0..).collect();
        let by_count = free_by_count.iter().copied().collect();
        Self { counts, by_count, free: (0..counts.len()).collect(), free_by_count }
    }

    /// The index of each position's block, for the positions of a copy. Takes these blocks.
    pub fn take(&mut self, positions: &[PositionEvidence], hint: Option<i64>) -> Vec<usize> {
        let mut found = Vec::with_capacity(positions.len());
        let mut pairing = Pairing::default();
        for positions in positions.chunks(AT_ONCE) {
            let blocks = self.suitable(positions, hint);
            let counts: Vec<i64> = blocks.iter().map(|&block| self.counts[block]).collect();
            let taken: Vec<bool> = blocks.iter().map(|block| !self.free.contains(block)).collect();
            let first = found.len();
            let places = pairing.in_order(positions, &counts, hint, Some(&taken));
            found.extend(places.iter().flatten().map(|&place| blocks[place]));
            for &block in &found[first..] {
                self.free.remove(&block);
                self.free_by_count.remove(&(self.counts[block], block));
            }
        }
        found
    }

    /// Free candidate blocks for positions of a copy, in order: as many as there are positions, and of each count that
    /// they name as many as name it. There is at least one.
    fn suitable(&self, positions: &[PositionEvidence], hint: Option<i64>) -> Vec<usize> {
        let mut named: Vec<i64> =
            positions.iter().flat_map(|position| position.others.iter()).collect();
        for position in positions {
            named.extend(match position.count {
                Count::Exactly(count) | Count::AtLeast(count) => Some(count),
                Count::Unknown => None,
            });
            named.extend(hint);
        }
        named.sort_unstable();
        let mut blocks: Vec<usize> = self.free.iter().copied().take(positions.len()).collect();
        for alike in named.chunk_by(|a, b| a == b) {
            let count = alike[0];
            let free = self.free_by_count.range((count, 0)..=(count, usize::MAX));
            blocks.extend(free.take(alike.len()).map(|&(_, block)| block));
            // Pieces may share a block.
            let first = self.by_count.partition_point(|&(other, _)| other < count);
            let first = self.by_count.get(first).filter(|(other, _)| *other == count);
            blocks.extend(first.map(|&(_, block)| block));
        }
        if blocks.is_empty() {
            return vec![0];
        }
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `if (..) a;` in copies that were executed 3, 4, 5, ... times, and `a` in each a third of that.
    #[test]
    fn copies_get_the_blocks_that_they_get_in_a_short_line() {
        let counts: Vec<i64> = (3..303).flat_map(|count| [count, count / 3]).collect();
        let mut line = LongLine::of(&counts);
        let mut taken = vec![false; counts.len()];
        for copy in 0..300 {
            let (count, hint) = (counts[2 * copy], counts[2 * copy + 1]);
            let positions = match copy % 3 {
                0 => [
                    PositionEvidence::made(0, Count::Exactly(count)),
                    PositionEvidence::made(1, Count::Exactly(hint)),
                ],
                1 => [
                    PositionEvidence::made(0, Count::AtLeast(count)),
                    PositionEvidence::made(1, Count::Exactly(hint)),
                ],
                _ => [
                    PositionEvidence::made(0, Count::Unknown),
                    PositionEvidence::made(1, Count::Exactly(hint)),
                ],
            };
            let found = line.take(&positions, Some(count));
            let mut pairing = Pairing::default();
            let in_short = pairing.in_order(&positions, &counts, Some(count), Some(&taken));
            let in_short: Vec<usize> = in_short.iter().copied().flatten().collect();
            let counts_of =
                |found: &[usize]| found.iter().map(|&at| counts[at]).collect::<Vec<_>>();
            assert_eq!(counts_of(&found), counts_of(&in_short), "copy {copy}");
            in_short.iter().for_each(|&block| taken[block] = true);
        }
    }

    /// Comparing each position with each block would take more memory than there is.
    #[test]
    fn a_copy_of_very_many_pieces() {
        let counts: Vec<i64> = (0..60_000).map(|block| block * 7919 % 60_000).collect();
        let exactly = |(place, &count)| match place % 10 {
            9 => PositionEvidence::made(place as u16, Count::Unknown),
            _ => PositionEvidence::made(place as u16, Count::Exactly(count)),
        };
        let positions: Vec<PositionEvidence> = counts.iter().enumerate().map(exactly).collect();
        let mut line = LongLine::new(positions.len(), &counts).unwrap();
        let found = line.take(&positions, None);
        assert_eq!(found, (0..60_000).collect::<Vec<_>>());
    }

    /// More positions than blocks.
    #[test]
    fn pieces_share_blocks() {
        let positions: Vec<PositionEvidence> =
            (0..300).map(|place| PositionEvidence::made(place, Count::Exactly(1))).collect();
        assert_eq!(LongLine::of(&[0, 1]).take(&positions, None), [1; 300]);
        let unknown: Vec<PositionEvidence> =
            (0..300).map(|place| PositionEvidence::made(place, Count::Unknown)).collect();
        assert_eq!(LongLine::of(&[0]).take(&unknown, None), [0; 300]);
    }
}
