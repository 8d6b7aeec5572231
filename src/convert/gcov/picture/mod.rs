//! A function's blocks with their counts and positions: what is known about it before any reader's wishes.
//!
//! The notes say which lines a block has, and the counters how often it was executed. The machine code says
//! in which inlined copies those lines stand, with which discriminators, and mostly how often each was
//! executed ([`super::evidence`]). A piece of the source belongs to the block that has its line and its
//! count.
//!
//! Where these leave doubt, pieces and blocks are paired in their order. Compilers mostly keep it: they
//! number the blocks of a line in the order in which they lay them out. That is an estimate.

mod long_lines;
mod loops;
mod pairing;

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use self::long_lines::LongLine;
use self::pairing::{Count, Key, in_order};
use super::counted::{Counted, Line};
use super::evidence::{Chain, Evidence, Spot, Vote};
use super::flow::Flow;
use super::starts::{Start, Starts};
use super::statistics::Lost;
use crate::formats::gcno;
use crate::profile::{FileId, Position, SymbolId, Symbols};

/// What is known about a function.
pub struct Picture {
    /// Copies inlined early, see [`Evidence::chains`], and those that only the lines of blocks show.
    pub chains: Vec<Chain>,
    /// Pieces of the source, each with its block.
    pub pieces: Vec<Piece>,
    /// Lines of other functions that are not known to be inlined here.
    pub elsewhere: Vec<(Elsewhere, u64)>,
    /// Lines that no known function has.
    pub lost: Vec<(Line, u64, Lost)>,
}

impl Picture {
    /// Gives blocks with count 0 in loops without calls a count of 1.
    pub fn raise_zeros_in_loops(&mut self, function: &Counted<'_>) {
        if !self.pieces.iter().any(|piece| piece.count == 0) {
            return;
        }
        let in_loops = loops::without_calls(function.notes.blocks, function.arcs());
        let zeros = self.pieces.iter_mut().filter(|piece| piece.count == 0);
        zeros.filter(|piece| in_loops[piece.block as usize]).for_each(|piece| piece.count = 1);
    }
}

/// A line of another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The function.
    pub symbol: SymbolId,
    /// Lines from its declaration.
    pub line: u32,
}

/// A piece of the source in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it stands.
    pub spot: Spot,
    /// The block.
    pub block: u32,
    /// Executions.
    pub count: u64,
    /// How the piece is known.
    pub source: Source,
}

/// How a piece of the source is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Instructions of it were executed as often as the block.
    Code,
    /// The debug information names it, but has no instructions for it.
    Mark,
    /// It is in the code. Its block is an estimate.
    Order,
    /// Only the notes have it. Its discriminator is an estimate.
    Notes,
    /// Its copy is an estimate, too.
    Guess,
    /// The line next to it in its block shows where it is inlined.
    Near,
    /// The debug information names it, but it has no counters: the compiler removed it before laying them
    /// out.
    Removed,
}

/// Finds out what is known about a function. `evidence` must be [sorted](Evidence::sorted).
pub fn picture(
    function: &Counted<'_>,
    flow: &Flow,
    evidence: &Evidence,
    starts: &Starts,
    symbols: &Symbols,
) -> Picture {
    let (pieces, elsewhere, lost) = (Vec::new(), Vec::new(), Vec::new());
    let mut chains = evidence.chains.clone();
    if chains.is_empty() {
        // The first copy stands for the function itself, also if there is no code.
        let (symbol, start, file) = (function.symbol, function.start(), function.file);
        chains.push(Chain { caller: 0, call: Position::default(), symbol, start, file });
    }
    let picture = Picture { chains, pieces, elsewhere, lost };
    let is_renumbered = is_renumbered(function, starts);
    let has_code = !evidence.chains.is_empty();
    let mut painter = Painter {
        function,
        flow,
        starts,
        symbols,
        entered: Vec::new(),
        counts: HashSet::new(),
        is_renumbered,
        has_code,
        picture,
    };
    let mut seen = Vec::new();
    let mut unseen = Vec::new();
    let mut counts: Vec<i64> = Vec::new();
    for lines in function.lines.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line)) {
        let votes = votes(&evidence.votes, lines[0].file, lines[0].line);
        counts.clear();
        counts.extend(lines.iter().map(|line| painter.count(line)));
        counts.sort_unstable();
        let is_count = |count| counts.binary_search(&count).is_ok();
        let of_spots = votes.chunk_by(|a, b| a.spot == b.spot);
        let keys: Vec<Key> = of_spots.map(|votes| Key::new(votes, is_count)).collect();
        match keys.is_empty() {
            true => unseen.push(lines),
            false => seen.push((lines, keys)),
        }
    }
    let entered = entered(&evidence.chains, &evidence.votes);
    let hints = hints(&evidence.chains, &seen, &entered);
    painter.entered =
        entered.into_iter().zip(&hints).map(|(count, hint)| count.or(*hint)).collect();
    for (lines, keys) in &seen {
        painter.line(lines, keys, &hints);
    }
    let mut others = Vec::new();
    for lines in unseen {
        painter.unseen(lines, &mut others);
    }
    painter.near(&others);
    painter.marks(&evidence.votes);
    painter.picture
}

