//! Positions and blocks with the same count belong together. Where counts leave doubt, positions get blocks in their
//! order.
//!
//! ```c
//! if (a) b(); else c();   /* b was executed 3 times, and so was one block of the line */
//! ```
//!
//! Consumes all groups with positions. A position whose instructions were executed as often as its block is exact, and
//! so is one if all blocks that it may have were executed equally often. Any other position gets a block by
//! [`Rule::Order`], which is an estimate: compilers mostly number the blocks of a line in the order in which they lay
//! them out. A position whose instructions have several counts may get the block of any of these.

use alloc::vec::Vec;

use super::long_lines::LongLine;
use super::pairing::Pairing;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Group, Kind, Provenance};
use crate::placement::facts::Facts;
use crate::placement::facts::position_evidence::{Count, PositionEvidence};
use crate::placement::solve::counted::Line;

/// Gives the positions of groups blocks.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    let mut memory = Memory::default();
    assignment.for_each_group(|assignment, group| {
        if group.is_waiting() {
            pair(facts, assignment, group, &mut memory);
        }
    });
}

/// Memory for one group after the other.
#[derive(Default)]
struct Memory {
    /// The count of each block.
    counts: Vec<i64>,
    /// For each block: whether it has a position.
    taken: Vec<bool>,
    /// The counts of blocks whose positions are no estimates.
    certain: Vec<i64>,
    /// The counts of blocks that have a position.
    of_positions: Vec<i64>,
    pairing: Pairing,
}

impl Memory {
    /// Turns to a group. Its kind tells which of its blocks other copies have.
    fn start(&mut self, facts: &Facts<'_, '_>, lines: &[Line], kind: &Kind) {
        let is_of_others = |line: &Line| matches!(kind, Kind::Shared(of_others) if of_others.contains(&line.block));
        self.counts.clear();
        self.counts.extend(lines.iter().map(|line| facts.count(line)));
        self.taken.clear();
        self.taken.extend(lines.iter().map(is_of_others));
        self.certain.clear();
    }

    /// For each block: whether no position has its count; empty if all counts have one. For the compiler, blocks with
    /// the same count may be the same.
    fn open_blocks(&mut self) -> Vec<bool> {
        let Self { counts, taken, of_positions, .. } = self;
        of_positions.clear();
        let of_taken = taken.iter().zip(&*counts).filter(|(taken, _)| **taken);
        of_positions.extend(of_taken.map(|(_, &count)| count));
        of_positions.sort_unstable();
        let is_open = |count: &i64| of_positions.binary_search(count).is_err();
        if counts.iter().any(is_open) { counts.iter().map(is_open).collect() } else { Vec::new() }
    }

    /// Whether a block has no position, and its count is that of a position that is an estimate.
    fn shares_estimate(&self, block: usize) -> bool {
        let count = &self.counts[block];
        !self.taken[block]
            && self.of_positions.binary_search(count).is_ok()
            && self.certain.binary_search(count).is_err()
    }
}

fn pair(
    facts: &Facts<'_, '_>,
    assignment: &mut Assignment<'_>,
    group: &mut Group<'_>,
    memory: &mut Memory,
) {
    let Group { lines, positions, kind, found, is_open, .. } = group;
    memory.start(facts, lines, kind);
    let Memory { counts, taken, certain, pairing, .. } = &mut *memory;
    let several = positions.iter().any(|position| position.at.instance != positions[0].at.instance);
    let blocks = Greatest::of(counts);
    let are_certain = are_certain(positions, blocks);
    let mut long = LongLine::new(positions.len(), counts);
    found.reserve(positions.len());
    let mut give = |positions: &[PositionEvidence]| {
        let hint = facts.hints.get(positions[0].at.instance as usize).copied().flatten();
        let of_long: Vec<_>;
        let found_blocks = match &mut long {
            None => pairing.in_order(positions, counts, hint, several.then_some(&*taken)),
            Some(long) => {
                of_long = long.take(positions, hint).into_iter().map(Some).collect();
                &of_long
            }
        };
        for (position, block) in positions.iter().zip(found_blocks) {
            let Some(block) = *block else { continue };
            let how = position.how(counts[block], blocks, are_certain);
            if !facts.rules.has(how.0) {
                continue;
            }
            assignment.place(facts, position.at, &lines[block], how);
            if how.1 != Provenance::Order {
                certain.push(counts[block]);
            }
            found.push((position.at, block));
            taken[block] = true;
        }
    };
    match several {
        true => certain_first(positions).into_iter().for_each(give),
        false => give(positions),
    }
    *is_open = Some(memory.open_blocks());
    if !are_certain {
        memory.certain.sort_unstable();
        let shares =
            |block: &usize| memory.shares_estimate(*block) && facts.has_block(&lines[*block]);
        assignment.sharing.extend((0..lines.len()).filter(shares).map(|block| lines[block]));
    }
}

