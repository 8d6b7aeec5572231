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
mod values;
mod walk;
mod x86_64;

use std::prelude::v1::*;

use hashbrown::{HashMap, HashSet};
use object::Architecture;
use rayon::prelude::*;

use super::debug::declared::Declarations;
use super::debug::functions::{Found, functions};
use super::debug::line_table::{Row, rows};
use super::debug::units::Units;
use super::debug::{Moved, Sections};
use crate::convert::gcov::listing::Tables;
use crate::convert::gcov::source::Study;
use crate::formats::afdo_v1_v3::names::without_clones;
use crate::raw::dump::Object;
use counters::{Counters, Sites, Wanted};
use excerpt::Excerpts;
use image::Image;
use machine::Machine;
use pieces::OfUnit;

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

/// Number of units with listings in memory at once.
const BATCH: usize = 16;

/// Makes listings of all functions that have code, unit by unit. The student looks at each listing, and
/// `take` gets the findings of a unit.
///
/// `debug` is the file with symbols and lines: the program itself, or what was split off from it. Damaged
/// parts are left out, and the first error is given.
pub fn listings<S: Study>(
    program: &object::File<'_>,
    debug: &object::File<'_>,
    wanted: &[Wanted],
    moved: Moved<'_>,
    student: &S,
    take: impl FnMut(&Tables, Vec<S::Finding>),
) -> Result<(), Error> {
    let image = Image::new(program).map_err(Error::File)?;
    match image.architecture {
        Architecture::X86_64 => {
            with::<x86_64::X86_64<'_>, S>(&image, debug, wanted, moved, student, take)
        }
        Architecture::Aarch64 => {
            with::<aarch64::Aarch64, S>(&image, debug, wanted, moved, student, take)
        }
        other => Err(Error::Architecture(other)),
    }
}

fn with<'c, M: Machine<'c> + Send, S: Study>(
    image: &Image<'c>,
    debug: &object::File<'_>,
    wanted: &[Wanted],
    moved: Moved<'_>,
    student: &S,
    mut take: impl FnMut(&Tables, Vec<S::Finding>),
) -> Result<(), Error> {
    let addresses = counters::find(image, wanted);
    let sites = Sites::new(wanted, &addresses, counters::tables(debug));
    let symbols = image::functions(debug);
    let calls = walk::calls::<M>(image, &symbols, &sites);
    let mut site_at = HashMap::new();
    for (&(function, site), calls) in &calls {
        let site = (function as u32, site as u32);
        site_at.extend(calls.iter().map(|&address| (address, site)));
    }
    let counters = Counters::new(wanted, &addresses);
    let sections = Sections::load(debug);
    let (units, mut error) = Units::new(sections.borrow(), moved);
    let code = image.code();
    let mut starts = HashSet::new();
    let numbers: Vec<u32> = (0..units.all().len() as u32).collect();
    for batch in numbers.chunks(BATCH) {
        let read =
            |&number: &u32| (functions(&units, number), rows(&units.all()[number as usize], &code));
        let all: Vec<_> = batch.par_iter().map(read).collect();
        let mut kept = Vec::with_capacity(all.len());
        for (&number, ((mut found, why), rows)) in batch.iter().zip(all) {
            // If several objects have a function, the linker keeps the first one. The debug information of
            // all of them says that it is about that one.
            found.functions.retain(|function| starts.insert(function.ranges[0].start));
            error = error.or(why).or(rows.as_ref().err().copied());
            kept.push((number, found, rows.unwrap_or_default()));
        }
        let study = |(number, found, rows): (u32, _, Vec<Row>)| {
            let Found { functions, declarations: mentioned } = found;
            let mut declarations = Declarations::new(&units);
            let excerpts = Excerpts::new(image, &counters, &site_at, &rows);
            let mut prepared = Vec::with_capacity(functions.len());
            let mut error = None;
            let files = excerpts.files(&units.all()[number as usize], &mut declarations);
            for function in &functions {
                let symbol = symbols.get(&function.ranges[0].start);
                if let Some(symbol) = symbol {
                    let name = without_clones(symbol.name.as_bytes());
                    error = error.or(declarations.name(function.copies[0].entry, name).err());
                }
            }
            for function in &functions {
                match excerpt::declared(function, &mut declarations) {
                    Ok(of_copies) => prepared.extend(of_copies.map(|of| (function, of))),
                    Err(why) => error = error.or(Some(why)),
                }
            }
            for declaration in &mentioned {
                error = error.or(declarations.mention(number, &files, declaration).err());
            }
            let tables = declarations.tables;
            let unit = student.unit(&tables);
            let studied: Vec<S::Finding> = prepared
                .par_iter()
                .map_init(M::new, |machine, (function, of_copies)| {
                    let of_unit = OfUnit { files: &files, functions: &tables.functions };
                    student.listing(&unit, &excerpts.listing(machine, function, of_copies, of_unit))
                })
                .collect();
            (tables, studied, error)
        };
        let studied: Vec<_> = kept.into_par_iter().map(study).collect();
        for (tables, studied, why) in studied {
            error = error.or(why);
            take(&tables, studied);
        }
    }
    error.map_or(Ok(()), |error| Err(Error::Debug(error)))
}
