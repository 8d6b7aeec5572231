//! What a change does to the coverage: `--against` compares it with a tracefile of before, `--changed` looks at the
//! lines that git shows as changed. Without either, a review is about all lines.
//!
//! | given | lines that are named |
//! |---|---|
//! | nothing | those that were not executed |
//! | `--changed` | those that changed and were not executed |
//! | `--against` | those that were executed in the base and are not now, and all that were not executed in new files |
//! | both | those that changed and were not executed; others that were executed in the base and are not now |
//!
//! Lines of the base are found by their numbers. git tells how the numbers have moved. Without `--changed` only files
//! count whose lines with code have the numbers that they had.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::{Args, ValueEnum};

use super::limits::is_enough;
use super::{annotations, markdown};
use crate::cli::inputs::changes::{self, Change};
use crate::cli::inputs::coverage::selection::{Chosen, Selection};
use crate::cli::inputs::coverage::tracefile;
use crate::cli::inputs::sources::Sources;
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::Result;
use crate::cli::terminal::message::warn;
use crate::cli::terminal::percent::percent;
use crate::convert::number::Number;
use crate::coverage::instances::Instances;
use crate::coverage::{Coverage, File, Total, Totals};

/// Ends of the names of files that have code if they are sources at all.
const SOURCES: [&str; 6] = ["c", "cc", "cpp", "cxx", "C", "rs"];

/// What is written for reviewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReviewFormat {
    /// Line coverage as Markdown, for pull requests and summaries of CI jobs
    CoverageMarkdown,
    /// Lines that were not executed, as annotations of GitHub Actions
    CoverageGithub,
}

impl ReviewFormat {
    /// The text.
    pub fn text(self, review: &Review) -> String {
        match self {
            Self::CoverageMarkdown => markdown::text(review),
            Self::CoverageGithub => annotations::text(review),
        }
    }
}

/// What to compare with.
#[derive(Clone, Debug, Args)]
pub struct ReviewOptions {
    /// With --to coverage-markdown and coverage-github: compare with FILE, a tracefile of lcov from before the change
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// With --to coverage-markdown and coverage-github: look at the lines that git shows as changed since this commit
    #[arg(long, value_name = "COMMIT")]
    changed: Option<String>,
    /// With --changed: exit with status 1 if a smaller share of the changed lines was executed
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "changed")]
    fail_under_changed: Option<f64>,
}

/// Runs of lines, each from the first one to the last one.
pub type Runs = Vec<RangeInclusive<u32>>;

/// What a change does to the coverage.
pub struct Review {
    /// The files that have coverage.
    pub files: Vec<Reviewed>,
    /// The files that had coverage, and have none any more.
    pub gone: Vec<(String, Totals)>,
    /// The totals of all files.
    pub totals: Totals,
    /// The same in the base, if there is one.
    pub before: Option<Totals>,
    /// The lines that changed, if these are asked for.
    pub changed: Option<Total>,
    /// Changed sources without coverage.
    pub without: Vec<String>,
}

/// A file in a review.
pub struct Reviewed {
    /// From the project's folder on, if it is there.
    pub path: String,
    pub totals: Totals,
    /// In the base, if it has the file.
    pub before: Option<Totals>,
    /// The lines that changed.
    pub changed: Total,
    /// Lines that were not executed, of those that are asked for.
    pub missed: Runs,
    /// Lines that were executed in the base, and are not now.
    pub lost: Runs,
}

impl ReviewOptions {
    /// The option that is given and no limit, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        let given = [("--against", self.against.is_some()), ("--changed", self.changed.is_some())];
        given.into_iter().find(|&(_, is_given)| is_given).map(|(option, _)| option)
    }

    /// The tracefile to compare with, if there is one.
    pub fn against(&self) -> Option<&Path> {
        self.against.as_deref()
    }

    /// The coverage to compare with, if there is any.
    pub fn base(
        &self,
        sources: &Sources,
        selection: &Selection,
        chosen: &Chosen,
    ) -> Result<Option<Coverage>> {
        let Some(path) = &self.against else { return Ok(None) };
        let mut base = tracefile::read(path, &sources.places)?;
        selection.apply_to_base(&mut base, chosen);
        if base.files.is_empty() {
            let what =
                "none of its files is among those of the report; --path-map OLD=NEW moves paths";
            warn(path, what);
        }
        Ok(Some(base))
    }

    /// The review of coverage. Paths are those below the project's folder.
    pub fn of(
        &self,
        coverage: &mut Coverage,
        base: Option<Coverage>,
        project: &Path,
    ) -> Result<Review> {
        if base.is_some() {
            // A tracefile says which lines there are, not of how many functions.
            coverage.files.values_mut().for_each(|file| file.instances = Instances::default());
        }
        let changes = self.changed.as_deref().map(changes::since).transpose()?;
        let context = Context { base: base.as_ref(), changes: changes.as_deref(), project };
        let review = context.review(coverage);
        if let (Some(base), Some(path), None) = (&base, &self.against, &changes) {
            let moved = |(path, file): &(&Vec<u8>, &File)| {
                base.files.get(*path).is_some_and(|before| !has_same_numbers(file, before))
            };
            if let number @ 1.. = coverage.files.iter().filter(moved).count() {
                let files = Number(number as u64, "file");
                let what =
                    "the lines of these are not compared; --changed COMMIT tells where they were";
                warn(path, format!("other lines have code in {files}: {what}"));
            }
        }
        Ok(review)
    }

    /// Whether enough of the changed lines was executed.
    pub fn check(&self, review: &Review, name: &Path) -> Outcome {
        let changed = review.changed.unwrap_or_default();
        is_enough("changed", changed, self.fail_under_changed, name)
    }
}

