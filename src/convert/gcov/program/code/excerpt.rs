//! Makes the listing of a function: its blocks, and what the debug information says about their instructions.

use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::HashMap;

use super::counters::Counters;
use super::graph::{Graph, graph};
use super::image::Image;
use super::machine::Machine;
use crate::convert::gcov::listing::{
    Block, Call, Callee, Copy, Declared, Increment, Listing, Piece,
};
use crate::convert::gcov::program::debug::declared::Declarations;
use crate::convert::gcov::program::debug::functions::{EntryPoint, Function, Inlined};
use crate::convert::gcov::program::debug::line_table::Row;
use crate::convert::gcov::program::debug::units::Unit;

/// Makes the listings of a unit.
pub struct Excerpts<'e, 'c> {
    image: &'e Image<'c>,
    counters: &'e Counters,
    /// The sites of indirect calls, by the addresses of the calls.
    sites: &'e HashMap<u64, (u32, u32)>,
    rows: &'e [Row],
}

/// Where the copies of a function start and end.
#[derive(Clone, Copy)]
struct Way<'w> {
    /// The ranges of the function's code.
    ranges: &'w [Range<u64>],
    /// From each of these addresses on, this copy is the innermost one with code.
    boundaries: &'w [(u64, u32)],
    /// Where copies are entered, also those without code.
    entries: &'w [(EntryPoint, u32)],
}

/// The files and functions of a unit, as the tables number them.
#[derive(Clone, Copy)]
pub struct OfUnit<'u> {
    /// Indexes of its files in the tables.
    pub files: &'u [Option<u32>],
    /// The functions of the tables.
    pub functions: &'u [Declared],
}

impl OfUnit<'_> {
    /// The line of a copy's declaration. The place where the copy is entered is on that line.
    fn opening(&self, block: usize, copy: u32, copies: &[Copy]) -> Option<Piece> {
        let declared = &self.functions[copies[copy as usize].function as usize];
        let Declared { file, line, .. } = *declared;
        let block = block as u32;
        (line != 0).then_some(Piece {
            block,
            copy,
            file,
            line,
            discriminator: 0,
            instructions: 0,
            before: None,
        })
    }

    /// Puts a piece without instructions into its copy. The line table does not tell the copy. So this looks,
    /// among the copy at hand and its callers, for the last declaration before the line in the same file.
    fn marked(&self, piece: Piece, copies: &[Copy]) -> Option<Piece> {
        let mut best: Option<(u32, u32)> = None;
        let mut copy = piece.copy;
        loop {
            let Copy { caller, function, .. } = copies[copy as usize];
            let declared = &self.functions[function as usize];
            let is_around = declared.file == piece.file && declared.line <= piece.line;
            if is_around && best.is_none_or(|(line, _)| line < declared.line) {
                best = Some((declared.line, copy));
            }
            if caller == copy {
                break;
            }
            copy = caller;
        }
        best.map(|(_, copy)| Piece { copy, ..piece })
    }
}

/// The functions that a function's copies are copies of, with `None` for unknown ones. `None` for all if the
/// function itself is unknown.
pub fn declared(
    function: &Function,
    declarations: &mut Declarations<'_, '_>,
) -> Result<Option<Vec<Option<u32>>>, gimli::Error> {
    let of = |copy: &Inlined| declarations.function(copy.entry);
    let functions: Vec<Option<u32>> = function.copies.iter().map(of).collect::<Result<_, _>>()?;
    Ok(functions[0].is_some().then_some(functions))
}

impl<'e, 'c> Excerpts<'e, 'c> {
    /// Makes the listings of a unit with this line table.
    pub fn new(
        image: &'e Image<'c>,
        counters: &'e Counters,
        sites: &'e HashMap<u64, (u32, u32)>,
        rows: &'e [Row],
    ) -> Self {
        Self { image, counters, sites, rows }
    }