/// Whether a function has #line in it. If so, the notes say that it ends where it starts, and yet it has
/// lines behind that.
fn is_renumbered(function: &Counted<'_>, starts: &Starts) -> bool {
    let (start, file) = (function.start(), function.file);
    let is_behind = |line: &&Line| line.file == file && line.line > start;
    let is_its = |line: &Line| {
        let last = starts.before(file, line.line).next();
        last.is_some_and(|last| last.iter().any(|last| last.symbol == function.symbol))
    };
    function.notes.end_line == start && function.lines.iter().filter(is_behind).any(is_its)
}

/// How often each copy was entered, where the debug information names the place.
fn entered(chains: &[Chain], votes: &[Vote]) -> Vec<Option<i64>> {
    let mut counts: Vec<Option<i64>> = vec![None; chains.len()];
    let at_once = votes.iter().filter(|vote| !vote.is_sum && vote.spot.chain != 0);
    for votes in at_once.collect::<Vec<_>>().chunk_by(|a, b| a.spot == b.spot) {
        let Spot { chain, file, line, .. } = votes[0].spot;
        let of = &chains[chain as usize];
        if (file, line) == (of.file, of.start) {
            let mut of_blocks = votes.iter().map(|vote| vote.count);
            counts[chain as usize] = of_blocks.try_fold(0i64, |sum, count| sum.checked_add(count?));
        }
    }
    counts
}

/// How often each copy was executed: the count of all that is known about it, if that is one count, or else
/// of its call.
fn hints(
    chains: &[Chain],
    seen: &[(&[Line], Vec<Key>)],
    entered: &[Option<i64>],
) -> Vec<Option<i64>> {
    // What is known about each copy, and whether it is all the same.
    let mut known: Vec<(Option<i64>, bool)> = vec![(None, true); chains.len()];
    let mut of_calls = vec![None; chains.len()];
    let called_at = |chain: &Chain| {
        let line = chains[chain.caller as usize].start.wrapping_add(chain.call.line);
        (chain.caller, line & 0xffff, chain.call.discriminator)
    };
    let mut by_call: Vec<_> = chains.iter().map(called_at).zip(0usize..).skip(1).collect();
    by_call.sort_unstable();
    for key in seen.iter().flat_map(|(_, keys)| keys) {
        let Count::Exactly(count) = key.count else { continue };
        let (first, is_same) = &mut known[key.spot.chain as usize];
        *is_same &= *first.get_or_insert(count) == count;
        let call = (key.spot.chain, key.spot.line & 0xffff, key.spot.discriminator);
        let first = by_call.partition_point(|&(at, _)| at < call);
        let its = by_call[first..].iter().take_while(|&&(at, _)| at == call);
        its.for_each(|&(_, place)| of_calls[place] = Some(count));
    }
    let mut hints: Vec<Option<i64>> = Vec::with_capacity(chains.len());
    for (place, (count, is_same)) in known.into_iter().enumerate() {
        let caller = || hints[chains[place].caller as usize];
        hints.push(match (place, count, is_same) {
            (0, ..) | (_, Some(_), false) => None,
            (_, Some(count), true) => Some(count),
            (_, None, _) => entered[place].or(of_calls[place]).or_else(caller),
        });
    }
    hints
}

fn votes(all: &[Vote], file: FileId, line: u32) -> &[Vote] {
    let first = all.partition_point(|vote| (vote.spot.file, vote.spot.line) < (file, line));
    let behind = all.partition_point(|vote| (vote.spot.file, vote.spot.line) <= (file, line));
    &all[first..behind]
}

