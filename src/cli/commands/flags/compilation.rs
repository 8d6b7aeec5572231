//! Flags that `countersink flags` prints for compilations: of the instrumented program, and with its profile.

use clap::Args;
use std::prelude::v1::*;

use crate::cli::archives::archive;
use crate::cli::compilers::command::CompilerCommand;
use crate::cli::compilers::gcc;
use crate::cli::terminal::error::{Error, Result};

/// Flags of compilations, which are printed instead of those of the link.
#[derive(Debug, Args)]
pub struct CompilerFlags {
    /// Print what to compile the instrumented program with, besides -O2
    #[arg(long, conflicts_with_all = ["wrap_exit", "wrap_signal", "file", "optimise"])]
    compile: bool,
    /// With --compile: let no thread lose counts, as -pthread does
    #[arg(long, requires = "compile")]
    threads: bool,
    /// Print what this gcc needs besides -O2 -fauto-profile=FILE: its version, or its command, with -march if the
    /// program has it
    #[arg(long, value_name = "GCC", conflicts_with_all = ["bare", "live", "wrap_exit", "wrap_signal", "file"])]
    optimise: Option<String>,
}

/// -g is for `convert`, -ftest-coverage writes the notes.
const INSTRUMENT: [&str; 3] = ["-g", "-fprofile-generate", "-ftest-coverage"];

/// The folder is where rustc's programs write without one. Build scripts that compile C pass the option on, and refuse
/// it without a value.
const FOR_RUSTC: &str = "-Cprofile-generate=.";

/// Otherwise gcc guesses the targets of virtual calls by the types that a source defines: where a class wraps another
/// one of its base class, it guesses that the wrapper calls itself. The profile has the targets. `-fprofile-use` turns
/// the guesses off, too.
const NO_GUESSES: &str = "-fno-devirtualize-speculatively";

/// With an AutoFDO profile gcc 12 unrolls loops, but ignores how often the profile says that they repeat.
///
/// And it ends with an internal error where it vectorises a loop with conditions: it copies the loop before it converts
/// them, and divides each count of the copy by 9/10 of itself. A side without statements, as of `x > 2 ? 2 : x`, counts
/// 0, whatever the profile says. `-ftree-loop-if-convert` converts loops without a copy, unless values of more than two
/// sides meet in one place; with this limit no such loop is converted. Test: `loops_with_conditions` in
/// `tests/placement/gcc.rs`.
const BEFORE_13: [&str; 4] = [
    "-fno-unroll-loops",
    "-ftree-loop-if-convert",
    "--param=max-tree-if-conversion-phi-args=2",
    NO_GUESSES,
];

/// The same for machines with masked moves. gcc 12 copies a loop where a condition decides about a load or store.
const BEFORE_13_MASKED: [&str; 3] = ["-fno-unroll-loops", "-fno-tree-loop-if-convert", NO_GUESSES];

/// gcc 16 sets these for `-fprofile-use` and not for `-fauto-profile`. `-fpeel-loops` brings
/// `-funroll-completely-grow-size`, which gcc 16 does not take as an argument of its own. Profiles for this version
/// hold the order of first executions, which `-fprofile-reorder-functions` needs. At `-O2` `-ftree-vectorize` takes
/// back a `-fno-tree-vectorize` before it, as `-fprofile-use` does, and nothing else.
const SINCE_16: [&str; 13] = [
    "-fpeel-loops",
    "-fsplit-loops",
    "-funswitch-loops",
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "-ftree-loop-distribution",
    "-fpredictive-commoning",
    "-fversion-loops-for-strides",
    "-floop-interchange",
    "-floop-unroll-and-jam",
    "-fprofile-reorder-functions",
    "-fno-speculatively-call-stored-functions",
    NO_GUESSES,
];

impl CompilerFlags {
    /// The flags that were asked for, if any were.
    pub fn chosen(&self, live: bool, rustc: bool) -> Result<Option<Vec<&'static str>>> {
        if let Some(choice) = &self.optimise {
            let major = gcc::known_major("--optimise", choice)?;
            let flags = match gcc::version(choice) {
                Some(_) => with_profile(major, false),
                None => {
                    let command = CompilerCommand::new("--optimise", choice)?;
                    for_machine("--optimise", major, &command)?
                }
            };
            return Ok(Some(flags.to_vec()));
        }
        if rustc {
            let what = "--threads is for gcc and clang; rustc has no such option";
            return match self.threads {
                true => Err(Error::new(what)),
                false => Ok(self.compile.then(|| vec![FOR_RUSTC])),
            };
        }
        let mut flags = INSTRUMENT.to_vec();
        if self.threads {
            flags.push("-fprofile-update=prefer-atomic");
        }
        if live {
            flags.push(archive::FOR_SCRIPT);
        }
        Ok(self.compile.then_some(flags))
    }
}

/// Flags that belong to `-fauto-profile` with a gcc of this major version, found by measuring (`cargo bench --bench
/// speedup`). Before gcc 13 it matters whether the machine has masked moves.
pub const fn with_profile(major: u32, has_masked_moves: bool) -> &'static [&'static str] {
    match major {
        ..=12 if has_masked_moves => &BEFORE_13_MASKED,
        ..=12 => &BEFORE_13,
        13..=15 => &[NO_GUESSES],
        _ => &SINCE_16,
    }
}

/// The same flags for the machine that a command compiles for. Messages name the option.
pub fn for_machine(
    option: &str,
    major: u32,
    command: &CompilerCommand,
) -> Result<&'static [&'static str]> {
    let masked = major < 13 && gcc::may_have_masked_moves(option, command)?;
    Ok(with_profile(major, masked))
}

/// All flags that [`with_profile`] may give.
pub fn all_with_profile() -> impl Iterator<Item = &'static str> {
    BEFORE_13.into_iter().chain(BEFORE_13_MASKED).chain(SINCE_16)
}
