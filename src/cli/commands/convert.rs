//! `countersink convert`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use rayon::prelude::*;

use crate::cli::compilers::gcc;
use crate::cli::cores::Cores;
use crate::cli::inputs::conversion::{Asked, Converted, dumps_name};
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::coverage::selection::{Chosen, Selection};
use crate::cli::inputs::data_files::read_all;
use crate::cli::inputs::folder::format_of;
use crate::cli::inputs::input::{Decoded, Format, Input};
use crate::cli::inputs::instr_profiles::queue::Listed;
use crate::cli::inputs::notes::display;
use crate::cli::inputs::sources::{Sources, added, needs_dump};
use crate::cli::inputs::{coverage, folder, input, instr_profiles};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::account::Account;
use crate::cli::outputs::coverage::CoverageFormat;
use crate::cli::outputs::coverage::limits::Limits;
use crate::cli::outputs::coverage::review::{ReviewFormat, ReviewOptions};
use crate::cli::outputs::gcda::{Place, Ready};
use crate::cli::outputs::instr_profile::{self, Wish};
use crate::cli::outputs::output::{self, Content, Out};
#[cfg(feature = "parquet")]
use crate::cli::outputs::parquet::{self, Ids};
use crate::cli::outputs::profile::{ProfileFormat, ReaderOptions, Target};
use crate::cli::outputs::{samples, sum, viewers};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::convert::gcov;
use crate::convert::gcov::gcda::{Build, ObjectCounts};
use crate::convert::number::Number;
use crate::coverage::Coverage;
use crate::formats::afdo_v4::encode::Encoding;
use crate::placement::explain::{Explanation, SourceLine, Way};
use crate::placement::reader::Reader;
use crate::profile::{Profile, Summary};
use crate::workers::Workers;

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
\"lines\": [{\"line\", \"count\"}], \"functions\": [{\"name\", \"line\", \"end\", \"count\"}], \
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
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["to", "keep_summary", "prefix", "strip"])]
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

/// A line for each count, and what the rules behind them go by.
fn explanation(found: &[Explanation]) -> String {
    let mut rules = BTreeSet::new();
    let mut text = String::new();
    for explanation in found {
        text += &format!("{explanation}\n");
        if let Way::Placed { rule, .. } = explanation.way {
            rules.insert(rule);
        }
    }
    for rule in rules {
        text += &format!("{rule}: {}\n", rule.what());
    }
    text
}

/// Formats, including those that only a conversion can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConvertTarget {
    Profile(Target),
    /// Counter files of gcc, one per object.
    Gcda,
    /// A profile of LLVM.
    ByFunction(instr_profile::Target),
    /// Line coverage.
    Coverage(CoverageFormat),
    /// Line coverage for reviewers of a change.
    Review(ReviewFormat),
    /// A table of dumps or profiles.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl ValueEnum for ConvertTarget {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<ConvertTarget>> = LazyLock::new(|| {
            let profiles = Target::value_variants().iter().copied().map(ConvertTarget::Profile);
            let by_function = instr_profile::Target::value_variants().iter().copied();
            let by_function = by_function.map(ConvertTarget::ByFunction);
            let coverage = CoverageFormat::value_variants().iter().copied();
            let coverage = coverage.map(ConvertTarget::Coverage);
            let review = ReviewFormat::value_variants().iter().copied().map(ConvertTarget::Review);
            let coverage = coverage.chain(review);
            let others = profiles.chain([ConvertTarget::Gcda]).chain(by_function).chain(coverage);
            #[cfg(feature = "parquet")]
            let others = others.chain([ConvertTarget::Parquet]);
            others.collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Profile(target) => target.to_possible_value(),
            Self::ByFunction(target) => target.to_possible_value(),
            Self::Coverage(target) => target.to_possible_value(),
            Self::Review(target) => target.to_possible_value(),
            #[cfg(feature = "parquet")]
            Self::Parquet => {
                let help = "Table for engines that merge: all counters of dumps, or all positions of profiles";
                Some(PossibleValue::new("parquet").help(help))
            }
            Self::Gcda => {
                let help = "Counter files of gcc, one per object; only of dumps";
                Some(PossibleValue::new("gcda").help(help))
            }
        }
    }
}

