//! `llvm-profdata merge`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::{Args, ValueEnum};
use rayon::ThreadPoolBuilder;
use regex::bytes::{Regex, RegexBuilder};

use super::kinds::{self, Kinds};
use super::{chosen, complain, warn};
use crate::cli::compilers::llvm::{Llvm, Origins};
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::input;
use crate::cli::inputs::instr_profiles::queue::{Directories, Listed, Queue, all_files};
use crate::cli::inputs::instr_profiles::summands::{Part, each};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::instr_profile::{Chosen, Target};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::names::text;
use crate::cli::terminal::print;
use crate::cli::terminal::visible::visible;
use crate::counters::merge::{Mismatch, Sampling, Sum, TraceLimits};
use crate::counters::{Function, Profile};

/// Why options for memory profiles are refused.
pub const MEMORY: &str = "memory profiles (memprof) are not read";

/// The release that wrote what `--write-prev-version` asks for.
const LLVM_OF_PREVIOUS: &str = "18";

/// Why there is nothing to merge.
const NO_INPUT: &str = "no input files specified. See llvm-profdata merge -help";

/// Takes several profiles and merges them together
#[derive(Debug, Args)]
pub struct Merge {
    /// Raw, indexed or text profiles, or directories of them; - is standard input
    #[arg(value_name = "filename")]
    files: Vec<PathBuf>,
    /// A file whose counts are multiplied
    #[arg(long, value_name = "weight,filename")]
    weighted_input: Vec<String>,
    /// File with a line FILENAME or WEIGHT,FILENAME for each further profile
    #[arg(long, visible_alias = "f", value_name = "STRING")]
    input_files: Option<PathBuf>,
    /// Output file
    #[arg(long, visible_alias = "o", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// When to fail for profiles that cannot be read
    #[arg(long, value_enum, default_value_t = FailureMode::Any, hide_default_value = true)]
    failure_mode: FailureMode,
    /// Leave out functions that never ran
    #[arg(long)]
    sparse: bool,
    /// Keep only functions whose names match
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    function: String,
    /// Leave out functions whose names match
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    no_function: String,
    /// Number of threads [default: the number of processors]
    #[arg(
        long,
        visible_alias = "j",
        value_name = "UINT",
        default_value_t = 0,
        hide_default_value = true
    )]
    num_threads: usize,
    /// Write text
    #[arg(long)]
    text: bool,
    /// Write an indexed profile (default)
    #[arg(long, visible_aliases = ["extbinary", "compbinary"])]
    binary: bool,
    /// Instrumentation profile (default)
    #[arg(long)]
    instr: bool,
    /// The largest number of functions in a temporal profile trace
    #[arg(long, value_name = "ULONG", default_value_t = 10_000)]
    temporal_profile_max_trace_length: usize,
    /// The largest number of temporal profile traces to keep
    #[arg(long, value_name = "ULONG", default_value_t = 100)]
    temporal_profile_trace_reservoir_size: usize,
    /// Keep the names of virtual tables
    #[arg(long)]
    keep_vtable_symbols: bool,
    /// Write version 11, the oldest that LLVM's tools write on demand
    #[arg(long)]
    write_prev_version: bool,
    /// Print the inputs with their weights, and do nothing
    #[arg(long)]
    dump_input_file_list: bool,
    /// The program or its debug file, for profiles without names of functions (-profile-correlate=debug-info)
    #[arg(long, value_name = "STRING")]
    debug_info: Option<PathBuf>,
    /// The program, for profiles without names of functions (-profile-correlate=binary)
    #[arg(long, value_name = "STRING")]
    binary_file: Option<PathBuf>,
    #[command(flatten)]
    others: Others,
}

/// Options that the stand-in refuses, and options that change nothing here.
#[derive(Debug, Args)]
struct Others {
    #[arg(long, hide = true)]
    sample: bool,
    #[arg(long, hide = true)]
    gcc: bool,
    #[arg(long, hide = true)]
    debuginfod: bool,
    #[arg(long, hide = true)]
    max_debug_info_correlation_warnings: Option<u32>,
    #[arg(long, hide = true)]
    profiled_binary: Option<String>,
    #[arg(long, hide = true)]
    memprof_version: Option<String>,
    #[arg(long, hide = true)]
    memprof_full_schema: bool,
    #[arg(long, hide = true, alias = "r")]
    remapping_file: Option<String>,
    #[arg(long, hide = true)]
    supplement_instr_with_sample: Option<String>,
    /// These three are about samples that supplement counters.
    #[arg(long, hide = true)]
    suppl_min_size_threshold: Option<u32>,
    #[arg(long, hide = true)]
    instr_prof_cold_threshold: Option<u32>,
    #[arg(long, hide = true)]
    zero_counter_threshold: Option<f32>,
    #[arg(long, hide = true)]
    profile_isfs: bool,
    #[arg(long, hide = true, aliases = ["use-md5", "gen-partial-profile", "split-layout"])]
    compress_all_sections: bool,
    #[arg(long, hide = true, alias = "prof-sym-list")]
    output_size_limit: Option<String>,
    #[arg(long, hide = true)]
    enable_name_compression: Option<String>,
}