    /// The indexes of a unit's files in the tables.
    pub fn files(
        &self,
        unit: &Unit<'_>,
        declarations: &mut Declarations<'_, '_>,
    ) -> Vec<Option<u32>> {
        let mut is_used = vec![false; unit.paths.len()];
        for row in self.rows {
            is_used.get_mut(row.file as usize).into_iter().for_each(|used| *used = true);
        }
        let file = |(path, used): (&Option<_>, bool)| {
            path.as_ref().filter(|_| used).map(|path| declarations.file(path))
        };
        unit.paths.iter().zip(is_used).map(file).collect()
    }

    /// The listing of a function. `of_copies` has the function of each copy.
    pub fn listing<M: Machine<'c>>(
        &self,
        machine: &mut M,
        function: &Function,
        of_copies: &[Option<u32>],
        unit: OfUnit<'_>,
    ) -> Listing {
        let graph = graph(machine, self.image, self.counters, &function.ranges);
        let (copies, places) = copies(function, of_copies);
        let block = |block: &super::graph::Block| Block {
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
        self.pieces(&mut listing, &graph, way, unit);
        listing
    }

    /// The first row of the code that starts at an address. If the linker has put other code right before it,
    /// the row that ends that code.
    fn first_row(&self, address: u64) -> usize {
        let first = self.rows.partition_point(|row| row.address < address);
        let there = self.rows[first..].iter().take_while(|row| row.address == address);
        let end = there.enumerate().filter(|(_, row)| row.is_end).last();
        first + end.map_or(0, |(place, _)| place)
    }

    /// Goes through the instructions and says where each was written.
    fn pieces(&self, listing: &mut Listing, graph: &Graph, way: Way<'_>, unit: OfUnit<'_>) {
        let Way { ranges, boundaries, entries } = way;
        let mut increments = graph.increments.iter().peekable();
        let mut calls = graph.calls.iter().peekable();
        // The first row and the first boundary beyond the instructions so far.
        let (mut row, mut boundary) = (0, 0);
        // The copy that was entered last at the address of the row, and the number of the row at that
        // address.
        let (mut inside, mut view) = (0, 0);
        let mut before = u64::MAX;
        let mut of_block = Vec::new();
        let mut ways_out = vec![0u32; graph.blocks.len()];
        let mut leads_on = vec![false; graph.blocks.len()];
        for &(from, to) in &graph.edges {
            ways_out[from as usize] += 1;
            leads_on[from as usize] |= from + 1 == to;
        }
        for (number, block) in graph.blocks.iter().enumerate() {
            of_block.clear();
            let led = number.checked_sub(1).filter(|&last| {
                let of = &graph.blocks[last];
                leads_on[last]
                    && ways_out[last] == 1
                    && !of.more_out
                    && of.instructions.end == block.instructions.start
            });
            let first = block.instructions.start;
            for instruction in block.instructions.clone() {
                let address = graph.instructions[instruction as usize];
                if address < before || ranges.iter().any(|range| range.start == address) {
                    // A new range: other functions lie between it and the last one.
                    row = self.first_row(address);
                    boundary = boundaries.partition_point(|&(from, _)| from <= address);
                }
                before = address;
                while boundaries.get(boundary).is_some_and(|&(from, _)| from <= address) {
                    boundary += 1;
                }
                let copy = boundary.checked_sub(1).map_or(0, |place| boundaries[place].1);
                while let Some(passed) = self.rows.get(row).filter(|row| row.address <= address) {
                    let is_next = row
                        .checked_sub(1)
                        .is_some_and(|last| self.rows[last].address == passed.address);
                    (inside, view) = if is_next { (inside, view + 1) } else { (copy, 0) };
                    row += 1;
                    listing.blocks[number].inherits &= passed.is_end;
                    for &(_, copy) in entered(entries, EntryPoint { address: passed.address, view })
                    {
                        inside = copy;
                        of_block.extend(unit.opening(number, copy, &listing.copies));
                    }
                    // The next row at the same address takes the instruction from this one.
                    let next = self.rows.get(row);
                    if next.is_some_and(|next| next.address == passed.address) && !passed.is_end {
                        let before = led.filter(|_| instruction == first).map(|led| led as u32);
                        let piece = piece(number, inside, passed, unit.files, 0);
                        let piece = piece.map(|piece| Piece { before, ..piece });
                        of_block
                            .extend(piece.and_then(|piece| unit.marked(piece, &listing.copies)));
                    }
                }
                let found = row.checked_sub(1).map(|row| &self.rows[row]);
                let found = found.filter(|row| !row.is_end);
                // Before its first row a block continues the last row. Code without a line of its own, such
                // as increments of counters, also seems to belong to that row's line.
                let own = u32::from(!listing.blocks[number].inherits);
                let piece = found.and_then(|row| piece(number, copy, row, unit.files, own));
                of_block.extend(piece);
                while let Some(found) = increments.next_if(|found| found.instruction == instruction)
                {
                    let (block, (function, counter)) = (number as u32, found.counter);
                    let is_in_place = found.is_in_place;
                    let increment = Increment { block, copy, function, counter, is_in_place };
                    listing.increments.push(increment);
                }
                let call = calls.next_if(|&&(of, _)| of == instruction);
                let Some(piece) = piece else { continue };
                if let Some(&(function, site)) = self.sites.get(&address) {
                    let callee = Callee::Site(function, site);
                    listing.calls.push(Call { piece, callee });
                }
                if let Some(&(_, target)) = call {
                    listing.calls.push(Call { piece, callee: Callee::Address(target) });
                }
            }
            of_block.sort_unstable();
            for piece in of_block.drain(..) {
                match listing.pieces.last_mut() {
                    Some(last) if same_place(last, &piece) => {
                        last.instructions += piece.instructions;
                    }
                    _ => listing.pieces.push(piece),
                }
            }
        }
    }
}

