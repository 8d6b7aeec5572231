//! Reads the machine code of a program: the blocks of its functions, the counters that they increment, the
//! indirect calls that they make, and the functions and lines in which all of it was written.
//!
//! A function's ident and checksums lead to its counters ([`counters`]). These lead to the instructions that
//! increment them (`graph`) or hand them over to the profiler for a call (`walk`, `state`). There is a
//! decoder for each machine. The debug information tells the lines ([`super::debug`]). The result is a
//! [listing](crate::convert::gcov::listing::Listing) for each function that has code.
//!
//! The caller finds files by build-id or by name. [`crate::convert::gcov::evidence`] finds out what listings say about
//! counts.

mod aarch64;
pub mod counters;
mod excerpt;
mod graph;
mod image;
mod machine;
mod pieces;
mod state;
mod units;
mod values;
mod walk;
mod x86_64;

use std::prelude::v1::*;

use object::Architecture;

use super::debug::units::Units;
use super::debug::{Moved, Sections};
use crate::convert::gcov::listing::Tables;
use crate::convert::gcov::source::Analysis;
use crate::raw::dump::Object;
use counters::Wanted;
use image::Image;
use machine::Machine;
use units::Program;

/// Why a program tells nothing.
#[derive(Debug)]
pub enum Error {
    /// The machine code is of an unknown kind.
    Architecture(Architecture),
    /// It is another program, or an object of another compilation.
    Other,
    /// The file is damaged.
    File(object::Error),
    /// The debug information is damaged.
    Debug(gimli::Error),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Architecture(found) => write!(f, "machine code of {found:?} cannot be followed"),
            Self::Other => f.write_str("is of another compilation"),
            Self::File(error) => write!(f, "{error}"),
            Self::Debug(error) => write!(f, "debug information: {error}"),
        }
    }
}

impl core::error::Error for Error {}

/// Whether a program was linked from all these objects of a dump.
pub fn is_of(program: &object::File<'_>, objects: &[Object]) -> Result<(), Error> {
    let image = Image::new(program).map_err(Error::File)?;
    if counters::has_objects(&image, objects) { Ok(()) } else { Err(Error::Other) }
}

/// Makes listings of all functions that have code, unit by unit. The analysis looks at each listing, and
/// `take` gets the findings of a unit.
///
/// `debug` is the file with symbols and lines: the program itself, or what was split off from it. Damaged
/// parts are left out, and the first error is given.
pub fn listings<S: Analysis>(
    program: &object::File<'_>,
    debug: &object::File<'_>,
    wanted: &[Wanted],
    moved: Moved<'_>,
    analysis: &S,
    take: impl FnMut(&Tables, Vec<S::Finding>),
) -> Result<(), Error> {
    let image = Image::new(program).map_err(Error::File)?;
    match image.architecture {
        Architecture::X86_64 => {
            with::<x86_64::X86_64<'_>, S>(&image, debug, wanted, moved, analysis, take)
        }
        Architecture::Aarch64 => {
            with::<aarch64::Aarch64, S>(&image, debug, wanted, moved, analysis, take)
        }
        other => Err(Error::Architecture(other)),
    }
}

fn with<'c, M: Machine<'c> + Send, S: Analysis>(
    image: &Image<'c>,
    debug: &object::File<'_>,
    wanted: &[Wanted],
    moved: Moved<'_>,
    analysis: &S,
    take: impl FnMut(&Tables, Vec<S::Finding>),
) -> Result<(), Error> {
    let sections = Sections::load(debug);
    let (units, damage) = Units::new(sections.borrow(), moved);
    let program = Program::new::<M>(image, debug, wanted, &units);
    let error = program.show::<M, S>(analysis, take);
    damage.or(error).map_or(Ok(()), |error| Err(Error::Debug(error)))
}
