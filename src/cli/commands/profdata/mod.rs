//! A stand-in for `llvm-profdata`: `countersink profdata`, and the tool itself under that name.
//!
//! It takes LLVM's options for profiles of instrumented programs, prints what `llvm-profdata` of LLVM 22 prints,
//! and has its exit status: 0 for success, 1 for failure. Unlike LLVM's tool it reads raw profiles of any version.

mod contents;
mod kinds;
mod listing;
mod merge;
mod options;
mod order;
mod overlap;
mod show;
mod sites;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::prelude::v1::*;

use clap::{Args, FromArgMatches};

use crate::cli::compilers::llvm::{self, Llvm};
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::input::Input;
use crate::cli::inputs::instr_profiles::read::{self, Counted};
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::print;
use crate::cli::terminal::visible::visible;

/// The name of LLVM's tool.
pub const NAME: &str = "llvm-profdata";

/// Do what llvm-profdata does: merge, show, order, overlap
///
/// A stand-in for llvm-profdata with its options, output and exit status (0 or 1), for profiles of instrumented
/// programs. It reads raw profiles of LLVM 10 to 23, mixed; LLVM's tool reads only those of its own
/// release.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct Profdata {
    /// merge, show, order or overlap, and LLVM's options; --help after one of them lists these
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const AFTER: &str = "\
Example:
  countersink profdata merge -sparse *.profraw -o prog.profdata
  countersink profdata show --topn=10 prog.profdata
  countersink profdata overlap day.profdata night.profdata

The variable COUNTERSINK_LLVM says for which LLVM `merge` writes: its version, or the command of its clang, rustc or \
llvm-profdata. Without it, the tool under the name llvm-profdata-N writes for LLVM N. Otherwise `merge` writes the oldest \
version that has room for all that the inputs have, so that as many compilers as possible read it.

The tool does the same when it is called llvm-profdata or llvm-profdata-N. `countersink install` puts it under this \
name into libexec/countersink. cargo llvm-cov takes it from the variable LLVM_PROFDATA, cargo pgo from the place of rustup's \
llvm-tools or from the path.";

const USAGE: &str = "\
USAGE: llvm-profdata [subcommand] [options]

SUBCOMMANDS:

  merge   - Takes several profiles and merges them together
  order   - Reads temporal profiling traces from a profile and outputs a function order
  overlap - Computes and displays the overlap between two profiles
  show    - Takes a profile data file and displays the profiles

  Type \"llvm-profdata <subcommand> --help\" to get more help on a specific subcommand
";

impl Profdata {
    pub fn run(&self) -> Result<Outcome> {
        Ok(run(self.arguments.clone(), None))
    }
}

/// The LLVM that the name of an executable means, if it is that of LLVM's tool: `llvm-profdata-16`.
pub fn meant_by(name: &OsString) -> Option<Named> {
    let stem = Path::new(name).file_name()?.to_str()?.strip_prefix(NAME)?;
    let version = stem.strip_suffix(".exe").unwrap_or(stem);
    match version.strip_prefix('-') {
        Some(version) => Some(Named(Some(version.parse().ok()?))),
        None if version.is_empty() => Some(Named(None)),
        None => None,
    }
}

/// A name of LLVM's tool, and the version in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named(Option<u32>);

/// Does what the arguments ask for, without the program's name. Reports what went wrong.
pub fn run(arguments: Vec<OsString>, name: Option<Named>) -> Outcome {
    match answer(arguments, name.and_then(|Named(major)| major)) {
        Ok(outcome) => outcome,
        Err(error) => {
            complain("error", &error);
            Outcome::Found
        }
    }
}

fn answer(arguments: Vec<OsString>, major: Option<u32>) -> Result<Outcome> {
    let mut arguments = options::expanded(arguments);
    if arguments.is_empty() {
        return Err(Error::new("no subcommand given: merge, show, order or overlap; see --help"));
    }
    let command = arguments.remove(0);
    let mut all = std::iter::once(&command).chain(&arguments);
    if all.any(|argument| argument == "--version" || argument == "-version") {
        return version(major);
    }
    match command.to_str().unwrap_or_default() {
        "merge" => call(merge::Merge::run, "merge", arguments, major),
        "show" => call(show::Show::run, "show", arguments, major),
        "order" => call(order::Order::run, "order", arguments, major),
        "overlap" => call(overlap::Overlap::run, "overlap", arguments, major),
        "-h" | "-help" | "--help" | "--help-hidden" | "--help-list" => {
            print::print(USAGE.as_bytes())?;
            Ok(Outcome::Done)
        }
        other => Err(Error::new(format!("unknown subcommand '{}'; see --help", visible(other)))),
    }
}

/// Runs a subcommand with its options.
fn call<C: Args + FromArgMatches>(
    run: fn(&C, Option<u32>) -> Result<Outcome>,
    name: &'static str,
    arguments: Vec<OsString>,
    major: Option<u32>,
) -> Result<Outcome> {
    let command = clap::Command::new(name)
        .bin_name(format!("{NAME} {name}"))
        .args_override_self(true)
        .no_binary_name(true)
        .max_term_width(100);
    let mut command = C::augment_args(command);
    command.build();
    let arguments = options::normalised(&command, arguments).map_err(Error::new)?;
    let matches = command.try_get_matches_from_mut(arguments);
    match matches.and_then(|matches| C::from_arg_matches(&matches)) {
        Ok(options) => run(&options, major),
        Err(error) => {
            // Help comes here, too.
            let _ = error.print();
            Ok(if error.use_stderr() { Outcome::Found } else { Outcome::Done })
        }
    }
}

/// Says which LLVM's tool it replaces, in the words that build systems look for.
fn version(major: Option<u32>) -> Result<Outcome> {
    let llvm = chosen(major)?.unwrap_or_else(|| Llvm::installed(llvm::Origins::default()));
    let text = format!(
        "countersink {} in place of {NAME}:\n  LLVM version {}\n  Optimized build.\n",
        env!("CARGO_PKG_VERSION"),
        llvm.version
    );
    print::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// The LLVM that the environment or the program's name asks for.
fn chosen(major: Option<u32>) -> Result<Option<Llvm>> {
    match Llvm::of_environment()? {
        None => major.map(|major| Llvm::named(NAME, &major.to_string())).transpose(),
        chosen => Ok(chosen),
    }
}

/// Writes a line to standard error, as LLVM's tools do.
fn complain(kind: &str, what: impl Display) {
    let _ = writeln!(std::io::stderr(), "{kind}: {what}");
}

/// Reads a profile, and says what was tolerated.
fn read(path: &Path) -> Result<Counted> {
    let counted = read::counted(&Input::read(path)?, &Programs::default())?;
    warn(path, &counted.warnings);
    Ok(counted)
}

/// Says what was tolerated in a file.
fn warn(path: &Path, warnings: &[String]) {
    let path = visible(&path.to_string_lossy());
    warnings.iter().for_each(|what| complain("warning", format_args!("{path}: {what}")));
}
