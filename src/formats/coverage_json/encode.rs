//! Writes JSON.

use std::borrow::Cow;
use std::prelude::v1::*;

use serde::Serialize;

use crate::coverage;
use crate::coverage::decisions;
use crate::coverage::paths::{self, PathsError};

/// The text of a program's coverage. `without` gets the names of functions whose prime paths are not listed, and why.
pub fn encode(
    coverage: &coverage::Coverage,
    mut without: impl FnMut(&[u8], PathsError),
) -> Vec<u8> {
    let files = coverage.files.iter().map(|(path, file)| File::new(path, file, &mut without));
    let text = Coverage {
        format: "countersink-coverage",
        version: 1,
        totals: Totals::new(&coverage.totals()),
        files: files.collect(),
    };
    // Numbers and text can always be written.
    let mut bytes = serde_json::to_vec_pretty(&text).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

#[derive(Serialize)]
struct Coverage<'c> {
    format: &'static str,
    version: u32,
    totals: Totals,
    files: Vec<File<'c>>,
}

#[derive(Serialize)]
struct Totals {
    lines: Total,
    functions: Total,
    branches: Total,
    conditions: Total,
    paths: Total,
}

#[derive(Serialize)]
struct Total {
    found: u64,
    hit: u64,
}

#[derive(Serialize)]
struct File<'c> {
    path: Cow<'c, str>,
    totals: Totals,
    lines: Vec<Line>,
    functions: Vec<Function<'c>>,
    branches: Vec<Branch>,
    decisions: Vec<Decision>,
}

#[derive(Serialize)]
struct Line {
    line: u32,
    count: u64,
}

#[derive(Serialize)]
struct Function<'c> {
    name: Cow<'c, str>,
    line: u32,
    end: u32,
    count: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<Paths>,
}

#[derive(Serialize)]
struct Paths {
    found: u64,
    hit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<Vec<Missed>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Block>,
}

#[derive(Serialize)]
struct Missed {
    number: u32,
    blocks: Vec<u32>,
}

#[derive(Serialize)]
struct Block {
    block: u32,
    lines: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when_true: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when_false: Option<u32>,
}

#[derive(Serialize)]
struct Branch {
    line: u32,
    block: u32,
    count: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_exception: bool,
}

#[derive(Serialize)]
struct Decision {
    line: u32,
    conditions: Vec<Condition>,
}

#[derive(Serialize)]
struct Condition {
    shown_true: bool,
    shown_false: bool,
}

impl Totals {
    fn new(totals: &coverage::Totals) -> Self {
        let total = |coverage::Total { found, hit }: coverage::Total| Total { found, hit };
        Self {
            lines: total(totals.lines),
            functions: total(totals.functions),
            branches: total(totals.branches),
            conditions: total(totals.conditions),
            paths: total(totals.paths),
        }
    }
}

impl<'c> File<'c> {
    fn new(
        path: &'c [u8],
        file: &'c coverage::File,
        mut without: impl FnMut(&[u8], PathsError),
    ) -> Self {
        let mut paths = |function: &coverage::Function, paths| {
            Paths::new(paths, |error| without(&function.name, error))
        };
        let function = |function: &'c coverage::Function| Function {
            name: String::from_utf8_lossy(&function.name),
            line: function.line,
            end: function.end,
            count: function.count,
            paths: function.paths.iter().map(|own| paths(function, own)).collect(),
        };
        let branches = file.branches.iter().map(|(&(line, _), branch)| {
            let &coverage::Branch { block, count, is_exception, .. } = branch;
            Branch { line, block, count, is_exception }
        });
        let decisions = file.decisions.iter().map(|(&(line, _), decision)| Decision {
            line,
            conditions: decision.conditions.iter().map(Condition::new).collect(),
        });
        Self {
            path: String::from_utf8_lossy(path),
            totals: Totals::new(&file.totals()),
            lines: file.lines.iter().map(|(&line, &count)| Line { line, count }).collect(),
            functions: file.functions.iter().map(function).collect(),
            branches: branches.collect(),
            decisions: decisions.collect(),
        }
    }
}

impl Paths {
    fn new(paths: &paths::Paths, without: impl FnOnce(PathsError)) -> Self {
        let coverage::Total { found, hit } = paths.total();
        let missed = paths.missed().map_err(without).ok();
        let mut blocks: Vec<u32> =
            missed.iter().flatten().flat_map(|missed| &missed.blocks).copied().collect();
        blocks.sort_unstable();
        blocks.dedup();
        let block = |block| Block {
            block,
            lines: paths.lines(block).collect(),
            when_true: paths.leads_to(block, true),
            when_false: paths.leads_to(block, false),
        };
        let blocks = blocks.into_iter().map(block).collect();
        let path = |paths::Missed { number, blocks }| Missed { number, blocks };
        let missed = missed.map(|missed| missed.into_iter().map(path).collect());
        Self { found, hit, missed, blocks }
    }
}

impl Condition {
    const fn new(condition: &decisions::Condition) -> Self {
        let &decisions::Condition { shown_true, shown_false } = condition;
        Self { shown_true, shown_false }
    }
}
