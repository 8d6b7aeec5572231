//! Which source files and lines the coverage is about: options, the project's folder, and markers in the sources.
//!
//! | left out | unless |
//! |---|---|
//! | files outside `--source-root`, or else outside the project around the current folder | the project has none of them |
//! | files that no `--include` fits, or that an `--exclude` fits | |
//! | files that are missing, such as those of Rust's standard library | all are: the sources are elsewhere |
//! | what [`Markers`] in the sources exclude | |
//!
//! The project is the git checkout, or else the cargo workspace.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::SystemTime;

use clap::Args;
use glob::{Pattern, PatternError};
use hashbrown::HashMap;
use memchr::memmem;
use rayon::prelude::*;

use crate::cli::inputs::source_text::{self, Text};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::convert::number::Number;
use crate::coverage::Coverage;
use crate::coverage::markers::Markers;

/// Files that are not there are named up to this number.
const NAMED: usize = 3;

/// Which files are wanted.
#[derive(Clone, Debug, Default, Args)]
pub struct Selection {
    /// Only the source files that GLOB fits, or that are below a folder that it fits: the whole path, or its end below
    /// the source root or the current folder. * also stands for slashes
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    include: Vec<Pattern>,
    /// Leave out the source files that GLOB fits
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    exclude: Vec<Pattern>,
    /// Only the source files below DIR [default: the git checkout or cargo workspace around the current folder]
    #[arg(long, value_name = "DIR")]
    source_root: Option<PathBuf>,
}

/// A pattern. Folders may be written `./folder/`, as in a shell.
fn pattern(text: &str) -> core::result::Result<Pattern, PatternError> {
    let bare = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    Pattern::new(if bare.is_empty() { text } else { bare })
}

impl Selection {
    /// The option that is given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--include", !self.include.is_empty()),
            ("--exclude", !self.exclude.is_empty()),
            ("--source-root", self.source_root.is_some()),
        ];
        given.into_iter().find(|&(_, is_given)| is_given).map(|(option, _)| option)
    }

    /// Leaves out what is not wanted, and says so. It is an error if nothing is left.
    ///
    /// Sources that have changed since `counted`, the time of the counts, are named.
    pub fn apply(
        &self,
        coverage: &mut Coverage,
        name: &Path,
        counted: Option<SystemTime>,
    ) -> Result<Chosen> {
        let spellings = Spellings::default();
        let all = coverage.files.len();
        if coverage.files.is_empty() {
            return Ok(Chosen { spellings, root: None, missing: Vec::new() });
        }
        let root = self.root(coverage, &spellings, name)?;
        if let Some(root) = &root {
            let outside = drop_files(coverage, |path| root.has(&spellings.of(path)));
            if !outside.is_empty() {
                let files = Number(outside.len() as u64, "file");
                let root = root.folder.display();
                let hint = match self.source_root {
                    Some(_) => "",
                    None => "; --source-root / shows all",
                };
                warn(name, format!("left out: {files} outside {root}{hint}"));
            }
        }
        drop_files(coverage, |path| self.wants(path, &spellings, root.as_ref()));
        if coverage.files.is_empty() {
            let all = Number(all as u64, "file");
            let what = format!(
                "no coverage is left of {all}: --source-root, --include and --exclude choose files"
            );
            return Err(Error::about(name, what));
        }
        let missing = leave_out(coverage, name, counted);
        Ok(Chosen { spellings, root, missing })
    }

    /// Leaves the same files out of the coverage of another time, when there may have been more.
    pub fn apply_to_base(&self, base: &mut Coverage, chosen: &Chosen) {
        let Chosen { spellings, root, .. } = chosen;
        drop_files(base, |path| {
            let is_below = root.as_ref().is_none_or(|root| root.has(&spellings.of(path)));
            is_below && self.wants(path, spellings, root.as_ref())
        });
    }

    /// Whether the options choose the file.
    fn wants(&self, path: &Path, spellings: &Spellings, root: Option<&Root>) -> bool {
        if self.include.is_empty() && self.exclude.is_empty() {
            return true;
        }
        let (all, folder) = (spellings.of(path), &*spellings.folder);
        let tops = [Some(folder), root.map(|root| &*root.folder), root.map(|root| &*root.named)];
        let real = folder.canonicalize().ok();
        let tops: Vec<&Path> = tops.into_iter().flatten().chain(real.as_deref()).collect();
        let below =
            all.iter().flat_map(|whole| tops.iter().map(|top| whole.strip_prefix(top).ok()));
        let names: Vec<&Path> =
            below.flatten().chain(all.iter().map(|whole| &**whole)).chain([path]).collect();
        let fits = |pattern: &Pattern| {
            let all = names.iter().flat_map(|name| name.ancestors());
            all.filter(|part| part.iter().next().is_some()).any(|part| pattern.matches_path(part))
        };
        (self.include.is_empty() || self.include.iter().any(fits)) && !self.exclude.iter().any(fits)
    }

    /// Whether the options choose a file; nothing if none is given.
    pub fn chooses(&self) -> Result<Option<impl Fn(&[u8]) -> bool>> {
        let (root, spellings) = (self.given_root()?, Spellings::default());
        Ok(self.given().map(|_| {
            move |path: &[u8]| {
                let path = path_of(path);
                let is_below = root.as_ref().is_none_or(|root| root.has(&spellings.of(path)));
                is_below && self.wants(path, &spellings, root.as_ref())
            }
        }))
    }

    /// The folder that `--source-root` names.
    fn given_root(&self) -> Result<Option<Root>> {
        let Some(given) = &self.source_root else { return Ok(None) };
        if !given.is_dir() {
            return Err(Error::about(given, "no such folder, but --source-root names it"));
        }
        let named = std::path::absolute(given).unwrap_or_else(|_| given.clone());
        let folder = given.canonicalize().unwrap_or_else(|_| named.clone());
        Ok(Some(Root { folder, named, packages: None }))
    }

    /// The folder of the sources that are wanted, if there is one.
    fn root(
        &self,
        coverage: &Coverage,
        spellings: &Spellings,
        name: &Path,
    ) -> Result<Option<Root>> {
        if let Some(root) = self.given_root()? {
            return Ok(Some(root));
        }
        let Some(guessed) = project(&spellings.folder) else { return Ok(None) };
        let root = Root { folder: guessed.clone(), named: guessed, packages: cargo_home() };
        if coverage.files.keys().any(|path| root.has(&spellings.of(path_of(path)))) {
            return Ok(Some(root));
        }
        let files = Number(coverage.files.len() as u64, "file");
        let folder = root.folder.display();
        let what = "the project of the current folder, has none of them: all are in the coverage";
        warn(name, format!("{files}; {folder}, {what}"));
        Ok(None)
    }
}

