//! `countersink diff`.

mod instr_profile;
pub mod markdown;

use std::cmp::Ordering;
use std::path::PathBuf;
use std::prelude::v1::*;
use std::slice;

use clap::Args;
use instr_profile::comparable;
use serde::Serialize;

use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::data_files::{as_dump, read_sum};
use crate::cli::inputs::input;
use crate::cli::inputs::input::Input;
use crate::cli::inputs::instr_profiles::read::counted;
use crate::cli::inputs::sources::Sources;
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::style::heat;
use crate::cli::terminal::table::Table;
use crate::cli::terminal::{names, percent, print};
use crate::convert::number::Number;
use crate::formats::afdo_v1_v3::{names::Names, rules::by_line};
use crate::placement::reader::Reader;
use crate::profile::overlap::{Comparison, Row};
use crate::profile::{Profile, SymbolId};

/// Compare two profiles
///
/// Counts are compared by their share of all counts of their profile, so that a longer run is no
/// other one. The overlap is the sum of the smaller shares: 100 % if all shares are equal. Functions that
/// differ are listed, those with the largest difference first. Profiles of different versions are compared
/// as far as the coarser one goes: a name without a file with the only function of that name, names cut
/// at the first dot if one of them is of version 1 or 2, lines as a whole if one has no discriminators.
/// Profiles of LLVM are compared with each other, counter by counter; a function whose control flow has another
/// hash has nothing in common with the other one.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink diff day.gcov night.gcov
  countersink diff day.gcov night.gcov --at-least 90 --top 0 || echo changed
  countersink diff day.gcov night.gcov --json
  countersink diff day.gcov night.gcov --markdown > comment.md || true

The exit status is 1 if the overlap is less than --at-least says, or without it, less than 100 %, or if \
one of the profiles has functions that the other has not. A raw dump is converted first.

The schema of --json: {\"format\": \"countersink-diff\", \"version\": 1, \"overlap\", \"function_overlap\", \
\"functions\": [{\"name\", \"file\", \"shares\", \"overlap\"}]}; shares and overlaps are from 0 to 1, of \
shares there are two, null for the profile that has no such function.")]
pub struct Diff {
    /// A raw dump, or a profile of AutoFDO or LLVM of any version
    #[arg(value_name = "FILE")]
    first: PathBuf,
    /// Another one
    #[arg(value_name = "OTHER")]
    second: PathBuf,
    /// List the N functions that differ most
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Only the functions of this name, as `show` takes it
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Exit with status 0 if the overlap is at least this many percent
    #[arg(long, value_name = "PERCENT", value_parser = percent::percent)]
    at_least: Option<f64>,
    /// Names as in the source, as always on a terminal
    #[arg(long)]
    demangle: bool,
    /// As Markdown for a pull request: the overlap, functions that became hot or cold, and calls with another most
    /// frequent target
    #[arg(long, conflicts_with_all = ["json", "function"])]
    markdown: bool,
    /// As JSON, with all functions
    #[arg(long, conflicts_with = "top")]
    json: bool,
    #[command(flatten)]
    sources: Sources,
}

/// The overlap of equal functions, a sum of shares.
const ALL: f64 = 1.0 - 1e-9;

#[derive(Serialize)]
struct DiffJson {
    format: &'static str,
    version: u32,
    overlap: f64,
    function_overlap: f64,
    functions: Vec<RowJson>,
}

#[derive(Serialize)]
struct RowJson {
    name: String,
    file: Option<String>,
    shares: [Option<f64>; 2],
    overlap: f64,
}

impl Diff {
    pub fn run(&self) -> Result<Outcome> {
        let [first, second] = self.profiles()?;
        let targets = self.markdown.then(|| [&first, &second].map(markdown::first_targets));
        let comparison = Comparison::new(first, second);
        names::warn_of_ambiguous(&self.second, comparison.ambiguous);
        let text = match targets {
            Some(targets) => {
                let (names, top) = (names::Names::as_asked(true), self.top);
                markdown::Report { comparison: &comparison, targets, names, top }.text()
            }
            None if self.json => self.json(&comparison)?,
            None => self.text(&comparison),
        };
        print::print_text(&text)?;
        self.sources.places.warn_of_unused();
        let only_one = comparison.rows.iter().any(|row| row.shares.contains(&None));
        // Sums of shares are not exact.
        let is_less = |least: f64| comparison.counts < least - 1e-9;
        let is_other = match self.at_least {
            Some(percent) => is_less(percent / 100.0),
            None => only_one || is_less(1.0),
        };
        Ok(if is_other { Outcome::Found } else { Outcome::Done })
    }