struct Painter<'f, 'n> {
    function: &'f Counted<'n>,
    flow: &'f Flow,
    starts: &'f Starts,
    symbols: &'f Symbols,
    /// How often each copy was entered, as far as known.
    entered: Vec<Option<i64>>,
    /// The counts that pieces of each copy have.
    counts: HashSet<(u32, u64)>,
    /// Whether #line renumbers lines of the function. If so, its last line tells nothing.
    is_renumbered: bool,
    /// Whether its code and debug information are known.
    has_code: bool,
    picture: Picture,
}

/// Copies and pieces that [`Painter::near`] adds to.
#[derive(Default)]
struct Near {
    /// The index of each copy.
    places: HashMap<Chain, u32>,
    /// The number of pieces of each line of a copy.
    pieces: HashMap<(u32, FileId, u32), u16>,
}

/// Lines of another function that is not known to be inlined here, and where it may start.
type Other<'l, 's> = (&'l [Line], &'s [Start]);

impl<'f> Painter<'f, '_> {
    fn count(&self, line: &Line) -> i64 {
        self.flow.blocks[line.block as usize]
    }

    fn piece(&mut self, spot: Spot, line: &Line, source: Source) {
        let count = self.count(line).max(0) as u64;
        self.counts.insert((spot.chain, count));
        self.picture.pieces.push(Piece { spot, block: line.block, count, source });
    }

    /// Gives the pieces of a line their blocks, and gives blocks without pieces estimates.
    fn line(&mut self, lines: &[Line], keys: &[Key], hints: &[Option<i64>]) {
        if let ([line], [key]) = (lines, keys) {
            return self.piece(key.spot, line, key.source(true));
        }
        let counts: Vec<i64> = lines.iter().map(|line| self.count(line)).collect();
        let several = keys.iter().any(|key| key.spot.chain != keys[0].spot.chain);
        let mut blocks = Vec::with_capacity(keys.len());
        let mut taken = vec![false; lines.len()];
        let mut long = LongLine::new(keys.len(), &counts);
        let mut copies: Vec<&[Key]> = keys.chunk_by(|a, b| a.spot.chain == b.spot.chain).collect();
        // Certain copies go first, so that the others do not get their blocks.
        let is_certain = |key: &Key| matches!(key.count, Count::Exactly(_));
        copies.sort_by_key(|keys| !keys.iter().all(is_certain));
        for keys in copies {
            let hint = hints[keys[0].spot.chain as usize];
            let found = match &mut long {
                None => in_order(keys, &counts, hint, several.then_some(&taken)),
                Some(long) => long.take(keys, hint),
            };
            for (key, block) in keys.iter().zip(found) {
                self.piece(key.spot, &lines[block], key.source(lines.len() == 1));
                blocks.push((key.spot, block));
                taken[block] = true;
            }
        }
        // For the compiler, blocks with the same count may be the same.
        let mut of_pieces: Vec<i64> = blocks.iter().map(|&(_, block)| counts[block]).collect();
        of_pieces.sort_unstable();
        let is_open = |count: &i64| of_pieces.binary_search(count).is_err();
        let mut is_open: Vec<bool> = counts.iter().map(is_open).collect();
        self.give_to_silent(keys, lines, &mut is_open);
        self.fill(keys, &blocks, lines, &is_open);
    }

    /// Gives blocks without pieces to silent copies of the function: they show nothing of the line in the
    /// code, but were entered as often as the block was executed.
    fn give_to_silent(&mut self, keys: &[Key], lines: &[Line], is_open: &mut [bool]) {
        if !is_open.contains(&true) {
            return;
        }
        let symbol = |chain: u32| self.picture.chains.get(chain as usize).map(|chain| chain.symbol);
        let of_keys = symbol(keys[0].spot.chain);
        // Keys are sorted by their copies.
        let has_key = |chain: u32| keys.binary_search_by_key(&chain, |key| key.spot.chain).is_ok();
        let is_silent = |&chain: &u32| symbol(chain) == of_keys && !has_key(chain);
        let silent: Vec<u32> = (1..self.picture.chains.len() as u32).filter(is_silent).collect();
        let entered: HashSet<i64> =
            silent.iter().filter_map(|&chain| self.entered[chain as usize]).collect();
        let mut given = Vec::new();
        for (line, open) in lines.iter().zip(is_open) {
            if *open && entered.contains(&self.count(line)) {
                *open = false;
                given.push(*line);
            }
        }
        if !given.is_empty() {
            self.share(&given, &silent);
        }
    }

    /// Gives blocks without pieces the discriminators between those of other blocks.
    fn fill(&mut self, keys: &[Key], blocks: &[(Spot, usize)], lines: &[Line], is_open: &[bool]) {
        if !is_open.contains(&true) {
            return;
        }
        let several = keys.iter().any(|key| key.spot.chain != keys[0].spot.chain);
        let chain = keys[0].spot.chain;
        let own = || blocks.iter().filter(|(spot, _)| spot.chain == chain);
        let mut greatest: Vec<Option<u16>> = vec![None; lines.len()];
        own().for_each(|&(spot, block)| {
            greatest[block] = greatest[block].max(Some(spot.discriminator));
        });
        let taken: HashSet<u16> = own().map(|(spot, _)| spot.discriminator).collect();
        let mut last: Option<u16> = None;
        for (place, line) in lines.iter().enumerate() {
            last = greatest[place].map(|greatest| greatest.max(last.unwrap_or(0))).or(last);
            if !is_open[place] {
                continue;
            }
            let discriminator = last.map_or(0, |last| last.saturating_add(1));
            let is_taken = taken.contains(&discriminator);
            let spot = Spot { chain, discriminator, ..keys[0].spot };
            if !is_taken {
                last = Some(discriminator);
            }
            self.piece(spot, line, if several || is_taken { Source::Guess } else { Source::Notes });
        }
    }

    /// Handles a line that the machine code does not show at all.
    fn unseen<'l>(&mut self, lines: &'l [Line], others: &mut Vec<Other<'l, 'f>>) {
        let Line { file, line, .. } = lines[0];
        match self.owner(file, line) {
            Owner::Chains(chains) => self.share(lines, &chains),
            Owner::Others(starts) => others.push((lines, starts)),
            Owner::Nobody => {
                let count = |line: &Line| (*line, self.count(line).max(0) as u64, Lost::NoFunction);
                let counts: Vec<_> = lines.iter().map(count).collect();
                self.picture.lost.extend(counts);
            }
        }
    }

    /// Adds pieces that the notes do not have: the compiler removed them before it laid the counters out. The
    /// debug information tells where they stood.
    fn marks(&mut self, votes: &[Vote]) {
        for votes in votes.chunk_by(|a, b| a.spot == b.spot) {
            let spot = votes[0].spot;
            if self.function.has(spot.file, spot.line) {
                continue;
            }
            let of_blocks = votes.iter().filter(|vote| !vote.is_sum);
            let sum = of_blocks
                .map(|vote| vote.count)
                .try_fold(0i64, |sum, count| sum.checked_add(count?));
            let Some(count) = sum else { continue };
            let count = count.max(0) as u64;
            self.picture.pieces.push(Piece { spot, block: 0, count, source: Source::Removed });
        }
    }

    /// Handles lines of functions that left no trace in the code. Each is inlined where the line before it in
    /// its block stands, or else the line behind it.
    fn near(&mut self, others: &[Other<'_, 'f>]) {
        if others.is_empty() {
            return;
        }
        let mut known = HashMap::new();
        let mut near = Near::default();
        for piece in &self.picture.pieces {
            let Spot { chain, file, line, .. } = piece.spot;
            known.entry((piece.block, file, line)).or_insert(piece.spot);
            let number = near.pieces.entry((chain, file, line)).or_insert(0u16);
            *number = number.saturating_add(1);
        }
        for (chain, place) in self.picture.chains.iter().zip(0..) {
            near.places.entry(*chain).or_insert(place);
        }
        let by_block = self.by_block();
        for &(lines, starts) in others {
            let mut most = None;
            for line in lines {
                let of_block = by_block.get(&line.block).copied().unwrap_or(&[]);
                let file = |other: &gcno::Line| self.function.known.files[other.file as usize];
                let is_it =
                    |other: &gcno::Line| (file(other), other.line) == (line.file, line.line);
                let place = of_block.iter().position(is_it).unwrap_or(0);
                let spot = |other: &gcno::Line| {
                    let spot = known.get(&(line.block, file(other), other.line)).copied();
                    spot.filter(|spot: &Spot| !(spot.file, spot.line).eq(&(line.file, line.line)))
                };
                let before = of_block[..place].iter().rev().find_map(spot);
                let behind = || of_block.iter().skip(place + 1).find_map(spot);
                match before.or_else(behind) {
                    Some(call) => {
                        let caller = self.picture.chains.get(call.chain as usize);
                        let caller = caller.map_or(self.function.symbol, |chain| chain.symbol);
                        let start = *self.called(starts, caller);
                        self.inlined_at(line, &start, call, &mut near);
                    }
                    None => most = most.max(Some(self.count(line).max(0) as u64)),
                }
            }
            if let Some(most) = most {
                let start = self.called(starts, self.function.symbol);
                let line = lines[0].line - start.line;
                self.picture.elsewhere.push((Elsewhere { symbol: start.symbol, line }, most));
            }
        }
    }

    /// The lines of each block, in their order.
    fn by_block(&self) -> HashMap<u32, &'f [gcno::Line]> {
        let all = self.function.known.notes.lines(self.function.notes);
        let of_blocks = all.chunk_by(|a, b| a.block == b.block);
        of_blocks.map(|lines| (lines[0].block, lines)).collect()
    }

    /// Adds a line of a function that is inlined at a piece of the source.
    fn inlined_at(&mut self, line: &Line, start: &Start, call: Spot, near: &mut Near) {
        let chains = &mut self.picture.chains;
        let caller_start = chains.get(call.chain as usize).map_or(0, |chain| chain.start);
        let chain = Chain {
            caller: call.chain,
            call: Position {
                line: call.line.wrapping_sub(caller_start) & 0xffff,
                discriminator: call.discriminator,
            },
            symbol: start.symbol,
            start: start.line,
            file: line.file,
        };
        let place = *near.places.entry(chain).or_insert_with(|| {
            chains.push(chain);
            chains.len() as u32 - 1
        });
        let (file, at) = (line.file, line.line);
        let number = near.pieces.entry((place, file, at)).or_insert(0u16);
        let spot = Spot { chain: place, file, line: at, discriminator: *number };
        *number = number.saturating_add(1);
        self.piece(spot, line, Source::Near);
    }

    /// Gives the blocks of a line to the copies of its function: first to those that were entered as often as
    /// the block was executed.
    fn share(&mut self, lines: &[Line], chains: &[u32]) {
        let mut next = vec![0u16; chains.len()];
        let mut by_count: Vec<(i64, Line)> =
            lines.iter().map(|line| (self.count(line), *line)).collect();
        by_count.sort_by_key(|&(count, _)| count);
        for blocks in by_count.chunk_by(|a, b| a.0 == b.0) {
            let (places, source) = self.sharers(blocks[0].0, chains);
            // Several copies may be in one block, for instance calls in one expression.
            let times = match source {
                Source::Notes => blocks.len().max(places.len()),
                _ => blocks.len(),
            };
            for time in 0..times {
                let place = places[time * places.len() / times];
                let line = blocks[time * blocks.len() / times].1;
                let Line { file, line: at, .. } = line;
                let spot =
                    Spot { chain: chains[place], file, line: at, discriminator: next[place] };
                next[place] = next[place].saturating_add(1);
                self.piece(spot, &line, source);
            }
        }
    }

    /// The copies that blocks of a line with this count may belong to, by their indexes in `chains`, and how
    /// that is known. There is at least one.
    fn sharers(&self, count: i64, chains: &[u32]) -> (Vec<usize>, Source) {
        let which = |fits: &dyn Fn(u32) -> bool| -> Vec<usize> {
            (0..chains.len()).filter(|&place| fits(chains[place])).collect()
        };
        if chains.len() == 1 {
            return (vec![0], Source::Notes);
        }
        let entered = |chain: u32| self.entered.get(chain as usize).copied().flatten();
        let exactly = which(&|chain| entered(chain) == Some(count));
        if !exactly.is_empty() {
            return (exactly, Source::Notes);
        }
        let has_such = |chain: u32| {
            u64::try_from(count).is_ok_and(|count| self.counts.contains(&(chain, count)))
        };
        let may_be = |chain: u32| count == 0 || entered(chain) != Some(0);
        let attempts: [&dyn Fn(u32) -> bool; 3] =
            [&|chain| may_be(chain) && has_such(chain), &|chain| entered(chain).is_none(), &may_be];
        let found = attempts.into_iter().map(which).find(|places| !places.is_empty());
        (found.unwrap_or_else(|| which(&|_| true)), Source::Guess)
    }

    /// The function that a line belongs to, by where functions start and end.
    fn owner(&self, file: FileId, line: u32) -> Owner<'f> {
        let function = self.function;
        let (end, is_renumbered) = (function.notes.end_line, self.is_renumbered);
        let is_own = file == function.file && function.start() <= line;
        for starts in self.starts.before(file, line) {
            let is_itself = |start: &Start| start.symbol == function.symbol;
            if is_own && (line <= end || is_renumbered) && starts.iter().any(is_itself) {
                return Owner::Chains(vec![0]);
            }
            let is_open = |start: &&Start| match start.end {
                Some(end) => line <= end || end == start.line,
                None => true,
            };
            let is_its = |chain: &Chain| {
                starts.iter().filter(is_open).any(|start| start.symbol == chain.symbol)
            };
            let chains = self.picture.chains.iter().enumerate().skip(1);
            let chains: Vec<u32> =
                chains.filter(|(_, chain)| is_its(chain)).map(|(place, _)| place as u32).collect();
            if !chains.is_empty() {
                return Owner::Chains(chains);
            }
            let has_line = |start: &Start| start.end.map_or(start.is_outer, |end| line <= end);
            if starts.iter().any(has_line) {
                return Owner::Others(starts);
            }
        }
        // With debug information, a file without functions is one that is included within a function.
        let is_included = self.has_code && !self.starts.knows(file);
        match is_own || is_renumbered || is_included {
            true => Owner::Chains(vec![0]),
            false => Owner::Nobody,
        }
    }

    /// Several functions may start on one line, such as instances of a template. Picks the one that `caller`
    /// calls: its name has the most in common with the caller's, and the fewest identifiers that this one lacks.
    fn called<'s>(&self, starts: &'s [Start], caller: SymbolId) -> &'s Start {
        if let [only] = starts {
            return only;
        }
        let name = |symbol| self.symbols.name(symbol);
        let likeness = |start: &&Start| {
            let (callee, caller) = (name(start.symbol), name(caller));
            (common(callee, caller), core::cmp::Reverse(strangers(callee, caller)))
        };
        starts.iter().max_by_key(likeness).unwrap_or(&starts[0])
    }
}

