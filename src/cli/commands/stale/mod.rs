//! `countersink stale`: options, inputs and exit status. [`now`] reads the program as it is now, [`crate::staleness`]
//! compares, and [`text`], [`json`] and [`sarif`] print the result.

mod json;
mod now;
mod sarif;
mod text;

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use crate::cli::inputs::data_files::{as_dump, read_sum};
use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::notes::Places;
use crate::cli::inputs::program;
use crate::cli::inputs::sources::Sources;
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::{names, percent, print};
use crate::formats::afdo_v1_v3::Version;
use crate::formats::afdo_v1_v3::names::{Names, without_number};
use crate::placement::reader::Reader;
use crate::profile::Profile;
use crate::program::debug::constructors::any_variant;
use crate::staleness::Verdict;
use crate::staleness::judgement::{Comparing, judge};

/// Report how much of a profile fits the program as it is now
///
/// Compilers look up a position by its function and its distance from the function's first line. They do not check the
/// line that they find there. After edits, counts may belong to other lines, and a program optimised with them may be
/// slower than one without a profile. This command compares the profile's functions, lines and calls with those of the
/// program, and weights each by its count. It lists the functions with counts that do not fit, the heaviest loss first.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # Against a build with -g, optimised or instrumented
  countersink stale prog.gcov --binary prog
  # Against the notes of an instrumented build, which have every line
  countersink stale prog.gcov --notes .
  # A dump, against the notes that its objects have now
  countersink stale prog.csraw
  # In CI: train again when less than 90 % fits
  countersink stale prog.gcov --binary prog --fail-under 90
  countersink stale prog.gcov --binary prog --sarif > stale.sarif

With --binary, the command converts a dump first, with the notes of the program that ran. Without --binary, it compares \
the checksums that gcc keeps of each function's control flow. Its weights are then the executions of arcs, and \
it does not see edits that keep the control flow.

A line is a distance from the declaration, such as +12. Counts may fit if several lines could have the edit. The share \
and --fail-under leave these counts out. The command does not see an edit within a line, unless it changes the line's calls, \
nor any edit that keeps the pattern of lines with code and of calls.

The exit status is 0, or 1 if less than --fail-under fits.

The schema of --json: {\"format\": \"countersink-stale\", \"version\": 1, \"share\", \"executions\": {\"all\", \"fit\", \
\"open\"}, \"calls\": the same, \"functions\": [{\"name\", \"file\", \"line\", \"executions\", \"calls\", \"reasons\": \
[{\"kind\", \"executions\", \"line\", \"by\", \"name\", \"message\"}]}]}; share is from 0 to 1; open counts may fit; a reason's kind is \
gone, other-file, no-code, undescribed, moved, open, no-line, no-call, control-flow or no-notes. --sarif writes SARIF 2.1.0.")]
pub struct Stale {
    /// An AutoFDO profile of any version, or raw dumps and folders of them
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
    /// The program as it is now, with debug information, or a shared object of it
    #[arg(long, value_name = "FILE", conflicts_with = "notes")]
    binary: Vec<PathBuf>,
    #[command(flatten)]
    places: Places,
    /// List the N functions with the heaviest losses
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Exit with status 1 if less than this share of the executions fits
    #[arg(long, value_name = "PERCENT", value_parser = percent::percent)]
    fail_under: Option<f64>,
    /// Names as in the source, as always on a terminal
    #[arg(long)]
    demangle: bool,
    /// As JSON, with all functions
    #[arg(long, conflicts_with = "top")]
    json: bool,
    /// As SARIF, for viewers of code: a result for each function with a loss
    #[arg(long, conflicts_with_all = ["top", "json"])]
    sarif: bool,
}

impl Stale {
    pub fn run(&self) -> Result<Outcome> {
        let input = as_dump(read_sum(&self.profiles)?)?;
        let name = input.name.clone();
        let verdict = self.verdict(input)?;
        if verdict.executions.all == 0 {
            warn(&name, "has no executions, so nothing can be out of date");
        }
        let text = match () {
            () if self.json => json::text(&verdict, names::Names::as_asked(self.demangle))?,
            () if self.sarif => sarif::text(&verdict, names::Names::as_asked(true), &name)?,
            () => text::text(&verdict, names::Names::chosen(self.demangle), self.top),
        };
        print::print_text(&text)?;
        let fit = verdict.executions.share() * 100.0;
        match self.fail_under {
            Some(least) if fit < least => {
                let what = format!("{fit:.2} % of executions fit; --fail-under asks for {least} %");
                warn(&name, what);
                Ok(Outcome::Found)
            }
            _ => Ok(Outcome::Done),
        }
    }

    fn verdict(&self, input: Input) -> Result<Verdict> {
        if input.is_by_function()? {
            let what = "counters by function: clang and rustc compare each function's hash themselves, and ignore \
                        functions that do not fit; `diff` compares two such profiles";
            return Err(Error::about(&input.name, what));
        }
        if input.format == Format::Dump && self.binary.is_empty() {
            return now::by_checksums(&input, &self.places);
        }
        let names = input.format.names();
        let files = matches!(
            input.format,
            Format::Dump | Format::V4 | Format::V4Text | Format::V1V3(Version::V3)
        );
        let name = input.name.clone();
        let mut profile = self.profile(input)?;
        let program = match &self.binary[..] {
            [] if self.places.has_notes() => now::of_notes(&self.places)?,
            [] => {
                let what = "name the program as it is now with --binary, or its notes with --notes";
                return Err(Error::about(name, what));
            }
            binaries => program::of_programs(binaries, &self.places)?,
        };
        if names != Names::Whole {
            profile.rename(|name| names.of(name).to_vec());
        }
        let name_of = |name: &[u8]| any_variant(names.of(name)).into_owned();
        let mut program = program.renamed(name_of);
        let identifier =
            |name: &[u8]| names::identifier(&names::text(without_number(name))).into_bytes();
        program.add_linkage_names(&profile, identifier);
        program.knows.profile_is_whole = names == Names::Whole;
        Ok(judge(&profile, &program, &Comparing { name_of, identifier, files }))
    }

    fn profile(&self, input: Input) -> Result<Profile> {
        if input.format == Format::Dump {
            let sources = Sources::recorded(self.places.clone());
            return sources.profile(vec![input], Reader::EXACT);
        }
        let mut profile = input.into_profile()?;
        self.places.move_files(&mut profile);
        Ok(profile)
    }
}