    /// The profiles, as far as the coarser one goes: without what it does not tell about names and positions.
    fn profiles(&self) -> Result<[Profile; 2]> {
        input::refuse_twice([&*self.first, &*self.second])?;
        let read = |path| as_dump(read_sum(slice::from_ref(path))?);
        let inputs = [read(&self.first)?, read(&self.second)?];
        self.sources.check(&inputs)?;
        if inputs[0].is_by_function()? && inputs[1].is_by_function()? {
            return self.by_function(&inputs);
        }
        let names = inputs.each_ref().map(|input| input.format.names());
        let [first, second] = inputs;
        let mut profiles = [
            self.sources.profile(vec![first], Reader::EXACT)?,
            self.sources.profile(vec![second], Reader::EXACT)?,
        ];
        coarsen(&mut profiles, Ord::max(names[0], names[1]));
        Ok(profiles)
    }

    /// Profiles of LLVM.
    fn by_function(&self, inputs: &[Input; 2]) -> Result<[Profile; 2]> {
        if self.sources.moves_files() {
            return Err(Error::new("--path-map: these profiles have no positions"));
        }
        let programs = Programs::new(&self.sources.binary, &self.sources.places);
        let read = |input: &Input| -> Result<Profile> {
            let counted = counted(input, &programs)?;
            input.warn(&counted.warnings);
            Ok(comparable(&counted.profile))
        };
        Ok([read(&inputs[0])?, read(&inputs[1])?])
    }

    fn text(&self, comparison: &Comparison) -> String {
        let number = |place: usize, other: usize| {
            let rows = comparison.rows.iter();
            rows.filter(|row| row.shares[place].is_some() && row.shares[other].is_none()).count()
        };
        let (only_first, only_second) = (number(0, 1), number(1, 0));
        let in_both = comparison.rows.len() - only_first - only_second;
        let in_both = Number(in_both as u64, "function");
        let (counts, functions) = (comparison.counts * 100.0, comparison.functions * 100.0);
        let mut text = format!(
            "overlap {counts:.2} % of the counts, {functions:.2} % of the functions' totals\n\
             {in_both} in both, {only_first} only in the first, {only_second} only in the \
             second\n"
        );
        let mut rows = self.chosen(comparison);
        if self.function.is_none() {
            rows.retain(|row| row.shares[0] != row.shares[1] || row.overlap < ALL);
        }
        rows.sort_by(by_difference);
        rows.truncate(self.top);
        let mut table = Table::new(["first", "second", "overlap"]);
        for row in &rows {
            let shares = row.shares.map(|share| share.map_or_else(|| "-".into(), percent::text));
            let [first, second] = shares;
            let largest = row.shares.into_iter().flatten().fold(0.0, f64::max);
            table.push([first, second, percent::text(row.overlap)], heat(largest));
        }
        text += &table.text("function", |row, room| {
            self.shown().fitting(&comparison.symbols, rows[row].function, room)
        });
        text
    }

    fn shown(&self) -> names::Names {
        names::Names::chosen(self.demangle)
    }

    fn chosen<'c>(&self, comparison: &'c Comparison) -> Vec<&'c Row> {
        let Some(name) = &self.function else { return comparison.rows.iter().collect() };
        let all: Vec<SymbolId> = comparison.rows.iter().map(|row| row.function).collect();
        let chosen = names::Wanted::new(name).of(&comparison.symbols, &all);
        comparison.rows.iter().filter(|row| chosen.contains(&row.function)).collect()
    }

    fn json(&self, comparison: &Comparison) -> Result<String> {
        let names = names::Names::as_asked(self.demangle);
        let row = |row: &Row| RowJson {
            name: names.name(&comparison.symbols, row.function),
            file: comparison.symbols.declared_in(row.function).map(names::text),
            shares: row.shares,
            overlap: row.overlap,
        };
        let json = DiffJson {
            format: "countersink-diff",
            version: 1,
            overlap: comparison.counts,
            function_overlap: comparison.functions,
            functions: self.chosen(comparison).into_iter().map(row).collect(),
        };
        Ok(serde_json::to_string_pretty(&json).map_err(Error::new)? + "\n")
    }
}

/// Leaves out what the coarser one of two profiles does not tell about positions, and of names what is beyond `names`.
pub fn coarsen(profiles: &mut [Profile; 2], names: Names) {
    let in_lines = profiles[0].has_discriminators() != profiles[1].has_discriminators();
    for profile in profiles {
        if names != Names::Whole {
            profile.rename(|name| names.of(name).to_vec());
        }
        if in_lines {
            let bodies = profile.functions.values_mut().map(|function| &mut function.body);
            bodies.for_each(|body| *body = by_line(body));
        }
    }
}

/// The greatest difference of shares first. The rows come in canonical order.
fn by_difference(a: &&Row, b: &&Row) -> Ordering {
    let difference = |row: &Row| {
        let [first, second] = row.shares.map(|share| share.unwrap_or(0.0));
        (first - second).abs()
    };
    difference(b).total_cmp(&difference(a))
}
