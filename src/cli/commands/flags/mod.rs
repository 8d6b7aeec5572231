//! `countersink flags`.

mod compilation;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use crate::cli::archives::archive::{Archive, Target};
use crate::cli::archives::target::Choice;
use crate::cli::archives::{archive, folder, linked_file};
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::print;
use compilation::CompilerFlags;
pub use compilation::{all_with_profile, for_machine, with_profile};

/// Print the flags that link the runtime into a program, or those of compilations
///
/// The flags may be anywhere on the link line; the compiler's own libgcov, which comes last, then finds
/// nothing left to do. They name the archive in the prefix where `countersink install` has put it beside the tool.
/// Without such a prefix the tool unpacks the archive once: into the user's cache, or if it cannot write there,
/// into XDG_RUNTIME_DIR or TMPDIR. If nothing helps, the output is the name of a file that does not exist, so
/// that the link fails and shows why.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  gcc -O2 $(countersink flags --compile) -c prog.c
  gcc -fprofile-generate prog.o -o prog $(countersink flags)
  # Writes prog.csraw in the current directory; a file per process, elsewhere
  ./prog
  COUNTERSINK_FILE=/tmp/%e.%p.csraw ./prog
  # With the profile
  countersink convert prog.csraw --for-gcc gcc -o prog.afdo
  gcc -O2 -fauto-profile=prog.afdo $(countersink flags --optimise gcc) prog.c

-fprofile-arcs and --coverage do as well as -fprofile-generate, but then there are no targets of \
indirect calls and no order of first execution. -ftest-coverage writes the notes (.gcno) that \
`countersink convert` needs to find source lines; compile with -pthread or --threads \
if threads must not lose counts. -g lets `convert` place indirect calls and lines of inlined functions; \
the later compilation with the profile does not need it.

gcc inlines small functions before it counts, most of all in C++. `convert` finds them in the debug information, \
and estimates where that leaves doubt. With -fno-early-inlining each function counts for itself, and fewer counts are \
estimates; the instrumented program then executes 1.4 to 2.6 times as many instructions. It is of no use for .gcda files: -fprofile-use reads them only if it \
compiles with the same flag.

--optimise prints what helps -fauto-profile. -fno-devirtualize-speculatively is for all versions: gcc guesses \
the targets of virtual calls, and the profile has them. For gcc 16 and 17 there are also the options for loops and \
for the order of functions that gcc itself turns on for -fprofile-use only. gcc 10 to 12 unroll loops with an AutoFDO \
profile, but ignore its iteration counts: -fno-unroll-loops. They also end with an internal error at some loops \
with conditions, which -ftree-loop-if-convert and a parameter avoid, or for machines with AVX or SVE \
-fno-tree-loop-if-convert: --optimise 'gcc -march=native' asks gcc for the machine.

--file gives the program the name of its dump, where COUNTERSINK_FILE at its start does not: a program \
may start others with an empty environment, or elsewhere. The libraries of a program write to its file. In \
it stand %e, %p, %h, %m and %% as in COUNTERSINK_FILE; a relative name is taken from the directory in which \
the program starts:
  gcc -fprofile-generate prog.o -o prog $(countersink flags --file '/var/prof/%e.csraw')

With --live a %p in COUNTERSINK_FILE gives each process a file of its own, and no later start finds what \
a killed one has left: `countersink fold` adds it.

COUNTERSINK_ON_SIGNAL=TERM,SEGV,ABRT at the start writes the counts before such a signal ends the program, \
but a handler that the program sets later takes the place of the runtime's. With --wrap-signal the \
program's handlers run as ever, and where they let the signal end the program after all, as those do that \
print a report, the counts are written before. Handlers that end by _exit need --wrap-exit.

Weak references to __gcov_dump, __gcov_reset and the calls of countersink.h are set in a program linked \
with these flags, where libgcov leaves those of its own calls NULL. To tell whether there is a runtime, \
ask for a weak countersink_version.

clang takes the same flags, with -fprofile-generate, -fprofile-instr-generate or -fcs-profile-generate. If gcc \
links objects of clang's front end, add -Wl,-u,__llvm_profile_runtime, which clang's driver adds by itself. \
rustc takes the flags of --rustc:
  RUSTFLAGS=\"-Cprofile-generate=. $(countersink flags --rustc)\" cargo run --release
  RUSTFLAGS=\"-Cinstrument-coverage $(countersink flags --rustc)\" cargo test
`flags --rustc --compile` prints -Cprofile-generate=., with a folder, because build scripts that compile C refuse \
the option without one. Without cargo's --target, build scripts and procedural macros are instrumented, too, and write dumps of their own.

The archives are for the machine that this tool was compiled for, or with --target or --cc for another one that \
`countersink targets` prints; for targets without an operating system the flags are those of --bare:
  aarch64-linux-gnu-gcc -fprofile-generate prog.o -o prog \
    $(countersink flags --target aarch64-unknown-linux-gnu)
  countersink flags --cc 'arm-none-eabi-gcc -mcpu=cortex-m4 -mfloat-abi=hard'")]
