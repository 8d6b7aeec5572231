//! `countersink show`.

mod choice;
mod instr_profile;
mod lines;
mod modules;
mod objects;
mod sections;
mod summary;

use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::slice;

use clap::Args;

use self::choice::Choice;
use self::lines::lines;
use self::modules::modules;
use self::objects::{gcda, gcno};
use self::sections::sections;
use self::summary::{cutoffs, table, totals};
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::data_files::{as_dump, read_sum};
use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::instr_profiles::read::counted;
use crate::cli::inputs::sources::Sources;
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::{Names, text};
use crate::cli::terminal::print;
use crate::convert::number::Number;
use crate::formats::gcda::decode::Data;
use crate::formats::gcno::Notes;
use crate::formats::json;
use crate::placement::reader::Reader;
use crate::profile::Profile;

/// Show what is in a file
///
/// A raw dump shows its modules; with --function, --source, --top or --summary it is converted first,
/// with the notes beside its objects. A profile shows its summary and its ten hottest functions. Of LLVM's
/// profiles each function has its counters, targets of calls and sizes of memory operations, with --function.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # Modules, runs, sizes; counts by line from the declaration
  countersink show prog.csraw
  countersink show prog.gcov --function main
  countersink show prog.csraw --top 3 --json

A function's lines are: line[.discriminator]: count  target calls, ...; inlined functions are \
indented. Lines are counted from the function's declaration. A dump knows where that is: where the source is there, its line and \
text follow. A count with ~ is an estimate: neither the compiler's notes nor the code say for certain that it belongs to \
this line or copy. Where more functions were called than the runtime keeps apart, it says by how much each \
number of calls may be wrong. With --json the schema is that of `convert --to json`, for dumps without a choice of \
functions: {\"format\": \"countersink-dump\", \"version\": 1, \"modules\": [{\"path\", \"build_id\", \
\"signature\", \"runs\", \"sum_max\", \"dropped\", \"objects\", \"compilers\", \"functions\", \"counters\", \"sites\"}]}; for LLVM's \
profiles: {\"format\": \"countersink-functions\", \"version\": 1, \"instrumentation\", \"binary_ids\", \"functions\": \
[{\"name\", \"hash\", \"counters\", \"conditions\", \"calls\": [[{\"name\", \"count\"}]], \"sizes\": [[{\"size\", \
\"count\"}]], \"vtables\"}]}.")]
pub struct Show {
    /// A raw dump, a profile of AutoFDO or LLVM of any version, .gcda or .gcno; several dumps and folders are added up
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The summary: how many counts carry which share of all
    #[arg(long, conflicts_with_all = ["function", "source", "top"])]
    summary: bool,
    /// The sections or parts of the file with their places and sizes
    #[arg(long, conflicts_with_all = ["summary", "function", "source", "top", "json"])]
    sections: bool,
    #[command(flatten)]
    choice: Choice,
    /// Names as in the source, as always on a terminal
    #[arg(long, conflicts_with = "json")]
    demangle: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sources: Sources,
}

impl Show {
    pub fn run(&self) -> Result<Outcome> {
        let by_function = self.choice.is_some() || self.summary;
        let mut input = read_sum(&self.files)?;
        if by_function || self.json {
            input = as_dump(input)?;
        }
        self.sources.check(slice::from_ref(&input))?;
        let text = match input.format {
            _ if self.sections => sections(&input)?,
            Format::Dump if !by_function => modules(&input.dump()?, self.json)?,
            _ if input.is_by_function()? => self.by_function(&input)?,
            Format::Gcno if by_function || self.json => {
                let what = format!("{}, is shown as a whole and as text only", input.format.name());
                return Err(Error::about(&input.name, what));
            }
            Format::Gcda => gcda(&Data::decode(&input.bytes).about(&input.name)?),
            Format::Gcno => gcno(&Notes::decode(&input.bytes).about(&input.name)?),
            Format::V4 if self.wants_part() => match self.choice.part(&input)? {
                Some(part) => self.profile(&part)?,
                // Perhaps some names come near.
                None => self.whole(input)?,
            },
            Format::Sample if self.wants_part() => match self.choice.sample(&input)? {
                Some(part) => self.profile(&part)?,
                None => self.whole(input)?,
            },
            _ => self.whole(input)?,
        };
        print::print_text(&text)?;
        Ok(Outcome::Done)
    }

    /// The first file, for messages.
    fn file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), |file| file)
    }

    fn by_function(&self, input: &Input) -> Result<String> {
        if self.choice.source.is_some() {
            let what = "--source: the positions of its functions stand in the program's coverage mapping; \
                        `convert --to v4 --binary PROGRAM` gives a profile that has them";
            return Err(Error::about(&input.name, what));
        }
        let programs = Programs::new(&self.sources.binary, &self.sources.places);
        let counted = counted(input, &programs)?;
        input.warn(&counted.warnings);
        let shown = instr_profile::Shown {
            function: self.choice.function.as_deref(),
            top: self.choice.top,
            summary: self.summary,
            names: Names::chosen(self.demangle),
        };
        let text = match self.json {
            true => instr_profile::json(shown, &counted.profile),
            false => shown.text(&counted),
        };
        text.about(&input.name)
    }

    /// Whether some functions of a version 4 profile are enough.
    fn wants_part(&self) -> bool {
        self.choice.is_in_full() && !self.json && !self.sources.moves_files()
    }

    fn whole(&self, input: Input) -> Result<String> {
        self.profile(&self.sources.profile(vec![input], Reader::EXACT)?)
    }

    fn profile(&self, profile: &Profile) -> Result<String> {
        let functions = self.choice.of(profile, self.json);
        let in_full = self.choice.is_in_full();
        if in_full {
            match functions.len() {
                0 => return Err(Error::about(self.file(), self.choice.absence(profile))),
                number => warn(self.file(), format!("{} found", Number(number as u64, "function"))),
            }
        }
        if self.json {
            let json = json::encode::encode(profile, |symbol| functions.contains(&symbol));
            return Ok(text(&json.about(self.file())?));
        }
        let names = Names::chosen(self.demangle);
        if in_full {
            return Ok(lines(profile, &functions, names, self.file()));
        }
        let summary = profile.summary();
        Ok(match self.summary {
            true => totals(&summary) + &cutoffs(&summary),
            false => totals(&summary) + "\n" + &table(profile, &functions, &summary, names),
        })
    }
}
