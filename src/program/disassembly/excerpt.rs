//! Makes the listing of a function: its blocks, and what the debug information says about their instructions.

use std::ops::Range;
use std::prelude::v1::*;
use std::sync::Arc;

use crate::program::cfg::{self, Maker};
use crate::program::dataflow::abstract_state::Addresses;
use crate::program::dataflow::findings::Findings;
use crate::program::debug::declared::Declarations;
use crate::program::debug::functions::{Function, Inlined};
use crate::program::debug::line_table::Row;
use crate::program::debug::units::Unit;
use crate::program::decode::Machine;
use crate::program::disassembly::pieces::{Course, OfUnit, Way};
use crate::program::listing::{Block, Copy, Listing};
use crate::program::object_file::image::Image;

/// Makes the listings of a unit.
pub struct Excerpts<'e, 'c> {
    addresses: Addresses<'e, 'c>,
    rows: &'e [Row],
}

/// What reads one function after the other: a decoder, and memory.
pub struct Disassembler<M> {
    machine: M,
    maker: Maker,
    findings: Findings,
}

impl<'c, M: Machine<'c>> Disassembler<M> {
    /// A disassembler for the code of an image.
    pub fn new(image: &'c Image<'c>) -> Self {
        Self { machine: M::new(image), maker: Maker::default(), findings: Findings::default() }
    }
}

/// The indexes of a unit's files in the tables, of those that are used.
pub fn files(
    unit: &Unit<'_>,
    is_used: &[bool],
    declarations: &mut Declarations<'_, '_>,
) -> Vec<Option<u32>> {
    let file = |(path, &used): (&Option<_>, &bool)| {
        path.as_ref().filter(|_| used).map(|path| declarations.file(path))
    };
    unit.paths.iter().zip(is_used).map(file).collect()
}

/// The functions that a function's copies are copies of, with `None` for unknown ones. `None` for all if the
/// function itself is unknown. `beginning` gives the file and the line on which code begins.
pub fn declared(
    function: &Function,
    declarations: &mut Declarations<'_, '_>,
    beginning: impl Fn(&Range<u64>) -> Option<(Arc<[u8]>, u32)>,
) -> Result<Option<Vec<Option<u32>>>, gimli::Error> {
    let of = |copy: &Inlined| {
        let known = declarations.function(copy.entry)?;
        let code = function.ranges_of(copy).first().filter(|_| known.is_none());
        let Some((path, line)) = code.and_then(&beginning) else { return Ok(known) };
        declarations.begins(copy.entry, path, line);
        declarations.function(copy.entry)
    };
    let functions: Vec<Option<u32>> = function.copies.iter().map(of).collect::<Result<_, _>>()?;
    Ok(functions[0].is_some().then_some(functions))
}

impl<'e, 'c> Excerpts<'e, 'c> {
    /// Makes the listings of a unit with this line table.
    pub fn new(addresses: Addresses<'e, 'c>, rows: &'e [Row]) -> Self {
        Self { addresses, rows }
    }

    /// The listing of a function. `of_copies` has the function of each copy.
    pub fn listing<M: Machine<'c>>(
        &self,
        disassembler: &mut Disassembler<M>,
        function: &Function,
        of_copies: &[Option<u32>],
        unit: OfUnit<'_>,
    ) -> Listing {
        let Disassembler { machine, maker, findings } = disassembler;
        let graph = maker.graph(machine, self.addresses.image, &function.ranges);
        findings.find::<M>(graph, self.addresses);
        let (copies, places) = copies(function, of_copies);
        let block = |block: &cfg::Block| Block {
            more_into: block.more_into,
            more_out: block.more_out,
            inherits: true,
        };
        let mut listing = Listing {
            blocks: graph.blocks.iter().map(block).collect(),
            edges: graph.edges.clone(),
            copies,
            address: function.ranges.first().map_or(0, |range| range.start),
            ..Listing::default()
        };
        let entry = |(inlined, &copy): (&Inlined, &u32)| Some((inlined.entry_point?, copy));
        let mut entries: Vec<_> = function.copies.iter().zip(&places).filter_map(entry).collect();
        // The outer copy first.
        entries.sort_unstable();
        let ranges = &function.ranges;
        let way = Way { ranges, boundaries: &boundaries(function, &places), entries: &entries };
        Course::new(&mut listing, graph, findings, self.rows, way, unit).run();
        listing
    }
}

/// The copies of known functions. Also, for each copy of the function, its index among those; an unknown copy
/// gets its caller's.
fn copies(of: &Function, of_copies: &[Option<u32>]) -> (Vec<Copy>, Vec<u32>) {
    let mut copies = Vec::with_capacity(of_copies.len());
    let mut places = Vec::with_capacity(of_copies.len());
    for (inlined, function) in of.copies.iter().zip(of_copies) {
        let caller = places.get(inlined.caller as usize).copied().unwrap_or(0);
        let Some(function) = *function else {
            places.push(caller);
            continue;
        };
        places.push(copies.len() as u32);
        let Inlined { line, column, discriminator, .. } = *inlined;
        let has_code = !of.ranges_of(inlined).is_empty();
        copies.push(Copy { caller, function, line, column, discriminator, has_code });
    }
    (copies, places)
}

/// From each address on, the innermost copy; by address.
fn boundaries(function: &Function, places: &[u32]) -> Vec<(u64, u32)> {
    let mut ranges: Vec<(u64, u64, usize)> = Vec::with_capacity(2 * function.copies.len());
    for (copy, inlined) in function.copies.iter().enumerate() {
        let of_copy = function.ranges_of(inlined).iter();
        ranges.extend(of_copy.map(|range| (range.start, range.end, copy)));
    }
    // The outer copy first.
    ranges.sort_by_key(|&(start, end, copy)| (start, core::cmp::Reverse(end), copy));
    let mut boundaries = Vec::with_capacity(2 * ranges.len());
    let mut open: Vec<(u64, usize)> = Vec::new();
    let close = |open: &mut Vec<(u64, usize)>, until: u64, boundaries: &mut Vec<(u64, u32)>| {
        while let Some((end, _)) = open.pop_if(|(end, _)| *end <= until) {
            let outer = open.last().map_or(0, |&(_, copy)| places[copy]);
            boundaries.push((end, outer));
        }
    };
    for (start, end, copy) in ranges {
        close(&mut open, start, &mut boundaries);
        boundaries.push((start, places[copy]));
        open.push((end, copy));
    }
    close(&mut open, u64::MAX, &mut boundaries);
    boundaries
}