pub struct Flags {
    /// For a program without an operating system, which asks for its counts itself (countersink.h)
    #[arg(long)]
    bare: bool,
    #[command(flatten)]
    machine: Choice,
    /// Keep the counters in a file from the start, so that no count is lost, not even at SIGKILL; compile
    /// with -fdata-sections; needs GNU ld
    #[arg(long, conflicts_with = "bare")]
    live: bool,
    /// Also write the counts at calls after which nothing runs, or that gcc does not know: _exit, _Exit,
    /// daemon, execv and the like; count children of clone and syscall, too
    #[arg(long, conflicts_with = "bare")]
    wrap_exit: bool,
    #[command(flatten)]
    compilations: CompilerFlags,
    /// Also write the counts when a signal of COUNTERSINK_ON_SIGNAL ends the program out of a handler that
    /// the program has set itself
    #[arg(long, conflicts_with = "bare")]
    wrap_signal: bool,
    /// Write the dump to this file unless COUNTERSINK_FILE names another
    #[arg(long, value_name = "PATTERN", conflicts_with = "bare")]
    file: Option<OsString>,
    /// Unpack the archive into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print the flags for rustc, as RUSTFLAGS takes them, instead of those for gcc and clang
    #[arg(long, conflicts_with = "bare")]
    rustc: bool,
}

impl Flags {
    /// Prints the flags, or else an input that does not exist: where a shell puts the output into a command, its
    /// compiler fails and shows the cause.
    pub fn run(&self) -> Result<Outcome> {
        let printed = self.print();
        if let Err(error) = &printed {
            print(&missing_input(&error.to_string()))?;
        }
        printed
    }

    fn print(&self) -> Result<Outcome> {
        let target = self.machine.find()?;
        if let Some(flags) = self.compilations.chosen(self.live, self.rustc)? {
            return print(&flags.join(" "));
        }
        let archive = &self.archive(target)?;
        let refuse = |folder: &Path| self.refuse(folder);
        let directory = folder::find(target, archive, self.dir.as_deref(), refuse)?;
        let mut flags = archive.options(directory.display());
        if !self.rustc {
            flags.push(format!("-L{} -l{}", directory.display(), archive.name));
        }
        if let Some(pattern) = &self.file {
            let object = linked_file::object(pattern, archive, &directory)?;
            // Given to the linker, as the compiler warns about objects where it does not link.
            flags.push(format!("-Wl,{}", object.display()));
            flags.push(linked_file::EXPORTED.to_owned());
        }
        if self.wrap_exit {
            flags.extend(archive::WRAPPED.map(str::to_owned));
        }
        if self.wrap_signal {
            flags.extend(archive::WRAPPED_SIGNALS.map(str::to_owned));
        }
        if self.rustc {
            flags = self.for_rustc(&flags, archive, &directory);
        }
        print(&flags.join(" "))
    }

    /// The archive of a target for these options. Where there is no operating system, there is only one.
    fn archive(&self, target: &Target) -> Result<Archive> {
        let needs_system =
            self.live || self.wrap_exit || self.wrap_signal || self.rustc || self.file.is_some();
        let chosen = match (self.bare, self.live) {
            (true, _) => target.bare(),
            (_, true) => target.live(),
            _ => target.hosted(),
        };
        let chosen = chosen.or_else(|| target.bare().filter(|_| !needs_system));
        chosen.ok_or_else(|| {
            let what = "has no operating system: only --bare, --dir and --compile are for it";
            Error::new(format!("{}: {what}", target.name))
        })
    }

    /// Why flags that name this folder would not reach the linker whole.
    fn refuse(&self, folder: &Path) -> Option<&'static str> {
        let folder = folder.to_string_lossy();
        if folder.contains(char::is_whitespace) {
            return Some("has a blank, at which a shell divides the flags");
        }
        let has_comma = self.file.is_some() && folder.contains(',');
        has_comma.then_some("has a comma, at which the compiler divides an option for the linker")
    }

    /// The same for rustc. It puts native libraries before its own profile runtime, and arguments of the linker
    /// behind it.
    fn for_rustc(&self, flags: &[String], archive: &Archive, directory: &Path) -> Vec<String> {
        let mut for_rustc =
            vec![format!("-Lnative={}", directory.display()), format!("-lstatic={}", archive.name)];
        if self.live {
            // GNU ld, as the script wants it.
            for_rustc.push("-Clinker-features=-lld".to_owned());
        }
        for_rustc.extend(flags.iter().map(|flag| format!("-Clink-arg={flag}")));
        for_rustc
    }
}

/// The name of a file that does not exist, and says why there are no flags. It is one word for any shell.
pub fn missing_input(why: &str) -> String {
    const LONGEST_REASON: usize = 200;
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || "./-".contains(letter) => letter,
        _ => '_',
    };
    let why: String = why.chars().map(plain).take(LONGEST_REASON).collect();
    format!("countersink-flags-failed:{why}")
}

/// Prints flags on one line.
fn print(flags: &str) -> Result<Outcome> {
    print::print(format!("{flags}\n").as_bytes())?;
    Ok(Outcome::Done)
}
