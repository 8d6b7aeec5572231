//! How many functions, lines and branches a file has, as LLVM counts them.
//!
//! Functions that start at the same character are instances of one. Lines and branches are those of each function,
//! so a line of a function inside another one counts for both, and so does a line with two functions.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::branches;
use super::counted::Counted;
use super::lines::lines;
use super::segments::segments;
use crate::coverage::{Total, Totals};
use crate::formats::coverage_mapping::Place;

/// The totals of a file.
pub fn totals(file: u32, functions: &[&Counted<'_>]) -> Totals {
    let mut groups: BTreeMap<Place, Vec<&Counted<'_>>> = BTreeMap::new();
    for function in functions {
        let Some(main) = function.main_file_in(file) else { continue };
        if let Some(first) = function.regions_at(main).first() {
            groups.entry(first.start).or_default().push(function);
        }
    }
    let mut totals = Totals::default();
    for group in groups.into_values() {
        let count = group.iter().fold(0u64, |sum, function| sum.saturating_add(function.count));
        totals.functions.add(count);
        totals.lines += most(&group, of_lines);
        totals.branches += most(&group, branches::total);
    }
    totals
}

/// The most of what the instances of a function have.
fn most(group: &[&Counted<'_>], of: impl Fn(&Counted<'_>) -> Total) -> Total {
    group.iter().map(|function| of(function)).fold(Total::default(), |most, total| Total {
        found: most.found.max(total.found),
        hit: most.hit.max(total.hit),
    })
}

fn of_lines(function: &Counted<'_>) -> Total {
    let Some(main) = function.main_file() else { return Total::default() };
    let own = function.regions_at(main);
    let mut total = Total::default();
    for (run, count) in lines(&segments(own.to_vec())) {
        total.add_all(run.len() as u64, count);
    }
    total
}
