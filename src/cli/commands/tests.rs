//! `countersink tests`: which tests execute a line or a change, from a dump for each test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use anstyle::Style;
use clap::Args;
use rayon::prelude::*;

use crate::cli::inputs::changes::{self, Change};
use crate::cli::inputs::coverage::lines_of;
use crate::cli::inputs::coverage::selection::Selection;
use crate::cli::inputs::data_files::read_all;
use crate::cli::inputs::folder;
use crate::cli::inputs::input::{Format, Input, Target};
use crate::cli::inputs::sources::Sources;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::coverage::tracefile_of_tests;
use crate::cli::outputs::output::{self, Content};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::say;
use crate::cli::terminal::print;
use crate::cli::terminal::table::Table;
use crate::convert::number::Number;
use crate::coverage::{Coverage, File};
use crate::placement::explain::SourceLine;

/// Say which tests execute a line, or what a commit changes
///
/// Each dump is that of a test, and has its name. A folder stands for the dumps below it; a folder of .gcda files is
/// one test. Without --line and --changed, a table shows how many lines each test executes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # The dumps prof/parse.csraw, prof/print.csraw ... are those of tests
  countersink tests prof
  countersink tests prof --line prog.c:33
  # What to run again after a change since this commit
  countersink tests prof --changed HEAD
  # For genhtml --show-details
  countersink tests prof --tracefile tests.info

The dumps must be those of the commit, because the lines are counted in its sources. A test also executes a line that \
was added if it executes the code before or behind it. Files without counts are named.

The exit status is 1 if no test is found.")]
pub struct Tests {
    /// Dumps of tests, folders with these below, and folders of .gcda files
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Print the tests that execute this line
    #[arg(long, value_name = "FILE:LINE", conflicts_with = "changed")]
    line: Option<SourceLine>,
    /// Print the tests that execute what git shows as changed since this commit
    #[arg(long, value_name = "COMMIT")]
    changed: Option<String>,
    /// Write a tracefile of lcov to FILE in which TN: names the test of each record
    #[arg(long, value_name = "FILE", conflicts_with_all = ["line", "changed"])]
    tracefile: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    sources: Sources,
}

/// A test, and the lines that it executed.
struct Test {
    name: String,
    coverage: Coverage,
}

impl Test {
    /// The lines that were executed, each with the path of its file.
    fn executed(&self) -> Vec<(&[u8], u32)> {
        let mut all = Vec::new();
        for (path, file) in &self.coverage.files {
            let lines = file.lines.iter().filter(|(_, count)| **count > 0);
            all.extend(lines.map(|(&line, _)| (&**path, line)));
        }
        all
    }
}

impl Tests {
    pub fn run(&self) -> Result<Outcome> {
        if let Some(option) = self.sources.inline() {
            return Err(Error::new(format!("{option} is about profiles, not about tests")));
        }
        if let Some(option) = self.selection.given().filter(|_| self.tracefile.is_none()) {
            return Err(Error::new(format!("{option} is for --tracefile")));
        }
        let changes = self.changed.as_deref().map(changes::since).transpose()?;
        let (tests, outcome) = self.tests()?;
        if let Some(path) = &self.tracefile {
            self.write(path, tests)?;
            self.sources.places.warn_of_unused();
            return Ok(outcome);
        }
        let found = match (&self.line, changes) {
            (Some(line), _) => {
                let found = self.print(&tests, |coverage| has_line(coverage, line))?;
                if found == Outcome::Found {
                    say(why_none(&tests, line));
                }
                found
            }
            (None, Some(changes)) => {
                say_unknown(&tests, &changes);
                let has = |coverage: &Coverage| {
                    let mut old = changes.iter().filter(|change| !change.is_new);
                    old.any(|change| change.is_in(coverage))
                };
                self.print(&tests, has)?
            }
            (None, None) => {
                print::print_text(&table(&tests))?;
                Outcome::Done
            }
        };
        self.sources.places.warn_of_unused();
        Ok(outcome.max(found))
    }

    /// All tests by name. Those that cannot be read are named and left out.
    fn tests(&self) -> Result<(Vec<Test>, Outcome)> {
        let output = self.tracefile.as_deref();
        let mut all = BTreeMap::<String, Vec<PathBuf>>::new();
        for given in &self.inputs {
            let files = folder::expand(std::slice::from_ref(given), output)?;
            let is_one = files.iter().all(|file| folder::is_data_file(file));
            let name_of = |file: &Path| match is_one {
                true => given.clone(),
                false => name_below(given, file),
            };
            // Two folders may have files of one name.
            let is_taken =
                files.iter().any(|file| all.contains_key(&*name_of(file).to_string_lossy()));
            for file in files {
                self.keep(&file)?;
                let name = if is_taken { file.with_extension("") } else { name_of(&file) };
                all.entry(name.to_string_lossy().into_owned()).or_default().push(file);
            }
        }
        let read: Vec<Result<Test>> = all
            .into_par_iter()
            .map(|(name, files)| {
                let inputs = read_all(&files, Input::read)?;
                let coverage = lines_of(inputs, &self.sources, Path::new(&name))?;
                Ok(Test { name, coverage })
            })
            .collect();
        let (mut tests, mut outcome) = (Vec::new(), Outcome::Done);
        for test in read {
            match test {
                Ok(test) => tests.push(test),
                Err(error) => {
                    say(format_args!("{error}; the test is left out"));
                    outcome = Outcome::Failed;
                }
            }
        }
        match tests.is_empty() {
            true => Err(Error::new("no test could be read")),
            false => Ok((tests, outcome)),
        }
    }

