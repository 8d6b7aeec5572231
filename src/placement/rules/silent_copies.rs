//! Copies that show nothing of a line in the code.
//!
//! ```c
//! static inline int size(const char *s) { return s ? 8 : 0; }     /* the second copy left no instruction of the line
//! */
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
        if !matches!(group.kind, Kind::OfCopy(_)) && group.is_any_open() {
            give(facts, assignment, group);
        }
    });
}

fn give(facts: &Facts<'_, '_>, assignment: &mut Assignment<'_>, group: &mut Group<'_>) {
    let positions = &group.positions;
    let symbol =
        |instance: u32| facts.instances.get(instance as usize).map(|instance| instance.symbol);
    let of_positions = symbol(positions[0].at.instance);
    // Keys are sorted by their copies.
    let has_position = |instance: u32| {
        positions.binary_search_by_key(&instance, |position| position.at.instance).is_ok()
    };
    let is_silent = |&instance: &u32| symbol(instance) == of_positions && !has_position(instance);
    let silent: Vec<u32> = (1..facts.instances.len() as u32).filter(is_silent).collect();
    let entered: HashSet<i64> =
        silent.iter().filter_map(|&instance| facts.entered[instance as usize]).collect();
    let mut given = Vec::new();
    for (line, open) in group.lines.iter().zip(&mut group.is_open) {
        if *open && entered.contains(&facts.count(line)) {
            *open = false;
            given.push(*line);
        }
    }
    if !given.is_empty() {
        share(facts, assignment, &given, &silent, Rule::SilentCopies);
    }
}
