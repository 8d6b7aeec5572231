//! The versions of gcc that are on this machine: those on the path, and those in folders that
//! `COUNTERSINK_GCCS` names, separated by colons. A folder is the root of a Debian system with
//! `gcc-N` and `g++-N`, as debootstrap makes it; nothing in it is run as root or changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Workshop, say_skipped, succeed};

/// Versions that read AutoFDO profiles.
const MAJORS: std::ops::RangeInclusive<u32> = 10..=17;

/// A version of gcc.
pub struct Compiler {
    pub major: u32,
    place: Place,
}

enum Place {
    /// Its name on the path, of the C compiler.
    Path(String),
    /// A folder with another system.
    Root(PathBuf),
}

/// All that are found, each version once. Those that are not are told of.
pub fn all() -> Vec<Compiler> {
    let roots = std::env::var_os("COUNTERSINK_GCCS").unwrap_or_default();
    let roots: Vec<PathBuf> = std::env::split_paths(&roots).collect();
    let found = |major| {
        let in_root = || roots.iter().find(|root| compiler_proper(root, major, "cc1").is_some());
        let place = match on_path(major) {
            Some(name) => Place::Path(name),
            None => Place::Root(in_root()?.clone()),
        };
        Some(Compiler { major, place })
    };
    let compilers: Vec<Compiler> = MAJORS.filter_map(found).collect();
    let is_found = |major| compilers.iter().any(|compiler| compiler.major == major);
    let missing: Vec<String> =
        MAJORS.filter(|&major| !is_found(major)).map(|major| major.to_string()).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        say_skipped(&format!("gcc {missing}: not on the path or in COUNTERSINK_GCCS"));
    }
    compilers
}

fn on_path(major: u32) -> Option<String> {
    let is = |name: &String| {
        let output = Command::new(name).arg("-dumpversion").output();
        let version = output.map(|output| output.stdout).unwrap_or_default();
        version.split(|byte| !byte.is_ascii_digit()).next() == Some(major.to_string().as_bytes())
    };
    [format!("gcc-{major}"), "gcc".into()].into_iter().find(is)
}

/// The program that compiles, behind the driver, whose paths would lead out of the folder.
fn compiler_proper(root: &Path, major: u32, name: &str) -> Option<PathBuf> {
    let places = ["usr/libexec/gcc", "usr/lib/gcc"];
    let proper = |place| root.join(place).join(format!("x86_64-linux-gnu/{major}/{name}"));
    places.iter().map(proper).find(|path| path.exists())
}

impl Compiler {
    /// Whether C++ is compiled, too; else this is said.
    pub fn has_cxx(&self) -> bool {
        let has = match &self.place {
            Place::Path(gcc) => {
                Command::new(gcc.replace("gcc", "g++")).arg("--version").output().is_ok()
            }
            Place::Root(root) => compiler_proper(root, self.major, "cc1plus").is_some(),
        };
        if !has {
            say_skipped(&format!("gcc {} without C++", self.major));
        }
        has
    }

    /// Compiles a source of the folder, to nothing.
    pub fn compile(&self, shop: &Workshop, source: &str, flags: &[&str]) {
        let is_cxx = source.ends_with(".cc");
        let mut command = match &self.place {
            Place::Path(gcc) if is_cxx => shop.command(gcc.replace("gcc", "g++")),
            Place::Path(gcc) => shop.command(gcc),
            Place::Root(root) => self.proper(shop, root, is_cxx),
        };
        if matches!(self.place, Place::Path(_)) {
            command.arg("-S");
        }
        succeed(command.args(["-o", "/dev/null", "-I."]).args(flags).arg(source));
    }

    /// The compiler proper of another system, started by that system's dynamic linker.
    fn proper(&self, shop: &Workshop, root: &Path, is_cxx: bool) -> Command {
        let name = if is_cxx { "cc1plus" } else { "cc1" };
        let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
        let libraries = std::env::join_paths(libraries.map(|place| root.join(place))).unwrap();
        let mut command =
            shop.command(root.join("lib/x86_64-linux-gnu").join("ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(libraries);
        command.arg(compiler_proper(root, self.major, name).unwrap());
        command.args(["-quiet", "-imultiarch", "x86_64-linux-gnu", "-D_GNU_SOURCE"]);
        let major = self.major;
        let mut folders = vec![format!("usr/lib/gcc/x86_64-linux-gnu/{major}/include")];
        if is_cxx {
            folders.insert(0, format!("usr/include/c++/{major}"));
            folders.insert(1, format!("usr/include/x86_64-linux-gnu/c++/{major}"));
        }
        for folder in folders {
            command.arg("-isystem").arg(root.join(folder));
        }
        command
    }
}
