//! Flags that `countersink flags` prints for compilations: of the instrumented program, and with its profile.

use clap::Args;
use std::prelude::v1::*;

use crate::cli::archives::archive;
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
    /// Print what this gcc needs besides -O2 -fauto-profile=FILE: its version, or its command
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

/// With an AutoFDO profile gcc 12 unrolls loops, but ignores how often the profile says that they repeat. And it ends
/// with an internal error (division by zero) where it vectorises a loop with a condition, as `x > 2 ? 2 : x`, behind an
/// `if`: it gives the side without statements and the entry of the loop 0, whatever the profile says. A count of 1 for
/// every 0 does not help: gcc 12 still fails on the loop of `a_loop_that_clamps_its_values` (`tests/placement/gcc.rs`).
const BEFORE_13: [&str; 3] = ["-fno-unroll-loops", "-fno-tree-loop-if-convert", NO_GUESSES];

/// gcc 16 sets these for `-fprofile-use` and not for `-fauto-profile`. `-fpeel-loops` brings
/// `-funroll-completely-grow-size`, which gcc 16 does not take as an argument of its own. Profiles for this version
/// hold the order of first executions, which `-fprofile-reorder-functions` needs. At `-O2` `-ftree-vectorize` takes
/// back a
/// `-fno-tree-vectorize` before it, as `-fprofile-use` does, and nothing else.
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
            return Ok(Some(with_profile(gcc::known_major("--optimise", choice)?).to_vec()));
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
/// speedup`).
pub fn with_profile(major: u32) -> &'static [&'static str] {
    match major {
        ..=12 => &BEFORE_13,
        13..=15 => &[NO_GUESSES],
        _ => &SINCE_16,
    }
}
