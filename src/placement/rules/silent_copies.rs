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
    let keys = &group.keys;
    let symbol = |chain: u32| facts.chains.get(chain as usize).map(|chain| chain.symbol);
    let of_keys = symbol(keys[0].spot.chain);
    // Keys are sorted by their copies.
    let has_key = |chain: u32| keys.binary_search_by_key(&chain, |key| key.spot.chain).is_ok();
    let is_silent = |&chain: &u32| symbol(chain) == of_keys && !has_key(chain);
    let silent: Vec<u32> = (1..facts.chains.len() as u32).filter(is_silent).collect();
    let entered: HashSet<i64> =
        silent.iter().filter_map(|&chain| facts.entered[chain as usize]).collect();
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
