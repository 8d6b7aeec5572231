//! The functions of programs as they are now, from their debug information.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use object::Object as _;

use super::debug_file;
use super::input::{Input, open_regular, read_regular};
use super::notes::{Places, display};
use super::source_text::modified;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::program::object_file::relocate;
use crate::program::{disassembly, outline};
use crate::staleness::outline::Outline;

/// The functions of programs, objects and shared objects.
pub fn of_programs(paths: &[PathBuf], places: &Places) -> Result<Outline> {
    let mut program = Outline::default();
    for path in paths {
        add_program(&mut program, path, places)?;
    }
    match program.is_empty() {
        true => {
            let what = "no function has lines in the debug information; compile with -g";
            Err(Error::about(&paths[0], what))
        }
        false => Ok(program),
    }
}

fn add_program(program: &mut Outline, path: &Path, places: &Places) -> Result<()> {
    let bytes = read_regular(path).about(path)?;
    if !bytes.starts_with(b"\x7fELF") {
        return Err(Error::about(path, "0x0: expected a program, library or object"));
    }
    let bytes = relocate(&bytes).unwrap_or(bytes);
    let file = object::File::parse(&*bytes).about(path)?;
    let split_off = debug_file::find(path, &file);
    let debug = split_off.as_deref().map(object::File::parse).transpose().about(path)?;
    let debug = debug.as_ref().unwrap_or(&file);
    if debug.section_by_name(".debug_line").is_none() {
        return Err(Error::about(path, "has no debug information; compile with -g"));
    }
    match outline::add(program, &file, debug, &|path| places.moved(path)) {
        // The outline has the rest of the debug information.
        Err(error @ disassembly::Error::Debug(_)) => {
            warn(path, error);
            Ok(())
        }
        result => result.about(path),
    }
}

/// Gives the functions of an outline the texts of their lines, as far as the sources are there: in `folder`, or at the
/// paths of the debug information if they are older than all of the programs. Gives whether any source is there.
pub fn add_texts(outline: &mut Outline, programs: &[PathBuf], folder: Option<&Path>) -> bool {
    let built = programs.iter().filter_map(|path| modified(path)).min();
    let mut files = HashMap::<Vec<u8>, Vec<u64>>::new();
    let read = |path: &[u8]| {
        let there = match folder {
            Some(folder) => below(folder, display(path)),
            None => Some(display(path).to_owned()).filter(|path| modified(path) <= built),
        };
        let bytes = there.and_then(|path| read_whole(&path).ok()).unwrap_or_default();
        bytes.split(|&byte| byte == b'\n').map(hash).collect::<Vec<u64>>()
    };
    outline.add_texts(|path, lines| {
        let texts = files.entry(path.to_vec()).or_insert_with(|| read(path));
        let from = (*lines.start() as usize).saturating_sub(1);
        let end = (*lines.end() as usize).min(texts.len());
        texts.get(from..end).unwrap_or_default().to_vec()
    });
    files.values().any(|texts| texts.len() > 1)
}

fn read_whole(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.0.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The longest end of a path that is a file below a folder.
fn below(folder: &Path, path: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.iter().filter(|part| *part != "/").collect();
    let ends = (0..parts.len()).map(|from| folder.join(parts[from..].iter().collect::<PathBuf>()));
    ends.into_iter().find(|end| end.is_file())
}

/// The hash of a line's text, without the blanks around and the amount of those within.
fn hash(line: &[u8]) -> u64 {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut hasher = DefaultHasher::new();
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// The programs that wrote a dump, at their recorded paths. Another build has other lines.
pub fn of_dump(input: &Input, places: &Places) -> Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for module in input.dump()?.modules.iter().filter(|module| !module.path.is_empty()) {
        let path = display(&places.moved(&module.path)).to_owned();
        let bytes = read_regular(&path).about(&path)?;
        let file = object::File::parse(&*bytes).about(&path)?;
        let is_its = match file.build_id() {
            Ok(Some(id)) if !module.build_id().is_empty() => id == module.build_id(),
            _ => disassembly::is_of(&file, &module.objects).is_ok(),
        };
        if !is_its {
            let what = format!("is another build than the one that wrote {}", input.name.display());
            return Err(Error::about(path, what));
        }
        programs.push(path);
    }
    match programs.is_empty() {
        true => Err(Error::about(&input.name, "names no program; name it with --from")),
        false => Ok(programs),
    }
}
