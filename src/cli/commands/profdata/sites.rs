//! Value sites, as `llvm-profdata show` prints them, and their statistics.

use std::fmt::Write;
use std::prelude::v1::*;

use hashbrown::HashMap;

use crate::cli::terminal::names::text;
use crate::cli::terminal::visible::visible;
use crate::counters::{Function, Profile, ValueKind, name_ref};

/// Names of functions and virtual tables by the number that stands for them.
pub struct Symbols(HashMap<u64, String>);

impl Symbols {
    /// The names in a profile, and these names of targets.
    pub fn of(profile: &Profile, targets: &[Vec<u8>]) -> Self {
        let functions = profile.functions.iter().map(|function| &function.name);
        let names = functions.chain(&profile.vtables).chain(targets);
        Self(names.map(|name| (name_ref(name), visible(&text(name)))).collect())
    }

    /// A name; nothing if it is not in the profile.
    pub fn name(&self, number: u64) -> &str {
        self.0.get(&number).map_or("", |name| name)
    }
}

/// Statistics of one value kind.
#[derive(Default)]
pub struct Statistics {
    sites: u64,
    with_values: u64,
    values: u64,
    /// Number of sites by number of values, from 1.
    histogram: Vec<u64>,
}

impl Statistics {
    /// Prints the values of a function and counts them.
    pub fn add(
        &mut self,
        function: &Function,
        kind: ValueKind,
        symbols: &Symbols,
        out: &mut String,
    ) {
        for (place, site) in function.values[kind as usize].iter().enumerate() {
            let values = &site.values;
            self.sites += 1;
            if let Some(last) = values.len().checked_sub(1) {
                self.with_values += 1;
                self.values += values.len() as u64;
                self.histogram.resize(self.histogram.len().max(values.len()), 0);
                self.histogram[last] += 1;
            }
            let sum = values.iter().fold(0u64, |sum, value| sum.wrapping_add(value.count));
            for value in values {
                let count = value.count;
                let what = match kind {
                    ValueKind::MemorySize => format!("{:4}", value.value),
                    _ => symbols.name(value.value).to_owned(),
                };
                let share = percent(if sum == 0 { 0.0 } else { count as f64 * 100.0 / sum as f64 });
                let _ = writeln!(out, "\t[ {place:2}, {what}, {count:10} ] ({share})");
            }
        }
    }

    /// The paragraph about a kind.
    pub fn text(&self, kind: &str) -> String {
        let mut text = format!(
            "Statistics for {kind} profile:\n  Total number of sites: {}\n  Total number of sites with values: \
             {}\n  Total number of profiled values: {}\n  Value sites histogram:\n\tNumTargets, SiteCount\n",
            self.sites, self.with_values, self.values
        );
        for (values, &sites) in (1..).zip(&self.histogram).filter(|(_, sites)| **sites > 0) {
            let _ = writeln!(text, "\t{values}, {sites}");
        }
        text
    }
}

/// A percentage with two decimals.
pub fn percent(percent: f64) -> String {
    format!("{percent:.2}%")
}
