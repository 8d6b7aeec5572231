//! Finds the block of each piece of a line: first by executions, then by order.
//!
//! Compilers mostly number the blocks of a line in the order in which they lay them out.

use alloc::vec;
use alloc::vec::Vec;

use crate::placement::observe::{Spot, Vote};

/// Votes for one piece of the source.
#[derive(Clone)]
pub struct Key {
    /// The piece.
    pub spot: Spot,
    /// What is known about its executions.
    pub count: Count,
    /// Counts that may be right instead of `count`. Where a compiler merged the ends of two branches, the
    /// merged code votes for the sum of both. A mark at the start of a block may stand at the end of the one
    /// before.
    pub others: Few,
    /// Whether it has instructions, and not only a mark in the debug information.
    pub has_instructions: bool,
    /// Whether nothing shows it but a gap between the discriminators of others. It need not have a block.
    pub is_hidden: bool,
}

/// A few counts. Mostly there is one at most, which needs no memory besides.
#[derive(Clone, Default)]
pub struct Few {
    first: Option<i64>,
    more: Vec<i64>,
}

impl Few {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        self.first.into_iter().chain(self.more.iter().copied())
    }

    fn contains(&self, count: i64) -> bool {
        self.iter().any(|known| known == count)
    }
}

impl FromIterator<i64> for Few {
    fn from_iter<I: IntoIterator<Item = i64>>(counts: I) -> Self {
        let mut counts = counts.into_iter();
        Self { first: counts.next(), more: counts.collect() }
    }
}

/// What votes say about the executions of a piece of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The count of one block.
    Exactly(i64),
    /// This count, and that of other instructions.
    AtLeast(i64),
    Unknown,
}

/// The count of a piece is the largest one that has this many fifths of the votes' weight.
const LIKELY_FIFTHS: u32 = 2;
/// A piece may also have a block with a count that has this many fifths of the weight.
const NOTABLE_FIFTHS: u32 = 1;
/// Cost of giving a piece of the source a block whose count contradicts the votes.
const MISMATCH: u32 = 1000;
/// Cost of giving a piece a block with a smaller count than the votes know.
const TOO_SMALL: u32 = 100;
/// Cost of giving a piece a block that only its other votes name.
const OTHER: u32 = 3;
/// Cost of giving two pieces the same block.
const SHARED: u32 = 2;
/// Cost of leaving a block without a piece.
const SKIPPED: u32 = 2;
/// Cost of leaving a hidden piece without a block.
const HIDDEN: u32 = 1;
/// Cost of giving a piece a block with another count than the rest of its copy.
const UNLIKE: u32 = 20;
/// Cost of giving a piece a block that another copy has.
const TAKEN: u32 = 3;
/// Cost of taking the count of some of a piece's instructions for that of all.
const PARTIAL: u32 = 1;

/// The index of each piece's block, for the pieces of a copy. As many pieces as possible get blocks with the
/// counts that the votes say. Then pieces and blocks stay in the same order, with one block for each piece. A hidden
/// piece may get none.
pub fn in_order(
    keys: &[Key],
    counts: &[i64],
    hint: Option<i64>,
    taken: Option<&[bool]>,
) -> Vec<Option<usize>> {
    let blocks = counts.len();
    // Other copies have the other blocks.
    let skipped = if taken.is_some() { 0 } else { SKIPPED };
    let of_others = |block: usize| match taken {
        Some(taken) if taken[block] => TAKEN,
        _ => 0,
    };
    // For each piece and block.
    let mut steps: Vec<Step> = Vec::with_capacity(keys.len() * blocks);
    for key in keys {
        let cost = |block: usize| key.mismatch(counts[block], hint) + of_others(block);
        add_steps(&mut steps, key.is_hidden, blocks, skipped, cost);
    }
    let mut found = vec![None; keys.len()];
    let last = |place: usize| {
        let cost = |&block: &usize| {
            steps[place * blocks + block].cost + skipped * (blocks - 1 - block) as u32
        };
        (0..blocks).min_by_key(cost).unwrap_or(0)
    };
    let mut block = if keys.is_empty() { 0 } else { last(keys.len() - 1) };
    for place in (0..keys.len()).rev() {
        let step = steps[place * blocks + block];
        found[place] = step.takes.then_some(block);
        block = step.before;
    }
    for (key, block) in keys.iter().zip(&mut found) {
        // A known count holds in any order.
        if let (Count::Exactly(count), Some(block)) = (key.count, block)
            && counts[*block] != count
            && !key.others.contains(counts[*block])
        {
            *block = counts.iter().position(|&other| other == count).unwrap_or(*block);
        }
    }
    found
}