/// What coverage is compared with.
struct Context<'c> {
    base: Option<&'c Coverage>,
    changes: Option<&'c [Change]>,
    project: &'c Path,
}

impl Context<'_> {
    fn review(&self, coverage: &Coverage) -> Review {
        let mut changes: HashMap<&[u8], &Change> =
            self.changes.into_iter().flatten().map(|change| (&*change.path, change)).collect();
        let mut files = Vec::with_capacity(coverage.files.len());
        let mut old_paths = HashSet::new();
        for (path, file) in &coverage.files {
            // git names files without links.
            let real = Path::new(OsStr::from_bytes(path)).canonicalize();
            let real = real.map(|real| real.into_os_string().into_vec());
            let change = changes.remove(&**path);
            let change = change.or_else(|| changes.remove(&*real.ok()?));
            let old_path = change.map_or_else(|| path.clone(), |change| change.path_before(path));
            let before = self.base.and_then(|base| base.files.get(&old_path));
            old_paths.insert(old_path);
            files.push(self.reviewed(path, file, before, change));
        }
        let mut without: Vec<&Change> =
            changes.into_values().filter(|change| is_source(change)).collect();
        without.sort_by(|a, b| a.path.cmp(&b.path));
        let mut changed = Total::default();
        files.iter().for_each(|file| changed += file.changed);
        let no_files = BTreeMap::new();
        let before = self.base.map_or(&no_files, |base| &base.files);
        let gone = before.iter().filter(|(path, _)| !old_paths.contains(*path));
        Review {
            files,
            gone: gone.map(|(path, file)| (self.shown(path), file.totals())).collect(),
            totals: coverage.totals(),
            before: self.base.map(Coverage::totals),
            changed: self.changes.map(|_| changed),
            without: without.into_iter().map(|change| self.shown(&change.path)).collect(),
        }
    }

    fn reviewed(
        &self,
        path: &[u8],
        file: &File,
        before: Option<&File>,
        change: Option<&Change>,
    ) -> Reviewed {
        let has_changed = |line: u32| change.is_some_and(|change| change.has(line));
        let is_asked = |line: u32| match self.changes {
            Some(_) => has_changed(line),
            None => before.is_none(),
        };
        let changed = file.lines.iter().filter(|(line, _)| has_changed(**line));
        Reviewed {
            path: self.shown(path),
            totals: file.totals(),
            before: before.map(File::totals),
            changed: Total::of(changed.map(|(_, &count)| count)),
            missed: file.missed(is_asked),
            lost: before.map_or_else(Runs::new, |before| self.lost(file, before, change)),
        }
    }

    /// The lines that were executed and are not now.
    fn lost(&self, file: &File, before: &File, change: Option<&Change>) -> Runs {
        if self.changes.is_none() && !has_same_numbers(file, before) {
            return Runs::new();
        }
        let number = |line: u32| change.map_or(Some(line), |change| change.line_before(line));
        let count = |line: u32| before.lines.get(&number(line)?).copied();
        file.missed(|line| count(line).is_some_and(|count| count > 0))
    }

    fn shown(&self, path: &[u8]) -> String {
        let path = Path::new(OsStr::from_bytes(path));
        path.strip_prefix(self.project).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Whether the same lines have code.
fn has_same_numbers(file: &File, before: &File) -> bool {
    file.lines.keys().eq(before.lines.keys())
}

/// Whether a change has code of languages that programs with counters have.
fn is_source(change: &Change) -> bool {
    let extension = Path::new(OsStr::from_bytes(&change.path)).extension();
    let extension = extension.and_then(OsStr::to_str);
    change.has_lines() && extension.is_some_and(|extension| SOURCES.contains(&extension))
}
