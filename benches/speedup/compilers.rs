//! The versions of gcc that programs are compiled with.
//!
//! One is `gcc-N` on the path, or `gcc` if that is its version. Others lie in the root of another Debian
//! system, as debootstrap makes it, which `COUNTERSINK_BENCH_ROOTS` names, several separated by colons.
//! They run by `chroot`, which needs root's rights, and see what they compile only if these folders are
//! mounted there under the same paths: this one, and Cargo's registry.
//!
//! ```sh
//! for folder in $PWD $HOME/.cargo; do mkdir -p ROOT$folder; mount --bind $folder ROOT$folder; done
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::say_skipped;

/// Versions that countersink knows.
const MAJORS: std::ops::RangeInclusive<u32> = 10..=17;

/// A version of gcc.
pub struct Compiler {
    pub major: u32,
    place: Place,
}

enum Place {
    /// What stands behind `gcc` and `g++` in its names: `-12`, or nothing.
    Path(String),
    /// The root of another system.
    Root(PathBuf),
}

/// Which of a compiler's two drivers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

/// Those that were asked for, or all that are found. What is missing is said.
pub fn all(wanted: &[u32]) -> Vec<Compiler> {
    let roots = std::env::var_os("COUNTERSINK_BENCH_ROOTS").unwrap_or_default();
    let roots: Vec<PathBuf> = std::env::split_paths(&roots).collect();
    let majors = MAJORS.filter(|major| wanted.is_empty() || wanted.contains(major));
    let find = |major| {
        let compiler = Compiler::find(major, &roots);
        if compiler.is_none() {
            say_skipped(&format!("gcc {major}: not on the path or in COUNTERSINK_BENCH_ROOTS"));
        }
        compiler
    };
    majors.filter_map(find).collect()
}

impl Compiler {
    fn find(major: u32, roots: &[PathBuf]) -> Option<Self> {
        let is_it = |suffix: &String| {
            let output = Command::new(format!("gcc{suffix}")).arg("-dumpversion").output();
            let version = output.map(|output| output.stdout).unwrap_or_default();
            version.split(|byte| !byte.is_ascii_digit()).next()
                == Some(major.to_string().as_bytes())
        };
        let on_path = [format!("-{major}"), String::new()].into_iter().find(is_it);
        let in_root =
            || roots.iter().find(|root| root.join(format!("usr/bin/gcc-{major}")).exists());
        let place = match on_path {
            Some(suffix) => Place::Path(suffix),
            None => Place::Root(in_root()?.clone()),
        };
        Some(Self { major, place })
    }

    /// A command that runs the compiler in a folder.
    pub fn command(&self, language: Language, folder: &Path) -> Command {
        let name = if language == Language::Cxx { "g++" } else { "gcc" };
        match &self.place {
            Place::Path(suffix) => {
                let mut command = Command::new(format!("{name}{suffix}"));
                command.current_dir(folder);
                command
            }
            Place::Root(root) => {
                let mut command = Command::new("chroot");
                command.arg(root).args(["/usr/bin/env", "-C"]).arg(folder);
                command.arg(format!("{name}-{}", self.major));
                command
            }
        }
    }
}
