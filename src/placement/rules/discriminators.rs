//! Blocks without a position get discriminators behind those of the blocks before them.
//!
//! ```c
//! if (a) b = 1;   /* nothing is left of the second block but a conditional move */
//! ```
//!
//! Consumes groups with blocks whose count no position has, and groups of a copy that the code shows nothing of. The
//! count is exact: the notes have the line in the block. The discriminator is an estimate, and so is the copy if
//! several copies have the line. If the code does not show the count of some position of the line, that may be the
//! position of the block, and all is an estimate.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashSet;

use super::by_count::{Greatest, are_certain};
use super::numbering::numbered;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Group, Kind, Provenance};
use crate::placement::facts::Facts;
use crate::placement::observe::SourcePosition;
use crate::placement::solve::counted::Line;

/// Gives blocks that are left positions.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.for_each_group(|assignment, group| match group.kind {
        Kind::OfCopy(instance, _) if group.positions.is_empty() => {
            in_copy(facts, assignment, instance, &group.lines, Rule::Discriminators);
        }
        _ => {
            if group.is_any_open() {
                estimate(facts, assignment, group);
            }
        }
    });
}

/// Gives a copy these blocks of a line, which the code does not show.
pub fn in_copy(
    facts: &Facts<'_, '_>,
    assignment: &mut Assignment<'_>,
    instance: u32,
    lines: &[Line],
    rule: Rule,
) {
    for (place, line) in lines.iter().enumerate() {
        let at = SourcePosition { instance, file: line.file, line: line.line, discriminator: 0 };
        assignment.place(facts, numbered(at, place), line, (rule, Provenance::Notes));
    }
}

fn estimate(facts: &Facts<'_, '_>, assignment: &mut Assignment<'_>, group: &Group<'_>) {
    let Group { lines, positions, kind, found, is_open: Some(is_open), .. } = group else { return };
    let several = positions.iter().any(|position| position.at.instance != positions[0].at.instance);
    let instance = positions[0].at.instance;
    let own = || found.iter().filter(|(at, _)| at.instance == instance);
    let mut greatest: Vec<Option<u16>> = vec![None; lines.len()];
    own().for_each(|&(at, block)| {
        greatest[block] = greatest[block].max(Some(at.discriminator));
    });
    let taken: HashSet<u16> = own().map(|(at, _)| at.discriminator).collect();
    let counts: Vec<i64> = lines.iter().map(|line| facts.count(line)).collect();
    let are_certain = kind == &Kind::Left
        || facts.rules.has(Rule::Counts) && are_certain(positions, Greatest::of(&counts));
    let mut last: Option<u16> = None;
    for (place, line) in lines.iter().enumerate() {
        last = greatest[place].map(|greatest| greatest.max(last.unwrap_or(0))).or(last);
        if !is_open[place] {
            continue;
        }
        let discriminator = last.map_or(0, |last| last.saturating_add(1));
        let is_taken = taken.contains(&discriminator);
        let at = SourcePosition { instance, discriminator, ..positions[0].at };
        if !is_taken {
            last = Some(discriminator);
        }
        let provenance = match several || is_taken {
            true => Provenance::Guess,
            false if are_certain => Provenance::Notes,
            false => Provenance::Left,
        };
        assignment.place(facts, at, line, (Rule::Discriminators, provenance));
    }
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    #[test]
    fn a_block_without_code_is_behind_the_one_before() {
        let mut made = Made::new(&[(2, 0, 110), (3, 0, 110)], &[], &[10, 10, 10, 3]);
        made.observe(0, 110, 0, Some(10));
        let expected = [(0, 110, 0, 2, 10, Rule::Counts), (0, 110, 1, 3, 3, Rule::Discriminators)];
        assert_eq!(made.place(RuleSet::ALL), expected);
    }
}