/// Which files were chosen.
pub struct Chosen {
    spellings: Spellings,
    root: Option<Root>,
    /// Files that are left out because they are missing.
    pub missing: Vec<PathBuf>,
}

impl Chosen {
    /// The folder that paths may be relative to: the source root, or else the current folder.
    pub fn folder(&self) -> &Path {
        let root = self.root.as_ref().map(|root| &*root.folder);
        root.filter(|root| root.parent().is_some()).unwrap_or(&self.spellings.folder)
    }

    /// The folder that paths in a review are relative to: the project around the current folder, if there is one.
    pub fn project(&self) -> PathBuf {
        project(&self.spellings.folder).unwrap_or_else(|| self.folder().to_owned())
    }
}

/// The folder of the sources.
struct Root {
    folder: PathBuf,
    /// The same under the name that the user gave it.
    named: PathBuf,
    /// A folder of foreign packages, which may be below.
    packages: Option<PathBuf>,
}

impl Root {
    /// Whether a path, in one of its spellings, is below the folder.
    fn has(&self, spellings: &[PathBuf]) -> bool {
        let is_own =
            |path: &PathBuf| path.starts_with(&self.folder) || path.starts_with(&self.named);
        let is_foreign = |path: &PathBuf| {
            self.packages.as_ref().is_some_and(|packages| path.starts_with(packages))
        };
        spellings.iter().any(is_own) && !spellings.iter().any(is_foreign)
    }
}

/// The paths that lead to a file.
struct Spellings {
    /// The current folder.
    folder: PathBuf,
    /// Folders without links: each is looked up once for all its files.
    folders: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

impl Default for Spellings {
    fn default() -> Self {
        let folder = std::env::current_dir().unwrap_or_default();
        Self { folder, folders: RefCell::default() }
    }
}

impl Spellings {
    /// The whole path of a file, as it is named, and without links if that is another one.
    fn of(&self, path: &Path) -> Vec<PathBuf> {
        let whole = self.folder.join(path);
        let real = self.real(&whole).filter(|real| *real != whole);
        [whole].into_iter().chain(real).collect()
    }

    fn real(&self, whole: &Path) -> Option<PathBuf> {
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return whole.canonicalize().ok();
        };
        if whole.symlink_metadata().ok()?.is_symlink() {
            return whole.canonicalize().ok();
        }
        let mut folders = self.folders.borrow_mut();
        let real = folders.entry_ref(folder).or_insert_with(|| folder.canonicalize().ok());
        Some(real.as_ref()?.join(name))
    }
}

/// The folder of the project around a folder: the git checkout, or else the outermost folder of cargo's.
fn project(folder: &Path) -> Option<PathBuf> {
    let holds = |name: &'static str| move |folder: &&Path| folder.join(name).exists();
    let checkout = folder.ancestors().find(holds(".git"));
    let project = checkout.or_else(|| folder.ancestors().filter(holds("Cargo.toml")).last());
    project.filter(|folder| folder.parent().is_some()).map(Path::to_owned)
}

