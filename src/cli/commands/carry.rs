//! `countersink carry`: options, inputs and what it says. [`crate::carry`] moves the counts.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::carry::{Became, Class, Functions, Loss, Sides, Tally, Why, counts, functions, samples};
use crate::cli::compilers::gcc;
use crate::cli::inputs::data_files::as_dump;
use crate::cli::inputs::input::{Format, Input, is_same};
use crate::cli::inputs::notes::Places;
use crate::cli::inputs::sources::Sources;
use crate::cli::inputs::{folder, program};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::outputs::profile::ProfileFormat;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::cli::terminal::names::{self, text};
use crate::cli::terminal::percent;
use crate::cli::terminal::visible::visible;
use crate::convert::gcov::statistics::Amount;
use crate::convert::number::Number;
use crate::formats::afdo_v1_v3::Version;
use crate::formats::afdo_v1_v3::names::{Names, without_number};
use crate::profile::{Profile, SymbolId, Symbols};
use crate::program::debug::constructors::any_variant;
use crate::samples::{Samples, name_number, number};
use crate::staleness::outline::{Outline, shapes};

/// Move the counts of an old profile to the lines of the new source
///
/// Compilers look up a position by its function and its distance from the function's first line. After edits the counts
/// of an old profile belong to other lines. This command finds the function and the line that each count belongs to
/// now, and leaves out the counts whose lines are gone. It compares the sources, the debug information and the calls of
/// both programs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink convert prog.csraw --to v4 --for-gcc gcc -o old.v4
  # After edits. Both programs have -g, and are compiled in the same way
  gcc -O2 -g prog.c -o prog-new
  countersink carry old.v4 --from prog --to prog-new -o new.v4
  countersink convert new.v4 --for-gcc gcc -o prog.afdo
  gcc -O2 -fauto-profile=prog.afdo $(countersink flags --optimise gcc) -c prog.c
  # The old program is gone: its profile alone shows fewer edits
  countersink carry old.v4 --to prog-new -o new.v4
  # In CI: train again when less than 80 % can be carried
  countersink carry old.v4 --from prog --to prog-new -o new.v4 --fail-under 80

Lines are aligned by their text where the sources of both programs are there: at the paths in the debug information, if \
they are older than the program, or in --from-sources and --to-sources. Such a folder may be a work tree of git: \
git worktree add ../old v1.0. Elsewhere lines are aligned by their code and calls.

The profile keeps its format. Of a dump, which names its program, it writes what the gcc on the path reads, or \
--for-gcc. The counts are those of the old training runs. What is new in the source has none, so train again when \
much has changed.

An execution is exact if it stands at the same distance in a function of the same name, and so do the calls around it. \
It is on a moved line if one of these distances is another one now. It is in a renamed function if the function has \
another name now: one that has its callers, calls and lines, or lines that went there. The rest is left out. Lines that are new get the lower count of \
the lines around them.

The exit status is 0, or 1 if less than --fail-under is carried.")]
pub struct Carry {
    /// The old profile: AutoFDO of any version, a sample profile of LLVM, or a raw dump
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The old program with debug information, or its dump, which names it
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// The new program with debug information, or a shared object of it
    #[arg(long, value_name = "FILE", required = true)]
    to: Vec<PathBuf>,
    /// The old sources, such as a work tree of git, if they are not where the old program was compiled
    #[arg(long, value_name = "DIR", requires = "from")]
    from_sources: Option<PathBuf>,
    /// The new sources, if they are not where the new program was compiled
    #[arg(long, value_name = "DIR")]
    to_sources: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
    /// For a dump: write what this gcc reads: its version, such as 12 or 12.2, or its command
    #[arg(long, value_name = "VERSION|COMMAND", value_parser = NonEmptyStringValueParser::new())]
    for_gcc: Option<String>,
    /// Name the N functions with the heaviest losses
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Exit with status 1 if less than this share of the executions is carried
    #[arg(long, value_name = "PERCENT", value_parser = percent::percent)]
    fail_under: Option<f64>,
    /// Write here; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// What is known about a profile's reader.
#[derive(Clone, Copy)]
struct Reader {
    names: Names,
    files: bool,
    /// Whether the profile has numbers for names.
    numbers: bool,
}

impl Carry {
    pub fn run(&self) -> Result<Outcome> {
        self.keep_inputs()?;
        let input = as_dump(Input::read(&folder::only(&self.old)?)?)?;
        if input.is_by_function()? {
            let what = "counters by function have no lines: clang and rustc compare each function's hash themselves";
            return Err(Error::about(&input.name, what));
        }
        let name = input.name.clone();
        let (bytes, content, tally, symbols) = match input.format.is_sample() {
            true => self.samples(&input)?,
            false => self.profile(input)?,
        };
        if tally.all() > 0 && tally.carried() == 0.0 {
            let what = "nothing can be carried: is it the profile of another program?";
            return Err(Error::about(&name, what));
        }
        self.report(&name, &tally, &symbols);
        output::write(Some(&self.output), &bytes, content)?;
        let carried = tally.carried() * 100.0;
        match self.fail_under {
            Some(least) if carried < least => {
                warn(&name, format!("{carried:.2} % carried; --fail-under asks for {least} %"));
                Ok(Outcome::Found)
            }
            _ => Ok(Outcome::Done),
        }
    }

