//! What each function has that starts in a file: its lines and branches, for the totals.

use super::branches;
use super::counted::Counted;
use super::lines::lines;
use super::segments::segments;
use crate::coverage::instances::{Instance, Instances};

/// The functions of a file.
pub fn instances(file: u32, functions: &[&Counted<'_>]) -> Instances {
    let mut all = Instances::default();
    for function in functions {
        let Some(main) = function.main_file_in(file) else { continue };
        let own = function.regions_at(main);
        let Some(first) = own.first() else { continue };
        let instance = Instance {
            count: function.count,
            lines: lines(&segments(own.to_vec())).map(|(run, count)| (run, count > 0)).collect(),
            branches: branches::of_function(function).collect(),
        };
        all.add((first.start.line, first.start.column), function.mapping.name_ref, instance);
    }
    all
}
