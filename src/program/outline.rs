//! The lines and calls of a program's functions, from its machine code and debug information.

use std::collections::{BTreeMap, BTreeSet};
use std::prelude::v1::*;
use std::sync::Arc;

use hashbrown::HashMap;
use object::Object as _;
use rayon::prelude::*;

use crate::formats::afdo_v1_v3::names::without_clones;
use crate::program::debug::constructors::base_object;
use crate::program::debug::functions::functions;
use crate::program::debug::line_table::{Row, rows};
use crate::program::debug::units::{Unit, Units};
use crate::program::debug::{Moved, Sections};
use crate::program::disassembly::{self, listings};
use crate::program::listing::{Analysis, Callee, Listing, Piece, Tables};
use crate::program::object_file::image::{self, Image, Symbol};
use crate::staleness::outline::{Knows, Outline};

/// Adds the functions of a program. `debug` is the file with symbols and lines.
pub fn add(
    outline: &mut Outline,
    program: &object::File<'_>,
    debug: &object::File<'_>,
    moved: Moved<'_>,
) -> Result<(), disassembly::Error> {
    outline.knows = Knows { calls: true, ..outline.knows };
    let image = Image::new(program).map_err(disassembly::Error::File)?;
    let symbols = if debug.symbols().next().is_some() { debug } else { program };
    let mut symbols = image::functions(&image, symbols);
    let names = names(&symbols);
    let mut take = |tables: &Tables, found: Vec<BTreeSet<Seen>>| {
        for seen in found.into_iter().flatten() {
            take_in(outline, tables, &names, seen);
        }
    };
    let listed = listings(program, debug, &[], moved, &Look, &mut take);
    let sections = Sections::load(debug);
    let (units, _) = Units::new(sections.borrow(), moved);
    for start in add_declarations(outline, &units) {
        symbols.remove(&start);
    }
    add_undescribed(outline, &units, &image, symbols);
    listed
}

/// Adds the functions that the debug information names. They need not have left any code. Gives where those with code
/// start.
fn add_declarations(outline: &mut Outline, units: &Units<'_>) -> Vec<u64> {
    let mut starts = Vec::new();
    for (number, unit) in (0..).zip(units.all()) {
        let (found, _) = functions(units, number);
        for declaration in found.declarations {
            let file = unit.paths.get(declaration.file as usize).cloned().flatten();
            let name = units.text(unit, declaration.name).ok();
            if let (Some(file), Some(name)) = (file, name) {
                outline.function(&base_object(name.slice()), &file, declaration.line);
            }
        }
        let ranges = found.functions.iter().flat_map(|function| &function.ranges);
        starts.extend(ranges.map(|range| range.start));
    }
    starts
}

/// Adds functions that have a symbol and maybe lines, but no entry in the debug information. Compilers make such ones:
/// for instance those that lead to variables of threads.
fn add_undescribed(
    outline: &mut Outline,
    units: &Units<'_>,
    image: &Image<'_>,
    symbols: BTreeMap<u64, Symbol>,
) {
    let code = image.code();
    let around = |address: u64| {
        let (_, symbol) = symbols.range(..=address).next_back()?;
        (address < symbol.end).then_some(symbol)
    };
    let rows_of = |unit: &Unit<'_>| {
        let rows = rows(unit, &code).unwrap_or_default().into_iter();
        let rows = rows.filter(|row| row.line != 0 && !row.is_end);
        let path = |row: &Row| unit.paths.get(row.file as usize).cloned().flatten();
        let rows = rows.filter_map(|row| Some((around(row.address)?.address, row, path(&row))));
        rows.collect::<Vec<_>>()
    };
    let rows: Vec<_> = units.all().par_iter().flat_map_iter(rows_of).collect();
    let mut by_symbol = HashMap::<u64, Vec<_>>::new();
    for (symbol, row, path) in &rows {
        by_symbol.entry(*symbol).or_default().extend(path.as_ref().map(|path| (row, path)));
    }
    for symbol in symbols.values() {
        let rows = by_symbol.get(&symbol.address).map_or(&[][..], Vec::as_slice);
        for name in own_names(symbol) {
            add_symbol(outline, &name, rows);
        }
    }
}

/// Adds a function with these lines. The first one stands for its declaration.
fn add_symbol(outline: &mut Outline, name: &[u8], rows: &[(&Row, &Arc<[u8]>)]) {
    let (path, start) = rows.first().map_or((&[][..], 0), |(row, path)| (&***path, row.line));
    let function = outline.function(name, path, start);
    (function.stands_alone, function.is_unplaced) = (true, true);
    for (row, _) in rows.iter().filter(|(_, other)| ***other == *path) {
        let line = function.shape.line(i64::from(row.line) - i64::from(start));
        line.discriminators.insert(row.discriminator);
        line.calls_others = true;
    }
}

/// The names of functions by their addresses.
fn names(symbols: &BTreeMap<u64, Symbol>) -> HashMap<u64, Vec<Vec<u8>>> {
    symbols.iter().map(|(&address, symbol)| (address, own_names(symbol))).collect()
}

fn own_names(symbol: &Symbol) -> Vec<Vec<u8>> {
    symbol.names.iter().map(|name| without_clones(name.as_bytes()).to_vec()).collect()
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

fn take_in(outline: &mut Outline, tables: &Tables, names: &HashMap<u64, Vec<Vec<u8>>>, seen: Seen) {
    let declared = &tables.functions[seen.function as usize];
    let file = &tables.files[declared.file as usize];
    let function = outline.function(&declared.name, file, declared.line);
    function.is_unplaced |= !declared.has_place;
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
            Some(names) => line.calls.extend(names.iter().cloned()),
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