/// The best way to give blocks to the pieces up to one, if none of them gets a block behind a certain one.
#[derive(Clone, Copy)]
struct Step {
    /// Its cost.
    cost: u32,
    /// The last block for the pieces before.
    before: usize,
    /// Whether the piece gets that certain block.
    takes: bool,
}

/// Adds the steps for a piece, one for each block, behind those for the piece before. `cost` is that of giving the
/// piece a block.
fn add_steps(
    steps: &mut Vec<Step>,
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
            // Only pieces that the code shows share blocks.
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
        let takes = Step { cost: come.saturating_add(cost(block)), before: from, takes: true };
        let leaves = before.filter(|_| is_hidden).map(|before| Step {
            cost: before.saturating_add(HIDDEN),
            before: block,
            takes: false,
        });
        steps.push(leaves.filter(|leaves| leaves.cost <= takes.cost).unwrap_or(takes));
    }
}

impl Key {
    /// Makes a key of votes that are all for one spot. `tally` is memory for the weight of each count that they name.
    pub fn new(
        votes: &[Vote],
        tally: &mut Vec<(i64, u32)>,
        is_possible: impl Fn(i64) -> bool,
    ) -> Self {
        let unknown = count_votes(votes, tally, &is_possible);
        let all: u32 = tally.iter().map(|&(_, weight)| weight).sum();
        let weighty = tally.iter().filter(|&&(_, weight)| 5 * weight >= LIKELY_FIFTHS * all);
        let most = weighty.max().or(tally.iter().max_by_key(|&&(count, weight)| (weight, count)));
        let count = match most {
            Some(&(count, weight)) if weight > unknown => Count::Exactly(count),
            Some(&(count, _)) => Count::AtLeast(count),
            None => Count::Unknown,
        };
        let many = tally
            .iter()
            .filter(|&&(_, weight)| 5 * weight >= NOTABLE_FIFTHS * all)
            .map(|&(count, _)| count);
        let before =
            votes.iter().filter_map(|vote| vote.before.filter(|&count| is_possible(count)));
        let has_instructions = votes.iter().any(|vote| vote.instructions > 0);
        let others = match has_instructions {
            true => many.collect(),
            false => before.collect(),
        };
        Self { spot: votes[0].spot, count, others, has_instructions, is_hidden: false }
    }

    /// A piece that only the discriminators of others show.
    pub fn hidden(spot: Spot) -> Self {
        let (count, others) = (Count::Unknown, Few::default());
        Self { spot, count, others, has_instructions: false, is_hidden: true }
    }

