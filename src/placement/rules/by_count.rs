//! Positions and blocks with the same count belong together. Where counts leave doubt, positions get blocks in their
//! order.
//!
//! ```c
//! if (a) b(); else c();   /* b was executed 3 times, and so was one block of the line */
//! ```
//!
//! Consumes all groups with positions. A position whose instructions were executed as often as its block is exact. A
//! position without a certain count gets a block by [`Rule::Order`], which is an estimate: compilers mostly number the
//! blocks of a line in the order in which they lay them out.

use alloc::vec;
use alloc::vec::Vec;

use super::long_lines::LongLine;
use super::pairing::in_order;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Group, Kind, Provenance};
use crate::placement::facts::Facts;
use crate::placement::facts::position_evidence::{Count, PositionEvidence};

/// Gives the positions of groups blocks.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.for_each_group(|assignment, group| {
        if group.is_waiting() {
            pair(facts, assignment, group);
        }
    });
}

fn pair(facts: &Facts<'_, '_>, assignment: &mut Assignment<'_>, group: &mut Group<'_>) {
    let Group { lines, positions, kind, found, is_open, .. } = group;
    let counts: Vec<i64> = lines.iter().map(|line| facts.count(line)).collect();
    let mut taken = vec![false; lines.len()];
    if let Kind::Shared(of_others) = kind {
        taken = lines.iter().map(|line| of_others.contains(&line.block)).collect();
    }
    let several = positions.iter().any(|position| position.at.instance != positions[0].at.instance);
    let mut long = LongLine::new(positions.len(), &counts);
    let mut give = |positions: &[PositionEvidence]| {
        let hint = facts.hints.get(positions[0].at.instance as usize).copied().flatten();
        let blocks = match &mut long {
            None => in_order(positions, &counts, hint, several.then_some(&*taken)),
            Some(long) => long.take(positions, hint).into_iter().map(Some).collect(),
        };
        for (position, block) in positions.iter().zip(blocks) {
            let Some(block) = block else { continue };
            let how = position.how(lines.len() == 1);
            if !facts.rules.has(how.0) {
                continue;
            }
            assignment.place(facts, position.at, &lines[block], how);
            found.push((position.at, block));
            taken[block] = true;
        }
    };
    match several {
        true => certain_first(positions).into_iter().for_each(give),
        false => give(positions),
    }
    // For the compiler, blocks with the same count may be the same.
    let of_positions = taken.iter().zip(&counts).filter(|(taken, _)| **taken);
    let mut of_positions: Vec<i64> = of_positions.map(|(_, &count)| count).collect();
    of_positions.sort_unstable();
    is_open.extend(counts.iter().map(|count| of_positions.binary_search(count).is_err()));
}

/// The positions of each copy. Certain copies go first, so that the others do not get their blocks.
fn certain_first(positions: &[PositionEvidence]) -> Vec<&[PositionEvidence]> {
    let mut copies: Vec<&[PositionEvidence]> =
        positions.chunk_by(|a, b| a.at.instance == b.at.instance).collect();
    let is_certain = |position: &PositionEvidence| matches!(position.count, Count::Exactly(_));
    copies.sort_by_key(|positions| !positions.iter().all(is_certain));
    copies
}

impl PositionEvidence {
    /// How the block of its position is known, which may be the only block of its line.
    pub const fn provenance(&self, is_only: bool) -> Provenance {
        match self.count {
            _ if self.is_hidden => Provenance::Gap,
            Count::Exactly(_) if self.has_instructions => Provenance::Code,
            Count::Exactly(_) => Provenance::Mark,
            _ if is_only => Provenance::Code,
            _ => Provenance::Order,
        }
    }

    /// The rule that gives it a block, and how the block is known.
    const fn how(&self, is_only: bool) -> (Rule, Provenance) {
        let provenance = self.provenance(is_only);
        let rule = match provenance {
            Provenance::Gap => Rule::Gaps,
            Provenance::Order => Rule::Order,
            _ => Rule::Counts,
        };
        (rule, provenance)
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