/// The length of the longest part that two names share.
fn common(a: &[u8], b: &[u8]) -> usize {
    let mut longest = 0;
    // For each index in `b`: the length of the common part that ends there and at the current index in `a`.
    let mut lengths = vec![0usize; b.len() + 1];
    for &byte in a {
        for place in (0..b.len()).rev() {
            lengths[place + 1] = if b[place] == byte { lengths[place] + 1 } else { 0 };
            longest = longest.max(lengths[place + 1]);
        }
    }
    longest
}

/// The number of a mangled name's identifiers that another one has not. Each has its length before it: `1A`.
fn strangers(name: &[u8], other: &[u8]) -> usize {
    let mut strangers = 0;
    let mut rest = name;
    while let Some(start) = rest.iter().position(u8::is_ascii_digit) {
        rest = &rest[start..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length = str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
        let end = digits.saturating_add(length.unwrap_or(0)).min(rest.len());
        let identifier = &rest[..end];
        strangers += usize::from(!other.windows(identifier.len()).any(|part| part == identifier));
        rest = &rest[end..];
    }
    strangers
}

impl Key {
    /// How the block of its piece is known, which may be the only block of its line.
    fn source(&self, is_only: bool) -> Source {
        match self.count {
            Count::Exactly(_) if self.has_instructions => Source::Code,
            Count::Exactly(_) => Source::Mark,
            _ if is_only => Source::Code,
            _ => Source::Order,
        }
    }
}

enum Owner<'s> {
    /// These copies of it.
    Chains(Vec<u32>),
    /// One of these functions. It is not known to be inlined here.
    Others(&'s [Start]),
    Nobody,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An iterator over A in a function of A, and not the one over B.
    #[test]
    fn the_instance_of_a_template() {
        let caller = b"_Z3sumI1AEiRKSt6vectorIT_SaIS2_EE";
        let iterator = |of: &str| {
            alloc::format!("_ZN9__gnu_cxx17__normal_iteratorIPK1{of}St6vectorIS1_SaIS1_EEEppEv")
        };
        let [of_a, of_b] = ["A", "B"].map(iterator);
        assert_eq!(common(of_a.as_bytes(), caller), common(of_b.as_bytes(), caller));
        assert!(strangers(of_a.as_bytes(), caller) < strangers(of_b.as_bytes(), caller));
        assert_eq!(strangers(b"99999999999999999999A", b""), 1);
    }
}
