//! Lines that the code hardly shows: gcc numbers the blocks of a line from 0.
//!
//! ```c
//! CHECK(a); CHECK(b);     /* a macro with many blocks, and instructions of one of them */
//! ```
//!
//! Consumes groups with several blocks for each position, all in the function itself. The blocks get discriminators in
//! their order. The counts are exact: the notes have the line in each block. Which block has a discriminator that the
//! code shows is an estimate, unless the code shows the block's count there.

use alloc::vec::Vec;

use super::by_count::{Greatest, are_certain};
use super::pairing::Pairing;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Provenance};
use crate::placement::facts::Facts;
use crate::placement::facts::is_long;
use crate::placement::facts::position_evidence::PositionEvidence;
use crate::placement::observe::SourcePosition;

/// Numbers the blocks of lines that the code hardly shows.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    let mut pairing = Pairing::default();
    assignment.for_each_group(|assignment, group| {
        let (positions, lines) = (group.positions.len(), group.lines.len());
        let is_its = group.is_waiting()
            && is_hardly_shown(&group.positions, lines)
            && !is_long(positions, lines);
        if !is_its {
            return;
        }
        let counts: Vec<i64> = group.lines.iter().map(|line| facts.count(line)).collect();
        let blocks = Greatest::of(&counts);
        let are_certain = are_certain(&group.positions, blocks);
        let shown = pairing.in_order(&group.positions, &counts, None, None);
        for (place, line) in group.lines.iter().enumerate() {
            let at = numbered(group.positions[0].at, place);
            let position = shown.iter().position(|&block| block == Some(place));
            let provenance = match position.map(|position| &group.positions[position]) {
                None if are_certain => Provenance::Notes,
                None => Provenance::Left,
                Some(position) if position.at != at => Provenance::Order,
                // Its count is that of code, if only of a row of the line table there.
                Some(position) => match position.provenance(blocks) {
                    Provenance::Mark => Provenance::Code,
                    provenance => provenance,
                },
            };
            assignment.place(facts, at, line, (Rule::Numbering, provenance));
        }
        group.close();
    });
}

/// The position of a line's block, if the blocks have discriminators in their order.
pub fn numbered(at: SourcePosition, place: usize) -> SourcePosition {
    SourcePosition { discriminator: u16::try_from(place).unwrap_or(u16::MAX), ..at }
}

/// How many blocks a line must have for each position, so that the order of the blocks tells more than they do.
/// Where the compiler merged the code of two lines, only odd positions are left of one of them.
const HARDLY_SHOWN: usize = 3;

/// Whether the code shows so little of a line with this number of blocks.
fn is_hardly_shown(positions: &[PositionEvidence], blocks: usize) -> bool {
    let is_likely = |position: &PositionEvidence| {
        position.at.instance == 0 && usize::from(position.at.discriminator) < blocks
    };
    blocks > HARDLY_SHOWN
        && positions.len() * HARDLY_SHOWN <= blocks
        && positions.iter().all(is_likely)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::RuleSet;
    use crate::placement::facts::made::Made;
    use crate::placement::facts::position_evidence::Count;

    /// `CHECK(a); CHECK(b);` has four blocks, and the code shows the first one.
    #[test]
    fn blocks_of_a_line_are_numbered_in_their_order() {
        let lines = [2, 3, 4, 5].map(|block| (block, 0, 110));
        let mut made = Made::new(&lines, &[], &[9, 9, 9, 4, 3, 2]);
        made.observe(0, 110, 0, Some(9));
        let numbered =
            [(0, 2, 9), (1, 3, 4), (2, 4, 3), (3, 5, 2)].map(|(discriminator, block, count)| {
                (0, 110, discriminator, block, count, Rule::Numbering)
            });
        assert_eq!(made.place(RuleSet::ALL), numbered);
    }

    #[test]
    fn lines_that_the_code_hardly_shows() {
        let positions =
            [0, 9].map(|discriminator| PositionEvidence::made(discriminator, Count::Exactly(7)));
        assert!(is_hardly_shown(&positions[..1], 4));
        assert!(!is_hardly_shown(&positions[..1], 3), "one position of a loop may be gone");
        assert!(!is_hardly_shown(&positions, 9), "more discriminators than blocks");
        assert!(is_hardly_shown(&positions, 10));
    }
}
