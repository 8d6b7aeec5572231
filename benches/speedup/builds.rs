//! One program and one compiler: the instrumented run, and the ways to compile with its profile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;

use crate::compilers::{Compiler, Language};
use crate::program::{Program, scratch, words};

/// A way to compile a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `-O2` alone.
    Plain,
    /// With `-fprofile-use`.
    Use,
    /// With `-fauto-profile`.
    Auto,
    /// The same with `convert --inline flat`.
    Flat,
    /// The same with `convert --inline nested`.
    Nested,
}

impl Variant {
    /// Name of its folder.
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Use => "use",
            Self::Auto => "auto",
            Self::Flat => "flat",
            Self::Nested => "nested",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Plain => "`-O2`",
            Self::Use => "`-fprofile-use`",
            Self::Auto => "`-fauto-profile`",
            Self::Flat => "`--inline flat`",
            Self::Nested => "`--inline nested`",
        }
    }
}

/// The folder of the instrumented program.
const INSTRUMENTED: &str = "instrumented";

/// A program and a compiler.
pub struct Subject<'s> {
    pub program: &'s Program,
    pub compiler: &'s Compiler,
    folder: PathBuf,
}

/// A compilation to do.
struct Task<'t> {
    folder: &'t Path,
    source: &'t Path,
    flags: &'t [String],
}

impl<'s> Subject<'s> {
    /// In a folder that is new.
    pub fn new(name: &str, program: &'s Program, compiler: &'s Compiler) -> Result<Self, String> {
        let folder = scratch().join(name).join(format!("gcc-{}", compiler.major()));
        _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { program, compiler, folder })
    }

    /// The folder of a variant.
    pub fn folder(&self, variant: Variant) -> PathBuf {
        self.folder.join(variant.name())
    }

    /// The folder of the instrumented program, with its notes and counts.
    pub fn instrumented(&self) -> PathBuf {
        self.folder.join(INSTRUMENTED)
    }

    /// The program compiled in this way.
    pub fn executable(&self, variant: Variant) -> PathBuf {
        self.folder(variant).join("program")
    }

    /// The profile that `-fauto-profile` reads.
    pub fn profile(&self, variant: Variant) -> PathBuf {
        self.folder.join(variant.name()).with_extension("afdo")
    }

    /// Compiles the instrumented program into a folder of this name, with further flags, and runs it. Gives the dump,
    /// and what the program printed.
    pub fn count(&self, name: &str, further: &str) -> Result<(String, String), String> {
        let folder = self.folder.join(name);
        let flags = [words(&self.tool(&["flags", "--compile"])?), words(further)].concat();
        self.compile_into(&[(folder.clone(), flags)])?;
        let link = format!("-fprofile-generate {}", self.tool(&["flags"])?);
        self.link(&folder, &words(&link))?;
        let dump = folder.join("program.csraw").display().to_string();
        let mut run = Command::new(folder.join("program"));
        run.args(&self.program.training).current_dir(&folder).env("COUNTERSINK_FILE", &dump);
        let printed = succeed(&mut run)?;
        Ok((dump, printed))
    }

    /// Compiles the instrumented program, runs it and converts its dump for some variants.
    pub fn train(&self, variants: &[Variant]) -> Result<(), String> {
        let (dump, _) = self.count(INSTRUMENTED, "")?;
        self.tool(&["convert", "--to", "gcda", &dump])?;
        let major = self.compiler.major().to_string();
        for &variant in variants {
            let further: &[&str] = match variant {
                Variant::Plain | Variant::Use => continue,
                Variant::Auto => &[],
                Variant::Flat => &["--inline", "flat"],
                Variant::Nested => &["--inline", "nested"],
            };
            let profile = self.profile(variant).display().to_string();
            let arguments = ["convert", &dump, "--for-gcc", &major, "-o", &profile];
            self.tool(&[&arguments, further].concat())?;
        }
        Ok(())
    }

    /// Compiles the program in several ways.
    pub fn compile(&self, variants: &[Variant], optimise: Option<&str>) -> Result<(), String> {
        let ways: Result<Vec<_>, String> = variants
            .iter()
            .map(|&variant| Ok((self.folder(variant), self.flags(variant, optimise)?)))
            .collect();
        self.compile_into(&ways?)?;
        variants.par_iter().try_for_each(|&variant| self.link(&self.folder(variant), &[]))
    }

    /// The flags of a variant. Puts its profile where gcc looks for it.
    pub fn flags(&self, variant: Variant, optimise: Option<&str>) -> Result<Vec<String>, String> {
        match variant {
            Variant::Plain => Ok(vec![]),
            Variant::Use => {
                self.copy_counts(&self.folder(variant));
                // A source that never ran has no counts.
                Ok(words("-fprofile-use -Wno-missing-profile"))
            }
            Variant::Auto | Variant::Flat | Variant::Nested => {
                let profile = self.profile(variant);
                let mut flags = vec![format!("-fauto-profile={}", profile.display())];
                let major = self.compiler.major().to_string();
                flags.extend(match optimise {
                    Some(text) => words(text),
                    None => words(&self.tool(&["flags", "--optimise", &major])?),
                });
                Ok(flags)
            }
        }
    }

    /// Puts the `.gcda` files where a compilation in this folder looks for them.
    pub fn copy_counts(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for entry in fs::read_dir(self.instrumented()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "gcda") {
                fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
            }
        }
    }

    /// Compiles all sources into each of these folders, with the flags of each, on all cores.
    pub fn compile_into(&self, ways: &[(PathBuf, Vec<String>)]) -> Result<(), String> {
        for (folder, _) in ways {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let tasks: Vec<Task> = ways
            .iter()
            .flat_map(|(folder, flags)| {
                let sources = self.program.sources.iter();
                sources.map(move |source| Task { folder, source, flags })
            })
            .collect();
        tasks.par_iter().with_max_len(1).try_for_each(|task| {
            let object = object(task.source);
            let further = ["-c", "-o", &object].map(str::to_owned);
            let flags = [task.flags, &further].concat();
            succeed(&mut self.compilation(task.folder, task.source, &flags)).map(drop)
        })
    }

    /// The command that compiles a source of the program in a folder.
    pub fn compilation(&self, folder: &Path, source: &Path, flags: &[String]) -> Command {
        let mut command = self.compiler.command(Language::of(source), folder);
        command.arg("-O2").args(&self.program.flags).args(flags).arg(source);
        command
    }

    /// Links the objects in a folder.
    pub fn link(&self, folder: &Path, flags: &[String]) -> Result<(), String> {
        let mut command = self.compiler.command(self.program.language, folder);
        // Statically, because the compilers' systems may have newer libraries than this one.
        command.args(["-static", "-o", "program"]);
        command.args(self.program.sources.iter().map(|source| object(source)));
        command.args(self.program.libraries).args(flags);
        succeed(&mut command).map(drop)
    }

    /// Runs the tool in a place where a chroot sees what `flags` unpacks.
    pub fn tool(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersink"));
        command.args(arguments).current_dir(&self.folder);
        command.env("XDG_CACHE_HOME", scratch().join("cache"));
        succeed(&mut command)
    }
}

/// The object of a source. File names are not unique, so the folder's name is a part of it.
pub fn object(source: &Path) -> String {
    let folder = source.parent().unwrap().file_name().unwrap().to_str().unwrap();
    format!("{folder}_{}.o", source.file_stem().unwrap().to_str().unwrap())
}

/// Runs a command, which must succeed. Gives its output; its complaints are the error.
pub fn succeed(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{errors}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
