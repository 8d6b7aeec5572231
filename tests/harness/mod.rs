//! A folder in which gcc builds programs with libgcov and with countersink, runs them and compares.
#![allow(dead_code, reason = "every test uses some of it")]

pub mod other_gcc;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersink::cli::archives::archive;
use countersink::formats::gcda::decode::{Counters, Data};
use countersink::raw::merge::Pair;
use rustix::fs::Mode;
use tempfile::TempDir;

/// Flags of every instrumented compilation, unless a test is about other flags.
pub const PROFILE: [&str; 4] = ["-O2", "-g", "-fprofile-generate", "-ftest-coverage"];

/// A temporary folder with the archive in it.
pub struct Workshop {
    directory: TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        // Not the user's own, as other users run some of the programs.
        rustix::process::umask(Mode::from_raw_mode(0o022));
        let directory = tempfile::tempdir().unwrap();
        for archive in archive::ALL {
            fs::write(directory.path().join(archive.file_name()), archive.bytes).unwrap();
        }
        fs::write(directory.path().join("countersink.h"), archive::HEADER).unwrap();
        Self { directory }
    }

    /// Makes `library.so` from the object that it returns, and writes the source of a program that uses it.
    pub fn library(&self) -> String {
        for name in ["library.c", "uses_library.c"] {
            self.program(name);
        }
        let object = self.compile("library.c", &["-fPIC"]);
        self.link(&[&object], "library.so", &["-shared"]);
        object
    }

    /// A path in the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Copies a program of `tests/programs` into the folder.
    pub fn program(&self, name: &str) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
        let target = self.path(name);
        fs::copy(&source, &target).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        target
    }

    /// A command that runs in the folder, with its dump there, and without the variables that users may have
    /// set.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.directory.path());
        for variable in [
            "GCOV_PREFIX",
            "GCOV_PREFIX_STRIP",
            "GCOV_ERROR_FILE",
            "COUNTERSINK_FILE",
            "LLVM_PROFILE_FILE",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs gcc with these words.
    pub fn gcc(&self, arguments: &[&str]) {
        succeed(self.command("gcc").args(arguments));
    }

    /// Compiles to an instrumented object.
    pub fn compile(&self, source: &str, flags: &[&str]) -> String {
        let object = Path::new(source).with_extension("o").to_str().unwrap().to_owned();
        self.gcc(&[&PROFILE[..], flags, &["-I.", "-c", source, "-o", &object]].concat());
        object
    }

    /// Links with libgcov.
    pub fn link_stock(&self, objects: &[&str], program: &str, flags: &[&str]) {
        self.gcc(&[&["-fprofile-generate"], objects, &["-o", program], flags].concat());
    }

    /// Links with the archive.
    pub fn link(&self, objects: &[&str], program: &str, flags: &[&str]) {
        let ours = ["-L.", "-lcountersink_rt"];
        self.gcc(&[&["-fprofile-generate"], objects, &["-o", program], &ours, flags].concat());
    }

    /// Runs a program of the folder. It must end well and print nothing on standard error.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.output(program, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{program}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn output(&self, program: &str, arguments: &[&str]) -> Output {
        self.command(self.path(program)).args(arguments).output().unwrap()
    }

    /// Runs the tool.
    pub fn tool(&self, arguments: &[&str]) -> Output {
        let mut tool = self.command(env!("CARGO_BIN_EXE_countersink"));
        tool.env("XDG_CACHE_HOME", self.path("cache")).args(arguments).output().unwrap()
    }

    /// Runs the tool, which must succeed; gives its standard output.
    pub fn tool_output(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.tool(arguments);
        assert!(output.status.success(), "countersink {arguments:?}: {output:?}");
        output.stdout
    }

    /// All files with this extension in the folder and below, sorted, relative to the folder.
    pub fn files(&self, extension: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(self.directory.path(), extension, &mut found);
        let strip = |path: PathBuf| path.strip_prefix(self.directory.path()).unwrap().to_owned();
        let mut found: Vec<PathBuf> = found.into_iter().map(strip).collect();
        found.sort();
        found
    }

    /// Takes all `.gcda` files out of the folder, with their names.
    pub fn take_gcda(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let take = |path: PathBuf| {
            let bytes = self.read(&path);
            fs::remove_file(self.path(&path)).unwrap();
            (path, bytes)
        };
        self.files("gcda").into_iter().map(take).collect()
    }

    /// What libgcov would have written, made from a dump of the folder.
    pub fn converted_gcda(&self, dump: &str) -> Vec<(PathBuf, Vec<u8>)> {
        self.tool_output(&["convert", "--to", "gcda", dump]);
        self.take_gcda()
    }
}

fn collect(directory: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, extension, found);
        } else if path.extension() == Some(OsStr::new(extension)) {
            found.push(path);
        }
    }
}

/// Runs a command that must succeed; gives its standard output.
pub fn succeed(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    output.stdout
}

