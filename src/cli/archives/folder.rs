//! The folder whose archive `flags` names: an installed one, or one that the tool unpacks its archive into.

use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use etcetera::BaseStrategy;

use super::archive::{Archive, SCRIPT, SCRIPT_NAME, Target};
use crate::cli::outputs::output;
use crate::cli::terminal::error::{Context, Error, Result};

/// Finds or makes a folder that holds this very archive.
///
/// Takes `--dir` alone if it is given. Otherwise takes the prefix in which the tool is installed, or unpacks the
/// archive into the user's cache, `XDG_RUNTIME_DIR`, or a private folder in `TMPDIR`. `refuse` says why a folder
/// is of no use.
pub fn find(
    target: &Target,
    archive: &Archive,
    chosen: Option<&Path>,
    refuse: impl Fn(&Path) -> Option<&'static str>,
) -> Result<PathBuf> {
    let usable = |folder: PathBuf| match refuse(&folder) {
        Some(why) => Err(Error::about(folder, why)),
        None => Ok(folder),
    };
    if let Some(chosen) = chosen {
        let folder = usable(std::path::absolute(chosen).about(chosen)?)?;
        return unpack(archive, folder);
    }
    if let Some(folder) = installed(target, archive).and_then(|folder| usable(folder).ok()) {
        return Ok(folder);
    }
    let mut failures = Vec::new();
    for base in [cache, runtime_folder, temporary_folder] {
        let folder = base().map(|base| base.join(versioned(archive)));
        match folder.and_then(&usable).and_then(|folder| unpack(archive, folder)) {
            Ok(folder) => return Ok(folder),
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    let failures = failures.join("; ");
    Err(Error::new(format!("no place for the archive: {failures}; choose one with --dir")))
}

/// The library folder of the prefix in which the tool is installed, if this archive is there. The archives of
/// targets other than the tool's own lie in folders of their names.
fn installed(target: &Target, archive: &Archive) -> Option<PathBuf> {
    let tool = env::current_exe().ok()?.canonicalize().ok()?;
    let prefix = tool.parent()?.parent()?;
    let multiarch = format!("lib/{}-linux-gnu", env::consts::ARCH);
    let folders = ["lib", "lib64", &multiarch];
    let of_target = folders.map(|name| prefix.join(name).join(target.name));
    let of_own = folders.map(|name| prefix.join(name));
    let of_own = of_own.into_iter().filter(|_| target.is_own());
    of_own.chain(of_target).find(|folder| holds(folder, archive))
}

/// Whether the folder has what a link with the archive needs, and of this release.
fn holds(folder: &Path, archive: &Archive) -> bool {
    let has = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        // Opening anything else could wait for ever.
        path.is_file() && fs::read(path).is_ok_and(|is| is == bytes)
    };
    has(&archive.file_name(), archive.bytes)
        && (!archive.is_live() || has(SCRIPT_NAME, SCRIPT.as_bytes()))
}

fn unpack(archive: &Archive, folder: PathBuf) -> Result<PathBuf> {
    if holds(&folder, archive) {
        return Ok(folder);
    }
    let place = folder.join(archive.file_name());
    // A pipe would wait for a reader.
    if fs::symlink_metadata(&place).is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
        return Err(Error::about(place, "is not a file"));
    }
    if archive.is_live() {
        output::replace(&folder.join(SCRIPT_NAME), SCRIPT.as_bytes())?;
    }
    output::replace(&place, archive.bytes)?;
    Ok(folder)
}

/// Different releases, and different builds of one, do not share a folder.
fn versioned(archive: &Archive) -> String {
    let checksum = crc32fast::hash(archive.bytes);
    format!("countersink/{}-{checksum:08x}", env!("CARGO_PKG_VERSION"))
}

fn cache() -> Result<PathBuf> {
    Ok(etcetera::choose_base_strategy().map_err(Error::new)?.cache_dir())
}

fn runtime_folder() -> Result<PathBuf> {
    let folder = env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_absolute());
    folder.map(PathBuf::from).ok_or_else(|| Error::new("XDG_RUNTIME_DIR is not set"))
}

/// A folder of the user's own: nobody else may put another archive there.
fn temporary_folder() -> Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = env::temp_dir().join(format!("countersink-{user}"));
    let made = DirBuilder::new().mode(0o700).create(&folder);
    let found = match (made, fs::symlink_metadata(&folder)) {
        (_, Ok(found)) => found,
        (Err(error), Err(_)) | (Ok(()), Err(error)) => return Err(Error::about(folder, error)),
    };
    if !found.is_dir() || found.uid() != user || found.mode() & 0o022 != 0 {
        return Err(Error::about(folder, "others may write there"));
    }
    Ok(folder)
}
