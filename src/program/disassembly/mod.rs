//! Reads the machine code of a program: the blocks of its functions, the counters that they increment, the
//! indirect calls that they make, and the functions and lines in which all of it was written.
//!
//! A function's ident and checksums lead to its counters ([`counters`]). These lead to the instructions that
//! increment them (`cfg`) or hand them over to the profiler for a call (`dataflow`). There is a
//! decoder for each machine. The debug information tells the lines ([`crate::program::debug`]). The result is a
//! [listing](crate::program::listing::Listing) for each function that has code.
//!
//! The caller finds files by build-id or by name. [`crate::placement::observe`] finds out what listings say about
//! counts.

mod excerpt;
mod pieces;
mod units;

use std::prelude::v1::*;

use object::{Architecture, Object as _};

use crate::program::counters::{self, Counters, Sites, Wanted};
use crate::program::debug::units::Units;
use crate::program::debug::{Moved, Sections};
use crate::program::decode::{Machine, aarch64, arm, riscv, x86};
use crate::program::listing::{Analysis, Tables};
use crate::program::object_file::image::{self, Image};
use crate::raw::dump::Object;
use units::Program;

/// Why a program tells nothing.
#[derive(Debug)]
pub enum Error {
    /// The machine code is of an unknown kind.
    Architecture(Architecture, Order),
    /// It is another program, or an object of another compilation.
    Other,
    /// The file is damaged.
    File(object::Error),
    /// The debug information is damaged.
    Debug(gimli::Error),
}

/// The order of a program's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Architecture(found, Order::Little) => {
                write!(f, "machine code of {found:?} cannot be followed")
            }
            Self::Architecture(found, Order::Big) => {
                write!(f, "machine code of {found:?} in big-endian order cannot be followed")
            }
            Self::Other => f.write_str("comes from another compilation"),
            Self::File(error) => write!(f, "{error}"),
            Self::Debug(error) => write!(f, "debug information: {error}"),
        }
    }
}

impl core::error::Error for Error {}

/// Whether a program was linked from all these objects of a dump.
pub fn is_of(program: &object::File<'_>, objects: &[Object]) -> Result<(), Error> {
    let has_all = objects_in(program, objects)?.into_iter().all(|has| has);
    if has_all { Ok(()) } else { Err(Error::Other) }
}

/// For each of these objects of a dump: whether a program was linked from it.
pub fn objects_in(program: &object::File<'_>, objects: &[Object]) -> Result<Vec<bool>, Error> {
    let image = Image::new(program).map_err(Error::File)?;
    let missing = counters::missing_objects(&image, objects);
    let is_in = |object: &Object| !missing.contains(&(object.version.0, object.stamp));
    Ok(objects.iter().map(is_in).collect())
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
    take: impl FnMut(&Tables, Vec<S::Finding>) + Send,
) -> Result<(), Error> {
    let mut image = Image::new(program).map_err(Error::File)?;
    image.mark(debug);
    let request = ListingRequest { image: &image, debug, wanted, moved, analysis };
    // Programs that are otherwise known may be in the other byte order: code and data then differ.
    if !program.is_little_endian() {
        return Err(Error::Architecture(image.architecture, Order::Big));
    }
    match image.architecture {
        Architecture::X86_64 => request.show::<x86::X86<'_, 64>>(take),
        Architecture::I386 => request.show::<x86::X86<'_, 32>>(take),
        Architecture::Aarch64 => request.show::<aarch64::Aarch64>(take),
        Architecture::Arm => request.show::<arm::Arm<'_>>(take),
        Architecture::Riscv64 => request.show::<riscv::Riscv<64>>(take),
        Architecture::Riscv32 => request.show::<riscv::Riscv<32>>(take),
        other => Err(Error::Architecture(other, Order::Little)),
    }
}

/// What listings are made of, and for whom.
struct ListingRequest<'o, 'c, S> {
    image: &'c Image<'c>,
    debug: &'o object::File<'o>,
    wanted: &'o [Wanted],
    moved: Moved<'o>,
    analysis: &'o S,
}

impl<'c, S: Analysis> ListingRequest<'_, 'c, S> {
    fn show<M: Machine<'c> + Send>(
        self,
        take: impl FnMut(&Tables, Vec<S::Finding>) + Send,
    ) -> Result<(), Error> {
        let Self { image, debug, wanted, moved, analysis } = self;
        let sections = Sections::load(debug);
        let find = || {
            let addresses = counters::find(image, wanted);
            let sites = Sites::new(image, wanted, &addresses, counters::tables(debug));
            (sites, Counters::new(wanted, &addresses), image::functions(image, debug))
        };
        let ((units, damage), (sites, counters, symbols)) =
            rayon::join(|| Units::new(sections.borrow(), moved), find);
        let program = Program::new(image, symbols, (counters, sites), &units);
        let error = program.show::<M, S>(analysis, take);
        damage.or(error).map_or(Ok(()), |error| Err(Error::Debug(error)))
    }
}
