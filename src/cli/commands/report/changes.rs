//! The changes from one profile to another: overlaps, functions that became hot or cold, and calls with another most
//! frequent target.

use std::prelude::v1::*;

use serde::Serialize;

use super::letters;
use super::outline::Outline;
use crate::cli::commands::diff::markdown::{FirstTargets, hot};
use crate::cli::terminal::names::Names;
use crate::profile::overlap::{Comparison, Row};

/// Most calls in the list.
const MOST_CALLS: usize = 1000;

/// The changes.
#[derive(Debug, Serialize)]
pub struct Changes {
    /// Overlap of the counts and of the functions' totals, from 0 to 1.
    pub overlap: f64,
    pub function_overlap: f64,
    /// Overlap of each function, by its number.
    overlaps: Vec<f64>,
    /// Functions that have become hot, the hottest first.
    became_hot: Vec<u32>,
    became_cold: Vec<u32>,
    calls: Vec<Call>,
}

/// A call that has another most frequent target than before.
#[derive(Debug, Serialize)]
struct Call {
    function: String,
    line: String,
    before: String,
    after: String,
}

impl Changes {
    /// The changes of a comparison. `targets` are the most frequent targets of both profiles.
    pub fn new(
        outline: &Outline<'_>,
        comparison: &Comparison,
        targets: &[FirstTargets; 2],
    ) -> Self {
        let rows = &comparison.rows;
        let mut overlaps = vec![0.0; outline.functions];
        for row in rows {
            if let Some(overlap) = overlaps.get_mut(outline.number(row.function) as usize) {
                // Five digits keep the page small.
                *overlap = (row.overlap * 1e5).round() / 1e5;
            }
        }
        let hot = [hot(rows, 0), hot(rows, 1)];
        let share = |row: &Row, side: usize| row.shares[side].unwrap_or(0.0);
        let only = |now: usize, before: usize| -> Vec<u32> {
            let mut changed: Vec<&Row> =
                hot[now].difference(&hot[before]).map(|&row| &rows[row]).collect();
            changed.sort_by(|a, b| share(b, now).total_cmp(&share(a, now)));
            let numbers = changed.into_iter().map(|row| outline.number(row.function));
            numbers.filter(|&number| (number as usize) < outline.functions).collect()
        };
        Self {
            overlap: comparison.counts,
            function_overlap: comparison.functions,
            overlaps,
            became_hot: only(1, 0),
            became_cold: only(0, 1),
            calls: calls(targets),
        }
    }
}

fn calls([before, after]: &[FirstTargets; 2]) -> Vec<Call> {
    let name = |name: &str| letters::name(&Names::as_asked(true).of(name));
    let in_both = before
        .iter()
        .filter_map(|(place, target)| Some((place, target, after.get(place)?)))
        .filter(|(_, before, after)| before != after);
    let call = |((function, line), before, after): (&(String, String), &String, &String)| Call {
        function: name(function),
        line: letters::name(line),
        before: name(before),
        after: name(after),
    };
    in_both.take(MOST_CALLS).map(call).collect()
}
