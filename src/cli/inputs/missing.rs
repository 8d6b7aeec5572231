//! Why a file could not be read, and what is there instead of it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use super::live_files;
use crate::cli::terminal::error::Error;

/// Why a file could not be read, and what is there instead.
pub fn missing(path: &Path, error: std::io::Error) -> Error {
    let number = live_files::number_beside(path);
    if number > 0 {
        let what = "of processes that are running, or did not come to their end";
        let adds = "`countersink fold` adds those";
        return Error::about(path, format!("{error}, but live files ({number}) {what}; {adds}"));
    }
    if error.kind() != ErrorKind::NotFound {
        return Error::about(path, error);
    }
    if let Some((found, why)) = written_instead(path) {
        let found = found.display();
        return Error::about(path, format!("{error}; {found} is there: {why}"));
    }
    if let Some(program) = program_beside(path) {
        let doctor = format!("`countersink doctor {}`", program.display());
        let says = "says where the program's dump will be";
        return Error::about(path, format!("{error}; {doctor} {says}"));
    }
    Error::about(path, error)
}

/// The program beside a dump that is missing, by the name that dumps have.
fn program_beside(dump: &Path) -> Option<PathBuf> {
    dump.extension().filter(|&extension| extension == "csraw")?;
    Some(dump.with_extension("")).filter(|program| program.is_file())
}

/// What another runtime has written beside a dump that is missing, and why.
fn written_instead(dump: &Path) -> Option<(PathBuf, &'static str)> {
    dump.extension().filter(|&extension| extension == "csraw")?;
    let folder = dump.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut beside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    beside.sort_by_cached_key(|file| (file.file_stem() != dump.file_stem(), file.clone()));
    let reason = |file: &PathBuf| match file.extension()?.to_str()? {
        "gcda" => Some(BY_LIBGCOV),
        "profraw" => Some(BY_LLVM),
        _ => None,
    };
    beside.into_iter().find_map(|file| reason(&file).map(|why| (file, why)))
}

/// Why there are `.gcda` files.
const BY_LIBGCOV: &str = "libgcov writes such files, if `countersink flags` was missing at the link; so does `convert --to gcda`";

/// Why there are `.profraw` files.
const BY_LLVM: &str = "a dump under LLVM's name, or LLVM's runtime wrote it, because `countersink flags` was missing \
                       at the link";
