//! Copies that show nothing of a line in the code.
//!
//! ```c
//! static inline int size(const char *s) { return s ? 8 : 0; }
//! a = size(b);    /* executed nine times, and so was the code of this copy */
//! c = size(d);    /* executed four times, and no instruction of this copy is left */
//! ```
//!
//! Consumes groups with blocks whose count no position has. A copy of the same function without a position there gets
//! such a block if the copy was entered as often as the block was executed.

use alloc::vec::Vec;

use hashbrown::HashSet;

use super::lines_in_notes_only::share;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Group, Kind};
use crate::placement::facts::Facts;

/// Gives silent copies the blocks that are left.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.for_each_group(|assignment, group| {
        if !matches!(group.kind, Kind::OfCopy(..)) && group.is_any_open() {
            give(facts, assignment, group);
        }
    });
}

fn give(facts: &Facts<'_, '_>, assignment: &mut Assignment<'_>, group: &mut Group<'_>) {
    let positions = &group.positions;
    let function = |instance: u32| {
        facts.instances.get(instance as usize).map(|instance| instance.declared_at())
    };
    let of_positions = function(positions[0].at.instance);
    // They are sorted by their copies.
    let has_position = |instance: u32| {
        positions.binary_search_by_key(&instance, |position| position.at.instance).is_ok()
    };
    let is_silent = |&instance: &u32| function(instance) == of_positions && !has_position(instance);
    let silent: Vec<u32> = (1..facts.instances.len() as u32).filter(is_silent).collect();
    let entered: HashSet<i64> =
        silent.iter().filter_map(|&instance| facts.entered[instance as usize]).collect();
    let mut given = Vec::new();
    for (line, open) in group.lines.iter().zip(group.is_open.iter_mut().flatten()) {
        if *open && entered.contains(&facts.count(line)) {
            *open = false;
            given.push(*line);
        }
    }
    if !given.is_empty() {
        share(facts, assignment, &given, &silent, Rule::SilentCopies);
    }
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    /// The compiler laid the copies out in another order than their calls.
    #[test]
    fn a_silent_copy_has_the_block_that_was_executed_as_often() {
        let lines = [(2, 0, 110), (3, 0, 111), (4, 1, 12), (5, 1, 12)];
        let mut made = Made::new(&lines, &[], &[9, 9, 9, 4, 4, 9]);
        let [shown, _] = [(110, 9), (111, 4)].map(|(line, count)| {
            made.observe(0, line, 0, Some(count));
            made.copy(line)
        });
        made.observe(shown, 12, 0, Some(9));
        let expected = [
            (0, 110, 0, 2, 9, Rule::OnlyBlock),
            (0, 111, 0, 3, 4, Rule::OnlyBlock),
            (1, 12, 0, 5, 9, Rule::Counts),
            (2, 12, 0, 4, 4, Rule::SilentCopies),
        ];
        assert_eq!(made.place(RuleSet::ALL), expected);
    }
}
