//! Where the indirect calls of a program stand in its source, by its machine code and debug
//! information.
//!
//! The notes do not say which block holds which site. The linked program does: before each call it
//! hands the address of the site's counters over to the profiler. So the way goes from a function's
//! ident and checksums to its counters ([`counters`]), from there to the instructions that take the
//! address of each site's and on to the call (`walk`, `state`, a decoder per machine), and from
//! the call through the debug information to line and functions.
//!
//! Files that are found by build-id or by name belong to the caller; which function a line belongs
//! to, to [`super`].

mod aarch64;
pub mod counters;
mod image;
mod machine;
mod state;
mod walk;
mod x86_64;

use std::collections::{BTreeMap, BTreeSet};
use std::prelude::v1::*;

use object::Architecture;

use super::debug::line_table::Piece;
use super::debug::stacks::Stacks;
use super::debug::{self, Moved, Program, Sections};
use super::source::{Call, Unplaced};
use crate::raw::dump::Object;
use counters::{Sites, Wanted};
use image::Image;

/// The place of a site.
pub type Place = Result<Call, Unplaced>;

/// Why no site can be placed.
#[derive(Debug)]
pub enum Error {
    /// Machine code that cannot be followed.
    Architecture(Architecture),
    /// Another program, or an object of another compilation.
    Other,
    /// The file is damaged.
    File(object::Error),
    /// The debug information is damaged.
    Debug(debug::Error),
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

/// The places of all sites of these functions, in the same order.
///
/// `debug` is the file with symbols and lines: the program itself, or what was split off from it.
pub fn locate(
    program: &object::File<'_>,
    debug: &object::File<'_>,
    wanted: &[Wanted],
    moved: Moved<'_>,
) -> Result<Vec<Vec<Place>>, Error> {
    let image = Image::new(program).map_err(Error::File)?;
    let sites = Sites::new(wanted, &counters::find(&image, wanted), counters::tables(debug));
    let functions = image::functions(debug);
    let calls = match image.architecture {
        Architecture::X86_64 => walk::calls::<x86_64::X86_64<'_>>(&image, &functions, &sites),
        Architecture::Aarch64 => walk::calls::<aarch64::Aarch64>(&image, &functions, &sites),
        other => return Err(Error::Architecture(other)),
    };
    let addresses: BTreeSet<u64> = calls.values().flatten().copied().collect();
    let copies = copies(debug, &addresses, moved).map_err(Error::Debug)?;
    let mut places: Vec<Vec<Place>> =
        wanted.iter().map(|function| vec![Err(Unplaced::NoCall); function.sites]).collect();
    for ((function, site), calls) in calls {
        places[function][site] = one_place(calls.iter().filter_map(|at| copies.get(at)));
    }
    Ok(places)
}

/// What the source says of the instructions at these addresses.
fn copies(
    file: &object::File<'_>,
    addresses: &BTreeSet<u64>,
    moved: Moved<'_>,
) -> Result<BTreeMap<u64, Call>, debug::Error> {
    let sections = Sections::load(file)?;
    let program = Program::new(file, &sections, moved)?;
    let stacks = Stacks::new(&sections, &program)?;
    let call = |(address, (at, discriminator)): (u64, Piece)| {
        let stacks = stacks.stack(&stacks.frames(address)?)?.into_iter().collect();
        Ok((address, Call { at, discriminator, stacks }))
    };
    program.lines(addresses)?.into_iter().map(call).collect()
}

/// Copies of a call have one line and one function, but may have discriminators of their own: the
/// smallest is taken.
fn one_place<'c>(mut copies: impl Iterator<Item = &'c Call>) -> Place {
    let mut one = copies.next().ok_or(Unplaced::NoLine)?.clone();
    for copy in copies {
        let functions = one.stacks.first().zip(copy.stacks.first());
        let same = functions.is_none_or(|(one, copy)| one.innermost() == copy.innermost());
        if copy.at != one.at || !same {
            return Err(Unplaced::SeveralLines);
        }
        one.discriminator = one.discriminator.min(copy.discriminator);
        one.stacks.extend(copy.stacks.iter().cloned());
    }
    Ok(one)
}
