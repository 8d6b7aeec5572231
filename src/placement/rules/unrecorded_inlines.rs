//! Lines of functions and of copies that left no trace in the code. They are inlined near other lines of their blocks.

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use hashbrown::HashMap;

use super::likeness::{common, strangers};
use crate::placement::Rule;
use crate::placement::assignment::{Elsewhere, Painter, Picture, Source};
use crate::placement::observe::{Chain, Spot};
use crate::placement::solve::counted::Line;
use crate::placement::starts::Start;
use crate::profile::{FileId, Position, SymbolId};

/// The copies and pieces that are known. [`Painter::near`] adds to them.
#[derive(Default)]
struct Near {
    /// The index of each copy.
    places: HashMap<Chain, u32>,
    /// The number of pieces of each line of a copy.
    pieces: HashMap<(u32, FileId, u32), u16>,
    /// The first piece of each line of a block, without those that are added.
    known: HashMap<(u32, FileId, u32), Spot>,
    /// Which function a caller calls, of those that start on a line.
    called: HashMap<(FileId, u32, SymbolId), Start>,
}

impl Near {
    fn of(picture: &Picture) -> Self {
        let mut near = Self::default();
        for piece in &picture.pieces {
            let Spot { chain, file, line, .. } = piece.spot;
            near.known.entry((piece.block, file, line)).or_insert(piece.spot);
            near.next(chain, file, line);
        }
        for (chain, place) in picture.chains.iter().zip(0..) {
            near.places.entry(chain.once()).or_insert(place);
        }
        near
    }

    /// The first piece of a line in a block.
    fn known_in(&self, block: u32, (file, line): (FileId, u32)) -> Option<Spot> {
        self.known.get(&(block, file, line)).copied()
    }

    /// The number of the next piece of a line in a copy.
    fn next(&mut self, chain: u32, file: FileId, line: u32) -> u16 {
        let number = self.pieces.entry((chain, file, line)).or_insert(0);
        let next = *number;
        *number = number.saturating_add(1);
        next
    }
}

/// A line of a copy that the debug information lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub line: Line,
    /// Another copy of its function.
    pub chain: u32,
}

/// Lines of another function that is not known to be inlined here, and where it may start.
pub type Other<'l, 's> = (&'l [Line], &'s [Start]);

