//! Folders and archives in place of input files: the dumps and profiles below them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rustix::fs::{Access, access};
use walkdir::WalkDir;

use super::input::{Format, Target, read_bytes};
use super::{live_files, tarball};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::convert::number::Number;

/// Enough to recognise any format.
const BEGINNING: u64 = 64;

/// What a folder holds, by path.
#[derive(Default)]
struct Content {
    /// What programs wrote: dumps and `.profraw` files.
    raw: BTreeSet<PathBuf>,
    /// `.gcda` files.
    gcda: BTreeSet<PathBuf>,
    profiles: BTreeSet<PathBuf>,
    /// Those of these files that are links.
    links: BTreeSet<PathBuf>,
    live: usize,
}

/// The same paths, with the files below each folder in its place, as [`expand`] gives them, and profiles beside dumps.
pub fn expand_to_all(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        match folder_of(path)? {
            Some(folder) => files.extend(Content::of(&folder)?.all(path)?),
            None => files.push(path.clone()),
        }
    }
    Ok(files)
}

/// The same paths, with the files below each folder in its place.
///
/// A folder stands for the dumps and raw profiles below it, or if it has none, for its `.gcda` files, or else for its
/// profiles: each may have been made from those before. `output` may not be one of these files, as the next sum would
/// have its counts twice.
pub fn expand(paths: &[PathBuf], output: Option<&Path>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let Some(folder) = folder_of(path)? else {
            files.push(path.clone());
            continue;
        };
        let content = Content::of(&folder)?;
        let links = content.links.clone();
        let below = below(&folder, content)?;
        if let Some(output) = output
            && let target = Target::of(output)
            && (target.below(&folder).is_some_and(|file| below.contains(&file))
                || below.iter().any(|file| links.contains(file) && target.is(file)))
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
    let Some(folder) = folder_of(path)? else { return Ok(path.to_owned()) };
    let mut files = below(&folder, Content::of(&folder)?)?;
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

/// The folder that a path names, or that has the files of an archive.
fn folder_of(path: &Path) -> Result<Option<PathBuf>> {
    match path.is_dir() {
        true => Ok(Some(path.to_owned())),
        false if is_data_file(path) => Ok(None),
        false => tarball::unpacked(path),
    }
}

/// The files that a folder stands for.
fn below(folder: &Path, mut content: Content) -> Result<Vec<PathBuf>> {
    let Content { raw, gcda, profiles, .. } = &mut content;
    let leave_out = |others: &mut BTreeSet<PathBuf>, what, has: &str| {
        if !others.is_empty() {
            let others = Number(others.len() as u64, what);
            warn(folder, format!("{others} below it not used: it has {has}, too"));
        }
        others.clear();
    };
    if !raw.is_empty() {
        leave_out(gcda, ".gcda file", "dumps");
        leave_out(profiles, "profile", "dumps");
    } else if !gcda.is_empty() {
        leave_out(profiles, "profile", ".gcda files");
    }
    content.all(folder)
}

impl Content {
    fn of(folder: &Path) -> Result<Self> {
        let mut content = Self::default();
        let mut links = Vec::new();
        for entry in WalkDir::new(folder) {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(folder).to_owned();
                let what = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                Error::about(path, what)
            })?;
            match entry.file_type() {
                kind if kind.is_file() => content.add(entry.into_path())?,
                kind if kind.is_symlink() => links.push(entry.into_path()),
                _ => {}
            }
        }
        content.add_links(folder, links)?;
        Ok(content)
    }

    /// Adds the files that links lead to, but no file twice.
    fn add_links(&mut self, folder: &Path, mut links: Vec<PathBuf>) -> Result<()> {
        if links.is_empty() {
            return Ok(());
        }
        let top = folder.canonicalize().about(folder)?;
        let mut seen = BTreeSet::new();
        links.sort_unstable();
        for link in links {
            let Ok(real) = link.canonicalize() else { continue };
            let below = real.strip_prefix(&top);
            let is_there = below.is_ok_and(|below| self.has(&folder.join(below)));
            if real.is_file() && !is_there && seen.insert(real) {
                self.add(link.clone())?;
                self.links.insert(link);
            }
        }
        Ok(())
    }

    fn has(&self, file: &Path) -> bool {
        [&self.raw, &self.gcda, &self.profiles].iter().any(|files| files.contains(file))
    }

    fn add(&mut self, file: PathBuf) -> Result<()> {
        if live_files::is_live(&file) {
            self.live += 1;
            return Ok(());
        }
        if is_left_over(&file) || is_of_a_build(&file) {
            return Ok(());
        }
        // There are many, and what is in each is found out when it is decoded.
        if is_data_file(&file) {
            match access(&file, Access::READ_OK) {
                Ok(()) => drop(self.gcda.insert(file)),
                Err(error) => warn(&file, format!("{}; left out", std::io::Error::from(error))),
            }
            return Ok(());
        }
        let mut beginning = Vec::new();
        match read_beginning(&file, &mut beginning) {
            Ok(()) if beginning.is_empty() && is_raw_by_name(&file) => {
                warn(&file, "is empty; left out");
            }
            Err(error) if !is_raw_by_name(&file) => warn(&file, format!("{error}; left out")),
            read => read.about(&file)?,
        }
        match Format::of_file(&beginning, file.extension()) {
            Some(Format::Dump | Format::Profraw) => drop(self.raw.insert(file)),
            Some(Format::Gcda | Format::Gcno) | None => {}
            Some(_) => drop(self.profiles.insert(file)),
        }
        Ok(())
    }

    /// All dumps and profiles; if there are none, an error that says what there is instead.
    fn all(self, folder: &Path) -> Result<Vec<PathBuf>> {
        let all = [self.raw, self.gcda, self.profiles];
        if all.iter().any(|some| !some.is_empty()) {
            return Ok(all.into_iter().flatten().collect());
        }
        let instead = match self.live {
            0 => String::new(),
            live => {
                let live = Number(live as u64, "live file");
                let adds = "`countersink fold` adds those of killed processes to their dumps";
                format!(", but {live}; {adds}")
            }
        };
        Err(Error::about(folder, format!("no dumps or profiles below it{instead}")))
    }
}

fn read_beginning(file: &Path, beginning: &mut Vec<u8>) -> std::io::Result<()> {
    read_bytes(&File::open(file)?, BEGINNING, beginning)
}

/// The format of a file that is there, by its beginning.
pub fn format_of(file: &Path) -> Option<Format> {
    let mut beginning = Vec::new();
    if !file.is_file() {
        return None;
    }
    read_beginning(file, &mut beginning).ok()?;
    Format::of_file(&beginning, file.extension())
}

/// Whether the name of a file is that of a dump or raw profile.
fn is_raw_by_name(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "csraw" || extension == "profraw")
}

/// Whether the name of a file is that of an object's counters. Copies under other names count twice.
pub fn is_data_file(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "gcda")
}

/// Whether the name of a file is that of a source, or of what a compiler writes: most files below a build's folder.
fn is_of_a_build(file: &Path) -> bool {
    const ENDS: [&str; 12] =
        ["gcno", "o", "d", "a", "so", "c", "h", "cc", "cpp", "cxx", "hpp", "rs"];
    let end = file.extension().and_then(OsStr::to_str);
    end.is_some_and(|end| ENDS.contains(&end))
}

/// Whether the runtime has set the file aside, or a process was killed while it wrote it.
fn is_left_over(file: &Path) -> bool {
    let is_aside = |name: &OsStr| name.to_string_lossy().contains(".aside-");
    file.extension().is_some_and(|extension| extension == "part")
        || file.file_name().is_some_and(is_aside)
}
