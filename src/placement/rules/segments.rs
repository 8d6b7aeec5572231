//! Splits lines by the [segments](crate::placement::facts::segments) of the copies of an inlined function.
//!
//! ```c
//! static inline int count(int x) { return x ? 1 : f(); }      /* blocks 2, 3, 4 and 5 have this line */
//! a = count(b);       /* 2 and 3 are this copy's */
//! c = count(d);       /* 4 and 5 are this copy's */
//! ```
//!
//! Consumes lines that only copies of one function have. Each copy gets its blocks and its positions of the line as a
//! group. Which of the blocks each position has is left to the rules behind.

use alloc::vec::Vec;

use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Group, Kind};
use crate::placement::facts::Facts;
use crate::placement::facts::position_evidence::PositionEvidence;
use crate::placement::facts::segment::Segmented;

/// Splits lines of one inlined function by the segments of its copies.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.split_groups(|assignment, group, groups| {
        let is_whole = group.kind == Kind::Line;
        let function = is_whole.then(|| facts.only_function(&group.positions)).flatten();
        let Some(function) = function else { return groups.push(group) };
        let segmented = facts.segmented(function, &group.lines, &group.positions);
        let agrees = segmented.is_some();
        assignment.open.agree.entry(function).and_modify(|all| *all &= agrees).or_insert(agrees);
        match segmented {
            Some(segmented) => split(&group.positions, &segmented, Rule::Segments, groups),
            None => groups.push(group),
        }
    });
}

/// Makes a group for each copy, with its blocks of a line and with its positions.
pub fn split(
    positions: &[PositionEvidence],
    segmented: &Segmented,
    by: Rule,
    groups: &mut Vec<Group<'_>>,
) {
    for (instance, its) in &segmented.copies {
        let lines = segmented.lines[its.clone()].to_vec();
        let first = positions.partition_point(|position| position.at.instance < *instance);
        let end = positions.partition_point(|position| position.at.instance <= *instance);
        let positions = positions[first..end].to_vec();
        groups.push(Group::new(lines.into(), positions.into(), Kind::OfCopy(*instance, by)));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::placement::RuleSet;
    use crate::placement::facts::made::Made;

    /// Two copies with two blocks each. The code shows that the copies are there, and no more.
    #[test]
    fn the_blocks_of_a_copy_stand_together() {
        let lines = [2, 3, 4, 5].map(|block| (block, 1, 12));
        let mut made = Made::new(&lines, &[], &[9, 9, 3, 4, 5, 6]);
        for copy in [made.copy(110), made.copy(111)] {
            made.observe(copy, 12, 0, None);
            made.observe(copy, 12, 1, None);
        }
        let placed = made.place(RuleSet::ALL);
        let found: Vec<_> = placed.iter().map(|placed| (placed.0, placed.3)).collect();
        assert_eq!(found, [(1, 2), (1, 3), (2, 4), (2, 5)]);
    }
}