/// The copies that are entered at a row.
fn entered(entries: &[(EntryPoint, u32)], at: EntryPoint) -> &[(EntryPoint, u32)] {
    let first = entries.partition_point(|&(entry, _)| entry < at);
    let behind = entries.partition_point(|&(entry, _)| entry <= at);
    &entries[first..behind]
}

fn same_place(a: &Piece, b: &Piece) -> bool {
    (a.block, a.copy, a.file, a.line, a.discriminator)
        == (b.block, b.copy, b.file, b.line, b.discriminator)
}

fn piece(
    block: usize,
    copy: u32,
    row: &Row,
    files: &[Option<u32>],
    instructions: u32,
) -> Option<Piece> {
    let file = files.get(row.file as usize).copied().flatten()?;
    let Row { line, discriminator, .. } = *row;
    let block = block as u32;
    (line != 0).then_some(Piece {
        block,
        copy,
        file,
        line,
        discriminator,
        instructions,
        before: None,
    })
}

/// The copies of known functions. Also, for each copy of the function, its index among those; an unknown copy
/// gets its caller's.
fn copies(function: &Function, of_copies: &[Option<u32>]) -> (Vec<Copy>, Vec<u32>) {
    let mut copies = Vec::with_capacity(of_copies.len());
    let mut places = Vec::with_capacity(of_copies.len());
    for (inlined, function) in function.copies.iter().zip(of_copies) {
        let caller = places.get(inlined.caller as usize).copied().unwrap_or(0);
        let Some(function) = *function else {
            places.push(caller);
            continue;
        };
        places.push(copies.len() as u32);
        let Inlined { line, column, discriminator, ref ranges, .. } = *inlined;
        let has_code = !ranges.is_empty();
        copies.push(Copy { caller, function, line, column, discriminator, has_code });
    }
    (copies, places)
}

/// From each address on, the innermost copy; by address.
fn boundaries(function: &Function, places: &[u32]) -> Vec<(u64, u32)> {
    let of = |(copy, inlined): (usize, &Inlined)| {
        let range = move |range: &core::ops::Range<u64>| (range.start, range.end, copy);
        inlined.ranges.iter().map(range).collect::<Vec<_>>()
    };
    let mut ranges: Vec<(u64, u64, usize)> =
        function.copies.iter().enumerate().flat_map(of).collect();
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