/// The positions of each copy. Certain copies go first, so that the others do not get their blocks.
fn certain_first(positions: &[PositionEvidence]) -> Vec<&[PositionEvidence]> {
    let mut copies: Vec<&[PositionEvidence]> =
        positions.chunk_by(|a, b| a.at.instance == b.at.instance).collect();
    let is_certain = |position: &PositionEvidence| matches!(position.count, Count::Exactly(_));
    copies.sort_by_key(|positions| !positions.iter().all(is_certain));
    copies
}

/// Whether the code shows the counts of all these positions that it shows. If not, each block of the line without a
/// position may be the block of one of them.
pub fn are_certain(positions: &[PositionEvidence], blocks: Greatest) -> bool {
    positions.iter().all(|position| position.provenance(blocks) != Provenance::Order)
}

/// The greatest counts of a line's blocks.
#[derive(Clone, Copy)]
pub struct Greatest {
    first: i64,
    /// The greatest of those that are smaller.
    second: Option<i64>,
}

impl Greatest {
    pub fn of(counts: &[i64]) -> Self {
        let first = counts.iter().copied().max().unwrap_or(0);
        let second = counts.iter().copied().filter(|&count| count < first).max();
        Self { first, second }
    }

    /// Whether all blocks that were executed at least so often were executed equally often, and there are some.
    fn has_one_from(self, least: i64) -> bool {
        least <= self.first && self.second.is_none_or(|second| second < least)
    }
}

impl PositionEvidence {
    /// How its count is known, which is that of one of the blocks with such counts.
    pub fn provenance(&self, blocks: Greatest) -> Provenance {
        match self.count {
            _ if self.is_hidden => Provenance::Gap,
            Count::Exactly(_) if self.has_instructions => Provenance::Code,
            Count::Exactly(_) => Provenance::Mark,
            Count::AtLeast(least) if blocks.has_one_from(least) => Provenance::Code,
            Count::Unknown if blocks.second.is_none() => Provenance::Code,
            _ => Provenance::Order,
        }
    }

    /// The rule that gives it a block that was executed so often, and how that is known. A position that the code does
    /// not show is as certain as those that it shows.
    fn how(&self, count: i64, blocks: Greatest, are_certain: bool) -> (Rule, Provenance) {
        match self.provenance(blocks) {
            // It has a rarer one of its counts, since other positions have the blocks with the usual one.
            Provenance::Code if matches!(self.count, Count::Exactly(usual) if usual != count) => {
                (Rule::Order, Provenance::Order)
            }
            Provenance::Gap if are_certain => (Rule::Gaps, Provenance::Gap),
            Provenance::Gap => (Rule::Gaps, Provenance::Order),
            Provenance::Order => (Rule::Order, Provenance::Order),
            provenance => (Rule::Counts, provenance),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    /// A line with blocks that were executed 10 and 3 times.
    fn line() -> Made {
        Made::new(&[(2, 0, 110), (3, 0, 110)], &[], &[10, 10, 10, 3])
    }

    #[test]
    fn equal_counts_belong_together_in_any_order() {
        let mut made = line();
        made.observe(0, 110, 0, Some(3));
        made.observe(0, 110, 1, Some(10));
        let expected = [(0, 110, 0, 3, 3, Rule::Counts), (0, 110, 1, 2, 10, Rule::Counts)];
        assert_eq!(made.place(RuleSet::ALL), expected);
    }

    /// Whichever block a position has, its count is known.
    #[test]
    fn blocks_with_one_count_leave_no_doubt() {
        let mut made = Made::new(&[(2, 0, 110), (3, 0, 110)], &[], &[7, 7, 7, 7]);
        made.observe(0, 110, 0, None);
        made.observe(0, 110, 1, None);
        let expected = [(0, 110, 0, 2, 7, Rule::Counts), (0, 110, 1, 3, 7, Rule::Counts)];
        assert_eq!(made.place(RuleSet::ALL), expected);
    }

    /// Most instructions of the second position ran as often as the block of the first one.
    #[test]
    fn a_position_with_another_of_its_counts_is_an_estimate() {
        let mut made = line();
        made.observe(0, 110, 0, Some(10));
        for count in [10, 10, 3] {
            made.observe(0, 110, 1, Some(count));
        }
        let expected = [(0, 110, 0, 2, 10, Rule::Counts), (0, 110, 1, 3, 3, Rule::Order)];
        assert_eq!(made.place(RuleSet::ALL), expected);
    }

    #[test]
    fn positions_without_counts_get_blocks_in_their_order() {
        let both = || {
            let mut made = line();
            made.observe(0, 110, 0, None);
            made.observe(0, 110, 1, None);
            made
        };
        let expected = [(0, 110, 0, 2, 10, Rule::Order), (0, 110, 1, 3, 3, Rule::Order)];
        assert_eq!(both().place(RuleSet::ALL), expected);
        let certain = RuleSet::ALL.without(Rule::Order).without(Rule::Discriminators);
        assert_eq!(both().place(certain), []);
    }
}