impl<'f> Painter<'f, '_> {
    /// Handles lines of functions that left no trace in the code. Each is inlined where the line before it in
    /// its block stands, or else the line behind it.
    pub fn near(&mut self, others: &[Other<'_, 'f>]) {
        if others.is_empty() && self.missing.is_empty() {
            return;
        }
        let mut near = Near::of(&self.picture);
        for Missing { line, chain } in mem::take(&mut self.missing) {
            self.missing_copy(&line, chain, &mut near);
        }
        for &(lines, starts) in others {
            let mut most = None;
            for line in lines {
                match self.neighbour(line, &near) {
                    Some(call) => {
                        let start =
                            self.called(line.file, starts, self.function_at(call), &mut near);
                        self.inlined_at(line, (start.symbol, start.line), call, &mut near);
                    }
                    None => most = most.max(Some(self.count(line).max(0) as u64)),
                }
            }
            if let Some(most) = most {
                let start = self.called(lines[0].file, starts, self.function.symbol, &mut near);
                let (of, line) = ((lines[0].file, lines[0].line), lines[0].line - start.line);
                self.picture.elsewhere.push((Elsewhere { symbol: start.symbol, line, of }, most));
            }
        }
    }

    /// Keeps blocks of a line for copies that the debug information lacks. `chain` is another copy of their function.
    pub fn missing_copies(&mut self, chain: u32, lines: &[Line]) {
        if !self.rules.has(Rule::UnrecordedCopies) {
            return;
        }
        self.missing.extend(lines.iter().map(|&line| Missing { line, chain }));
    }

    /// Adds a line of a copy that the debug information lacks. It is called at the line before it.
    fn missing_copy(&mut self, line: &Line, other: u32, near: &mut Near) {
        let Chain { symbol, start, .. } = self.picture.chains[other as usize];
        let is_caller = |spot: &Spot| self.function_at(*spot) != symbol;
        match self.known_before(line, near).filter(is_caller) {
            Some(call) => self.inlined_at(line, (symbol, start), call, near),
            None => {
                let discriminator = near.next(other, line.file, line.line);
                let Line { file, line: number, .. } = *line;
                let spot = Spot { chain: other, file, line: number, discriminator };
                self.piece(spot, line, Source::Guess);
            }
        }
    }

    /// Where the line before a line in its block stands, or else the line behind it.
    fn neighbour(&self, line: &Line, near: &Near) -> Option<Spot> {
        if !self.rules.has(Rule::UnrecordedInlines) {
            return None;
        }
        self.known_before(line, near).or_else(|| {
            let itself = (line.file, line.line);
            let from_it = self.function.lines_in_order(line.block).skip_while(|&at| at != itself);
            from_it.skip(1).find_map(|at| near.known_in(line.block, at))
        })
    }

    /// The last known piece before a line in its block.
    fn known_before(&self, line: &Line, near: &Near) -> Option<Spot> {
        let itself = (line.file, line.line);
        let of_block = self.function.lines_in_order(line.block);
        let place = of_block.clone().position(|at| at == itself).unwrap_or(0);
        of_block.take(place).rev().find_map(|at| near.known_in(line.block, at))
    }

    /// The function that has a piece.
    fn function_at(&self, spot: Spot) -> SymbolId {
        let chain = self.picture.chains.get(spot.chain as usize);
        chain.map_or(self.function.symbol, |chain| chain.symbol)
    }

    /// Adds a line of a function, which starts at a line, that is inlined at a piece of the source.
    fn inlined_at(
        &mut self,
        line: &Line,
        (symbol, start): (SymbolId, u32),
        call: Spot,
        near: &mut Near,
    ) {
        let caller = self.picture.chains.get(call.chain as usize);
        let behind = call.line.wrapping_sub(caller.map_or(0, |chain| chain.start)) & 0xffff;
        let at = Position { line: behind, discriminator: call.discriminator };
        let (caller, file) = (call.chain, line.file);
        let chain = Chain { caller, call: at, symbol, start, file, calls: 1, column: 0 };
        let chains = &mut self.picture.chains;
        let place = *near.places.entry(chain).or_insert_with(|| {
            chains.push(chain);
            chains.len() as u32 - 1
        });
        let discriminator = near.next(place, line.file, line.line);
        let spot = Spot { chain: place, file: line.file, line: line.line, discriminator };
        self.piece(spot, line, Source::Near);
    }

    /// Several functions may start on one line, such as instances of a template. Picks the one that `caller`
    /// calls: its name has the most in common with the caller's, the fewest identifiers that this one lacks, and the most that it has.
    fn called(&self, file: FileId, starts: &[Start], caller: SymbolId, near: &mut Near) -> Start {
        if let [only] = starts {
            return *only;
        }
        let known = near.called.entry((file, starts[0].line, caller));
        *known.or_insert_with(|| *self.likeliest(starts, self.symbols.name(caller)))
    }

    fn likeliest<'s>(&self, starts: &'s [Start], caller: &[u8]) -> &'s Start {
        if !self.rules.has(Rule::Likeness) {
            return &starts[0];
        }
        let in_common: Vec<usize> =
            starts.iter().map(|start| common(self.symbols.name(start.symbol), caller)).collect();
        let most = in_common.iter().max();
        let likely =
            starts.iter().zip(&in_common).filter(|&(_, in_common)| Some(in_common) == most);
        let strangers = |start: &&Start| {
            let (strangers, shared) = strangers(self.symbols.name(start.symbol), caller);
            (strangers, Reverse(shared))
        };
        likely.rev().map(|(start, _)| start).min_by_key(strangers).unwrap_or(&starts[0])
    }
}
