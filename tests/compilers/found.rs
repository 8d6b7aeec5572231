//! Finds the versions of gcc on this machine: those on the path, and those in folders that `COUNTERSINK_GCCS`
//! names, separated by colons. A folder is the root of a Debian system with `gcc-N` and `g++-N`, as
//! debootstrap makes it.
//!
//! Tests and benchmarks share this file. Each has its own way to run a compiler of such a folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::say_skipped;

/// Versions that read AutoFDO profiles.
const MAJORS: std::ops::RangeInclusive<u32> = 10..=17;

/// A version of gcc.
pub struct Found {
    pub major: u32,
    pub place: Place,
}

/// Where a compiler is.
pub enum Place {
    /// On the path, as `gcc` and `g++` with this suffix: `-12`, or nothing.
    Path(String),
    /// In the root of another system.
    Root(PathBuf),
}

/// Each wanted version that is found, once. Reports missing versions. `has` says whether a folder has what
/// the caller needs of a version.
pub fn all(wanted: impl Fn(u32) -> bool, has: impl Fn(&Path, u32) -> bool) -> Vec<Found> {
    let roots = std::env::var_os("COUNTERSINK_GCCS").unwrap_or_default();
    let roots: Vec<PathBuf> = std::env::split_paths(&roots).collect();
    let find = |major| {
        let in_root = || roots.iter().find(|root| has(root, major)).cloned();
        on_path(major).map(Place::Path).or_else(|| in_root().map(Place::Root))
    };
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for major in MAJORS.filter(|&major| wanted(major)) {
        match find(major) {
            Some(place) => found.push(Found { major, place }),
            None => missing.push(major.to_string()),
        }
    }
    if !missing.is_empty() {
        say_skipped(&format!("gcc {}: not on the path or in COUNTERSINK_GCCS", missing.join(", ")));
    }
    found
}

/// The suffix of a version's drivers.
fn on_path(major: u32) -> Option<String> {
    let is_it = |suffix: &String| {
        let output = Command::new(format!("gcc{suffix}")).arg("-dumpversion").output();
        let version = output.map(|output| output.stdout).unwrap_or_default();
        version.split(|byte| !byte.is_ascii_digit()).next() == Some(major.to_string().as_bytes())
    };
    [format!("-{major}"), String::new()].into_iter().find(is_it)
}
