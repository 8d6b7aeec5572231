//! `countersink launch`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::process::{Command, Stdio};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::flags;
use crate::cli::compilers::command::CompilerCommand;
use crate::cli::compilers::compilation::Compilation;
use crate::cli::compilers::gcc;
use crate::cli::compilers::identifiers::Identifiers;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::parts::{self, Lookups, Whole};
use crate::cli::terminal::error::{Error, Result};
use crate::formats::afdo_v1_v3::rules::Rules;
use crate::formats::afdo_v4::slice::Order;

/// Compile with the part of a profile that the source needs
///
/// Stands before gcc, or before a launcher such as ccache. Adds -fauto-profile with the part, and what `flags
/// --optimise` prints, to each compilation that optimises a source of which the profile has functions. Everything
/// else goes to the compiler as it is: links, assembler files, -E, compilations that write or have another profile.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink convert prog.csraw --to v4 --for-gcc gcc -o prog.v4
  countersink launch --profile prog.v4 -- gcc -O2 -c prog.c

In a build:
  cmake -DCMAKE_C_COMPILER_LAUNCHER=\"countersink;launch;--profile;$PWD/prog.v4;--\"
  make CC=\"countersink launch --profile $PWD/prog.v4 -- gcc\"
  CC=\"countersink launch --profile $PWD/prog.v4 -- ccache gcc\" meson setup build

The tool becomes the compiler, once it has the part: exit status and signals are the compiler's. It runs the \
preprocessor first, because a part has the functions whose names are in the preprocessed source. Parts are named by \
their content. So ccache, which must stand behind the tool, and Bazel see a change only where counts have changed. \
The folder of parts can be removed at any time between builds.")]
pub struct Launch {
    /// An AutoFDO profile of version 4, as `convert --to v4 --for-gcc GCC` writes it
    #[arg(long, value_name = "FILE")]
    profile: PathBuf,
    /// Put the parts into this folder; without it, into the user's cache
    #[arg(long, value_name = "DIR")]
    parts: Option<PathBuf>,
    /// The version of the compiler, such as 12, which is asked for it otherwise
    #[arg(long, value_name = "VERSION|COMMAND", value_parser = NonEmptyStringValueParser::new())]
    for_gcc: Option<String>,
    /// The compiler with its arguments
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// Programs that start the compiler behind them, and behind options and numbers.
const LAUNCHERS: [&str; 9] =
    ["buildcache", "ccache", "distcc", "env", "icecc", "ionice", "nice", "sccache", "time"];

impl Launch {
    pub fn run(&self) -> Result<Outcome> {
        let compiler = self.compiler()?;
        let (program, arguments) = (&self.command[compiler], &self.command[compiler + 1..]);
        let added = match Compilation::of(arguments) {
            Some(compilation) => self.added(program, &compilation)?,
            None => Vec::new(),
        };
        let mut command = Command::new(&self.command[0]);
        let error = command.args(&self.command[1..]).args(added).exec();
        Err(named(&self.command[0]).not_started("launch:", &error))
    }

    /// The place of the compiler among the words, behind other launchers.
    fn compiler(&self) -> Result<usize> {
        let is_before = |word: &OsString| {
            let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            LAUNCHERS.contains(&&*name) || name.starts_with('-') || name.contains('=') || is_number
        };
        let compiler = self.command.iter().position(|word| !is_before(word));
        compiler.ok_or_else(|| Error::new("launch: expected a compiler behind the launchers"))
    }

    /// The arguments that the compilation gets; none without functions in the profile.
    fn added(&self, program: &OsString, compilation: &Compilation) -> Result<Vec<OsString>> {
        let major = match &self.for_gcc {
            Some(choice) => gcc::known_major("--for-gcc", choice)?,
            None => gcc::major_of("launch", &named(program))?,
        };
        let Some(rules) = Rules::for_gcc(major) else {
            return Err(Error::new(format!("launch: gcc {major} reads no known profile")));
        };
        let folder = parts::folder(self.parts.as_deref())?;
        let whole = Whole::open(&self.profile, &folder)?;
        let identifiers;
        let lookups = if compilation.has_names_in_text {
            // The compiler will say what is wrong with the source.
            let Some(found) = identifiers_of(program, compilation) else { return Ok(Vec::new()) };
            identifiers = found;
            Lookups::Text(&identifiers)
        } else {
            Lookups::All
        };
        let order = if compilation.lto { Order::Whole } else { Order::Near };
        let Some(part) = whole.part(&lookups, rules, order)? else { return Ok(Vec::new()) };
        let mut added = OsString::from("-fauto-profile=");
        added.push(parts::put(&part, &folder)?);
        let command = named(program).with(compilation.machine.iter().cloned());
        let helps = flags::for_machine("launch:", major, &command)?;
        Ok([added].into_iter().chain(helps.iter().map(OsString::from)).collect())
    }
}

/// The identifiers of the preprocessed sources; `None` if the compiler refuses them.
fn identifiers_of(program: &OsString, compilation: &Compilation) -> Option<Identifiers> {
    let mut identifiers = Identifiers::default();
    if let Some(arguments) = &compilation.preprocessing {
        let mut command = named(program).preprocessor();
        let output = command
            .args(arguments)
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        identifiers.add(&output.stdout);
    }
    for path in &compilation.preprocessed {
        identifiers.add(&fs::read(path).ok()?);
    }
    Some(identifiers)
}

/// A program as a compiler's command.
fn named(program: &OsString) -> CompilerCommand {
    CompilerCommand::of_program(program.to_string_lossy().into_owned())
}
