//! Goes through the instructions of a function and says where each was written.

use core::iter::Peekable;
use core::slice::Iter;
use std::ops::Range;
use std::prelude::v1::*;

use crate::program::cfg::{self, Graph};
use crate::program::dataflow::findings::{self, Findings, Site};
use crate::program::debug::functions::EntryPoint;
use crate::program::debug::line_table::Row;
use crate::program::listing::{Call, Callee, Copy, Declared, Increment, Listing, Piece};

/// Where the copies of a function start and end.
#[derive(Clone, Copy)]
pub struct Way<'w> {
    /// The ranges of the function's code.
    pub ranges: &'w [Range<u64>],
    /// From each of these addresses on, this copy is the innermost one with code.
    pub boundaries: &'w [(u64, u32)],
    /// Where copies are entered, also those without code.
    pub entries: &'w [(EntryPoint, u32)],
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
    fn opening(&self, block: u32, copy: u32, copies: &[Copy]) -> Option<Piece> {
        let declared = &self.functions[copies[copy as usize].function as usize];
        let Declared { file, line, .. } = *declared;
        (line != 0).then_some(Piece {
            block,
            copy,
            file,
            line,
            discriminator: 0,
            instructions: 0,
            before: None,
            is_jump: false,
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

/// The way through the instructions, as far as it has been gone.
pub struct Course<'c> {
    listing: &'c mut Listing,
    graph: &'c Graph,
    rows: &'c [Row],
    way: Way<'c>,
    unit: OfUnit<'c>,
    increments: Peekable<Iter<'c, findings::Increment>>,
    /// Calls of sites.
    sites: Peekable<Iter<'c, (u32, Site)>>,
    calls: Peekable<Iter<'c, (u32, u64)>>,
    indirect_calls: Peekable<Iter<'c, u32>>,
    /// The address of the last instruction.
    last: u64,
    /// The first address behind it where a range starts.
    next_range: u64,
    /// The first row beyond the instructions so far.
    row: usize,
    /// The first boundary beyond them.
    boundary: usize,
    /// The first entry beyond them.
    entry: usize,
    /// The copy that was entered last at the address of the row.
    inside: u32,
    /// The number of the row at that address.
    view: u32,
    /// The pieces of the block at hand.
    of_block: Vec<Piece>,
    /// Where the last instruction was written.
    piece: Option<Piece>,
    /// From this address on, and from this instruction on, there is more to do than to count instructions.
    busy: (u64, u32),
}

/// A block, and the one that leads only to it and lies right before it.
#[derive(Clone, Copy)]
struct At {
    block: u32,
    before: Option<u32>,
}

impl<'c> Course<'c> {
    /// Starts with the first instruction. Pieces, increments and calls are added to the listing.
    pub fn new(
        listing: &'c mut Listing,
        graph: &'c Graph,
        findings: &'c Findings,
        rows: &'c [Row],
        way: Way<'c>,
        unit: OfUnit<'c>,
    ) -> Self {
        Self {
            listing,
            graph,
            rows,
            way,
            unit,
            increments: findings.increments.iter().peekable(),
            sites: findings.site_calls.iter().peekable(),
            calls: graph.calls.iter().peekable(),
            indirect_calls: graph.indirect_calls.iter().peekable(),
            last: u64::MAX,
            next_range: 0,
            row: 0,
            boundary: 0,
            entry: 0,
            inside: 0,
            view: 0,
            of_block: Vec::new(),
            piece: None,
            busy: (0, 0),
        }
    }

    /// Goes to the last instruction.
    pub fn run(mut self) {
        let ends = ends(self.graph);
        for (block, number) in self.graph.blocks.iter().zip(0u32..) {
            let leads_on = |&last: &u32| ends[last as usize] == End::LeadsOn;
            let before = number.checked_sub(1).filter(leads_on);
            self.block(block.instructions.clone(), At { block: number, before });
            self.finish_block(ends[number as usize]);
        }
    }

    fn block(&mut self, instructions: Range<u32>, at: At) {
        let Some(first) = instructions.clone().next() else { return };
        self.instruction(first, at);
        let at = At { before: None, ..at };
        for instruction in first + 1..instructions.end {
            let address = self.graph.instructions[instruction as usize];
            if address < self.busy.0 && instruction < self.busy.1 {
                let again = self.piece.map_or(0, |piece| piece.instructions);
                self.of_block.last_mut().into_iter().for_each(|last| last.instructions += again);
            } else {
                self.instruction(instruction, at);
            }
        }
    }

    fn instruction(&mut self, instruction: u32, at: At) {
        let address = self.graph.instructions[instruction as usize];
        let copy = self.go_to(address);
        while let Some(passed) = self.rows.get(self.row).filter(|row| row.address <= address) {
            self.pass(passed, copy, at);
        }
        self.piece = self.written(copy, at);
        self.add(self.piece);
        while let Some(found) = self.increments.next_if(|found| found.instruction == instruction) {
            let (block, (function, counter)) = (at.block, found.counter);
            let is_in_place = found.is_in_place;
            let increment = Increment { block, copy, function, counter, is_in_place };
            self.listing.increments.push(increment);
        }
        let target = self.calls.next_if(|&&(of, _)| of == instruction).map(|&(_, target)| target);
        let site = self.sites.next_if(|(of, _)| *of == instruction).map(|&(_, site)| site);
        let is_indirect = self.indirect_calls.next_if_eq(&&instruction).is_some();
        if let Some(piece) = self.piece {
            self.call(site, target, piece);
            self.listing.indirect_calls.extend(is_indirect.then_some(piece));
        }
        self.busy = (self.next_address(), self.next_instruction());
    }

    /// The next address where a row, a copy or a range starts.
    fn next_address(&self) -> u64 {
        let row = self.rows.get(self.row).map_or(u64::MAX, |row| row.address);
        let boundary = self.way.boundaries.get(self.boundary).map_or(u64::MAX, |&(from, _)| from);
        row.min(boundary).min(self.next_range)
    }

    /// The next instruction that increments a counter or calls something.
    fn next_instruction(&mut self) -> u32 {
        let increment = self.increments.peek().map_or(u32::MAX, |found| found.instruction);
        let call = self.calls.peek().map_or(u32::MAX, |&&(of, _)| of);
        let indirect_call = self.indirect_calls.peek().map_or(u32::MAX, |&&of| of);
        let site = self.sites.peek().map_or(u32::MAX, |&&(of, _)| of);
        increment.min(call).min(indirect_call).min(site)
    }

    /// Goes to an address, and finds the innermost copy with code there.
    fn go_to(&mut self, address: u64) -> u32 {
        let boundaries = self.way.boundaries;
        if address < self.last || address >= self.next_range {
            self.go_into_range(address);
        }
        self.last = address;
        while boundaries.get(self.boundary).is_some_and(|&(from, _)| from <= address) {
            self.boundary += 1;
        }
        self.boundary.checked_sub(1).map_or(0, |place| boundaries[place].1)
    }

    /// Goes into a new range, if one starts at an address: other functions lie between it and the last one.
    fn go_into_range(&mut self, address: u64) {
        let starts = self.way.ranges.iter().map(|range| range.start);
        if address < self.last || starts.clone().any(|start| start == address) {
            self.row = self.first_row(address);
            self.boundary = self.way.boundaries.partition_point(|&(from, _)| from <= address);
            self.entry = self.way.entries.partition_point(|(entry, _)| entry.address < address);
        }
        self.next_range = starts.filter(|&start| start > address).min().unwrap_or(u64::MAX);
    }

    /// The first row of the code that starts at an address. If the linker has put other code right before it,
    /// the row that ends that code.
    fn first_row(&self, address: u64) -> usize {
        let first = self.rows.partition_point(|row| row.address < address);
        let there = self.rows[first..].iter().take_while(|row| row.address == address);
        let end = there.enumerate().filter(|(_, row)| row.is_end).last();
        first + end.map_or(0, |(place, _)| place)
    }

    /// Passes a row of the line table: enters the copies that start there, and marks a line without instructions.
    fn pass(&mut self, passed: &Row, copy: u32, at: At) {
        let last = self.row.checked_sub(1).map(|last| &self.rows[last]);
        let is_next = last.is_some_and(|last| last.address == passed.address);
        (self.inside, self.view) = if is_next { (self.inside, self.view + 1) } else { (copy, 0) };
        self.row += 1;
        self.listing.blocks[at.block as usize].inherits &= passed.is_end;
        let entry = EntryPoint { address: passed.address, view: self.view };
        while let Some(copy) = self.entered(entry) {
            self.inside = copy;
            self.of_block.extend(self.unit.opening(at.block, copy, &self.listing.copies));
        }
        // The next row at the same address takes the instruction from this one.
        let next = self.rows.get(self.row);
        if next.is_some_and(|next| next.address == passed.address) && !passed.is_end {
            let reached = passed.is_statement.then(|| self.reached(entry, at.block));
            let copy = reached.unwrap_or(self.inside);
            let piece = piece(at.block, copy, passed, self.unit.files, 0);
            let piece = piece.map(|piece| Piece { before: at.before, ..piece });
            let marked = piece.and_then(|piece| self.unit.marked(piece, &self.listing.copies));
            self.of_block.extend(marked);
        }
    }

    /// The innermost of the copy at hand and its callers that is not entered further on in the block. Compilers move
    /// code of a copy before its entry, among the statements of its callers.
    fn reached(&self, at: EntryPoint, block: u32) -> u32 {
        let instructions = &self.graph.blocks[block as usize].instructions;
        let last = self.graph.instructions[instructions.end as usize - 1];
        let in_block = |(entry, _): &&(EntryPoint, u32)| entry.address <= last;
        let later = || self.way.entries[self.entry..].iter().take_while(in_block);
        let mut copy = self.inside;
        while copy != 0 && later().any(|&(entry, entered)| entered == copy && entry > at) {
            copy = self.listing.copies[copy as usize].caller;
        }
        copy
    }

    /// The next copy that is entered at a row.
    fn entered(&mut self, at: EntryPoint) -> Option<u32> {
        while self.way.entries.get(self.entry).is_some_and(|&(entry, _)| entry < at) {
            self.entry += 1;
        }
        let &(_, copy) = self.way.entries.get(self.entry).filter(|&&(entry, _)| entry == at)?;
        self.entry += 1;
        Some(copy)
    }

    /// Where the instruction at hand was written.
    fn written(&self, copy: u32, at: At) -> Option<Piece> {
        let row = &self.rows[self.row.checked_sub(1)?];
        // Before its first row a block continues the last row. Code without a line of its own, such
        // as increments of counters, also seems to belong to that row's line.
        let own = u32::from(!self.listing.blocks[at.block as usize].inherits);
        piece(at.block, copy, row, self.unit.files, own).filter(|_| !row.is_end)
    }

    /// Adds where an instruction was written. Mostly that is where the last one was written, too.
    fn add(&mut self, piece: Option<Piece>) {
        let Some(piece) = piece else { return };
        match self.of_block.last_mut() {
            Some(last) if is_again(last, &piece) => last.instructions += piece.instructions,
            _ => self.of_block.push(piece),
        }
    }

    /// Adds the calls that an instruction makes.
    fn call(&mut self, site: Option<Site>, target: Option<u64>, piece: Piece) {
        let site = site.map(|(function, site)| Callee::Site(function, site));
        let callees = site.into_iter().chain(target.map(Callee::Address));
        self.listing.calls.extend(callees.map(|callee| Call { piece, callee }));
    }

    /// Adds the block's pieces to the listing, each once.
    fn finish_block(&mut self, end: End) {
        let first = self.listing.pieces.len();
        self.of_block.sort_unstable();
        for piece in self.of_block.drain(..) {
            match self.listing.pieces.last_mut() {
                Some(last) if same_place(last, &piece) => last.instructions += piece.instructions,
                _ => self.listing.pieces.push(piece),
            }
        }
        if let (End::Jumps, Some(last)) = (end, self.piece) {
            let mut of_block = self.listing.pieces[first..].iter_mut();
            if let Some(piece) = of_block.find(|piece| same_place(piece, &last)) {
                piece.is_jump = piece.instructions == 1;
            }
        }
    }
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It leads only to the next one, which lies right behind it.
    LeadsOn,
    /// It jumps to another one, in any case.
    Jumps,
    /// There is a choice, or it leaves the function.
    Else,
}

/// How each block ends.
fn ends(graph: &Graph) -> Vec<End> {
    let mut ways_out = vec![0u32; graph.blocks.len()];
    let mut leads_on = vec![false; graph.blocks.len()];
    for &(from, to) in &graph.edges {
        ways_out[from as usize] += 1;
        leads_on[from as usize] |= from + 1 == to;
    }
    let lies_before = |number: usize| {
        let next = graph.blocks.get(number + 1).map(|next| next.instructions.start);
        next == Some(graph.blocks[number].instructions.end)
    };
    let end = |(number, block): (usize, &cfg::Block)| match (ways_out[number], block.more_out) {
        (1, false) if leads_on[number] && lies_before(number) => End::LeadsOn,
        (1, false) if !leads_on[number] => End::Jumps,
        _ => End::Else,
    };
    graph.blocks.iter().enumerate().map(end).collect()
}

/// Whether an instruction was written in the same place as those of the last piece.
fn is_again(last: &Piece, piece: &Piece) -> bool {
    // Marks stay apart from pieces with instructions: only a mark's `before` counts.
    (last.instructions > 0) == (piece.instructions > 0)
        && last.before == piece.before
        && same_place(last, piece)
}

fn same_place(a: &Piece, b: &Piece) -> bool {
    (a.block, a.copy, a.file, a.line, a.discriminator)
        == (b.block, b.copy, b.file, b.line, b.discriminator)
}

fn piece(
    block: u32,
    copy: u32,
    row: &Row,
    files: &[Option<u32>],
    instructions: u32,
) -> Option<Piece> {
    let file = files.get(row.file as usize).copied().flatten()?;
    let Row { line, discriminator, .. } = *row;
    (line != 0).then_some(Piece {
        block,
        copy,
        file,
        line,
        discriminator,
        instructions,
        before: None,
        is_jump: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_blocks() {
        // The first leads on, the second jumps over the third, which has a choice. The last one returns.
        let block =
            |instructions, more_out| cfg::Block { instructions, more_into: false, more_out };
        let instructions = [0..2, 2..4, 4..5, 5..9];
        let blocks = instructions.map(|its| block(its.clone(), its.end == 9)).into();
        let edges = vec![(0, 1), (1, 3), (2, 0), (2, 3)];
        let graph = Graph { blocks, edges, ..Graph::default() };
        assert_eq!(ends(&graph), [End::LeadsOn, End::Jumps, End::Else, End::Else]);
    }
}
