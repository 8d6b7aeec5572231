//! Reads the program as it is now: its notes, or the notes of a dump's objects.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::prelude::v1::*;

use rayon::prelude::*;
use walkdir::WalkDir;

use crate::cli::inputs::input::{Input, read_regular};
use crate::cli::inputs::notes::Places;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::convert::number::Number;
use crate::formats::gcno::Notes;
use crate::program::source_path::source_path;
use crate::raw::dump::{Module, Object};
use crate::staleness::Verdict;
use crate::staleness::checksums::{self, Compared};
use crate::staleness::outline::Outline;

/// The functions of all notes below the given folders.
pub fn of_notes(places: &Places) -> Result<Outline> {
    let mut files = Vec::new();
    for folder in places.folders() {
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let entry = entry.about(folder)?;
            if entry.file_type().is_file() && entry.path().extension() == Some(OsStr::new("gcno")) {
                files.push(entry.into_path());
            }
        }
    }
    let read = |path: &PathBuf| read_regular(path).about(path);
    let contents: Vec<Vec<u8>> = files.par_iter().map(read).collect::<Result<_>>()?;
    let mut program = Outline::default();
    for (path, bytes) in files.iter().zip(&contents) {
        let notes = Notes::decode(bytes).about(path)?;
        let whole = |name: &[u8]| places.moved(&source_path(notes.directory, name));
        program.add_notes(&notes, whole);
    }
    match program.is_empty() {
        true => Err(Error::new(
            "--notes: no .gcno files with functions there; notes come with -ftest-coverage",
        )),
        false => Ok(program),
    }
}

/// Compares a dump with the notes that its objects have now.
pub fn by_checksums(input: &Input, places: &Places) -> Result<Verdict> {
    let dump = input.dump()?;
    let objects: Vec<(&Module, &Object)> = dump
        .modules
        .iter()
        .filter(|module| !module.is_llvm())
        .flat_map(|module| module.objects.iter().map(move |object| (module, object)))
        .collect();
    let read = |(_, object): &(_, &Object)| -> Option<(PathBuf, Vec<u8>)> {
        let path = places.find(&object.path)?;
        let bytes = read_regular(&path).ok()?;
        Some((path, bytes))
    };
    let contents: Vec<_> = objects.par_iter().map(read).collect();
    let missing = contents.iter().filter(|found| found.is_none()).count();
    if missing == objects.len() {
        let what =
            "its objects have no notes; name the notes of the program as it is now with --notes";
        return Err(Error::about(&input.name, what));
    }
    if missing > 0 {
        let missing = Number(missing as u64, "object");
        warn(&input.name, format!("{missing} without notes now; none of their counts fit"));
    }
    let notes: Vec<Option<Notes<'_>>> = contents.iter().map(decode).collect();
    let compared: Vec<Compared<'_>> = objects
        .iter()
        .zip(&notes)
        .map(|(&(module, object), notes)| Compared { module, object, notes: notes.as_ref() })
        .collect();
    let path = |notes: &Notes<'_>, name: &[u8]| places.moved(&source_path(notes.directory, name));
    Ok(checksums::judge(&compared, path))
}

/// The notes in a file. A damaged one counts as missing.
fn decode(found: &Option<(PathBuf, Vec<u8>)>) -> Option<Notes<'_>> {
    let (path, bytes) = found.as_ref()?;
    Notes::decode(bytes).about(path).map_err(say).ok()
}
