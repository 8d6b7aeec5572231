//! The functions of programs as they are now, from their debug information.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use object::Object as _;

use super::debug_file;
use super::input::read_regular;
use super::notes::Places;
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
