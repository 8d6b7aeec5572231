//! Finds the block of each position of a line: first by executions, then by order.
//!
//! Compilers mostly number the blocks of a line in the order in which they lay them out.

use alloc::vec::Vec;

use crate::placement::facts::position_evidence::{Count, PositionEvidence};

/// Cost of giving a position a block whose count contradicts the observations.
const MISMATCH: u32 = 1000;
/// Cost of giving a position a block with a smaller count than the observations know.
const TOO_SMALL: u32 = 100;
/// Cost of giving a position a block that only its other observations name.
const OTHER: u32 = 3;
/// Cost of giving two positions the same block.
const SHARED: u32 = 2;
/// Cost of leaving a block without a position.
const SKIPPED: u32 = 2;
/// Cost of leaving a hidden position without a block.
const HIDDEN: u32 = 1;
/// Cost of giving a position a block with another count than the rest of its copy.
const UNLIKE: u32 = 20;
/// Cost of giving a position a block that another copy has.
const TAKEN: u32 = 3;
/// Cost of taking the count of some of a position's instructions for that of all.
const PARTIAL: u32 = 1;

/// Pairs the positions and blocks of one line after the other, in the same memory.
#[derive(Default)]
pub struct Pairing {
    /// For each position and block.
    steps: Vec<CheapestTo>,
    found: Vec<Option<usize>>,
}

impl Pairing {
    /// The index of each position's block, for the positions of a copy. As many positions as possible get blocks with
    /// the counts that the observations say. Then positions and blocks stay in the same order, one block for each
    /// position. A hidden position may get none.
    pub fn in_order(
        &mut self,
        positions: &[PositionEvidence],
        counts: &[i64],
        hint: Option<i64>,
        taken: Option<&[bool]>,
    ) -> &[Option<usize>] {
        let blocks = counts.len();
        // Other copies have the other blocks.
        let skipped = if taken.is_some() { 0 } else { SKIPPED };
        let of_others = |block: usize| match taken {
            Some(taken) if taken[block] => TAKEN,
            _ => 0,
        };
        let Self { steps, found } = self;
        steps.clear();
        steps.reserve(positions.len() * blocks);
        for position in positions {
            let cost = |block: usize| position.mismatch(counts[block], hint) + of_others(block);
            add_steps(steps, position.is_hidden, blocks, skipped, cost);
        }
        found.clear();
        found.resize(positions.len(), None);
        let last = |place: usize| {
            let cost = |&block: &usize| {
                steps[place * blocks + block].cost + skipped * (blocks - 1 - block) as u32
            };
            (0..blocks).min_by_key(cost).unwrap_or(0)
        };
        let mut block = if positions.is_empty() { 0 } else { last(positions.len() - 1) };
        for place in (0..positions.len()).rev() {
            let step = steps[place * blocks + block];
            found[place] = step.takes.then_some(block);
            block = step.before;
        }
        for (position, block) in positions.iter().zip(&mut *found) {
            // A known count holds in any order.
            if let (Count::Exactly(count), Some(block)) = (position.count, block)
                && counts[*block] != count
                && !position.others.contains(counts[*block])
            {
                *block = counts.iter().position(|&other| other == count).unwrap_or(*block);
            }
        }
        found
    }
}

/// The cheapest assignment of the positions up to one to the blocks up to one.
#[derive(Clone, Copy)]
struct CheapestTo {
    /// Its cost.
    cost: u32,
    /// The last block for the positions before.
    before: usize,
    /// Whether the position gets that certain block.
    takes: bool,
}

/// Adds the steps for a position, one for each block, behind those for the position before.
/// `cost` is that of giving the position a block.
fn add_steps(
    steps: &mut Vec<CheapestTo>,
    is_hidden: bool,
    blocks: usize,
    skipped: u32,
    cost: impl Fn(usize) -> u32,
) {
    let before = steps.len().checked_sub(blocks);
    // The least cost among the blocks before, and the block that has it.
    let mut least: Option<(u32, usize)> = None;
    for block in 0..blocks {
        let before = before.map(|first| steps[first + block].cost);
        let (come, from) = match (before, least) {
            (None, _) => (skipped * block as u32, block),
            // Only positions that the code shows share blocks.
            (Some(_), None) if is_hidden => (u32::MAX, block),
            (Some(_), Some(least)) if is_hidden => least,
            (Some(before), Some((least, from))) if least <= before.saturating_add(SHARED) => {
                (least, from)
            }
            (Some(before), _) => (before.saturating_add(SHARED), block),
        };
        if let Some((least, _)) = &mut least {
            *least = least.saturating_add(skipped);
        }
        if let Some(before) = before
            && least.is_none_or(|(least, _)| before < least)
        {
            least = Some((before, block));
        }
        let takes =
            CheapestTo { cost: come.saturating_add(cost(block)), before: from, takes: true };
        let leaves = before.filter(|_| is_hidden).map(|before| CheapestTo {
            cost: before.saturating_add(HIDDEN),
            before: block,
            takes: false,
        });
        steps.push(leaves.filter(|leaves| leaves.cost <= takes.cost).unwrap_or(takes));
    }
}

