//! Counts of branches.
//!
//! A file has the conditions in its text, those in the text of its macros included. The use of a macro has those of its
//! text once more, at the line of the use: all conditions of one text are added there. Otherwise, conditions are
//! added if they start at the same character.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::counted::{Counted, CountedBranch};
use crate::coverage::Branch;
use crate::formats::coverage_mapping::{Kind, Place};

/// Where a condition stands: its start, or those of the expansions around it, the outermost first.
type Path = Vec<Place>;

/// Times that a condition was true and false.
type Sides = [u64; 2];

/// The branches of a file.
pub fn branches(file: u32, functions: &[&Counted<'_>]) -> BTreeMap<(u32, u32), Branch> {
    let mut all = BTreeMap::<Path, Sides>::new();
    for function in functions {
        let own = function.branches.iter().filter(|branch| function.is_in(branch.file, file));
        own.for_each(|branch| add(&mut all, [branch.start].into(), branch));
        if let Some(main) = function.main_file_in(file) {
            let seen = vec![false; function.is_expanded.len()];
            Expanded { function, seen, path: Path::new(), all: &mut all }.text(main);
        }
    }
    let mut branches = BTreeMap::new();
    let (mut line, mut block) = (0, 0);
    for (path, sides) in all {
        let start = path.first().map_or(0, |place| place.line);
        if start != line {
            (line, block) = (start, 0);
        }
        let is_known = sides != [0, 0];
        for (number, count) in (2 * block..).zip(sides) {
            let count = is_known.then_some(count);
            branches.insert((line, number), Branch { block, count, ..Branch::default() });
        }
        block += 1;
    }
    branches
}

/// Adds the conditions of macros where these are used.
struct Expanded<'a, 'm> {
    function: &'a Counted<'m>,
    /// The expansions whose text has been visited, by the place of their file. There is one expansion for each.
    seen: Vec<bool>,
    path: Path,
    all: &'a mut BTreeMap<Path, Sides>,
}

/// Macros within macros that are followed.
const DEEPEST: usize = 1024;

impl Expanded<'_, '_> {
    /// Visits the expansions in a text, and those within them.
    fn text(&mut self, file: u32) {
        let function = self.function;
        for region in function.regions_at(file) {
            let Kind::Expansion(text) = region.kind else { continue };
            let is_seen = self.seen.get_mut(text as usize);
            if is_seen.is_none_or(|is_seen| core::mem::replace(is_seen, true))
                || self.path.len() >= DEEPEST
            {
                continue;
            }
            self.path.push(region.start);
            for branch in function.branches_at(text) {
                add(self.all, self.path.clone(), branch);
            }
            self.text(text);
            self.path.pop();
        }
    }
}

/// Adds a condition. One that is known to the compiler to go neither way is none.
fn add(all: &mut BTreeMap<Path, Sides>, path: Path, branch: &CountedBranch) {
    if (branch.taken, branch.other) == (None, None) {
        return;
    }
    let sides = all.entry(path).or_default();
    for (sum, count) in sides.iter_mut().zip([branch.taken, branch.other]) {
        *sum = sum.saturating_add(count.unwrap_or(0));
    }
}

/// The line of each side of a function's conditions, and whether it was taken. Sides that the compiler knows never to
/// be taken are left out.
pub fn of_function(function: &Counted<'_>) -> impl Iterator<Item = (u32, bool)> {
    function.branches.iter().flat_map(|branch| {
        let sides = [branch.taken, branch.other].into_iter().flatten();
        sides.map(move |count| (branch.start.line, count > 0))
    })
}