/// Where cargo keeps the sources of other packages.
fn cargo_home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))
}

fn path_of(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

/// Keeps some files, and returns the paths of the others.
fn drop_files(coverage: &mut Coverage, stays: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut dropped = Vec::new();
    coverage.files.retain(|path, _| {
        let path = path_of(path);
        let stays = stays(path);
        if !stays {
            dropped.push(path.to_owned());
        }
        stays
    });
    dropped
}

/// What the coverage has to know of a source file.
struct Source {
    is_there: bool,
    /// When it was changed.
    changed: Option<SystemTime>,
    /// Why it cannot be read, if it is there.
    fault: Option<Error>,
    markers: Markers,
}

impl Source {
    fn of(path: &Path) -> Self {
        let (is_there, markers) = (true, Markers::default());
        let (metadata, text) = match source_text::with_metadata(path) {
            Ok(found) => found,
            Err(_) if !path.exists() => {
                return Self { is_there: false, changed: None, fault: None, markers };
            }
            Err(error) => {
                let fault = Some(Error::about(path, error));
                return Self { is_there, changed: None, fault, markers };
            }
        };
        let markers = match may_have_markers(&text) {
            true => Markers::of(Text::of(text).lines()),
            false => markers,
        };
        Self { is_there, changed: metadata.modified().ok(), fault: None, markers }
    }
}

/// Whether a text may have markers. Most have none, and to go through their lines takes long.
fn may_have_markers(text: &[u8]) -> bool {
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    // Text in two bytes for each letter starts with one of these.
    let is_wide = text.iter().take(2).any(|byte| matches!(byte, 0 | 0xfe | 0xff));
    is_wide || has("COV") || has("suppress_coverage")
}

/// Leaves out files that are not there, unless none is, and what markers exclude. Gives the paths of these files.
fn leave_out(coverage: &mut Coverage, name: &Path, counted: Option<SystemTime>) -> Vec<PathBuf> {
    let sources = coverage.files.par_iter().map(|(path, _)| Source::of(path_of(path)));
    let sources: Vec<Source> = sources.collect();
    warn_of_newer(coverage, &sources, name, counted);
    let is_any_there = sources.iter().any(|source| source.is_there);
    let (mut missing, mut unclosed) = (Vec::new(), Vec::new());
    let mut sources = sources.into_iter();
    coverage.files.retain(|path, file| {
        let Some(Source { is_there, fault, markers, .. }) = sources.next() else { return true };
        if let Some(fault) = fault {
            say(format_args!("{fault}; what its markers exclude is not known"));
        }
        let path = path_of(path);
        unclosed.extend(markers.unclosed.map(|line| (path.to_owned(), line)));
        if is_any_there && !is_there {
            missing.push(path.to_owned());
            return false;
        }
        if !markers.is_empty() {
            file.leave_out(&markers);
        }
        true
    });
    warn_of_missing(&missing, name);
    for (path, line) in unclosed {
        let path = path.display();
        let what = "no STOP follows this START: the rest of the file is left out";
        warn(name, format!("{path}:{line}: {what}"));
    }
    missing
}

/// Names sources that have changed since the counts were written. Where all have, they were copied or checked out
/// since.
fn warn_of_newer(
    coverage: &Coverage,
    sources: &[Source],
    name: &Path,
    counted: Option<SystemTime>,
) {
    let Some(counted) = counted else { return };
    let is_newer = |source: &&Source| source.changed.is_some_and(|changed| changed > counted);
    let newer = sources.iter().filter(is_newer).count();
    let known = sources.iter().filter(|source| source.changed.is_some()).count();
    if newer == 0 || newer == known && known > 1 {
        return;
    }
    let all = coverage.files.keys().zip(sources).filter(|(_, source)| is_newer(source));
    let named: Vec<String> =
        all.take(NAMED).map(|(path, _)| path_of(path).display().to_string()).collect();
    let (files, named) = (Number(newer as u64, "source"), named.join(", "));
    let what = "changed after the counts were written, which may belong to other lines";
    warn(name, format!("{files} {what}: {named}"));
}

fn warn_of_missing(missing: &[PathBuf], name: &Path) {
    let are = match missing.len() {
        0 => return,
        1 => "is",
        _ => "are",
    };
    let named = missing.iter().take(NAMED);
    let named: Vec<String> =
        named.map(|path| path.display().to_string().replace('\n', "\\n")).collect();
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (files, named) = (Number(missing.len() as u64, "file"), named.join(", "));
    let hint = "--path-map OLD=NEW moves paths";
    warn(name, format!("left out: {files} that {are} missing: {named}{more}; {hint}"));
}
