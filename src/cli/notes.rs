//! Finds the notes of a dump's objects, and paths that have moved.

use std::ffi;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use super::error::Error;
use super::input::read_regular;
use crate::formats::gcno::Notes;
use crate::raw::dump::Object;

/// Where notes and sources are.
#[derive(Debug, Args)]
pub struct Places {
    /// Look for .gcno files here, under as much of the recorded path as fits
    #[arg(long, value_name = "DIR")]
    notes: Vec<PathBuf>,
    /// Take paths that start with OLD as starting with NEW
    #[arg(long, value_name = "OLD=NEW", value_parser = path_map)]
    path_map: Vec<(Vec<u8>, Vec<u8>)>,
}

fn path_map(text: &str) -> std::result::Result<(Vec<u8>, Vec<u8>), String> {
    let (old, new) = text.split_once('=').ok_or("expected OLD=NEW")?;
    Ok((old.into(), new.into()))
}

/// No system has longer ones.
const LONGEST_PATH: usize = 4096;

/// Why an object has no notes.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The file that should have them.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

impl Places {
    /// A path with the first prefix replaced that fits.
    pub fn moved(&self, path: &[u8]) -> Vec<u8> {
        let fits = |(old, new): &(Vec<u8>, Vec<u8>)| {
            let rest = path.strip_prefix(old.as_slice())?;
            let whole = rest.is_empty() || rest.starts_with(b"/") || old.ends_with(b"/");
            whole.then(|| [new, rest].concat())
        };
        self.path_map.iter().find_map(fits).unwrap_or_else(|| path.to_owned())
    }

    /// Reads the notes of an object; gives the file's name, too.
    pub fn read(&self, object: &Object) -> std::result::Result<(PathBuf, Vec<u8>), Missing> {
        if object.path.len() > LONGEST_PATH {
            let file = display(&object.path[..64]).join("...");
            return Err(Missing { file, what: "no path of a file".into() });
        }
        let candidates = self.candidates(object);
        let mut missing = None;
        for file in candidates {
            let what = match read_regular(&file) {
                Ok(bytes) => match check(&bytes, object) {
                    Ok(()) => return Ok((file, bytes)),
                    Err(what) => what,
                },
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    missing.get_or_insert(Missing { file, what: "no such file".into() });
                    continue;
                }
                Err(error) => error.to_string(),
            };
            // A file that is there but does not fit says more than one that is not there.
            return Err(Missing { file, what });
        }
        Err(missing.unwrap_or(Missing { file: PathBuf::new(), what: "no path".into() }))
    }

    /// Reads the object file beside the place of the notes; gives its name, too.
    pub fn read_object(&self, object: &Object) -> Option<(PathBuf, Vec<u8>)> {
        let mut beside = self.candidates(object).into_iter().map(|path| path.with_extension("o"));
        beside.find_map(|path| read_regular(&path).ok().map(|bytes| (path, bytes)))
    }

    /// Where notes may be: beside the recorded data file; under `--notes` with ever fewer of its
    /// directories.
    fn candidates(&self, object: &Object) -> Vec<PathBuf> {
        let recorded = notes_path(&self.moved(&object.path));
        let plain = demangled(&recorded).map(|path| self.moved(&path)).map(path_of);
        let recorded = path_of(recorded);
        let mut candidates = Vec::new();
        for directory in &self.notes {
            for path in plain.iter().chain([&recorded]) {
                let parts: Vec<&OsStr> = path.iter().filter(|part| *part != "/").collect();
                for skipped in 0..parts.len() {
                    candidates.push(directory.join(parts[skipped..].iter().collect::<PathBuf>()));
                }
            }
        }
        candidates.push(recorded);
        candidates.extend(plain);
        candidates
    }
}

fn notes_path(data: &[u8]) -> Vec<u8> {
    let stem = data.strip_suffix(b".gcda").unwrap_or(data);
    [stem, b".gcno"].concat()
}

/// The path behind a name that `-fprofile-dir` made of it: `#` for `/` and `^` for `..`.
fn demangled(path: &[u8]) -> Option<Vec<u8>> {
    let name = path.rsplit(|&byte| byte == b'/').next().filter(|name| name.contains(&b'#'))?;
    let parts = name.split(|&byte| byte == b'#');
    let parts: Vec<&[u8]> = parts.map(|part| if part == b"^" { b".." } else { part }).collect();
    Some(parts.join(b"/".as_slice()))
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    ffi::OsString::from_vec(bytes).into()
}

/// Whether notes are those of the object's very compilation.
fn check(bytes: &[u8], object: &Object) -> std::result::Result<(), String> {
    let notes = Notes::decode(bytes).map_err(|error| error.to_string())?;
    if notes.stamp != object.stamp {
        // In both byte orders of the header the stamp is the third word.
        return Err(format!(
            "0x8: stamp: expected {:#010x}, found {:#010x}: the notes are of another compilation",
            object.stamp, notes.stamp
        ));
    }
    Ok(())
}

/// The path for messages and for `--prefix`.
pub fn display(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        Self::about(missing.file, missing.what)
    }
}