/// When to fail for profiles that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailureMode {
    /// Do not fail and just print warnings
    Warn,
    /// Fail if any profile is invalid
    Any,
    /// Fail only if all profiles are invalid
    All,
}

/// Refuses the first option that was given. Each entry has a name, whether the option was given, and why it is refused.
pub fn refuse(options: &[(&str, bool, &str)]) -> Result<()> {
    match options.iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, why)) => Err(Error::new(format!("{option}: {why}"))),
        None => Ok(()),
    }
}

impl Merge {
    pub fn run(&self, major: Option<u32>) -> Result<Outcome> {
        self.refuse()?;
        let filter = Filter::new(&self.function, &self.no_function)?;
        let inputs = self.inputs()?;
        if self.dump_input_file_list {
            let line = |file: &Listed| format!("{},{}\n", file.weight, file.path.display());
            let files = all_files(inputs)?;
            print::print(files.iter().map(line).collect::<String>().as_bytes())?;
            return Ok(Outcome::Done);
        }
        if inputs.is_empty() {
            return Err(Error::new(NO_INPUT));
        }
        let target = if self.text { Target::Proftext } else { Target::Profdata };
        let mut llvm = chosen(major)?;
        let kinds = Kinds::of(llvm.as_ref().map_or(kinds::USUAL, |llvm| llvm.major));
        if self.write_prev_version {
            llvm = Some(Llvm::named("--write-prev-version", LLVM_OF_PREVIOUS)?);
        }
        let chosen = Chosen { target, llvm, sparse: self.sparse };
        let pool = ThreadPoolBuilder::new().num_threads(self.num_threads).build();
        let pool = pool.map_err(Error::new)?;
        let (mut profile, origins) = pool.install(|| self.sum(inputs, kinds))?;
        filter.apply(&mut profile);
        if !self.keep_vtable_symbols {
            profile.vtables.clear();
        }
        chosen.write(profile, origins, Some(&self.output))?;
        Ok(Outcome::Done)
    }

    fn refuse(&self) -> Result<()> {
        let others = &self.others;
        if self.debug_info.is_some() && self.binary_file.is_some() {
            return Err(Error::new("Expected only one of -debug-info and -binary-file"));
        }
        refuse(&[
            ("--sample", others.sample, "sampled profiles are not read"),
            ("--gcc", others.gcc, "is for sampled profiles, which are not read"),
            ("--debuginfod", others.debuginfod, "nothing is fetched from servers"),
            ("--profiled-binary", others.profiled_binary.is_some(), MEMORY),
            ("--memprof-version", others.memprof_version.is_some(), MEMORY),
            ("--memprof-full-schema", others.memprof_full_schema, MEMORY),
            ("--remapping-file", others.remapping_file.is_some(), "names are not changed"),
            (
                "--supplement-instr-with-sample",
                others.supplement_instr_with_sample.is_some(),
                "sampled profiles are not read",
            ),
        ])
    }

    /// What was given, with its weights: files and directories.
    fn inputs(&self) -> Result<Vec<Listed>> {
        let unweighted = |path: &PathBuf| Listed { path: path.clone(), weight: 1 };
        let mut inputs: Vec<Listed> = self.files.iter().map(unweighted).collect();
        for given in &self.weighted_input {
            inputs.push(weighted(given)?);
        }
        if let Some(list) = &self.input_files {
            inputs.extend(listed(list)?);
        }
        input::refuse_twice(inputs.iter().map(|input| &*input.path))?;
        Ok(inputs)
    }

    /// The sum of all that can be read.
    fn sum(&self, inputs: Vec<Listed>, mut kinds: Kinds) -> Result<(Profile, Origins)> {
        let mut sum = Sum::with_trace_limits(self.trace_limits(&inputs, kinds.sampling())?);
        let mut origins = Origins::default();
        let (mut files, mut bad, mut known) = (0, 0, HashSet::new());
        let queue = Queue::new(inputs, None, Directories::Opened);
        let programs =
            Programs::of(self.debug_info.iter().chain(&self.binary_file).cloned().collect());
        each(queue, &programs, |Listed { path, weight }, part| {
            files += 1;
            match part {
                Ok(mut part) => {
                    warn(path, &part.warnings);
                    if !kinds.add(part.take_variant(), part.marks) {
                        sum.skip();
                        bad += 1;
                        let path = visible(&path.to_string_lossy());
                        let what = "Merge IR generated profile with Clang generated profile.";
                        complain("warning", format_args!("{path}: {what}"));
                        return Ok(());
                    }
                    bad += usize::from(kinds.doubts(part.marks));
                    part.version.add_to(&mut origins);
                    add(&mut sum, &part, *weight, path, &mut known)?;
                }
                Err(error) if is_missing(path) => return Err(error),
                Err(error) => {
                    sum.skip();
                    // A program that was killed may leave an empty file.
                    if !is_empty(path) {
                        bad += 1;
                        complain("warning", error);
                    }
                }
            }
            Ok(())
        })?;
        let fails = match self.failure_mode {
            _ if files == 0 => return Err(Error::new(NO_INPUT)),
            FailureMode::Warn => false,
            FailureMode::Any => bad > 0,
            FailureMode::All => bad == files,
        };
        if fails {
            return Err(Error::new("no profile can be merged"));
        }
        // LLVM adds whatever it is given.
        let profile = Profile { variant: kinds.variant(), ..sum.finish() };
        Ok((profile, origins))
    }

