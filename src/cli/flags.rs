//! `countersink flags`.

use clap::Args;
use std::prelude::v1::*;

use super::error::{Error, Result};
use super::{Outcome, archive, output};

/// Print the flags that link the runtime into a program
///
/// The archive is unpacked once into the user's cache folder. The flags may stand anywhere on the
/// link line; the compiler's own libgcov, which comes last, then finds nothing left to do.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  gcc -O2 -g -fprofile-generate -ftest-coverage -c prog.c
  gcc -fprofile-generate prog.o -o prog $(countersink flags)
  # Writes prog.csraw in the current directory; a file per process, elsewhere
  ./prog
  COUNTERSINK_FILE=/tmp/%e.%p.csraw ./prog

-fprofile-arcs and --coverage do as well as -fprofile-generate, but then there are no targets of \
indirect calls and no order of first execution. -ftest-coverage writes the notes (.gcno) that \
`countersink convert` needs to find source lines; compile with -fprofile-update=atomic or -pthread \
if threads must not lose counts. -g lets `convert` place indirect calls and lines of inlined functions; \
the later compilation with the profile does not need it.

With --live a %p in COUNTERSINK_FILE gives each process a file of its own, and no later start finds what \
a killed one has left: `countersink fold` adds it.

Weak references to __gcov_dump, __gcov_reset and the calls of countersink.h are set in a program linked \
with these flags, where libgcov leaves those of its own calls NULL. To tell whether there is a runtime, \
ask for a weak countersink_version.

The archives are for the machine that this tool was compiled for.")]
pub struct Flags {
    /// For a program without an operating system, which asks for its counts itself (countersink.h)
    #[arg(long)]
    bare: bool,
    /// With counters in a file from the start, so that nothing costs a count, SIGKILL included; compile
    /// with -fdata-sections; needs GNU ld
    #[arg(long, conflicts_with = "bare")]
    live: bool,
    /// Also write the counts at calls after which nothing runs, or that gcc does not know: _exit, _Exit,
    /// daemon, execv and the like
    #[arg(long, conflicts_with = "bare")]
    wrap_exit: bool,
}

impl Flags {
    pub fn run(&self) -> Result<Outcome> {
        let archive = match (self.bare, self.live) {
            (true, _) => &archive::BARE,
            (_, true) => &archive::LIVE,
            _ => &archive::HOSTED,
        };
        let directory = archive.unpacked()?;
        if directory.to_string_lossy().contains(char::is_whitespace) {
            let why = "has a blank, at which a shell divides the flags; choose another folder";
            return Err(Error::about(directory, format!("{why} with XDG_CACHE_HOME")));
        }
        let directory = directory.display();
        let mut flags = archive.options(&directory);
        flags.push(format!("-L{directory} -l{}", archive.name));
        if self.wrap_exit {
            flags.extend(archive::WRAPPED.map(str::to_owned));
        }
        let mut flags = flags.join(" ");
        flags.push('\n');
        output::print(flags.as_bytes())?;
        Ok(Outcome::Done)
    }
}
