//! Splits lines of an inlined function by the [calls before them](crate::placement::facts::call_order) in their blocks.
//!
//! ```c
//! static inline int twice(int x) { return 2 * x; }
//! a = twice(b);           /* block 2 has this line, and behind it that of twice: the block is this copy's */
//! if (c) d = twice(e);    /* and block 3 is this copy's */
//! ```
//!
//! Consumes lines that only copies of one function have. A copy whose call stands before the line in a block gets that
//! block. Blocks that are left when all copies have theirs belong to copies that the debug information lacks.

use alloc::vec::Vec;

use super::segments::split;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Group, Kind};
use crate::placement::facts::Facts;
use crate::placement::facts::call_order::CallOrder;

/// Splits lines of one inlined function, if all of its copies have blocks behind their calls. Notes what is known of
/// the others.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.split_groups(|assignment, mut group, groups| {
        let function = facts.only_function(&group.positions);
        let order = function
            .and_then(|function| facts.call_order(function, &group.lines, &group.positions));
        let Some(order) = order else { return groups.push(group) };
        if !order.is_complete {
            group.call_order = Some(order.into());
            return groups.push(group);
        }
        split(&group.positions, &order.known, Rule::CallOrder, groups);
        assignment.add_missing(group.positions[0].at.instance, &order.lines);
    });
}

/// Splits lines of one inlined function if only some of its copies have blocks behind their calls. The others may have
/// segments.
pub fn place_some<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.split_groups(|_, mut group, groups| match group.call_order.take() {
        Some(order) => split_some(facts, group, *order, groups),
        None => groups.push(group),
    });
}

fn split_some<'a>(
    facts: &'a Facts<'_, '_>,
    group: Group<'a>,
    order: CallOrder,
    groups: &mut Vec<Group<'a>>,
) {
    split(&group.positions, &order.known, Rule::SomeCallOrder, groups);
    let certain = order.certain();
    let CallOrder { taken, positions, lines, .. } = order;
    let Some(function) = (!positions.is_empty()).then(|| facts.only_function(&positions)) else {
        return groups.push(Group::new(lines.into(), group.positions, Kind::Left));
    };
    let segmented = function.filter(|_| facts.rules.has(Rule::Segments));
    let segmented = segmented.and_then(|function| facts.segmented(function, &lines, &positions));
    if let Some(segmented) = segmented {
        split(&positions, &segmented, Rule::Segments, groups);
    } else if !lines.is_empty()
        && positions.iter().all(|position| facts.may_be_of(position, &lines))
    {
        groups.push(Group::new(lines.into(), positions.into(), Kind::Line));
    } else if !certain.is_empty() {
        // Others may have no block any more.
        groups.push(Group::new(group.lines, certain.into(), Kind::Shared(taken)));
    }
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    /// Two calls, each in the block that has the copy's line, too. They are of one function, or of two instances of a
    /// template.
    fn calls(names: [&[u8]; 2]) -> Made {
        let lines = [(2, 0, 110), (2, 1, 12), (3, 0, 111), (3, 1, 12)];
        let mut made = Made::new(&lines, &[], &[5, 5, 7, 5]);
        for (name, line, count) in [(names[0], 110, 7), (names[1], 111, 5)] {
            made.observe(0, line, 0, Some(count));
            let copy = made.instance(name, line);
            made.observe(copy, 12, 0, None);
        }
        made
    }

    #[test]
    fn a_copy_has_the_block_of_its_call() {
        let expected = [
            (0, 110, 0, 2, 7, Rule::OnlyBlock),
            (0, 111, 0, 3, 5, Rule::OnlyBlock),
            (1, 12, 0, 2, 7, Rule::OnlyBlock),
            (2, 12, 0, 3, 5, Rule::OnlyBlock),
        ];
        for names in [[&b"copy"[..], b"copy"], [b"copy<int>", b"copy<long>"]] {
            assert_eq!(calls(names).place(RuleSet::ALL), expected);
        }
    }
}