    /// How many traces to keep. LLVM deals the files out to its threads, and each keeps a choice: so it depends on
    /// their number which traces are kept of more runs than it keeps.
    fn trace_limits(&self, inputs: &[Listed], sampling: Sampling) -> Result<TraceLimits> {
        let threads = match self.num_threads {
            0 => rayon::current_num_threads().min(number_of_files(inputs)?.div_ceil(2)),
            threads => threads,
        };
        Ok(TraceLimits {
            most: self.temporal_profile_trace_reservoir_size,
            longest: self.temporal_profile_max_trace_length,
            parts: threads,
            sampling,
        })
    }
}

/// The number of files that these stand for, at least as far as it matters for the number of threads.
fn number_of_files(inputs: &[Listed]) -> Result<usize> {
    if inputs.len() >= 2 * rayon::current_num_threads() {
        return Ok(inputs.len());
    }
    Ok(all_files(inputs.to_vec())?.len())
}

/// Adds a profile, and reports its mismatched functions in LLVM's words.
fn add(
    sum: &mut Sum,
    part: &Part<'_>,
    weight: u64,
    path: &Path,
    known: &mut HashSet<&'static str>,
) -> Result<()> {
    for refused in part.add_to(sum, weight).about(path)? {
        let what = match refused.why {
            Mismatch::Counters { .. } => {
                "function basic block count change detected (counter mismatch)"
            }
            Mismatch::Sites { .. } => {
                "function value site count change detected (counter mismatch)"
            }
            Mismatch::Bitmap { .. } => {
                "function bitmap size change detected (bitmap size mismatch)"
            }
            Mismatch::Overflow => "counter overflow",
        };
        let (path, name) = (visible(&path.to_string_lossy()), visible(&text(&refused.name)));
        complain(&path, format_args!("{name}: {what}"));
        if known.insert(what) && refused.why != Mismatch::Overflow {
            complain("note", "all profiles that are merged should come from the same binary");
        }
    }
    Ok(())
}

/// `weight,filename`.
fn weighted(given: &str) -> Result<Listed> {
    let (weight, file) = given.split_once(',').unwrap_or((given, ""));
    match weight.parse() {
        Ok(0) | Err(_) => Err(Error::new("input weight must be a positive integer")),
        Ok(weight) => Ok(Listed { path: file.into(), weight }),
    }
}

/// The files of a list, without its empty lines and its comments (lines that start with #).
fn listed(list: &Path) -> Result<Vec<Listed>> {
    let (_, bytes) = input::read(list)?;
    let content = String::from_utf8(bytes).about(list)?;
    let lines = content.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let file = |line: &str| match line.contains(',') {
        true => weighted(line),
        false => Ok(Listed { path: line.into(), weight: 1 }),
    };
    lines.map(file).collect()
}

fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0)
}

/// Whether a path leads nowhere. That is an error whatever the failure mode is.
fn is_missing(path: &Path) -> bool {
    path.as_os_str() != "-" && std::fs::metadata(path).is_err()
}

/// Which functions to keep.
struct Filter {
    only: Option<Regex>,
    without: Option<Regex>,
}

impl Filter {
    fn new(only: &str, without: &str) -> Result<Self> {
        let pattern = |text: &str| match text {
            "" => Ok(None),
            _ => RegexBuilder::new(text).unicode(false).build().map(Some),
        };
        let only = pattern(only).map_err(|error| Error::new(format!("--function: {error}")))?;
        let without =
            pattern(without).map_err(|error| Error::new(format!("--no-function: {error}")))?;
        Ok(Self { only, without })
    }

    fn apply(&self, profile: &mut Profile) {
        if self.only.is_none() && self.without.is_none() {
            return;
        }
        let all = profile.functions.len();
        profile.functions.retain(|function| self.keeps(function));
        let filtered = all - profile.functions.len();
        let _ = std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!("{filtered} of {all} functions in the original profile are filtered.\n"),
        );
    }

    fn keeps(&self, function: &Function) -> bool {
        self.only.as_ref().is_none_or(|only| only.is_match(&function.name))
            && !self.without.as_ref().is_some_and(|without| without.is_match(&function.name))
    }
}