    /// Cost of giving the piece a block with this count.
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

/// Notes the weight of each count that votes name. Gives the weight of those that name none.
fn count_votes(
    votes: &[Vote],
    tally: &mut Vec<(i64, u32)>,
    is_possible: impl Fn(i64) -> bool,
) -> u32 {
    tally.clear();
    let mut unknown = 0;
    for vote in votes {
        let count = vote.count.filter(|&count| is_possible(count));
        let weight = 4 * vote.instructions + 1 + u32::from(vote.is_sum);
        match (count, tally.iter_mut().find(|(known, _)| Some(*known) == count)) {
            (None, _) if vote.is_sum => {}
            (None, _) => unknown += weight,
            (Some(_), Some((_, sum))) => *sum += weight,
            (Some(count), None) => tally.push((count, weight)),
        }
    }
    unknown
}

#[cfg(test)]
impl Key {
    /// A piece of one line, with its discriminator and count.
    pub fn piece(discriminator: u16, count: Count) -> Self {
        let file = crate::profile::Symbols::default().file(b"a.c");
        let spot = Spot { chain: 0, file, line: 1, discriminator };
        Self { spot, count, others: Few::default(), has_instructions: true, is_hidden: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of pieces that all get one.
    fn paired(
        keys: &[Key],
        counts: &[i64],
        hint: Option<i64>,
        taken: Option<&[bool]>,
    ) -> Vec<usize> {
        in_order(keys, counts, hint, taken).into_iter().map(Option::unwrap).collect()
    }

    /// Known executions decide first, then the order of the other pieces.
    #[test]
    fn pieces_get_blocks_that_were_executed_as_often() {
        let known = |counts: &[i64]| {
            let exactly = |(place, &count)| Key::piece(place as u16, Count::Exactly(count));
            counts.iter().enumerate().map(exactly).collect::<Vec<Key>>()
        };
        // A loop: the block before it, its body, its condition, as gcc numbers them.
        let blocks = [1, 10, 11];
        assert_eq!(paired(&known(&[1, 10, 11]), &blocks, None, None), [0, 1, 2]);
        assert_eq!(paired(&known(&[11, 10]), &blocks, None, None), [2, 1]);
        let some = [
            Key::piece(0, Count::Unknown),
            Key::piece(1, Count::Exactly(10)),
            Key::piece(2, Count::Unknown),
        ];
        assert_eq!(paired(&some, &blocks, None, None), [0, 1, 2]);
        // A piece of another copy that was executed 11 times.
        assert_eq!(
            paired(&[Key::piece(0, Count::Unknown)], &blocks, Some(11), Some(&[false; 3])),
            [2]
        );
        assert_eq!(paired(&[], &blocks, None, None), Vec::<usize>::new());
    }

    /// The compiler left no instruction of the second piece, or removed its block, too.
    #[test]
    fn hidden_pieces() {
        let exactly = |place, count| Key::piece(place, Count::Exactly(count));
        let hidden = Key::hidden(Key::piece(1, Count::Unknown).spot);
        let keys = [exactly(0, 10), hidden, exactly(2, 10)];
        assert_eq!(in_order(&keys, &[10, 3, 10], None, None), [Some(0), Some(1), Some(2)]);
        assert_eq!(in_order(&keys, &[10, 10], None, None), [Some(0), None, Some(1)]);
    }

    /// `if (..) a; else b;` on one line, with a macro around it. The compiler merged the ends of both branches:
    /// the piece of the second one has more votes for the sum, 30, than for its own block.
    #[test]
    fn merged_ends_of_branches() {
        let blocks = [30, 12, 18, 30];
        let merged = |others: &[i64]| Key {
            others: others.iter().copied().collect(),
            ..Key::piece(2, Count::Exactly(30))
        };
        let keys = |others| {
            let exactly = |place, count| Key::piece(place, Count::Exactly(count));
            [exactly(0, 30), exactly(1, 12), merged(others), exactly(3, 30)]
        };
        assert_eq!(paired(&keys(&[18]), &blocks, None, None), [0, 1, 2, 3]);
        assert_eq!(paired(&keys(&[]), &blocks, None, None), [0, 1, 3, 3]);
    }

    /// The end of a loop's body leads on to its start, so marks of both are at one address.
    #[test]
    fn marks_where_a_block_leads_on() {
        let spot = Key::piece(0, Count::Unknown).spot;
        let mark = |discriminator| {
            let spot = Spot { discriminator, ..spot };
            let (count, before) = (Some(11), Some(10));
            Vote { spot, count, before, instructions: 0, is_sum: false, is_join: false }
        };
        let keys = [0, 1].map(|number| {
            Key::new(&[mark(number)], &mut vec![], |count| [10, 11].contains(&count))
        });
        assert_eq!(paired(&keys, &[11, 10], None, None), [0, 1]);
        assert_eq!(paired(&keys[..1], &[11], None, None), [0]);
    }

    /// Instructions vote for the count of their block. A count that no block has is no vote.
    #[test]
    fn votes() {
        let spot = Key::piece(0, Count::Unknown).spot;
        let vote = |count, instructions| Vote {
            spot,
            count,
            instructions,
            before: None,
            is_sum: false,
            is_join: false,
        };
        let of = |votes: &[Vote]| {
            Key::new(votes, &mut vec![], |count| [1, 10, 11].contains(&count)).count
        };
        assert_eq!(of(&[vote(Some(10), 3), vote(Some(1), 1)]), Count::Exactly(10));
        assert_eq!(of(&[vote(Some(7), 3), vote(Some(1), 1)]), Count::AtLeast(1));
        assert_eq!(of(&[vote(Some(7), 3)]), Count::Unknown);
        assert_eq!(of(&[vote(None, 2), vote(Some(11), 9)]), Count::Exactly(11));
        // Two copies of a condition, one of them before the loop.
        let sum = Vote { is_sum: true, ..vote(Some(11), 4) };
        assert_eq!(of(&[vote(Some(1), 2), vote(Some(10), 2), sum]), Count::Exactly(11));
    }
}
