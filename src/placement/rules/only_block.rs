//! A line with one block, and one position in the code: the position has the block.
//!
//! ```c
//! total += weight;    /* one block, and one discriminator in one copy */
//! ```
//!
//! Consumes groups of one block and one position. The result is exact.

use super::by_count::Greatest;
use crate::placement::Rule;
use crate::placement::assignment::Assignment;
use crate::placement::facts::Facts;

/// Gives the only position of a group the only block.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.for_each_group(|assignment, group| {
        if !group.is_waiting() {
            return;
        }
        if let ([line], [position]) = (&*group.lines, &*group.positions) {
            let how = (Rule::OnlyBlock, position.provenance(Greatest::of(&[facts.count(line)])));
            assignment.place(facts, position.at, line, how);
            group.close();
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    #[test]
    fn the_only_position_has_the_only_block() {
        let mut made = Made::new(&[(2, 0, 110)], &[], &[5, 5, 5]);
        made.observe(0, 110, 3, None);
        assert_eq!(made.place(RuleSet::ALL), [(0, 110, 3, 2, 5, Rule::OnlyBlock)]);
    }
}
