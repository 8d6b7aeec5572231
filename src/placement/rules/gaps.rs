//! Discriminators that are missing between others.
//!
//! ```c
//! for (int i = 0; i < n; i++) if (a[i]) b++;   /* three blocks, and the code has discriminators 0 and 2 */
//! ```
//!
//! Consumes groups with more blocks than positions, all in one copy. Adds the positions with the missing
//! discriminators. They need not have a block. Which block one has is known as exactly as for its neighbours: by the
//! order of the discriminators.

use alloc::vec::Vec;

use crate::placement::assignment::Assignment;
use crate::placement::facts::Facts;
use crate::placement::facts::is_long;
use crate::placement::facts::position_evidence::PositionEvidence;
use crate::placement::observe::SourcePosition;

/// Adds the positions that are missing between those of a group.
pub fn place<'a>(_: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.for_each_group(|_, group| {
        let (positions, blocks) = (&group.positions, group.lines.len());
        let is_sparse = group.is_waiting()
            && positions.iter().all(|position| position.at.instance == positions[0].at.instance)
            && !is_long(positions.len(), blocks)
            && positions.len() < blocks;
        if is_sparse && let Some(all) = with_hidden(positions, blocks) {
            group.positions = all.into();
        }
    });
}

/// The same positions of a copy, and those with the discriminators before them and between them that none of them has.
/// There are no more of these in a row than the line has blocks.
fn with_hidden(positions: &[PositionEvidence], blocks: usize) -> Option<Vec<PositionEvidence>> {
    let is_next = |(position, next): (&PositionEvidence, u16)| position.at.discriminator == next;
    if positions.iter().zip(0..).all(is_next) {
        return None;
    }
    let (mut all, mut next) = (Vec::with_capacity(2 * positions.len()), 0);
    for position in positions {
        let gap = next..position.at.discriminator;
        let hidden = gap.map(|discriminator| {
            PositionEvidence::hidden(SourcePosition { discriminator, ..position.at })
        });
        all.extend(hidden.take(blocks));
        all.push(position.clone());
        next = position.at.discriminator.saturating_add(1);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::facts::made::Made;
    use crate::placement::facts::position_evidence::Count;
    use crate::placement::{Rule, RuleSet};

    /// A loop's condition, its `if`, and `b++`. The compiler left no position of the `if`.
    #[test]
    fn a_missing_discriminator_has_the_block_between() {
        let made = || {
            let lines = [2, 3, 4].map(|block| (block, 0, 110));
            let mut made = Made::new(&lines, &[], &[1, 1, 11, 10, 3]);
            made.observe(0, 110, 0, Some(11));
            made.observe(0, 110, 2, Some(3));
            made
        };
        let expected = [
            (0, 110, 0, 2, 11, Rule::Counts),
            (0, 110, 1, 3, 10, Rule::Gaps),
            (0, 110, 2, 4, 3, Rule::Counts),
        ];
        assert_eq!(made().place(RuleSet::ALL), expected);
        let placed = made().place(RuleSet::ALL.without(Rule::Gaps));
        assert_eq!(placed[1], (0, 110, 1, 3, 10, Rule::Discriminators));
    }

    #[test]
    fn discriminators_that_no_position_has() {
        let positions =
            [1, 4].map(|discriminator| PositionEvidence::made(discriminator, Count::Unknown));
        let all = with_hidden(&positions, 9).unwrap();
        let found: Vec<(u16, bool)> =
            all.iter().map(|position| (position.at.discriminator, position.is_hidden)).collect();
        assert_eq!(found, [(0, true), (1, false), (2, true), (3, true), (4, false)]);
        assert!(with_hidden(&[PositionEvidence::made(0, Count::Unknown)], 9).is_none());
    }
}
