//! `countersink convert`.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use hashbrown::HashMap;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::binary::World;
use super::error::{Context, Error, Result};
use super::input::{Format, Input};
use super::notes::{Missing, Places, display};
use super::output::{self, Content};
use super::{Outcome, warn};
use crate::convert::{self, Inline, Statistics};
use crate::formats::afdo_v1_v3::encode::Discriminators;
use crate::formats::afdo_v4::encode::Encoding;
use crate::formats::gcno::Notes;
use crate::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text, json};
use crate::profile::Profile;
use crate::raw::dump::Dump;

/// Convert raw dumps, or profiles, into what compilers and other tools read
///
/// Dumps are added up, and so are profiles. Source lines come from the notes (.gcno) that gcc wrote
/// with -ftest-coverage, found beside the recorded place of the objects' .gcda files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink convert prog.csraw -o prog.gcov                  # AutoFDO version 4
  countersink convert prog.csraw --to v4-text | less
  countersink convert prog.csraw --to v2 --for-gcc 12 -o prog.afdo
  gcc -O2 -fauto-profile=prog.afdo prog.c -o prog
  countersink convert prog.csraw --to gcda                     # for gcov and -fprofile-use

Version 4 is the proposal of April 2026 (dialect rfc1). --to gcda writes each object's file where
libgcov would have, in place of what is there; %p and %q{} in a recorded path stay as they are,
since one dump stands for many processes.

The counts of what was used and what was not go to standard error. The exit status is 0 if anything
could be converted, else 2.")]
pub struct Convert {
    /// Raw dumps and profiles; - is standard input
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Write here; - or nothing is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Target::V4, value_name = "FORMAT")]
    to: Target,
    /// Follow the rules of this gcc, a major version or the path of the compiler
    #[arg(long, value_name = "N or PATH")]
    for_gcc: Option<String>,
    #[command(flatten)]
    sources: ConvertSources,
    /// With --to gcda: put this before all paths, as GCOV_PREFIX does
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// With --to gcda: leave out that many directories, as GCOV_PREFIX_STRIP does
    #[arg(long, value_name = "N", default_value_t = 0)]
    strip: usize,
}

/// Where a conversion finds what is not in the dump.
#[derive(Debug, Args)]
pub struct ConvertSources {
    #[command(flatten)]
    places: Places,
    /// The program that wrote the dump, if not at its recorded path
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Where counts of functions stand that gcc inlined before it laid the counters out
    #[arg(long, value_enum, default_value_t = Inlining::Flat, value_name = "WHERE")]
    inline: Inlining,
    /// Say what was dropped, one line each
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Inlining {
    /// With the functions themselves
    Flat,
    /// At the calls, where debug information leaves no doubt which call it was (an experiment)
    Nested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// AutoFDO version 4
    V4,
    /// AutoFDO version 4, compact encoding
    V4Compact,
    /// AutoFDO version 4, text
    V4Text,
    /// AutoFDO version 2, for gcc 12 to 15
    V2,
    /// Counter files of gcc, one per object
    Gcda,
    /// JSON
    Json,
}

impl Convert {
    pub fn run(&self) -> Result<Outcome> {
        // Wrong choices are told before anything is read.
        let discriminators = self.discriminators()?;
        let inputs: Vec<Input> =
            self.inputs.iter().map(|path| Input::read(path)).collect::<Result<_>>()?;
        match self.to {
            Target::Gcda => self.write_gcda(&inputs)?,
            _ => {
                let profile = self.sources.profile(&inputs)?;
                self.write_profile(&profile, discriminators)?;
            }
        }
        Ok(Outcome::Done)
    }

    fn write_profile(&self, profile: &Profile, discriminators: Discriminators) -> Result<()> {
        let path = self.output.as_deref();
        if let Some(path) = path.filter(|path| self.is_input(path)) {
            return Err(Error::about(path, "is an input, too"));
        }
        let name = path.unwrap_or(Path::new("standard output"));
        let v4 = |encoding| afdo_v4::encode::encode(profile, encoding).about(name);
        let (bytes, content) = match self.to {
            Target::V4 => (v4(Encoding::Normal)?, Content::Binary),
            Target::V4Compact => (v4(Encoding::Compact)?, Content::Binary),
            Target::V4Text => (afdo_v4_text::encode::encode(profile).about(name)?, Content::Text),
            Target::V2 => {
                let encoded = afdo_v1_v3::encode::encode(profile, discriminators);
                if encoded.dropped > 0 {
                    let dropped = encoded.dropped;
                    warn(name, format!("{dropped} positions dropped, too far for version 2"));
                }
                (encoded.bytes, Content::Binary)
            }
            Target::Json => (json_of(profile)?, Content::Text),
            Target::Gcda => return Ok(()),
        };
        output::write(path, &bytes, content)
    }

