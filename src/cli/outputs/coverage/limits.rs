//! Whether coverage is enough: `--fail-under-line` and its like.

use std::path::Path;
use std::prelude::v1::*;

use clap::Args;

use crate::cli::outcome::Outcome;
use crate::cli::terminal::message::warn;
use crate::cli::terminal::percent::percent;
use crate::coverage::{Coverage, Total, Totals};

/// What is asked of the coverage.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// With line coverage: exit with status 1 if a smaller share of the lines was executed
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_line: Option<f64>,
    /// The same for branches
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_branch: Option<f64>,
    /// The same for functions
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_function: Option<f64>,
    /// The same for outcomes of conditions, of gcc's -fcondition-coverage and clang's -fcoverage-mcdc
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_condition: Option<f64>,
}

impl Limits {
    /// The option that is given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--fail-under-line", self.fail_under_line),
            ("--fail-under-branch", self.fail_under_branch),
            ("--fail-under-function", self.fail_under_function),
            ("--fail-under-condition", self.fail_under_condition),
        ];
        given.into_iter().find(|(_, least)| least.is_some()).map(|(option, _)| option)
    }

    /// Whether the totals are enough. Says what is missing. Where nothing is to execute, nothing is missing.
    pub fn check(&self, coverage: &Coverage, name: &Path) -> Outcome {
        if self.given().is_none() {
            return Outcome::Done;
        }
        let Totals { functions, lines, branches, conditions, .. } = coverage.totals();
        let asked = [
            ("line", lines, self.fail_under_line),
            ("branch", branches, self.fail_under_branch),
            ("function", functions, self.fail_under_function),
            ("condition", conditions, self.fail_under_condition),
        ];
        let asked = asked.map(|(what, total, least)| is_enough(what, total, least, name));
        asked.into_iter().max().unwrap_or(Outcome::Done)
    }
}

/// Whether a total is at least `least` percent. Says what is missing.
pub fn is_enough(what: &str, total: Total, least: Option<f64>, name: &Path) -> Outcome {
    let Total { found, hit } = total;
    let Some(least) = least else { return Outcome::Done };
    if found == 0 {
        warn(name, format!("--fail-under-{what} had nothing to look at"));
        return Outcome::Done;
    }
    let share = hit as f64 * 100.0 / found as f64;
    if share >= least {
        return Outcome::Done;
    }
    let done = if what == "condition" { "shown" } else { "executed" };
    let asks = format!("--fail-under-{what} asks for {least} %");
    // Rounded down: 91.2087 % is not 91.21 %.
    let shown = (share * 100.0).floor() / 100.0;
    warn(name, format!("{hit} of {found}, {shown:.2} %, were {done}; {asks}"));
    Outcome::Found
}
