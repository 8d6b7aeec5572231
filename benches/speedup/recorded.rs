//! Programs with a build system of their own: where their sources come from, and how their own build compiles them.
//!
//! A source package of Debian is fetched and unpacked once. Its own `configure` and `make` then run once, with a script
//! in place of the compiler. The script notes each command and calls the system's gcc. The benchmark compiles the same
//! sources with all these flags together, except for the levels of optimisation, warnings and debug information.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::builds::succeed;
use crate::program::{own, scratch};

/// Notes a command in a file of its own: the folder, then each argument, on a line each. Commands run at the same time.
/// What gcc makes only runs as a part of the build, so it optimises nothing.
const COMPILER: &str = "#!/bin/sh\n\
    for word in \"$PWD\" \"$@\"; do printf '%s\\n' \"$word\"; done > \"$(dirname \"$0\")/$$.command\"\n\
    exec gcc \"$@\" -O0\n";

/// How to build a package.
pub struct Build {
    /// The name of Debian's source package.
    pub package: &'static str,
    /// Shell commands in the folder of its sources. `$CC` is the compiler that takes notes.
    pub commands: &'static str,
    /// Objects that are no part of the program, by the stems of their names.
    pub unwanted: &'static [&'static str],
}

/// What the build of a package compiles.
pub struct Recorded {
    /// The folder of its sources.
    pub folder: PathBuf,
    pub sources: Vec<PathBuf>,
    /// All flags of these compilations.
    pub flags: Vec<String>,
}

impl Build {
    /// Builds the package unless that is done.
    pub fn record(&self) -> Result<Recorded, String> {
        let folder = debian(self.package)?;
        let notes = folder.with_file_name("commands");
        if !notes.join("complete").exists() {
            eprintln!("{}: its own build ...", self.package);
            _ = fs::remove_dir_all(&notes);
            write_executable(&notes.join("cc"), COMPILER).map_err(|error| error.to_string())?;
            let mut shell = Command::new("sh");
            shell.args(["-e", "-c", self.commands]).current_dir(&folder);
            succeed(shell.env("CC", notes.join("cc")))?;
            fs::write(notes.join("complete"), "").map_err(|error| error.to_string())?;
        }
        let mut recorded = Recorded { folder, sources: vec![], flags: vec![] };
        let entries = fs::read_dir(&notes).map_err(|error| error.to_string())?;
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "command")) {
            recorded.add(&fs::read_to_string(path).unwrap(), self.unwanted);
        }
        Ok(recorded)
    }
}

impl Recorded {
    /// Adds the source and the flags of a noted command, if it compiles a part of the program.
    fn add(&mut self, command: &str, unwanted: &[&str]) {
        let mut lines = command.lines();
        let folder = Path::new(lines.next().unwrap());
        let words: Vec<&str> = lines.collect();
        let after =
            |flag| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1));
        let source = words.iter().find(|word| word.ends_with(".c") && !word.starts_with('-'));
        let Some(source) = source.filter(|_| words.contains(&"-c")) else { return };
        let object = Path::new(after("-o").unwrap_or(source)).file_stem().unwrap();
        let source = folder.join(source);
        let is_inside = source.canonicalize().is_ok_and(|path| path.starts_with(&self.folder));
        if !is_inside || unwanted.iter().any(|name| object == *name) {
            return;
        }
        let mut known: HashSet<String> = self.flags.iter().cloned().collect();
        let flags = words.iter().filter(|word| is_own_flag(word));
        let flags = flags.map(|flag| match flag.strip_prefix("-I") {
            Some(included) => format!("-I{}", folder.join(included).display()),
            None => flag.to_string(),
        });
        self.flags.extend(flags.filter(|flag| known.insert(flag.clone())));
        let source = source.canonicalize().unwrap();
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
    }
}

/// Whether a word of a compilation is a flag that this benchmark keeps.
fn is_own_flag(word: &str) -> bool {
    let is_of_others = word.starts_with("-O") || word.starts_with("-W") || word.starts_with("-g");
    word.starts_with('-') && !is_of_others && !["-c", "-o", "-pipe", "-MMD", "-MP"].contains(&word)
}

fn write_executable(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap())?;
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// The sources of a package, with Debian's changes.
pub fn debian(package: &str) -> Result<PathBuf, String> {
    let sources = scratch().join("debian").join(package).join("source");
    if !sources.exists() {
        eprintln!("{package}: apt-get source ...");
        succeed(Command::new(own("source")).arg(package).arg(&sources))?;
    }
    sources.canonicalize().map_err(|error| error.to_string())
}
