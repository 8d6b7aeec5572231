//! The archives that the tool carries, of all targets, and their header. `archive_folder` finds a place for them.

use std::fmt::Display;
use std::prelude::v1::*;

/// A target: a kind of machine, and of system if there is one.
#[derive(Debug)]
pub struct Target {
    /// rustc's name of it.
    pub name: &'static str,
    hosted: Option<&'static [u8]>,
    live: Option<&'static [u8]>,
    bare: Option<&'static [u8]>,
}

/// An archive of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Its name for the linker, behind `-l`.
    pub name: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

/// The targets whose archives are in here. The first is the one that this program was compiled for; the build
/// variable `COUNTERSINK_TARGETS` names the others.
pub static TARGETS: &[Target] = &include!(concat!(env!("OUT_DIR"), "/archives.rs"));

/// Names of the archives.
const NAMES: [&str; 3] = ["countersink_rt", "countersink_rt_bare", "countersink_rt_live"];

/// For programs on an operating system, and for this program's own target.
pub static HOSTED: Archive = own(TARGETS[0].hosted, NAMES[0]);

/// For programs without one.
pub static BARE: Archive = own(TARGETS[0].bare, NAMES[1]);

/// For programs with counters in a file from the start; linked with [`SCRIPT`].
pub static LIVE: Archive = own(TARGETS[0].live, NAMES[2]);

/// All archives of this program's own target.
pub static ALL: [&Archive; 3] = [&HOSTED, &BARE, &LIVE];

/// A build without one of them does not compile.
const fn own(bytes: Option<&'static [u8]>, name: &'static str) -> Archive {
    Archive { name, bytes: bytes.expect("the own target has all archives") }
}

/// The linker script for live counters, and its name.
pub static SCRIPT: &str = include_str!("../../../runtime-c/live.ld");
/// See [`SCRIPT`].
pub const SCRIPT_NAME: &str = "countersink_live.ld";

/// `countersink.h`.
pub static HEADER: &str = include_str!("../../../runtime-c/countersink.h");

/// Options of the linker besides [`Archive::options`]. They make counts be written at calls after which
/// nothing runs, or that gcc does not know. `runtime-c/wrap.c` and `exec.c` stand in for these calls.
pub const WRAPPED: [&str; 13] = [
    "-Wl,--wrap=_exit",
    "-Wl,--wrap=_Exit",
    "-Wl,--wrap=clone",
    "-Wl,--wrap=daemon",
    "-Wl,--wrap=execl",
    "-Wl,--wrap=execle",
    "-Wl,--wrap=execlp",
    "-Wl,--wrap=execv",
    "-Wl,--wrap=execve",
    "-Wl,--wrap=execvp",
    "-Wl,--wrap=execvpe",
    "-Wl,--wrap=fexecve",
    "-Wl,--wrap=syscall",
];

/// Options of the linker that make counts be written when a program's own handlers let a signal end it.
/// `runtime-c/wrap_signal.c` stands in for these calls.
pub const WRAPPED_SIGNALS: [&str; 3] =
    ["-Wl,--wrap=sigaction", "-Wl,--wrap=signal", "-Wl,--wrap=__sysv_signal"];

/// The flag that compilations need for the linker script for live counters.
pub const FOR_SCRIPT: &str = "-fdata-sections";

/// Makes the linker take the archive's members wherever the archive stands on the line: also in front of the
/// objects that need them, and before the compiler's own `-lgcov`.
const UNDEFINED: &str = "-Wl,--undefined=__gcov_init";

/// Lets the copies of the archive in a program and in the plugins that it opens find each other.
const EXPORTED: &str = "-Wl,--export-dynamic-symbol=countersink_images";

impl Target {
    /// This program's own.
    pub fn own() -> &'static Self {
        &TARGETS[0]
    }

    /// Whether it is.
    pub fn is_own(&self) -> bool {
        self.name == TARGETS[0].name
    }

    /// For programs on an operating system.
    pub fn hosted(&self) -> Option<Archive> {
        self.hosted.map(|bytes| Archive { name: NAMES[0], bytes })
    }

    /// For programs without one.
    pub fn bare(&self) -> Option<Archive> {
        self.bare.map(|bytes| Archive { name: NAMES[1], bytes })
    }

    /// For programs with counters in a file from the start; linked with [`SCRIPT`].
    pub fn live(&self) -> Option<Archive> {
        self.live.map(|bytes| Archive { name: NAMES[2], bytes })
    }

    /// All that it has.
    pub fn archives(&self) -> impl Iterator<Item = Archive> {
        [self.hosted(), self.bare(), self.live()].into_iter().flatten()
    }
}

impl Archive {
    /// Whether it is for programs without an operating system.
    pub fn is_bare(&self) -> bool {
        self.name == NAMES[1]
    }

    /// Whether its counters are in a file from the start.
    pub fn is_live(&self) -> bool {
        self.name == NAMES[2]
    }

    /// Name of the file.
    pub fn file_name(&self) -> String {
        format!("lib{}.a", self.name)
    }

    /// Options of the linker besides the archive. The archive lies in `directory` with its script.
    pub fn options(&self, directory: impl Display) -> Vec<String> {
        let mut options = vec![UNDEFINED.to_owned()];
        if !self.is_bare() {
            options.push(EXPORTED.to_owned());
        }
        if self.is_live() {
            // With -Wl, pkgconf would lose the quotes around a blank.
            options.push(format!("-T{directory}/{SCRIPT_NAME}"));
        }
        options
    }
}
