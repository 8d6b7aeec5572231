//! The archives that the tool carries, and their header. `archive_folder` finds a place for them.

use std::fmt::Display;
use std::prelude::v1::*;

/// An archive, for the target that this program was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Its name for the linker, behind `-l`.
    pub name: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

macro_rules! archive {
    ($name:literal) => {
        Archive {
            name: $name,
            bytes: include_bytes!(concat!(env!("COUNTERSINK_ARCHIVE_PATH"), "/lib", $name, ".a")),
        }
    };
}

/// For programs on an operating system.
pub static HOSTED: Archive = archive!("countersink_rt");

/// For programs without one.
pub static BARE: Archive = archive!("countersink_rt_bare");

/// For programs with counters in a file from the start; linked with [`SCRIPT`].
pub static LIVE: Archive = archive!("countersink_rt_live");

/// All archives.
pub static ALL: [&Archive; 3] = [&HOSTED, &BARE, &LIVE];

/// The linker script for live counters, and its name.
pub static SCRIPT: &str = include_str!("../../runtime-c/live.ld");
/// See [`SCRIPT`].
pub const SCRIPT_NAME: &str = "countersink_live.ld";

/// `countersink.h`.
pub static HEADER: &str = include_str!("../../runtime-c/countersink.h");

/// Options of the linker besides [`Archive::options`]. They make counts be written at calls after which
/// nothing runs, or that gcc does not know. `runtime-c/wrap.c` and `exec.c` stand in for these calls.
pub const WRAPPED: [&str; 11] = [
    "-Wl,--wrap=_exit",
    "-Wl,--wrap=_Exit",
    "-Wl,--wrap=daemon",
    "-Wl,--wrap=execl",
    "-Wl,--wrap=execle",
    "-Wl,--wrap=execlp",
    "-Wl,--wrap=execv",
    "-Wl,--wrap=execve",
    "-Wl,--wrap=execvp",
    "-Wl,--wrap=execvpe",
    "-Wl,--wrap=fexecve",
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

impl Archive {
    /// Name of the file.
    pub fn file_name(&self) -> String {
        format!("lib{}.a", self.name)
    }

    /// Options of the linker besides the archive. The archive lies in `directory` with its script.
    pub fn options(&self, directory: impl Display) -> Vec<String> {
        let mut options = vec![UNDEFINED.to_owned()];
        if *self != BARE {
            options.push(EXPORTED.to_owned());
        }
        if *self == LIVE {
            // With -Wl, pkgconf would lose the quotes around a blank.
            options.push(format!("-T{directory}/{SCRIPT_NAME}"));
        }
        options
    }
}