/// Both lists of files must be equal byte for byte, except for sites with more values than libgcov keeps.
/// Otherwise says where they differ.
#[track_caller]
pub fn assert_same_files(ours: &[(PathBuf, Vec<u8>)], stock: &[(PathBuf, Vec<u8>)]) {
    let names = |files: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        files.iter().map(|(path, _)| path.clone()).collect()
    };
    assert_eq!(names(ours), names(stock));
    for ((path, ours), (_, stock)) in ours.iter().zip(stock) {
        if ours != stock {
            let place = ours.iter().zip(stock).position(|(a, b)| a != b);
            let place = place.unwrap_or(ours.len().min(stock.len()));
            let (mut decoded, expected) =
                (Data::decode(ours).unwrap(), Data::decode(stock).unwrap());
            take_full_sites(&mut decoded, &expected);
            let differs = format!("{} differs at {place:#x}", path.display());
            assert!(decoded == expected, "{differs}\n{decoded:#?}\n{expected:#?}");
        }
    }
}

/// Replaces the sites that libgcov could not keep whole by libgcov's, after comparing their numbers of
/// events.
fn take_full_sites(ours: &mut Data, stock: &Data) {
    let ours = ours.functions.iter_mut().flatten().flat_map(|function| &mut function.counters);
    let stock = stock.functions.iter().flatten().flat_map(|function| &function.counters);
    for ((_, ours), (_, stock)) in ours.zip(stock) {
        let (Counters::Sites(ours), Counters::Sites(stock)) = (ours, stock) else { continue };
        for (ours, stock) in ours.iter_mut().zip(stock) {
            let (total, sum) =
                (stock.0.abs(), |pairs: &[Pair]| pairs.iter().map(|p| p.count).sum());
            if stock.1.len() == 32 && total > sum(&stock.1) {
                assert!(ours.0.abs() == total && sum(&ours.1) <= total, "{ours:?}\n{stock:?}");
                assert!(ours.1.len() >= 32, "{ours:?}");
                ours.clone_from(stock);
            }
        }
    }
}

/// The folder with the sources of a crate named in `tests/corpus/Cargo.toml`. `None`, and a message, if they
/// are not on the machine and cannot be fetched.
pub fn corpus(package: &str) -> Option<PathBuf> {
    corpus_of(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/Cargo.toml"), package)
}

/// The folder with the sources of a crate named in a manifest.
pub fn corpus_of(manifest: &str, package: &str) -> Option<PathBuf> {
    let metadata = |network: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version=1", "--locked", "--manifest-path", manifest]);
        let output = cargo.args(network).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let Some(metadata) = metadata(&["--offline"]).or_else(|| metadata(&[])) else {
        skip(&format!("the sources of {package} cannot be fetched"));
        return None;
    };
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|found| found["name"] == package).unwrap();
    Some(Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned())
}

/// The names of the tool's commands, as its help lists them.
pub fn commands(shop: &Workshop) -> Vec<String> {
    let help = String::from_utf8(shop.tool_output(&["--help"])).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // A long description has more lines.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    let names = names.map(|(name, _)| name).filter(|name| !["", "help"].contains(name));
    names.map(str::to_owned).collect()
}

/// Whether a program can be started. If not, the test is skipped.
pub fn have(program: &str) -> bool {
    let have = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !have {
        skip(&format!("{program} is not installed"));
    }
    have
}

/// A Python that has a module: `COUNTERSINK_PYTHON`, that of `.ci/run`, or the system's. If there is none, the test is
/// skipped.
pub fn python_with(module: &str) -> Option<String> {
    let given = std::env::var("COUNTERSINK_PYTHON").ok();
    let of_ci = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/python/bin/python3");
    let mut pythons = given.into_iter().chain([of_ci.to_owned(), "python3".to_owned()]);
    let found = pythons.find(|python| {
        let import = Command::new(python).args(["-c", &format!("import {module}")]).output();
        import.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        skip(&format!("no Python with {module}"));
    }
    found
}

/// The major version of gcc if it reads version 2 of AutoFDO's format. Otherwise the test is skipped.
pub fn gcc_for_version_2() -> Option<String> {
    let major = gcc_major();
    if !(12..=15).contains(&major) {
        skip(&format!("gcc {major} does not read version 2"));
        return None;
    }
    Some(major.to_string())
}

/// The major version of gcc.
pub fn gcc_major() -> u32 {
    let version = String::from_utf8(succeed(Command::new("gcc").arg("-dumpversion"))).unwrap();
    version.trim().split('.').next().unwrap().parse().unwrap()
}

/// Skips a test, or a part of one, for lack of something that could be installed. Fails where it should be
/// installed.
#[track_caller]
pub fn skip(why: &str) {
    assert!(std::env::var_os("COUNTERSINK_SKIP_NOTHING").is_none(), "would be skipped: {why}");
    say_skipped(why);
}

/// Says visibly that something is skipped.
pub fn say_skipped(why: &str) {
    // Past the test runner, which shows only the output of failing tests.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The number behind a word at the start of a line.
#[track_caller]
pub fn number_behind(word: &str, printed: &str) -> usize {
    let line = printed.lines().find_map(|line| line.strip_prefix(word));
    line.unwrap_or_else(|| panic!("{word} not in {printed}")).trim().parse().unwrap()
}

/// Words of a command line.
pub fn words(arguments: &[impl AsRef<OsStr>]) -> Vec<OsString> {
    arguments.iter().map(|argument| argument.as_ref().to_owned()).collect()
}
