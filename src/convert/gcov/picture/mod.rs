//! A function's blocks with their counts and positions: what is known about it before any reader's wishes.
//!
//! The notes say which lines a block has, and the counters how often it was executed. The machine code says
//! which inlined copies have those lines, their discriminators, and mostly how often each was
//! executed ([`super::evidence`]). A piece of the source belongs to the block that has its line and its
//! count.
//!
//! Where these leave doubt, pieces and blocks are paired in their order. Compilers mostly keep it: they
//! number the blocks of a line in the order in which they lay them out. That is an estimate.

mod copies;
mod likeness;
mod long_lines;
mod loops;
mod near;
mod pairing;
mod seen;
mod unseen;

use alloc::vec::Vec;

use hashbrown::HashSet;

use self::near::Other;
use self::pairing::Key;
use super::counted::{Counted, Line};
use super::evidence::{Chain, Evidence, Spot, Vote};
use super::flow::Flow;
use super::starts::Starts;
use super::statistics::Lost;
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
    let mut painter = Painter::new(function, flow, evidence, starts, symbols);
    let (seen, unseen) = painter.lines(&evidence.votes);
    let entered = copies::entered(&evidence.chains, &evidence.votes);
    let hints = copies::hints(&evidence.chains, &seen, &entered);
    painter.entered =
        entered.into_iter().zip(&hints).map(|(count, hint)| count.or(*hint)).collect();
    for (lines, keys) in &seen {
        painter.line(lines, keys, &hints);
    }
    let others: Vec<Other<'_, '_>> =
        unseen.into_iter().filter_map(|lines| painter.unseen(lines)).collect();
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

fn votes(all: &[Vote], file: FileId, line: u32) -> &[Vote] {
    let first = all.partition_point(|vote| (vote.spot.file, vote.spot.line) < (file, line));
    let behind = all.partition_point(|vote| (vote.spot.file, vote.spot.line) <= (file, line));
    &all[first..behind]
}

/// A line of a function's notes: its blocks, and the pieces that the machine code shows of it.
type SeenLine<'l> = (&'l [Line], Vec<Key>);

/// Paints the picture of one function.
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

impl<'f, 'n> Painter<'f, 'n> {
    fn new(
        function: &'f Counted<'n>,
        flow: &'f Flow,
        evidence: &Evidence,
        starts: &'f Starts,
        symbols: &'f Symbols,
    ) -> Self {
        let mut chains = evidence.chains.clone();
        if chains.is_empty() {
            // The first copy stands for the function itself, also if there is no code.
            let (symbol, start, file) = (function.symbol, function.start(), function.file);
            chains.push(Chain { caller: 0, call: Position::default(), symbol, start, file });
        }
        let pieces = Vec::with_capacity(function.lines.len());
        let (elsewhere, lost) = (Vec::new(), Vec::new());
        Self {
            function,
            flow,
            starts,
            symbols,
            entered: Vec::new(),
            counts: HashSet::new(),
            is_renumbered: is_renumbered(function, starts),
            has_code: !evidence.chains.is_empty(),
            picture: Picture { chains, pieces, elsewhere, lost },
        }
    }

    /// The lines that the machine code shows, and those that it does not show.
    fn lines(&self, all: &[Vote]) -> (Vec<SeenLine<'f>>, Vec<&'f [Line]>) {
        let (mut seen, mut unseen) = (Vec::new(), Vec::new());
        let mut counts: Vec<i64> = Vec::new();
        let function: &'f Counted<'n> = self.function;
        for lines in function.lines.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line)) {
            counts.clear();
            counts.extend(lines.iter().map(|line| self.count(line)));
            counts.sort_unstable();
            let is_count = |count| counts.binary_search(&count).is_ok();
            let votes = votes(all, lines[0].file, lines[0].line);
            let of_spots = votes.chunk_by(|a, b| a.spot == b.spot);
            let keys: Vec<Key> = of_spots.map(|votes| Key::new(votes, is_count)).collect();
            match keys.is_empty() {
                true => unseen.push(lines),
                false => seen.push((lines, keys)),
            }
        }
        (seen, unseen)
    }

    fn count(&self, line: &Line) -> i64 {
        self.flow.blocks[line.block as usize]
    }

    fn piece(&mut self, spot: Spot, line: &Line, source: Source) {
        let count = self.count(line).max(0) as u64;
        self.counts.insert((spot.chain, count));
        self.picture.pieces.push(Piece { spot, block: line.block, count, source });
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
}
