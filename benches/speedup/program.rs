//! What a program of this benchmark is: where its sources are, how to compile it, and the arguments to run it with.
//!
//! The sources are inside crates, which `tests/corpus` and `benches/corpus` pin. The programs that use them
//! are in `drivers` and in `tests/programs`. Training and measuring have different sizes and, if the driver
//! makes up its input, different seeds.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compilers::Language;
use crate::harness::{corpus, corpus_of};

/// A program to compile and run.
pub struct Program {
    /// The driver that links it.
    pub language: Language,
    pub sources: Vec<PathBuf>,
    /// Flags of every compilation, besides `-O2`.
    pub flags: Vec<String>,
    /// Flags for the linker.
    pub libraries: &'static [&'static str],
    /// Arguments of the run that makes the profile.
    pub training: Vec<String>,
    /// Arguments of the run that is measured.
    pub measured: Vec<String>,
}

/// A program by its name. Its sources are looked for only when it is needed.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name of its folder, and for the command line.
    pub name: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    pub program: fn() -> Program,
}

/// Programs that share a mean, and their common name.
pub type Group = (&'static str, &'static [Entry]);

/// The sources of a crate.
pub struct Package(PathBuf);

impl Package {
    /// A crate of `benches/corpus`.
    pub fn of(name: &str) -> Self {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/corpus/Cargo.toml");
        Self(corpus_of(manifest, name).unwrap_or_else(|| panic!("no sources of {name}")))
    }

    /// A crate of `tests/corpus`.
    pub fn of_tests(name: &str) -> Self {
        Self(corpus(name).unwrap_or_else(|| panic!("no sources of {name}")))
    }

    /// Sources in this folder.
    #[allow(dead_code, reason = "only histories have them elsewhere")]
    pub fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The flag that lets headers be found in a folder of the crate.
    pub fn include(&self, folder: &str) -> String {
        include(&self.path(folder))
    }

    /// C sources of a folder, by their names without `.c`, separated by blanks.
    pub fn named(&self, folder: &str, names: &str) -> Vec<PathBuf> {
        names.split(' ').map(|name| self.path(folder).join(name).with_extension("c")).collect()
    }

    /// All sources of a folder with this extension, except those with these names; sorted.
    pub fn all_but(&self, folder: &str, extension: &str, unwanted: &[&str]) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let is_wanted = |path: &PathBuf| {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            path.extension().is_some_and(|found| found == extension) && !unwanted.contains(&stem)
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut sources: Vec<PathBuf> = paths.filter(is_wanted).collect();
        sources.sort();
        sources
    }
}

/// A file of `drivers`.
pub fn driver(name: &str) -> PathBuf {
    own("drivers").join(name)
}

/// A file or folder of this benchmark.
pub fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/speedup").join(name)
}

/// A file of `tests/programs`.
pub fn of_tests(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// The flag that lets headers be found in a folder.
pub fn include(folder: &Path) -> String {
    format!("-I{}", folder.display())
}

/// Words, separated by blanks.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Makes a header from cmake's template, in a folder of this name; gives the folder.
pub fn header(template: &Path, folder: &str, values: &[(&str, &str)]) -> PathBuf {
    let mut text = fs::read_to_string(template).unwrap();
    for (name, value) in values {
        text = text.replace(&format!("${{{name}}}"), value);
    }
    let folder = scratch().join(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(template.file_stem().unwrap()), text).unwrap();
    folder
}

/// The folder in which this benchmark compiles everything. Unlike `/tmp`, a chroot sees it.
pub fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("speedup")
}