impl PositionEvidence {
    /// Cost of giving the position a block with this count.
    fn mismatch(&self, count: i64, hint: Option<i64>) -> u32 {
        let unlike = if hint.is_some_and(|hint| hint != count) { UNLIKE } else { 0 };
        match self.count {
            Count::Exactly(known) if known == count => 0,
            Count::Exactly(_) if self.others.contains(count) => match self.has_instructions {
                true => OTHER,
                false => 0,
            },
            Count::Exactly(_) => MISMATCH,
            Count::AtLeast(known) if count < known => TOO_SMALL,
            Count::AtLeast(known) if known == count => PARTIAL + unlike,
            _ => unlike,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::placement::observe::{Observation, SourcePosition};

    /// The blocks of positions that all get one.
    fn paired(
        positions: &[PositionEvidence],
        counts: &[i64],
        hint: Option<i64>,
        taken: Option<&[bool]>,
    ) -> Vec<usize> {
        let mut pairing = Pairing::default();
        let found = pairing.in_order(positions, counts, hint, taken);
        found.iter().copied().map(Option::unwrap).collect()
    }

    /// Known executions decide first, then the order of the other positions.
    #[test]
    fn positions_get_blocks_that_were_executed_as_often() {
        let known = |counts: &[i64]| {
            let exactly =
                |(place, &count)| PositionEvidence::made(place as u16, Count::Exactly(count));
            counts.iter().enumerate().map(exactly).collect::<Vec<PositionEvidence>>()
        };
        // A loop: the block before it, its body, its condition, as gcc numbers them.
        let blocks = [1, 10, 11];
        assert_eq!(paired(&known(&[1, 10, 11]), &blocks, None, None), [0, 1, 2]);
        assert_eq!(paired(&known(&[11, 10]), &blocks, None, None), [2, 1]);
        let some = [
            PositionEvidence::made(0, Count::Unknown),
            PositionEvidence::made(1, Count::Exactly(10)),
            PositionEvidence::made(2, Count::Unknown),
        ];
        assert_eq!(paired(&some, &blocks, None, None), [0, 1, 2]);
        // A position of another copy that was executed 11 times.
        assert_eq!(
            paired(
                &[PositionEvidence::made(0, Count::Unknown)],
                &blocks,
                Some(11),
                Some(&[false; 3])
            ),
            [2]
        );
        assert_eq!(paired(&[], &blocks, None, None), Vec::<usize>::new());
    }

    /// The compiler left no instruction of the second position, or removed its block, too.
    #[test]
    fn hidden_positions() {
        let exactly = |place, count| PositionEvidence::made(place, Count::Exactly(count));
        let hidden = PositionEvidence::hidden(PositionEvidence::made(1, Count::Unknown).at);
        let positions = [exactly(0, 10), hidden, exactly(2, 10)];
        let mut pairing = Pairing::default();
        let mut of = |counts: &[i64]| pairing.in_order(&positions, counts, None, None).to_vec();
        assert_eq!(of(&[10, 3, 10]), [Some(0), Some(1), Some(2)]);
        assert_eq!(of(&[10, 10]), [Some(0), None, Some(1)]);
    }

    /// `if (..) a; else b;` on one line, with a macro around it. The compiler merged the ends of both branches:
    /// the position of the second one has more observations for the sum, 30, than for its own block.
    #[test]
    fn merged_ends_of_branches() {
        let blocks = [30, 12, 18, 30];
        let merged = |others: &[i64]| PositionEvidence {
            others: others.iter().copied().collect(),
            ..PositionEvidence::made(2, Count::Exactly(30))
        };
        let positions = |others| {
            let exactly = |place, count| PositionEvidence::made(place, Count::Exactly(count));
            [exactly(0, 30), exactly(1, 12), merged(others), exactly(3, 30)]
        };
        assert_eq!(paired(&positions(&[18]), &blocks, None, None), [0, 1, 2, 3]);
        assert_eq!(paired(&positions(&[]), &blocks, None, None), [0, 1, 3, 3]);
    }

    /// The end of a loop's body leads on to its start, so marks of both are at one address.
    #[test]
    fn marks_where_a_block_leads_on() {
        let at = PositionEvidence::made(0, Count::Unknown).at;
        let mark = |discriminator| {
            let at = SourcePosition { discriminator, ..at };
            let (count, before) = (Some(11), Some(10));
            Observation { at, count, before, instructions: 0, is_sum: false, is_join: false }
        };
        let positions = [0, 1].map(|number| {
            PositionEvidence::new(&[mark(number)], &mut vec![], |count| [10, 11].contains(&count))
        });
        assert_eq!(paired(&positions, &[11, 10], None, None), [0, 1]);
        assert_eq!(paired(&positions[..1], &[11], None, None), [0]);
    }
}