    /// Refuses to replace an input or a program by the tracefile, under whatever name.
    fn keep(&self, input: &Path) -> Result<()> {
        let Some(output) = self.tracefile.as_deref() else { return Ok(()) };
        let target = Target::of(output);
        let is_counted = matches!(folder::format_of(output), Some(Format::Gcda | Format::Gcno));
        if is_counted || target.is(input) || self.sources.binary.iter().any(|file| target.is(file))
        {
            return Err(Error::about(
                output,
                "is an input, too; write the tracefile to another file",
            ));
        }
        Ok(())
    }

    /// Writes a tracefile. Options and markers choose from the sum of all tests, so they are applied, and told, once.
    fn write(&self, path: &Path, mut tests: Vec<Test>) -> Result<()> {
        let mut all = Coverage::default();
        tests.iter().for_each(|test| all.add(test.coverage.clone()));
        let number = Number(tests.len() as u64, "test").to_string();
        self.selection.apply(&mut all, Path::new(&number), None)?;
        tests.iter_mut().for_each(|test| test.coverage.retain_those_of(&all));
        let each = tests.iter().map(|test| (&*test.name, &test.coverage));
        let bytes = tracefile_of_tests(each, path)?;
        output::write(Some(path), &bytes, Content::Text)
    }

    /// Prints the names of some tests.
    fn print(&self, tests: &[Test], is_it: impl Fn(&Coverage) -> bool) -> Result<Outcome> {
        let names = tests.iter().filter(|test| is_it(&test.coverage)).map(|test| &*test.name);
        let names: String = names.flat_map(|name| [name, "\n"]).collect();
        print::print_text(&names)?;
        Ok(if names.is_empty() { Outcome::Found } else { Outcome::Done })
    }
}

/// The name of a test: the path of its dump below the folder that was given, without its extension.
fn name_below(given: &Path, file: &Path) -> PathBuf {
    let name = file.strip_prefix(given).ok().filter(|below| !below.as_os_str().is_empty());
    let name = name.map(Path::to_owned).or_else(|| file.file_name().map(PathBuf::from));
    name.unwrap_or_else(|| file.to_owned()).with_extension("")
}

/// Whether a line was executed.
fn has_line(coverage: &Coverage, wanted: &SourceLine) -> bool {
    let is_executed = |file: &File| file.lines.get(&wanted.line).is_some_and(|&count| count > 0);
    let mut files = coverage.files.iter();
    files.any(|(path, file)| wanted.is(path, wanted.line) && is_executed(file))
}

/// Why no test executes a line.
fn why_none(tests: &[Test], wanted: &SourceLine) -> String {
    let all = || tests.iter().flat_map(|test| &test.coverage.files);
    let SourceLine { file, line } = wanted;
    let mut with_it = all().filter(|(path, _)| wanted.is(path, *line)).peekable();
    if with_it.peek().is_none() {
        return format!("{file}: no test has counts of such a file");
    }
    match with_it.any(|(_, file)| file.lines.contains_key(line)) {
        true => format!("{file}:{line}: no test executes the line"),
        false => format!("{file}:{line}: no code begins in the line"),
    }
}

/// Names the changed files of which no test has a line.
fn say_unknown(tests: &[Test], changes: &[Change]) {
    for change in changes.iter().filter(|change| !change.is_new && change.has_hunks()) {
        if !tests.iter().any(|test| test.coverage.files.contains_key(&change.old_path)) {
            let path = String::from_utf8_lossy(&change.old_path);
            say(format_args!("{path}: no test has counts of this changed file"));
        }
    }
}

/// How many lines each test executes, and how many of them no other test does.
fn table(tests: &[Test]) -> String {
    let executed: Vec<Vec<(&[u8], u32)>> = tests.iter().map(Test::executed).collect();
    let mut number = BTreeMap::<(&[u8], u32), usize>::new();
    executed.iter().flatten().for_each(|&line| *number.entry(line).or_default() += 1);
    let mut table = Table::new(["lines", "only here"]);
    for lines in &executed {
        let own = lines.iter().filter(|line| number[line] == 1).count();
        table.push([lines.len().to_string(), own.to_string()], Style::new());
    }
    let all = Number(tests.len() as u64, "test");
    let text = table.text("test", |row, _| tests[row].name.clone());
    format!("{text}{all} executed {}\n", Number(number.len() as u64, "line"))
}