impl Convert {
    pub fn run(&self) -> Result<Outcome> {
        input::refuse_twice(self.inputs.iter().map(|path| &**path))?;
        #[cfg(feature = "parquet")]
        match self.to {
            Some(ConvertTarget::Parquet) => return self.parquet(),
            _ if self.first != 0 => return Err(Error::new("--first is for --to parquet")),
            _ if self.below.is_some() => return Err(Error::new("--below is for --to parquet")),
            _ => {}
        }
        let paths = folder::expand(&self.inputs, self.output.as_deref())?;
        if let Some(line) = &self.explain {
            return self.explain(line, &paths);
        }
        let is_llvm = self.to.is_none() && self.wish.is_llvm();
        let is_by_function = is_llvm || matches!(self.to, Some(ConvertTarget::ByFunction(_)));
        if let Some(option) = self.wish.given().filter(|_| !is_by_function) {
            return Err(Error::new(format!("{option} is for --to profdata, profraw and proftext")));
        }
        self.check_options_of_coverage()?;
        let outcome = match self.to {
            Some(ConvertTarget::ByFunction(target)) => self.by_function(target, paths),
            None if is_llvm => self.by_function(instr_profile::Target::Profdata, paths),
            #[cfg(feature = "parquet")]
            Some(ConvertTarget::Parquet) => self.parquet(),
            Some(ConvertTarget::Gcda) => self.gcda(&paths),
            Some(ConvertTarget::Coverage(target)) => self.coverage(target, &paths),
            Some(ConvertTarget::Review(target)) => self.reviewed(target, &paths),
            Some(ConvertTarget::Profile(target)) => self.by_position(Some(target), &paths),
            None => self.by_position(None, &paths),
        }?;
        self.sources.places.warn_of_unused();
        Ok(outcome)
    }

    /// Refuses options that only affect line coverage, with other targets.
    fn check_options_of_coverage(&self) -> Result<()> {
        let is_review = matches!(self.to, Some(ConvertTarget::Review(_)));
        if let Some(option) = self.review.given().filter(|_| !is_review) {
            let what = "is for --to coverage-markdown and coverage-github";
            return Err(Error::new(format!("{option} {what}")));
        }
        let is_coverage = is_review || matches!(self.to, Some(ConvertTarget::Coverage(_)));
        let given = self.selection.given().or_else(|| self.limits.given());
        match given.filter(|_| !is_coverage) {
            Some(option) => {
                Err(Error::new(format!("{option} is for --to lcov, cobertura and coverage-...")))
            }
            None => Ok(()),
        }
    }

    /// Says how the counts of a line got their places.
    fn explain(&self, line: &SourceLine, paths: &[PathBuf]) -> Result<Outcome> {
        let given = self.only_for_compilers().or_else(|| self.wish.given());
        if let Some(option) = given.or_else(|| self.account.given()) {
            return Err(Error::new(format!("{option} is about a file, and --explain writes none")));
        }
        let inputs = self.read(paths)?;
        needs_dump("--explain", &inputs)?;
        let name = dumps_name(&inputs);
        let mut sources = self.sources.clone();
        sources.explains = Some(line.clone());
        let reader = Reader::EXACT;
        let asked = Asked { reader, gcc: None, losses: false, probes: false, check: false };
        let Some(statistics) = sources.convert(inputs, asked)?.statistics else {
            return Err(Error::about(&name, "--explain is about programs of gcc"));
        };
        let found = &statistics.explanations;
        if found.is_empty() {
            let SourceLine { file, line } = line;
            warn(&name, format!("no instrumented function has a count of {file}:{line}"));
            return Ok(Outcome::Found);
        }
        let text = explanation(found);
        output::write(self.output.as_deref(), text.as_bytes(), Content::Text)?;
        Ok(Outcome::Done)
    }

