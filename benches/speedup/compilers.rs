//! The versions of gcc that compile the programs.
//!
//! Compilers in the root of another system run by `chroot`, which needs root's rights. They see the sources
//! only if two folders are mounted there under the same paths: this one, and Cargo's registry.
//!
//! ```sh
//! for folder in $PWD $HOME/.cargo; do mkdir -p ROOT$folder; mount --bind $folder ROOT$folder; done
//! ```

#[path = "../../tests/compilers/found.rs"]
mod found;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::found::{Found, Place};

/// A version of gcc.
pub struct Compiler(Found);

/// Which of a compiler's two drivers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

impl Language {
    /// That of a source, by its name.
    #[allow(dead_code, reason = "benchmarks that share this file compile by other means")]
    pub fn of(source: &Path) -> Self {
        if source.extension().is_some_and(|extension| extension == "c") {
            Self::C
        } else {
            Self::Cxx
        }
    }

    /// The driver, without a version.
    fn driver(self) -> &'static str {
        if self == Self::Cxx { "g++" } else { "gcc" }
    }
}

/// The compilers that were asked for, or all that are found. Reports the missing ones.
pub fn all(wanted: &[u32]) -> Vec<Compiler> {
    let is_wanted = |major| wanted.is_empty() || wanted.contains(&major);
    let has = |root: &Path, major| root.join(format!("usr/bin/gcc-{major}")).exists();
    found::all(is_wanted, has).into_iter().map(Compiler).collect()
}

impl Compiler {
    pub fn major(&self) -> u32 {
        self.0.major
    }

    /// A command that runs the compiler in a folder.
    pub fn command(&self, language: Language, folder: &Path) -> Command {
        let name = language.driver();
        match &self.0.place {
            Place::Path(suffix) => {
                let mut command = Command::new(format!("{name}{suffix}"));
                command.current_dir(folder);
                command
            }
            Place::Root(root) => {
                let mut command = Command::new("chroot");
                command.arg(root).args(["/usr/bin/env", "-C"]).arg(folder);
                command.arg(format!("{name}-{}", self.major()));
                command
            }
        }
    }

    /// The compiler as one program that runs where it is called, for launchers. It is put into a folder.
    #[allow(dead_code, reason = "only parts have a launcher")]
    pub fn script(&self, language: Language, folder: &Path) -> PathBuf {
        let name = language.driver();
        let command = match &self.0.place {
            Place::Path(suffix) => format!("{name}{suffix}"),
            Place::Root(root) => {
                format!(
                    "chroot {} /usr/bin/env -C \"$PWD\" {name}-{}",
                    root.display(),
                    self.major()
                )
            }
        };
        let script = folder.join(name);
        fs::write(&script, format!("#!/bin/sh\nexec {command} \"$@\"\n")).unwrap();
        fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
        script
    }
}
