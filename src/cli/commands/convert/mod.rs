//! `countersink convert`: its options, and what all targets share. A family of targets has a file each; `options` says
//! which options go with which family.

mod coverage;
mod explanation;
mod gcda;
mod instr_profile;
mod options;
mod profile;
#[cfg(feature = "parquet")]
mod table;
mod target;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use self::target::{Asked, ConvertTarget};
use crate::cli::inputs::coverage::selection::Selection;
use crate::cli::inputs::data_files::read_all;
use crate::cli::inputs::folder::{self, format_of};
use crate::cli::inputs::input::{self, Format, Input};
use crate::cli::inputs::sources::Sources;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::account::Account;
use crate::cli::outputs::coverage::limits::Limits;
use crate::cli::outputs::coverage::review::ReviewOptions;
use crate::cli::outputs::instr_profile::{self as instr_profiles, Wish};
use crate::cli::outputs::output::{self, Content};
use crate::cli::outputs::profile::ReaderOptions;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::warn;
use crate::placement::explain::SourceLine;

/// Convert raw dumps, or profiles, into what compilers and other tools read
///
/// Dumps are added up, and so are profiles. .gcda files of libgcov count as a dump. LLVM's profiles (.profraw,
/// .profdata, .proftext) become each other, whatever their versions. Source lines come from the notes (.gcno) that gcc
/// wrote with -ftest-coverage, found beside the recorded place of the objects' .gcda files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # What the gcc on the path reads, or another one
  countersink convert prog.csraw -o prog.afdo
  gcc -O2 -fauto-profile=prog.afdo prog.c -o prog-opt
  countersink convert prog.csraw --for-gcc 16 -o prog.afdo
  # AutoFDO version 4
  countersink convert prog.csraw --to v4 -o prog.gcov
  countersink convert prog.csraw --to v4-text | less
  # For gcov and -fprofile-use
  countersink convert prog.csraw --to gcda
  # Which lines ran, for genhtml, editors and CI servers
  countersink convert prog.csraw --to lcov -o prog.info
  # For a pull request: tables, and annotations of changed lines
  countersink convert prog.csraw --to coverage-markdown --against prog.info
  countersink convert prog.csraw --to coverage-github --changed HEAD
  # Programs of clang and rustc: for -fprofile-use of clang 16
  countersink convert *.profraw --for-llvm 16 -o prog.profdata

  # To look at
  countersink convert prog.csraw --to pprof -o prog.pb.gz
  countersink convert prog.csraw --to callgrind -o callgrind.out.prog

A folder stands for the dumps and raw profiles below it, or if it has none, for its profiles.

Without --to and --for-..., `convert` writes what the gcc on the path reads. --for-gcc chooses another one: version 1 \
for gcc 10 and 11, version 2 for gcc 12 to 15, \
version 3 for gcc 16 and 17, and within a version what each of them makes of names and discriminators. \
--to v4 is the proposal of April 2026 (dialect rfc1), which no released compiler reads. \
--for-llvm without --to writes an indexed profile (profdata). \
For gcc 11 and with --to v1 the profile has no call targets, because gcc 11 ends with an internal error at them.

--to gcda writes each object's file where \
libgcov would have, in place of what is there; %p and %q{} in a recorded path stay as they are, \
since one dump stands for many processes.

--to lcov and --to cobertura write which lines, functions and branches ran: what gcov or llvm-cov count. Programs of clang \
must be compiled with -fprofile-instr-generate -fcoverage-mapping, those of rustc with -Cinstrument-coverage, and stay or be \
shown with --binary. Their counts of lines also become profiles for gcc. --to coverage-json has the same \
for other programs: {\"format\": \"countersink-coverage\", \"version\": 1, \"totals\", \"files\": [{\"path\", \"totals\", \
\"lines\": [{\"line\", \"count\"}], \"functions\": [{\"name\", \"line\", \"end\", \"count\", \"paths\": [{\"found\", \"hit\", \
\"missed\": [{\"number\", \"blocks\"}], \"blocks\": [{\"block\", \"lines\", \"when_true\", \"when_false\"}]}]}], \
\"branches\": [{\"line\", \"block\", \"count\", \"is_exception\"}], \
\"decisions\": [{\"line\", \"conditions\": [{\"shown_true\", \"shown_false\"}]}]}]}. --to coverage-markdown and --to \
coverage-github are for reviewers: totals, and lines that were not executed, of all files or of what git shows as changed.

The compilation with the profile needs no -g. The program that ran must stay, or be shown with --binary, \
which may be given again for each of its shared objects.

The account goes to standard error: the share of executions that the profile holds, and what was dropped. Each \
block counts as one execution of each of its lines. Objects without notes have no lines and do not count: --strict \
finds them, --fail-under does not. --strict also checks the counts of each function: that they are those of its counters, \
that each executed line has a place, and that each count comes from a block or is marked as an estimate. -v names each loss, the heaviest first. The exit status is 0 if anything could be \
converted, else 2; it is 1 if the profile holds less than --fail-under or --strict ask for.

The schema of --report: {\"format\": \"countersink-account\", \"version\": 1, \"executions\": {\"all\", \"placed\", \
\"estimated\", \"misplaced\"}, \"estimates\": [{\"how\", \"executions\", \"misplaced\", \
\"lines\": [{\"function\", \"line\", \"executions\"}]}], \"objects\", \"functions\", \"dropped\": [{\"what\", \"number\"}], \"losses\": [{\"file\", \"line\", \
\"function\", \"executions\", \"why\"}]}")]
pub struct Convert {
    /// Raw dumps, .gcda files and profiles, and folders with these below; - is standard input
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Write here, and make the folders of the path; - or nothing is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<ConvertTarget>,
    #[command(flatten)]
    reader: ReaderOptions,
    #[command(flatten)]
    wish: Wish,
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    account: Account,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    review: ReviewOptions,
    #[command(flatten)]
    limits: Limits,
    /// Write no profile, but say for a line of gcc's programs which rule gave each of its counts the place
    #[arg(long, value_name = "FILE:LINE", conflicts_with = "to")]
    explain: Option<SourceLine>,
    /// Keep the summary of a profile, even if it is not that of the counts
    #[arg(long)]
    keep_summary: bool,
    /// With --to gcda: put this before all paths, as GCOV_PREFIX does
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// With --to gcda: leave out that many directories, as GCOV_PREFIX_STRIP does
    #[arg(long, value_name = "N", default_value_t = 0)]
    strip: usize,
    /// With --to parquet: the number of the first dump; tables that are merged say by it which dump came last
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u32,
    /// With --to parquet: the ids of dumps and profiles are their paths below this folder [default: below the folder
    /// that was given, or the names of files]
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    below: Option<PathBuf>,
}

