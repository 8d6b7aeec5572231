//! `diff --markdown`: what a reviewer of a pull request wants to know of a changed profile.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::prelude::v1::*;

use crate::cli::terminal::markdown::code;
use crate::cli::terminal::names::{self, Names};
use crate::cli::terminal::percent;
use crate::profile::overlap::{Comparison, Row};
use crate::profile::{Body, Profile, SymbolId, Symbols};

/// Functions are hot if the hottest ones up to them carry no more than this share of all counts.
const HOT: f64 = 0.99;

/// The most frequent target of each call: by function, and by position within it.
pub type FirstTargets = BTreeMap<(String, String), String>;

/// The most frequent targets of all calls in a profile.
pub fn first_targets(profile: &Profile) -> FirstTargets {
    let mut targets = FirstTargets::new();
    for (&symbol, function) in &profile.functions {
        let name = names::text(profile.symbols.name(symbol));
        collect(&profile.symbols, &name, "", &function.body, &mut targets);
    }
    targets
}

/// `path` is where the body is inlined.
fn collect(symbols: &Symbols, function: &str, path: &str, body: &Body, into: &mut FirstTargets) {
    let name = |symbol: SymbolId| names::text(symbols.name(symbol));
    for (position, record) in &body.positions {
        let line = match position.discriminator {
            0 => format!("{path}+{}", position.signed_line()),
            discriminator => format!("{path}+{}.{discriminator}", position.signed_line()),
        };
        let most = record.targets.iter().max_by_key(|&(&target, &calls)| (calls, name(target)));
        if let Some((&target, _)) = most {
            into.insert((function.to_owned(), line.clone()), name(target));
        }
        for (&callee, inner) in &record.inlined {
            let path = format!("{line} {}", names::plain(&name(callee)));
            collect(symbols, function, &path, inner, into);
        }
    }
}

/// A comparison as Markdown.
pub struct Report<'c> {
    /// What is compared.
    pub comparison: &'c Comparison,
    /// The first targets of both profiles.
    pub targets: [FirstTargets; 2],
    /// How to show names.
    pub names: Names,
    /// The longest list.
    pub top: usize,
}

impl Report<'_> {
    /// The text.
    pub fn text(&self) -> String {
        let Comparison { counts, functions, rows, .. } = self.comparison;
        let mut text = format!(
            "### Profile overlap: {}\n\nThe functions' totals overlap by {}. ",
            percent::text(*counts),
            percent::text(*functions)
        );
        let [first, second] = [0, 1].map(|place| number_of(rows, place));
        let _ = writeln!(text, "The first profile has {first} functions, the second {second}.");
        let hot = [hot(rows, 0), hot(rows, 1)];
        let changed = |now: usize, before: usize| {
            let rows = rows.iter().enumerate();
            let mut changed: Vec<&Row> = rows
                .filter(|(row, _)| hot[now].contains(row) && !hot[before].contains(row))
                .map(|(_, row)| row)
                .collect();
            changed.sort_by(|a, b| share(b, now).total_cmp(&share(a, now)));
            changed
        };
        self.functions("Became hot", &changed(1, 0), &mut text);
        self.functions("Became cold", &changed(0, 1), &mut text);
        self.changed_targets(&mut text);
        if text.contains("#### Became") {
            let percent = HOT * 100.0;
            let what = "A function is hot if it is among those that make up";
            let _ = writeln!(text, "\n{what} {percent} % of all counts.");
        }
        text
    }

    fn functions(&self, title: &str, rows: &[&Row], text: &mut String) {
        if rows.is_empty() || self.top == 0 {
            return;
        }
        let _ = write!(text, "\n#### {title}\n\n| function | before | after |\n|---|---:|---:|\n");
        for row in rows.iter().take(self.top) {
            let name = self.names.with_file(&self.comparison.symbols, row.function);
            let [before, after] =
                row.shares.map(|share| share.map_or_else(|| "-".to_owned(), percent::text));
            let _ = writeln!(text, "| {} | {before} | {after} |", code(&name));
        }
        self.rest(rows.len(), text);
    }

    fn changed_targets(&self, text: &mut String) {
        let [before, after] = &self.targets;
        let changed: Vec<_> = before
            .iter()
            .filter_map(|(call, target)| Some((call, target, after.get(call)?)))
            .filter(|(_, before, after)| before != after)
            .collect();
        if changed.is_empty() || self.top == 0 {
            return;
        }
        *text += "\n#### Calls with another most frequent target\n\n\
                  | function and line | before | after |\n|---|---|---|\n";
        let name = |name: &str| code(&self.names.of(name));
        for ((function, line), before, after) in changed.iter().take(self.top) {
            let call = format!("{} {line}", self.names.of(function));
            let _ = writeln!(text, "| {} | {} | {} |", code(&call), name(before), name(after));
        }
        self.rest(changed.len(), text);
    }

    fn rest(&self, all: usize, text: &mut String) {
        if all > self.top {
            let _ = writeln!(text, "\n{} more.", all - self.top);
        }
    }
}

fn share(row: &Row, place: usize) -> f64 {
    row.shares[place].unwrap_or(0.0)
}

fn number_of(rows: &[Row], place: usize) -> usize {
    rows.iter().filter(|row| row.shares[place].is_some()).count()
}

/// The rows of the hottest functions of one of the profiles.
pub fn hot(rows: &[Row], place: usize) -> BTreeSet<usize> {
    let mut order: Vec<usize> =
        (0..rows.len()).filter(|&row| share(&rows[row], place) > 0.0).collect();
    order.sort_by(|&a, &b| share(&rows[b], place).total_cmp(&share(&rows[a], place)));
    let mut sum = 0.0;
    let is_hot = |row: &usize| {
        let is_hot = sum < HOT;
        sum += share(&rows[*row], place);
        is_hot
    };
    order.into_iter().take_while(is_hot).collect()
}