    /// Refuses an output that is an input: the old profile may be all that is left of the training runs.
    fn keep_inputs(&self) -> Result<()> {
        let mut inputs = [&self.old].into_iter().chain(&self.from).chain(&self.to);
        match inputs.any(|input| input.as_os_str() != "-" && is_same(input, &self.output)) {
            true => Err(Error::about(
                &self.output,
                "is an input, too; give the new profile another name",
            )),
            false => Ok(()),
        }
    }

    fn samples(&self, input: &Input) -> Result<Carried> {
        let old = input.samples()?;
        if old.traits.probes {
            let what = "its positions are numbers of pseudo-probes, not lines; clang matches them \
                        itself with -mllvm -salvage-stale-profile";
            return Err(Error::about(&input.name, what));
        }
        let numbers = has_numbers(&old);
        let reader = Reader { names: Names::Whole, files: false, numbers };
        let name_of = |symbol: SymbolId| reader.name_of(old.symbols.name(symbol));
        let shapes = samples::shapes(&old, &name_of);
        let listed = Profile { symbols: old.symbols.clone(), ..Profile::default() };
        let functions = self.functions(&input.name, &listed, shapes, reader)?;
        let (new, tally) = samples::carry(&old, &functions);
        let (bytes, content) = match is_unchanged(&tally, &functions) {
            true => (input.bytes.clone(), content_of(input)),
            false => ProfileFormat::of(input).file_of(new, &self.output)?,
        };
        Ok((bytes, content, tally, old.symbols))
    }

    fn profile(&self, input: Input) -> Result<Carried> {
        let reader = Reader::of(input.format);
        let format = self.format(&input)?;
        let name = input.name.clone();
        let (old, bytes) = match input.format {
            Format::Dump => {
                let sources = Sources::recorded(self.places.clone());
                (sources.profile(vec![input], format.reader())?, None)
            }
            _ => (input.profile()?, Some((content_of(&input), input.bytes))),
        };
        let name_of = |symbol: SymbolId| reader.name_of(old.symbols.name(symbol));
        let functions = self.functions(&name, &old, shapes(&old, &name_of), reader)?;
        let (new, tally) = counts::carry(&old, &functions);
        let (bytes, content) = match bytes {
            Some((content, bytes))
                if is_unchanged(&tally, &functions) && self.for_gcc.is_none() =>
            {
                (bytes, content)
            }
            _ => format.file(&new, &self.output)?,
        };
        Ok((bytes, content, tally, old.symbols))
    }

    /// The format of the result.
    fn format(&self, input: &Input) -> Result<ProfileFormat> {
        match &self.for_gcc {
            Some(gcc) => Ok(ProfileFormat::V1V3(gcc::rules(gcc)?)),
            None if input.format == Format::Dump => Ok(ProfileFormat::V1V3(gcc::installed()?.1)),
            None => Ok(ProfileFormat::of(input)),
        }
    }

    /// What became of the functions of a profile.
    fn functions(
        &self,
        name: &Path,
        profile: &Profile,
        shapes: std::collections::BTreeMap<SymbolId, crate::staleness::outline::Shape>,
        reader: Reader,
    ) -> Result<Functions> {
        let read = |paths: &[PathBuf], sources: Option<&Path>| -> Result<Outline> {
            let mut outline = program::of_programs(paths, &self.places)?;
            program::add_texts(&mut outline, paths, sources);
            let mut outline = outline.renamed(|name| reader.name_of(name));
            let identifier =
                |name: &[u8]| names::identifier(&names::text(without_number(name))).into_bytes();
            outline.add_linkage_names(profile, identifier);
            outline.knows.profile_is_whole = !self.from.is_empty() || reader.names == Names::Whole;
            Ok(outline)
        };
        let old = match self.old_programs()? {
            paths if paths.is_empty() => None,
            paths => Some(read(&paths, self.from_sources.as_deref())?),
        };
        if let Some(old) = old.as_ref().filter(|_| !shapes.is_empty()) {
            let names = shapes.keys().map(|&symbol| profile.symbols.name(symbol));
            self.check_old(old, names.map(|name| reader.name_of(name)), name)?;
        }
        let new = read(&self.to, self.to_sources.as_deref())?;
        let sides = Sides {
            old: old.as_ref(),
            new: &new,
            name_of: |name: &[u8]| reader.name_of(name),
            files: reader.files,
        };
        Ok(functions::functions(&profile.symbols, shapes, &sides))
    }