impl Convert {
    pub fn run(&self) -> Result<Outcome> {
        input::refuse_twice(self.inputs.iter().map(|path| &**path))?;
        let asked = self.asked();
        options::check(self, asked.family())?;
        let outcome = match asked {
            Asked::Profile(target) => self.profile(target),
            Asked::InstrProfile(target) => self.instr_profile(target),
            Asked::Gcda => self.gcda(),
            Asked::Coverage(format) => self.coverage(format),
            Asked::Review(format) => self.review(format),
            #[cfg(feature = "parquet")]
            Asked::Table => self.table(),
            Asked::Explanation(line) => self.explanation(line),
        }?;
        self.sources.places.warn_of_unused();
        Ok(outcome)
    }

    /// What the options ask for.
    fn asked(&self) -> Asked<'_> {
        match (&self.explain, self.to) {
            (Some(line), _) => Asked::Explanation(line),
            (None, Some(target)) => target.into(),
            (None, None) if self.wish.is_llvm() => {
                Asked::InstrProfile(instr_profiles::Target::Profdata)
            }
            (None, None) => Asked::Profile(None),
        }
    }

    /// The files that the inputs stand for.
    fn paths(&self) -> Result<Vec<PathBuf>> {
        let mut paths = folder::expand(&self.inputs, self.output.as_deref())?;
        if self.inputs.len() > 1 {
            let mut known = HashSet::new();
            paths.retain(|path| {
                let is_new = path.canonicalize().map_or(true, |real| known.insert(real));
                if !is_new {
                    warn(path, "given twice; counted once");
                }
                is_new
            });
        }
        Ok(paths)
    }

    /// Reads all inputs.
    fn read(&self, paths: &[PathBuf]) -> Result<Vec<Input>> {
        let output = self.output.as_deref().filter(|path| path.as_os_str() != "-");
        output.map_or(Ok(()), |output| self.refuse(output))?;
        read_all(paths, Input::open)
    }

    /// Refuses to replace what is not made again so easily: a dump or `.gcda` file among the inputs, under whatever
    /// name, which has more counts than the output; another object's counters or notes; the program.
    fn refuse(&self, output: &Path) -> Result<()> {
        let target = input::Target::of(output);
        // Those below folders have been compared.
        if let Some(input) = self.inputs.iter().find(|path| target.is(path))
            && matches!(Input::open(input)?.format, Format::Dump | Format::Gcda)
        {
            let what = "is an input, too, and a raw dump, whose counts a profile would not keep";
            return Err(Error::about(output, what));
        }
        if let Some(format @ (Format::Gcda | Format::Gcno)) = format_of(output) {
            let what = format!("there are {} in it; write to another place", format.name());
            return Err(Error::about(output, what));
        }
        if self.sources.binary.iter().any(|binary| target.is(binary)) {
            return Err(Error::about(output, "is the program of --binary; write to another place"));
        }
        if self.review.against().is_some_and(|base| target.is(base)) {
            return Err(Error::about(output, "is the base of --against; write to another place"));
        }
        Ok(())
    }

    /// Writes the result of `file`, which gets a name for messages.
    fn write(&self, file: impl FnOnce(&Path) -> Result<(Vec<u8>, Content)>) -> Result<()> {
        let path = self.output.as_deref();
        let name = path.unwrap_or(Path::new("standard output"));
        let (bytes, content) = file(name)?;
        output::write(path, &bytes, content)
    }
}
