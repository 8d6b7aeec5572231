//! Line coverage: `convert --to lcov` and `--to cobertura`, and whether it is enough.

use std::borrow::Cow;
use std::path::Path;
use std::prelude::v1::*;

use clap::{Args, ValueEnum};

use super::output::Content;
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::percent::percent;
use crate::coverage::{Coverage, File, Total, Totals};
use crate::formats::{cobertura, lcov};

/// Names the variable with the time of a report, in seconds since 1970. Without it the time is 0, so that the same
/// counts give the same report.
const TIME: &str = "SOURCE_DATE_EPOCH";

/// Formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CoverageFormat {
    /// Line coverage for lcov, genhtml and code-review services
    Lcov,
    /// Line coverage as XML, for CI servers and code-review services
    Cobertura,
}

impl CoverageFormat {
    /// The contents of the file, with paths relative to `folder` where the format wants it. `name` is for messages.
    pub fn file(
        self,
        coverage: &Coverage,
        folder: &Path,
        name: &Path,
    ) -> Result<(Vec<u8>, Content)> {
        let bytes = match self {
            Self::Lcov => lcov::encode::encode(&of_lines(coverage, name)).about(name)?,
            Self::Cobertura => {
                let time = std::env::var(TIME).ok().and_then(|time| time.parse().ok());
                let folder = folder.as_os_str().as_encoded_bytes();
                cobertura::encode::encode(coverage, folder, time.unwrap_or(0))
            }
        };
        Ok((bytes, Content::Text))
    }
}

/// What is asked of the coverage.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// With --to lcov and cobertura: exit with status 1 if a smaller share of the lines was executed
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_line: Option<f64>,
    /// The same for branches
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_branch: Option<f64>,
    /// The same for functions
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under_function: Option<f64>,
}

impl Limits {
    /// The option that is given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--fail-under-line", self.fail_under_line),
            ("--fail-under-branch", self.fail_under_branch),
            ("--fail-under-function", self.fail_under_function),
        ];
        given.into_iter().find(|(_, least)| least.is_some()).map(|(option, _)| option)
    }

    /// Whether these totals are enough. Says what is missing. Where nothing is to execute, nothing is missing.
    pub fn check(&self, totals: Totals, name: &Path) -> Outcome {
        let Totals { functions, lines, branches } = totals;
        let asked = [
            ("line", lines, self.fail_under_line),
            ("branch", branches, self.fail_under_branch),
            ("function", functions, self.fail_under_function),
        ];
        let mut outcome = Outcome::Done;
        for (what, Total { found, hit }, least) in asked {
            let Some(least) = least.filter(|_| found > 0) else { continue };
            let share = hit as f64 * 100.0 / found as f64;
            if share < least {
                let asks = format!("--fail-under-{what} asks for {least} %");
                warn(name, format!("{hit} of {found}, {share:.2} %, were executed; {asks}"));
                outcome = Outcome::Found;
            }
        }
        outcome
    }
}

/// What a format of lines has a place for: paths and names without an end of a line. Warns of the others.
fn of_lines<'c>(coverage: &'c Coverage, name: &Path) -> Cow<'c, Coverage> {
    let fits = lcov::encode::is_name;
    let all_fit = |(path, file): (&Vec<u8>, &File)| {
        fits(path) && file.functions.iter().all(|function| fits(&function.name))
    };
    if coverage.files.iter().all(all_fit) {
        return Cow::Borrowed(coverage);
    }
    let mut fitting = coverage.clone();
    let warn_of = |what, left: &[u8]| {
        let left = left.escape_ascii();
        warn(name, format!("left out: {what} \"{left}\", a name that lcov's format cannot hold"));
    };
    fitting.files.retain(|path, _| {
        let stays = fits(path);
        if !stays {
            warn_of("the file", path);
        }
        stays
    });
    for file in fitting.files.values_mut() {
        file.functions.retain(|function| {
            let stays = fits(&function.name);
            if !stays {
                warn_of("the function", &function.name);
            }
            stays
        });
    }
    Cow::Owned(fitting)
}