    /// Refuses a program that has none of the functions of the profile.
    fn check_old(
        &self,
        old: &Outline,
        mut names: impl Iterator<Item = Vec<u8>>,
        profile: &Path,
    ) -> Result<()> {
        match names.any(|name| old.find(&name, None).is_some()) {
            true => Ok(()),
            false => {
                let what =
                    "has no function of the profile; --from is for the program that was trained";
                Err(Error::about(&self.from[0], format!("{what}, {}", profile.display())))
            }
        }
    }

    /// The old programs: those that were named, and those of dumps that were.
    fn old_programs(&self) -> Result<Vec<PathBuf>> {
        let mut programs = Vec::new();
        for path in &self.from {
            match folder::format_of(path) {
                Some(Format::Dump) => {
                    programs.extend(program::of_dump(&Input::read(path)?, &self.places)?)
                }
                _ => programs.push(path.clone()),
            }
        }
        Ok(programs)
    }

    fn report(&self, name: &Path, tally: &Tally, symbols: &Symbols) {
        let share = |class| percent::text(percent::share(tally.of(class), tally.all()));
        let all = Amount(u64::try_from(tally.all()).unwrap_or(u64::MAX));
        warn(
            name,
            format!(
                "carried {} of {all} executions: {} exact, {} on moved lines, {} in renamed functions; {} left out",
                percent::text(tally.carried()),
                share(Class::Exact),
                share(Class::Shifted),
                share(Class::Renamed),
                share(Class::Dropped),
            ),
        );
        let losses = tally.losses();
        for loss in losses.iter().take(self.top) {
            let share = percent::text(percent::share(loss.dropped, tally.all()));
            let function =
                visible(&names::Names::chosen(false).of(&text(symbols.name(loss.function))));
            say(format_args!("left out {share}: {function}: {}", reasons(loss, symbols)));
        }
        if let more @ 1.. = losses.len().saturating_sub(self.top) {
            say(format_args!(
                "left out in {}; --top names them",
                Number(more as u64, "more function")
            ));
        }
    }
}

/// The bytes of the new profile, what they are, how much was carried, and the names of the old profile.
type Carried = (Vec<u8>, Content, Tally, Symbols);

/// Whether the file may stay as it is.
fn is_unchanged(tally: &Tally, functions: &Functions) -> bool {
    let is_moved = |became: &Became| became.name.is_some() || became.file.is_some();
    tally.is_unchanged() && !functions.became.values().any(is_moved)
}

fn content_of(input: &Input) -> Content {
    match input.format {
        Format::V4Text | Format::SampleText => Content::Text,
        _ => Content::Binary,
    }
}

/// Whether all names of a sample profile are MD5 numbers.
fn has_numbers(samples: &Samples) -> bool {
    let mut names = samples.symbols.iter().map(|symbol| samples.symbols.name(symbol)).peekable();
    names.peek().is_some() && names.all(|name| number(name).is_some())
}

/// Why counts were left out.
fn reasons(loss: &Loss, symbols: &Symbols) -> String {
    let reason = |&(why, executions): &(Why, u128)| {
        let amount = Amount(u64::try_from(executions).unwrap_or(u64::MAX));
        match why {
            Why::Gone => format!("{amount}: no function has this name, and none is like it"),
            Why::NoLine(from) => format!("{amount}: lines that are gone, the first at {from:+}"),
            Why::NoCallee(callee) => {
                format!("{amount}: inlined {}, which is gone", visible(&text(symbols.name(callee))))
            }
        }
    };
    loss.reasons.iter().take(REASONS).map(reason).collect::<Vec<_>>().join("; ")
}

/// Reasons of one function that are named.
const REASONS: usize = 3;

impl Reader {
    fn of(format: Format) -> Self {
        let files = matches!(
            format,
            Format::Dump | Format::V4 | Format::V4Text | Format::V1V3(Version::V3)
        );
        Self { names: format.names(), files, numbers: false }
    }

    fn name_of(self, name: &[u8]) -> Vec<u8> {
        match self.numbers {
            true => name_number(name).to_string().into_bytes(),
            false => any_variant(self.names.of(name)).into_owned(),
        }
    }
}
