//! Folders in place of input files: the dumps and profiles below them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use walkdir::WalkDir;

use super::commands::fold;
use super::error::{Context, Error, Result};
use super::input::{BY_LIBGCOV, Format, is_same};
use super::warn;
use crate::convert::number::Number;

/// Enough to recognise any format.
const BEGINNING: u64 = 64;

/// What a folder holds, by path.
#[derive(Default)]
struct Content {
    /// What programs wrote: dumps and `.profraw` files.
    raw: BTreeSet<PathBuf>,
    profiles: BTreeSet<PathBuf>,
    /// `.gcda` files.
    gcda: usize,
    live: usize,
}

/// The same paths, with the files below each folder in its place.
///
/// A folder stands for the dumps and raw profiles below it, or if it has none, for its profiles: those may have been
/// made from the dumps. `output` may not be one of these files, as the next sum would have its counts twice.
pub fn expand(paths: &[PathBuf], output: Option<&Path>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let below = below(path)?;
        if let Some(output) = output
            && below.iter().any(|file| is_same(file, output))
        {
            let what =
                format!("is one of the inputs below {}; write to another place", path.display());
            return Err(Error::about(output, what));
        }
        files.extend(below);
    }
    Ok(files)
}

/// The only file of a folder, for commands that read one file.
pub fn only(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let mut files = below(path)?;
    match (files.pop(), files.len()) {
        (Some(file), 0) => Ok(file),
        (_, more) => {
            let files = Number(more as u64 + 1, "file");
            let what =
                format!("has {files} below it, and this command reads one; `merge` adds them");
            Err(Error::about(path, what))
        }
    }
}

/// The files that a folder stands for.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let content = Content::of(folder)?;
    let (files, others) = match content.raw.is_empty() {
        true => (content.profiles, BTreeSet::new()),
        false => (content.raw, content.profiles),
    };
    if files.is_empty() {
        let instead = match (content.gcda, content.live) {
            (0, 0) => String::new(),
            (0, live) => {
                let live = Number(live as u64, "live file");
                format!(
                    ", but {live}; `countersink fold` adds those of killed processes to their dumps"
                )
            }
            (gcda, _) => format!(", but {}; {BY_LIBGCOV}", Number(gcda as u64, ".gcda file")),
        };
        return Err(Error::about(folder, format!("no dumps or profiles below it{instead}")));
    }
    if !others.is_empty() {
        let others = Number(others.len() as u64, "profile");
        warn(folder, format!("takes the dumps below it, not {others}"));
    }
    Ok(files.into_iter().collect())
}

impl Content {
    fn of(folder: &Path) -> Result<Self> {
        let mut content = Self::default();
        for entry in WalkDir::new(folder) {
            let entry = entry.about(folder)?;
            if entry.file_type().is_file() {
                content.add(entry.into_path())?;
            }
        }
        Ok(content)
    }

    fn add(&mut self, file: PathBuf) -> Result<()> {
        if fold::is_live(&file) {
            self.live += 1;
            return Ok(());
        }
        if is_left_over(&file) {
            return Ok(());
        }
        let mut beginning = Vec::new();
        File::open(&file)
            .and_then(|opened| opened.take(BEGINNING).read_to_end(&mut beginning))
            .about(&file)?;
        match Format::of_file(&beginning, file.extension()) {
            Some(Format::Dump | Format::Profraw) => drop(self.raw.insert(file)),
            Some(Format::Gcda) => self.gcda += 1,
            Some(Format::Gcno) | None => {}
            Some(_) => drop(self.profiles.insert(file)),
        }
        Ok(())
    }
}

/// Whether the runtime has set the file aside, or a process was killed while it wrote it.
fn is_left_over(file: &Path) -> bool {
    let is_aside = |name: &OsStr| name.to_string_lossy().contains(".aside-");
    file.extension().is_some_and(|extension| extension == "part")
        || file.file_name().is_some_and(is_aside)
}
