//! The lines and calls of a program's functions, from its machine code and debug information.

use std::collections::BTreeSet;
use std::prelude::v1::*;

use hashbrown::HashMap;
use object::Object as _;

use crate::formats::afdo_v1_v3::names::without_clones;
use crate::program::debug::constructors::base_object;
use crate::program::debug::functions::functions;
use crate::program::debug::units::Units;
use crate::program::debug::{Moved, Sections};
use crate::program::disassembly::{self, listings};
use crate::program::listing::{Analysis, Callee, Listing, Piece, Tables};
use crate::program::object_file::image::{self, Image};
use crate::staleness::outline::{Knows, Outline};

/// Adds the functions of a program. `debug` is the file with symbols and lines.
pub fn add(
    outline: &mut Outline,
    program: &object::File<'_>,
    debug: &object::File<'_>,
    moved: Moved<'_>,
) -> Result<(), disassembly::Error> {
    outline.knows = Knows { calls: true, ..outline.knows };
    let names = names(program, debug)?;
    let mut take = |tables: &Tables, found: Vec<BTreeSet<Seen>>| {
        for seen in found.into_iter().flatten() {
            take_in(outline, tables, &names, seen);
        }
    };
    let listed = listings(program, debug, &[], moved, &Look, &mut take);
    add_declarations(outline, debug, moved);
    listed
}

/// Adds the functions that the debug information names. They need not have left any code.
fn add_declarations(outline: &mut Outline, debug: &object::File<'_>, moved: Moved<'_>) {
    let sections = Sections::load(debug);
    let (units, _) = Units::new(sections.borrow(), moved);
    for (number, unit) in (0..).zip(units.all()) {
        for declaration in functions(&units, number).0.declarations {
            let file = unit.paths.get(declaration.file as usize).cloned().flatten();
            let name = units.text(unit, declaration.name).ok();
            if let (Some(file), Some(name)) = (file, name) {
                outline.function(&base_object(name.slice()), &file, declaration.line);
            }
        }
    }
}

/// The names of functions by their addresses.
fn names(
    program: &object::File<'_>,
    debug: &object::File<'_>,
) -> Result<HashMap<u64, Vec<u8>>, disassembly::Error> {
    let image = Image::new(program).map_err(disassembly::Error::File)?;
    let symbols = if debug.symbols().next().is_some() { debug } else { program };
    let functions = image::functions(&image, symbols).into_values();
    let named =
        |symbol: image::Symbol| (symbol.address, without_clones(symbol.name.as_bytes()).to_vec());
    Ok(functions.map(named).collect())
}

/// Something on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    /// Index of the function in the tables.
    function: u32,
    line: u32,
    what: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// The function itself.
    Function,
    /// Code with this discriminator.
    Code(u16),
    /// A call of the function at this address.
    Calls(u64),
    /// An inlined function.
    Inlines(u32),
    /// A call of any function.
    CallsAny,
}

fn take_in(outline: &mut Outline, tables: &Tables, names: &HashMap<u64, Vec<u8>>, seen: Seen) {
    let declared = &tables.functions[seen.function as usize];
    let file = &tables.files[declared.file as usize];
    let function = outline.function(&declared.name, file, declared.line);
    if seen.what == Mark::Function {
        function.stands_alone = true;
        return;
    }
    let line = function.shape.line(i64::from(seen.line) - i64::from(declared.line));
    match seen.what {
        Mark::Function => {}
        Mark::Code(discriminator) => _ = line.discriminators.insert(discriminator),
        Mark::Inlines(callee) => {
            line.calls.insert(tables.functions[callee as usize].name.to_vec());
        }
        Mark::Calls(address) => match names.get(&address) {
            Some(name) => _ = line.calls.insert(name.clone()),
            None => line.calls_others = true,
        },
        Mark::CallsAny => line.calls_others = true,
    }
}

/// Notes what stands on which line.
struct Look;

impl Analysis for Look {
    /// The files of the functions.
    type Unit = Vec<u32>;
    type Finding = BTreeSet<Seen>;
    type Memory = ();

    fn unit(&self, tables: &Tables) -> Self::Unit {
        tables.functions.iter().map(|function| function.file).collect()
    }

    fn listing(&self, files: &Self::Unit, listing: &Listing, (): &mut ()) -> Self::Finding {
        let mut found = BTreeSet::new();
        let mut add = |piece: &Piece, what| {
            let function = listing.copies[piece.copy as usize].function;
            // A line of another file is no line of the function.
            if files[function as usize] == piece.file {
                found.insert(Seen { function, line: piece.line, what });
            }
        };
        for piece in &listing.pieces {
            add(piece, Mark::Code(piece.discriminator));
        }
        for call in &listing.calls {
            if let Callee::Address(address) = call.callee {
                add(&call.piece, Mark::Calls(address));
            }
        }
        for piece in &listing.indirect_calls {
            add(piece, Mark::CallsAny);
        }
        for copy in listing.copies.iter().skip(1) {
            let function = listing.copies[copy.caller as usize].function;
            let discriminator = Mark::Code(copy.discriminator);
            for what in [discriminator, Mark::Inlines(copy.function)] {
                found.insert(Seen { function, line: copy.line, what });
            }
        }
        if let Some(itself) = listing.copies.first() {
            let function = itself.function;
            found.insert(Seen { function, line: 0, what: Mark::Function });
        }
        found
    }
}
