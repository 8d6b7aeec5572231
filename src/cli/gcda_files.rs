//! Where `convert --to gcda` may write. A dump names the files, and a dump may come from anybody.
//!
//! Only files that have the name of a `.gcda` file are written, and only such files are replaced. Links in place of a file
//! are not followed. A prefix is a wall: a path that leads out of it by `..` is refused, and so is one through a link
//! below it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::prelude::v1::*;

use super::error::{Context, Error, Result};
use super::names::text;
use crate::convert::gcov::gcda::place;

/// The first bytes of such files, of machines with either order of bytes.
const MAGICS: [&[u8]; 2] = [b"gcda", b"adcg"];

/// The place of an object's file, see [`place`], if it may be written there.
pub fn checked_place(recorded: &[u8], prefix: Option<&[u8]>, strip: usize) -> Result<PathBuf> {
    let recorded_as = || text(recorded);
    let wall = match prefix {
        None if strip == 0 => None,
        prefix => Some(prefix.unwrap_or(b".")),
    };
    let mut file = PathBuf::from(OsStr::from_bytes(&place(recorded, prefix, strip)));
    if let Some(wall) = wall.map(|wall| Path::new(OsStr::from_bytes(wall))) {
        let rest = file.strip_prefix(wall).map(Path::to_owned).unwrap_or_default();
        let Some(rest) = without_dots(&rest) else {
            let what = format!("{} is recorded, which leads out of this folder", recorded_as());
            return Err(Error::about(wall, what));
        };
        file = wall.join(&rest);
        refuse_links(wall, &rest)?;
    }
    if file.extension().is_none_or(|extension| extension != "gcda") {
        return Err(Error::about(recorded_as(), "expected a name that ends in .gcda"));
    }
    refuse_others(&file)?;
    Ok(file)
}

/// A relative path without `..`; `None` if it leads out of its folder.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !inside.pop() => return None,
            Component::Normal(name) => inside.push(name),
            _ => {}
        }
    }
    Some(inside)
}

/// Refuses links among the folders of a path below the wall.
fn refuse_links(wall: &Path, rest: &Path) -> Result<()> {
    let folders = rest.parent().into_iter().flat_map(Path::components);
    let mut folder = wall.to_owned();
    for part in folders {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => {
                return Err(Error::about(folder, "is a link, which may lead out of the prefix"));
            }
            Ok(_) => {}
            // The others are made.
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(Error::about(folder, error)),
        }
    }
    Ok(())
}

/// Refuses what is there and is no `.gcda` file. An empty file has nothing to lose.
fn refuse_others(path: &Path) -> Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.about(path)?,
    };
    if found.is_symlink() {
        return Err(Error::about(path, "is a link; --to gcda does not follow it"));
    }
    if !found.is_file() {
        let what = if found.is_dir() { "is a directory" } else { "is there, and is no file" };
        return Err(Error::about(path, what));
    }
    let mut beginning = Vec::new();
    let open = File::open(path).about(path)?;
    open.take(4).read_to_end(&mut beginning).about(path)?;
    match beginning.is_empty() || MAGICS.contains(&&*beginning) {
        true => Ok(()),
        false => Err(Error::about(path, "0x0: is there, and is no .gcda file; it stays")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots() {
        for (path, inside) in [
            ("a/../b/./c.gcda", Some("b/c.gcda")),
            ("a/../../a/c.gcda", None),
            ("../c.gcda", None),
            ("//a//c.gcda", Some("a/c.gcda")),
        ] {
            assert_eq!(without_dots(Path::new(path)), inside.map(PathBuf::from), "{path}");
        }
    }
}
