//! Where the indirect calls of a program stand in its source, by its machine code and line table.
//!
//! The notes do not say which block holds which site. The linked program does: before each call it
//! hands the address of the site's counters over to the profiler. So the way goes from a function's
//! ident and checksums to its counters ([`counters`]), from there to the instructions that take the
//! address of each site's and on to the call (`walk`, `state`, a decoder per machine), and from
//! the call through the debug information to file, line and discriminator (`line_table`), and to the
//! function it was written in (`inlining`).
//!
//! Files that are found by build-id or by name belong to the caller; which function a line belongs
//! to, to [`super`].

mod aarch64;
pub mod counters;
mod debug;
mod image;
mod inlining;
mod line_table;
mod machine;
mod state;
mod walk;
mod x86_64;

use std::collections::{BTreeMap, BTreeSet};
use std::prelude::v1::*;

use object::Architecture;

use super::profile::Call;
use counters::{Sites, Wanted};
use debug::Sections;
use image::Image;
use inlining::Inlining;

/// What is known of a site's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    #[default]
    Unknown,
    /// Here.
    At(Call),
    /// Different lines, in copies of the code.
    Several,
}

/// Why no site can be placed.
#[derive(Debug)]
pub enum Error {
    /// Machine code that cannot be followed.
    Architecture(Architecture),
    /// The file is damaged.
    File(object::Error),
    /// The debug information is damaged.
    Debug(gimli::Error),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Architecture(found) => write!(f, "machine code of {found:?} cannot be followed"),
            Self::File(error) => write!(f, "{error}"),
            Self::Debug(error) => write!(f, "debug information: {error}"),
        }
    }
}

impl core::error::Error for Error {}

/// The places of all sites of these functions, in the same order.
///
/// `debug` is the file with symbols and lines: the program itself, or what was split off from it.
pub fn locate(
    program: &object::File<'_>,
    debug: &object::File<'_>,
    wanted: &[Wanted],
) -> Result<Vec<Vec<Place>>, Error> {
    let image = Image::new(program).map_err(Error::File)?;
    let sites = Sites::new(wanted, &counters::find(&image, wanted));
    let functions = image::functions(debug);
    let calls = match image.architecture {
        Architecture::X86_64 => walk::calls::<x86_64::X86_64>(&image, &functions, &sites),
        Architecture::Aarch64 => walk::calls::<aarch64::Aarch64>(&image, &functions, &sites),
        other => return Err(Error::Architecture(other)),
    };
    let addresses: BTreeSet<u64> = calls.values().flatten().copied().collect();
    let sources = sources(debug, &addresses).map_err(Error::Debug)?;
    let mut places: Vec<Vec<Place>> =
        wanted.iter().map(|function| vec![Place::Unknown; function.sites]).collect();
    for ((function, site), calls) in calls {
        let calls: BTreeSet<&Call> = calls.iter().filter_map(|at| sources.get(at)).collect();
        places[function][site] = one_place(&calls);
    }
    Ok(places)
}

/// What the source says of the instructions at these addresses.
fn sources(
    debug: &object::File<'_>,
    addresses: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, Call>, gimli::Error> {
    let sections = Sections::load(debug)?;
    let lines = line_table::lines(&sections.borrow(), addresses.iter().copied())?;
    let inlining = Inlining::new(&sections)?;
    let calls = lines
        .into_iter()
        .map(|(address, at)| Ok((address, Call { at, function: inlining.function(address)? })));
    calls.collect()
}

/// Copies of a call have one line, but may have discriminators of their own: the smallest is taken.
fn one_place(calls: &BTreeSet<&Call>) -> Place {
    let Some(first) = calls.first() else { return Place::Unknown };
    let same = |call: &&Call| {
        (&call.at.path, call.at.line, &call.function)
            == (&first.at.path, first.at.line, &first.function)
    };
    match calls.iter().all(same) {
        true => Place::At((*first).clone()),
        false => Place::Several,
    }
}