    /// Whether a path is that of an input, under whatever name.
    fn is_input(&self, path: &Path) -> bool {
        let same = |input: &PathBuf| matches!((input.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b);
        self.inputs.iter().any(same)
    }

    fn write_gcda(&self, inputs: &[Input]) -> Result<()> {
        if self.output.is_some() {
            return Err(Error::new(
                "--to gcda writes many files; choose their place with --prefix",
            ));
        }
        let dump = added(inputs)?;
        let (objects, replaced) = convert::gcda::objects(&dump);
        let prefix = self.prefix.as_ref().map(|prefix| prefix.as_os_str().as_encoded_bytes());
        for (recorded, object) in &objects {
            let moved = self.sources.places.moved(recorded);
            let place = convert::gcda::place(&moved, prefix, self.strip);
            output::replace(display(&place), &object.to_bytes())?;
            if self.sources.verbose {
                output::say(display(&place).display());
            }
        }
        let mut line = format!("{} .gcda files written", objects.len());
        if replaced > 0 {
            line += &format!("; {replaced} objects left out, of which later ones have the files");
        }
        let dropped = dump.modules.iter().map(|module| module.record.sums.dropped);
        let dropped = dropped.fold(0, u64::saturating_add);
        if dropped > 0 {
            line += &format!("; {dropped} events without room in the runtime");
        }
        output::say(line);
        Ok(())
    }

    /// What the compiler that will read version 2 makes of discriminators.
    fn discriminators(&self) -> Result<Discriminators> {
        let Some(choice) = &self.for_gcc else { return Ok(Discriminators::Ignored) };
        let major = match choice.parse() {
            Ok(major) => major,
            Err(_) => major_version(Path::new(choice))?,
        };
        match (self.to, major) {
            (Target::V2, 12) => Ok(Discriminators::Ignored),
            (Target::V2, 13..=15) => Ok(Discriminators::Used),
            (Target::V2, _) => {
                Err(Error::new(format!("gcc {major} does not read version 2, gcc 12 to 15 do")))
            }
            _ => Err(Error::new("--for-gcc goes with --to v2")),
        }
    }
}

/// Paths and contents of files.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// For each module's objects the place of their file, if they have one.
type Chosen = Vec<Vec<Option<usize>>>;

impl ConvertSources {
    /// The sum of all inputs as a profile. What dumps lose on the way is told.
    pub fn profile(&self, inputs: &[Input]) -> Result<Profile> {
        let is_dump = |input: &&Input| input.format == Format::Dump;
        let dumps: Vec<&Input> = inputs.iter().filter(is_dump).collect();
        let mut profile = Profile::default();
        if !dumps.is_empty() {
            profile = self.profile_of_dump(&added(dumps.iter().copied())?, &dumps[0].name)?;
        }
        for input in inputs.iter().filter(|input| !is_dump(input)) {
            profile.merge(&input.profile()?, 1);
        }
        Ok(profile)
    }

    fn profile_of_dump(&self, dump: &Dump, name: &Path) -> Result<Profile> {
        let mut missing = Vec::new();
        let (files, chosen) = self.read_notes(dump, &mut missing);
        let notes = files.iter().map(|(path, bytes)| Notes::decode(bytes).about(path));
        let notes: Vec<Notes> = notes.collect::<Result<_>>()?;
        let world = World::new(dump, &self.places, self.binary.as_deref(), self.verbose)?;
        let inline = match self.inline {
            Inlining::Flat => Inline::Flat,
            Inlining::Nested => Inline::Nested,
        };
        let (profile, statistics) = convert::profile(dump, &notes, &chosen, &world, inline);
        self.report(&statistics, &missing, name)?;
        Ok(profile)
    }

    /// The files of notes, each once, and which one is whose.
    fn read_notes(&self, dump: &Dump, missing: &mut Vec<Missing>) -> (Files, Chosen) {
        let objects = dump.modules.iter().map(|module| module.objects.len()).sum();
        let mut progress = Progress::new(objects);
        let (mut files, mut known) = (Files::new(), HashMap::new());
        let mut choose = |object| {
            progress.step();
            let (path, bytes) = self.places.read(object).map_err(|e| missing.push(e)).ok()?;
            Some(*known.entry(path.clone()).or_insert_with(|| {
                files.push((path, bytes));
                files.len() - 1
            }))
        };
        let modules = dump.modules.iter();
        let chosen = modules.map(|module| module.objects.iter().map(&mut choose).collect());
        let chosen = chosen.collect();
        (files, chosen)
    }

    fn report(&self, statistics: &Statistics, missing: &[Missing], name: &Path) -> Result<()> {
        let told = if self.verbose { missing.len() } else { 1 };
        for Missing { file, what } in missing.iter().take(told) {
            warn(file, what);
        }
        if self.verbose {
            statistics.details.iter().for_each(output::say);
        }
        if statistics.functions == 0 {
            let hint = match statistics.objects {
                0 => "; notes come with -ftest-coverage and are found with --notes or --path-map",
                _ => "",
            };
            let what = format!("nothing could be converted: {statistics}{hint}");
            return Err(Error::about(name, what));
        }
        warn(name, statistics);
        Ok(())
    }
}

/// The sum of all dumps; profiles are an error.
pub fn added<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Result<Dump> {
    let mut sum = Dump::default();
    for input in inputs {
        if input.format != Format::Dump {
            let what = format!("expected a raw dump, found {}", input.format.name());
            return Err(Error::about(&input.name, what));
        }
        sum.merge(input.dump()?);
    }
    Ok(sum)
}

fn json_of(profile: &Profile) -> Result<Vec<u8>> {
    let profile = json::encode::Profile::new(profile, |_| true);
    let mut bytes = serde_json::to_vec_pretty(&profile).map_err(Error::new)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Asks a compiler for its version.
fn major_version(compiler: &Path) -> Result<u32> {
    let output = Command::new(compiler).arg("-dumpversion").output().about(compiler)?;
    let version = String::from_utf8_lossy(&output.stdout);
    let major = version.trim().split('.').next().and_then(|major| major.parse().ok());
    major.ok_or_else(|| {
        let found = version.trim().to_string();
        Error::about(compiler, format!("-dumpversion: expected a version, found \"{found}\""))
    })
}

/// A bar on terminals, once the work has taken a second.
struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    fn new(steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        Self { bar, start: Instant::now() }
    }

    fn step(&mut self) {
        if self.bar.is_hidden() && self.start.elapsed() > Duration::from_secs(1) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