    /// An option that is given and only affects files for compilers.
    fn only_for_compilers(&self) -> Option<&'static str> {
        let given = [
            ("--for-gcc", self.reader.is_gcc()),
            ("--keep-summary", self.keep_summary),
            ("--prefix", self.prefix.is_some()),
            ("--strip", self.strip != 0),
        ];
        given.into_iter().find(|&(_, is_given)| is_given).map(|(option, _)| option)
    }

    /// Writes a table.
    #[cfg(feature = "parquet")]
    fn parquet(&self) -> Result<Outcome> {
        let others = self
            .only_for_compilers()
            .or_else(|| self.wish.given())
            .or_else(|| self.account.given())
            .or_else(|| self.sources.given());
        if let Some(option) = others {
            return Err(Error::new(format!(
                "{option} is not for --to parquet, which changes nothing"
            )));
        }
        let ids = Ids { first: self.first, below: self.below.as_deref() };
        parquet::write(&self.inputs, self.output.as_deref(), ids)?;
        Ok(Outcome::Done)
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
        Ok(())
    }

    /// Writes counter files of gcc.
    fn gcda(&self, paths: &[PathBuf]) -> Result<Outcome> {
        if self.reader.is_gcc() {
            return Err(Error::new("--for-gcc chooses a profile, and --to gcda is none"));
        }
        if let Some(option) = self.account.given() {
            return Err(Error::new(format!("{option} is about a profile, and --to gcda is none")));
        }
        self.write_gcda(self.read(paths)?)?;
        Ok(Outcome::Done)
    }

    /// Writes line coverage.
    fn coverage(&self, target: CoverageFormat, paths: &[PathBuf]) -> Result<Outcome> {
        let name = coverage::name_of(paths);
        let (coverage, chosen) = self.lines(paths, &name)?;
        self.write(|name| target.file(&coverage, chosen.folder(), name))?;
        let outcome = self.limits.check(&coverage, &name);
        // The process is about to end, so nobody needs the memory of its many small parts.
        core::mem::forget(coverage);
        Ok(outcome)
    }

    /// Writes line coverage for reviewers of a change.
    fn reviewed(&self, target: ReviewFormat, paths: &[PathBuf]) -> Result<Outcome> {
        let name = coverage::name_of(paths);
        let (coverage, chosen) = self.lines(paths, &name)?;
        let base = self.review.base(&self.sources, &self.selection, &chosen)?;
        let review = self.review.of(&coverage, base, &chosen.project())?;
        self.write(|_| Ok((target.text(&review).into_bytes(), Content::Text)))?;
        let outcome = self.limits.check(&coverage, &name);
        Ok(outcome.max(self.review.check(&review, &name)))
    }

    /// Line coverage of what is asked for.
    fn lines(&self, paths: &[PathBuf], name: &Path) -> Result<(Coverage, Chosen)> {
        let others = || self.account.given().or_else(|| self.sources.only_for_profiles());
        if let Some(option) = self.only_for_compilers().or_else(others) {
            return Err(Error::new(format!("{option} is about profiles, not about line coverage")));
        }
        coverage::coverage(self.read(paths)?, &self.sources, &self.selection, name)
    }

    /// Writes a profile of AutoFDO or JSON.
    fn by_position(&self, to: Option<Target>, paths: &[PathBuf]) -> Result<Outcome> {
        // Wrong choices are reported before anything is read.
        match self.reader.format(to)? {
            None if !self.keep_summary => {
                let (major, rules) = gcc::installed()?;
                let outcome = self.written(ProfileFormat::V1V3(rules), Some(major), paths)?;
                let version = rules.version.word();
                let hint = "--for-gcc chooses another one";
                say(format_args!(
                    "version {version}, for gcc {major}, which is the gcc on the path; {hint}"
                ));
                Ok(outcome)
            }
            format => {
                let format = format.unwrap_or(ProfileFormat::V4(Encoding::Normal, None));
                self.written(format, self.reader.major()?, paths)
            }
        }
    }

    /// Writes a profile in this format, for this version of gcc if there is one.
    fn written(
        &self,
        format: ProfileFormat,
        gcc: Option<u32>,
        paths: &[PathBuf],
    ) -> Result<Outcome> {
        if self.prefix.is_some() || self.strip != 0 {
            return Err(Error::new("--prefix and --strip are for --to gcda"));
        }
        let inputs = self.inputs_by_position(paths)?;
        let all: Vec<_> = paths.iter().map(|path| (1, path)).collect();
        match format {
            ProfileFormat::Sample(format)
                if samples::are_samples(&inputs) && !self.keep_summary =>
            {
                self.write(|name| format.file_of(samples::sum(inputs, &all)?, name))?;
            }
            _ if self.keep_summary => {
                let (profile, summary) = self.profile_and_summary(&inputs)?;
                self.write(|name| format.file_with_summary(&profile, Some(&summary), name))?;
            }
            // The same sum as in `merge`.
            _ if inputs.len() > 1 && inputs.iter().all(is_profile_by_position) => {
                let move_files = |input| self.sources.moved(input);
                let inputs = inputs.into_iter().map(move_files).collect::<Result<_>>()?;
                self.write(|name| sum::file(inputs, &all, format, name))?;
            }
            _ => return self.converted(format, gcc, inputs),
        }
        Ok(Outcome::Done)
    }

    /// Reads inputs, and refuses options that are not about them.
    fn inputs_by_position(&self, paths: &[PathBuf]) -> Result<Vec<Input>> {
        let inputs = self.read(paths)?;
        self.sources.check(&inputs)?;
        if let Some(option) = self.account.given() {
            needs_dump(option, &inputs)?;
            let others = paths.iter().chain(&self.output);
            self.account.keep(others.map(|path| &**path))?;
        }
        Ok(inputs)
    }

    /// Writes the profile of dumps and other inputs, and gives the account.
    fn converted(
        &self,
        format: ProfileFormat,
        gcc: Option<u32>,
        inputs: Vec<Input>,
    ) -> Result<Outcome> {
        let name = dumps_name(&inputs);
        let asked = Asked {
            reader: format.reader(),
            gcc,
            losses: self.account.wants_losses(),
            probes: false,
            check: self.account.is_strict(),
        };
        let images = viewers::images(&inputs);
        let Converted { profile, statistics, .. } = self.sources.convert(inputs, asked)?;
        if let ProfileFormat::Sample(_) = format {
            samples::warn_of_source_names(&profile, &name);
        }
        if statistics.is_none()
            && let Some(option) = self.account.given()
        {
            let what = "is about dumps of gcc's programs; coverage counts are all placed";
            return Err(Error::new(format!("{option} {what}")));
        }
        self.write(|name| match format {
            ProfileFormat::View(view) => view.file(&profile, &images, name),
            _ => format.file(&profile, name),
        })?;
        // The process is about to end, so nobody needs the memory of its many small parts.
        core::mem::forget(profile);
        let Some(statistics) = statistics else { return Ok(Outcome::Done) };
        self.account.give(&statistics, &name)
    }

    /// Writes a profile of LLVM.
    fn by_function(&self, target: instr_profile::Target, paths: Vec<PathBuf>) -> Result<Outcome> {
        let for_clang = self.reader.for_llvm().map(|_| "--for-clang");
        let given = self.only_for_compilers().or(for_clang);
        let others = || self.account.given().or_else(|| self.sources.only_for_gcc());
        if let Some(option) = given.or_else(others) {
            let what =
                "is not for LLVM's profiles: they have counters by function, not by position";
            return Err(Error::new(format!("{option} {what}")));
        }
        let chosen = self.wish.chosen(target)?;
        let inputs = paths.into_iter().map(|path| Listed { path, weight: 1 }).collect();
        let (profile, origins) = instr_profiles::sum::of(
            inputs,
            None,
            &Programs::new(&self.sources.binary, &self.sources.places),
        )?;
        chosen.write(profile, origins, self.output.as_deref())?;
        Ok(Outcome::Done)
    }

    fn profile_and_summary(&self, inputs: &[Input]) -> Result<(Profile, Summary)> {
        let [input] = inputs else {
            return Err(Error::new("--keep-summary: a sum has one of its own"));
        };
        let Decoded { mut profile, summary, warnings } = input.decode()?;
        let summary = summary.ok_or_else(|| Error::about(&input.name, "has no summary to keep"))?;
        input.warn(&warnings);
        self.sources.places.move_files(&mut profile);
        Ok((profile, summary))
    }

    /// Writes the result of `file`, which gets a name for messages.
    fn write(&self, file: impl FnOnce(&Path) -> Result<(Vec<u8>, Content)>) -> Result<()> {
        let path = self.output.as_deref();
        let name = path.unwrap_or(Path::new("standard output"));
        let (bytes, content) = file(name)?;
        output::write(path, &bytes, content)
    }

    fn write_gcda(&self, inputs: Vec<Input>) -> Result<()> {
        if self.output.is_some() {
            return Err(Error::new(
                "--to gcda writes many files; choose their place with --prefix",
            ));
        }
        let dump = added(inputs)?;
        let places = &self.sources.places;
        let objects = gcov::gcda::objects(&dump, |path, builds| places.fitting(path, builds));
        let objects: Vec<_> = objects.into_iter().collect();
        if objects.is_empty() {
            return Err(Error::new("--to gcda: no objects of gcc in these dumps"));
        }
        let prefix = self.prefix.as_ref().map(|prefix| prefix.as_os_str().as_encoded_bytes());
        let ready = Cores.map(&objects, |(recorded, object)| {
            let moved = self.sources.places.moved(recorded);
            let place = Place::of(&moved, prefix, self.strip)?;
            Ready::new(place, &|out| object.write_to(Out(out)))
        });
        self.put_in_place(ready.into_iter().collect::<Result<_>>()?)?;
        self.warn_of_builds(&objects);
        let files = Number(objects.len() as u64, ".gcda file");
        let mut line = format!("{files} written");
        let left_out = objects.iter().map(|(_, object)| object.left_out.len() as u64).sum();
        if left_out > 0 {
            let left_out = Number(left_out, "object");
            line += &format!("; {left_out} left out: other builds have the same files");
        }
        let dropped = dump.modules.iter().map(|module| module.sums.dropped);
        let dropped = dropped.fold(0, u64::saturating_add);
        if dropped > 0 {
            let dropped = Number(dropped, "event");
            line += &format!("; {dropped} without room in the runtime");
        }
        say(line);
        Ok(())
    }

    /// Warns of files that may have the counts of another build than their user wants.
    fn warn_of_builds(&self, objects: &[(&[u8], ObjectCounts<'_>)]) {
        let is_open = |(_, object): &&(&[u8], ObjectCounts<'_>)| {
            !object.left_out.is_empty() && !object.fits_notes
        };
        let told = if self.sources.verbose { usize::MAX } else { 1 };
        for (recorded, object) in objects.iter().filter(is_open).take(told) {
            let build = |build: &Build<'_>| {
                let program = display(build.program()).display();
                let runs = Number(build.runs(), "run");
                format!("stamp {:#010x}, {runs} of {program}", build.stamp())
            };
            let others: Vec<String> = object.left_out.iter().map(build).collect();
            let what = format!(
                "no notes say which build is wanted; written: {}; left out: {}; name the notes with --notes DIR, or \
                 keep one build with `countersink merge FILE --build PROGRAM -o FILE`",
                build(object.build()),
                others.join("; ")
            );
            warn(display(recorded), what);
        }
    }

    /// Puts files in their places when all of them are ready.
    fn put_in_place(&self, files: Vec<Ready>) -> Result<()> {
        let all = files.len();
        let written: Vec<Result<PathBuf>> = files.into_par_iter().map(Ready::put).collect();
        if self.sources.verbose {
            let written = written.iter().flatten();
            written.for_each(|place| say(place.display()));
        }
        let number = written.iter().flatten().count();
        match written.into_iter().find_map(Result::err) {
            Some(error) => Err(Error::new(format!("{error}; {number} of {all} files written"))),
            None => Ok(()),
        }
    }
}

/// Whether an input is a profile by source position, and no dump.
fn is_profile_by_position(input: &Input) -> bool {
    input.format != Format::Dump && !input.format.is_by_function()
}
