//! The functions of programs as they are now, from their debug information.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use object::Object as _;

use super::debug_file;
use super::input::{Input, read_regular};
use super::notes::{Places, display};
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
