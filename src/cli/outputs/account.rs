//! The account of a conversion: for people, as JSON, and whether it is good enough.
//!
//! [`crate::convert::gcov::Statistics`] counts what became of a dump's contents.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;
use serde::Serialize;

use super::output::{self, Content};
use crate::cli::inputs::input;
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::percent::percent;
use crate::convert::gcov::statistics::EstimatedLine;
use crate::convert::gcov::{Dropped, Loss, Statistics};
use crate::convert::number::Number;
use crate::placement::estimate::Estimate;

/// What is asked of the account.
#[derive(Debug, Args)]
pub struct Account {
    /// Write the account here, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Exit with status 1 if the profile holds less than this share of all executions
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under: Option<f64>,
    /// Exit with status 1 if anything is not in the profile or coverage, or a check of the counts finds a fault
    #[arg(long)]
    strict: bool,
}

#[derive(Serialize)]
struct AccountJson<'s> {
    format: &'static str,
    version: u32,
    executions: Executions,
    estimates: Vec<EstimateJson<'s>>,
    objects: usize,
    functions: usize,
    dropped: Vec<DroppedJson>,
    losses: Vec<LossJson<'s>>,
}

#[derive(Serialize)]
struct Executions {
    all: u64,
    placed: u64,
    estimated: u64,
    misplaced: u64,
}

#[derive(Serialize)]
struct EstimateJson<'s> {
    how: String,
    executions: u64,
    misplaced: u64,
    lines: Vec<EstimatedLineJson<'s>>,
}

#[derive(Serialize)]
struct EstimatedLineJson<'s> {
    function: &'s str,
    line: u32,
    executions: u64,
}

#[derive(Serialize)]
struct DroppedJson {
    what: String,
    number: u64,
}

#[derive(Serialize)]
struct LossJson<'s> {
    file: &'s str,
    line: u32,
    function: &'s str,
    executions: u64,
    why: String,
}

impl<'s> From<&'s Loss> for LossJson<'s> {
    fn from(loss: &'s Loss) -> Self {
        let Loss { path, line, function, executions, why } = loss;
        let (line, executions, why) = (*line, *executions, why.to_string());
        Self { file: path, line, function, executions, why }
    }
}

impl From<Dropped> for DroppedJson {
    fn from(dropped: Dropped) -> Self {
        Self { what: dropped.what(), number: dropped.number }
    }
}

impl Account {
    /// The option that asks for an account of a dump, if there is one.
    pub const fn given(&self) -> Option<&'static str> {
        match self.given_for_profiles() {
            None if self.strict => Some("--strict"),
            given => given,
        }
    }

    /// The same without `--strict`, which line coverage has, too.
    pub const fn given_for_profiles(&self) -> Option<&'static str> {
        match self {
            Self { report: Some(_), .. } => Some("--report"),
            Self { fail_under: Some(_), .. } => Some("--fail-under"),
            _ => None,
        }
    }

    /// Refuses to replace another file of the conversion by the account, under whatever name.
    pub fn keep<'p>(&self, mut others: impl Iterator<Item = &'p Path>) -> Result<()> {
        let Some(report) = &self.report else { return Ok(()) };
        match others.any(|other| input::is_same(other, report)) {
            true => Err(Error::about(
                report,
                "is an input or the output, too; --report needs a file of its own",
            )),
            false => Ok(()),
        }
    }

    /// Whether it names every loss.
    pub const fn wants_losses(&self) -> bool {
        self.report.is_some()
    }

    /// Whether the counts are checked.
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Writes the account, and says whether it is good enough.
    pub fn give(&self, statistics: &Statistics, name: &Path) -> Result<Outcome> {
        if let Some(path) = &self.report {
            output::write(Some(path), json(statistics)?.as_bytes(), Content::Text)?;
        }
        if let Some(least) = self.fail_under
            && statistics.placed_percent() < least
        {
            // Rounded down: what fails is less than what was asked for.
            let placed = (statistics.placed_percent() * 100.0).floor() / 100.0;
            warn(
                name,
                format!("{placed:.2} % of executions placed; --fail-under asks for {least} %"),
            );
            return Ok(Outcome::Found);
        }
        if self.strict && !statistics.faults.is_empty() {
            let faults = Number(statistics.faults.len() as u64, "fault");
            warn(name, format!("{faults} in the counts; --strict asks for none"));
            return Ok(Outcome::Found);
        }
        if self.strict && !statistics.is_complete() {
            warn(name, "not everything is in the profile; --strict asks for all");
            return Ok(Outcome::Found);
        }
        Ok(Outcome::Done)
    }
}

/// Estimates by how their places were inferred.
fn estimates(statistics: &Statistics) -> Vec<EstimateJson<'_>> {
    let lines = |how| {
        let of_it = statistics.estimates.iter().filter(move |line| line.how == how);
        of_it.map(|EstimatedLine { function, line, executions, .. }| EstimatedLineJson {
            function,
            line: *line,
            executions: *executions,
        })
    };
    let of_each = |(how, executions): (Estimate, u64)| EstimateJson {
        how: how.to_string(),
        executions,
        misplaced: how.misplaced(executions),
        lines: lines(how).collect(),
    };
    statistics.estimated.iter().filter(|&(_, executions)| executions > 0).map(of_each).collect()
}

fn json(statistics: &Statistics) -> Result<String> {
    let account = AccountJson {
        format: "countersink-account",
        version: 1,
        executions: Executions {
            all: statistics.executions,
            placed: statistics.executions_placed,
            estimated: statistics.estimated.all(),
            misplaced: statistics.estimated.misplaced(),
        },
        estimates: estimates(statistics),
        objects: statistics.objects,
        functions: statistics.functions,
        dropped: statistics.dropped().into_iter().map(DroppedJson::from).collect(),
        losses: statistics.losses.iter().map(LossJson::from).collect(),
    };
    let text = serde_json::to_string_pretty(&account);
    Ok(text.map_err(Error::new)? + "\n")
}
