//! Line coverage: `convert --to lcov` and `--to cobertura`, and what is written for reviewers of a change.
//!
//! | file | contents |
//! |---|---|
//! | `limits` | whether the coverage is enough |
//! | `review` | what a change does to the coverage |
//! | `markdown` | a review as tables |
//! | `annotations` | a review as GitHub's annotations |

mod annotations;
pub mod limits;
mod markdown;
pub mod review;

use std::borrow::Cow;
use std::path::Path;
use std::prelude::v1::*;

use clap::ValueEnum;

use super::output::Content;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::text;
use crate::convert::number::Number;
use crate::coverage::{Coverage, File};
use crate::formats::{cobertura, coverage_json, lcov};

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
    /// Line coverage as JSON, with conditions and prime paths
    CoverageJson,
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
            Self::CoverageJson => json(coverage, name),
            Self::Cobertura => {
                let time = std::env::var(TIME).ok().and_then(|time| time.parse().ok());
                let folder = folder.as_os_str().as_encoded_bytes();
                cobertura::encode::encode(coverage, folder, time.unwrap_or(0))
            }
        };
        Ok((bytes, Content::Text))
    }
}

/// Functions whose prime paths are not listed are named up to this number.
const NAMED: usize = 3;

fn json(coverage: &Coverage, name: &Path) -> Vec<u8> {
    let mut number = 0;
    let bytes = coverage_json::encode::encode(coverage, |function, error| {
        number += 1;
        if number <= NAMED {
            warn(name, format!("left out: the paths of {}: {error}", text(function)));
        }
    });
    if let more @ 1.. = number.saturating_sub(NAMED) {
        warn(name, format!("left out: the paths of {}", Number(more as u64, "more function")));
    }
    bytes
}

/// A tracefile with the coverage of each test. `name` is for messages.
pub fn tracefile_of_tests<'c>(
    tests: impl Iterator<Item = (&'c str, &'c Coverage)>,
    name: &Path,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (test, coverage) in tests {
        bytes.extend(lcov::encode::encode_test(test, &of_lines(coverage, name)).about(name)?);
    }
    Ok(bytes)
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
