//! A function's blocks with their counts and positions: what is known about it before any reader's wishes.
//!
//! The notes say which lines a block has, and the counters how often it was executed. The machine code says
//! which inlined copies have those lines, their discriminators, and mostly how often each was
//! executed ([`super::observe`]). A piece of the source belongs to the block that has its line and its
//! count.
//!
//! Where these leave doubt, pieces and blocks are paired in their order. Compilers mostly keep it: they
//! number the blocks of a line in the order in which they lay them out. That is an estimate.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::observe::{Chain, Spot, Vote};
use super::rules::lines_in_code::{self, Copies};
use super::rules::pairing::Key;
use super::rules::preheaders::{self, Entry};
use super::rules::unrecorded_inlines::{Missing, Other};
use super::rules::{counts_of_copies, lines_in_notes_only};
use super::solve::counted::{Counted, Line};
use super::solve::flow::{EXIT, Flow};
use super::solve::loops;
use super::starts::Starts;
use super::{Rule, RuleSet};
use crate::convert::gcov::statistics::Lost;
use crate::profile::{FileId, SymbolId, Symbols};

/// What is known about a function.
pub struct Picture {
    /// Copies inlined early, see [`Evidence::chains`](super::observe::Evidence::chains), and those that only the lines of
    /// blocks show.
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
    /// The file and the line.
    pub of: (FileId, u32),
}

/// The block of a piece that has none: the entry, which has no lines.
pub const NO_BLOCK: u32 = 0;

/// A piece of the source in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it stands.
    pub spot: Spot,
    /// The block, or the function's entry if it has none.
    pub block: u32,
    /// Executions.
    pub count: u64,
    /// How the piece is known.
    pub source: Source,
}

impl Piece {
    /// Whether it was inferred that the block has this piece.
    pub fn is_estimate(&self) -> bool {
        match self.source {
            Source::Order | Source::Numbered | Source::Guess | Source::Near | Source::Removed => {
                true
            }
            Source::Code | Source::Mark | Source::Hidden | Source::Notes | Source::Entry => false,
        }
    }

    /// The line in the block.
    pub fn line(&self) -> Line {
        Line { file: self.spot.file, line: self.spot.line, block: self.block }
    }
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
    /// The code hardly shows its line. Its discriminator follows from the order of the line's blocks.
    Numbered,
    /// The notes have its block. Its discriminator is missing between those of pieces in the code.
    Hidden,
    /// Only the notes have it. Its discriminator is an estimate.
    Notes,
    /// Its copy is an estimate, too.
    Guess,
    /// It is a value that comes with the way into a loop, and has no block. See [`preheaders`].
    Entry,
    /// The line next to it in its block shows where it is inlined.
    Near,
    /// The debug information names it, but it has no counters: the compiler removed it before laying them
    /// out.
    Removed,
}

/// Memory for the pictures of one function after the other.
#[derive(Default)]
pub struct Memory {
    lines: Lines,
    of_line: lines_in_code::Memory,
    of_painter: OfPainter,
    loops: preheaders::Memory,
}

/// Memory that a painter needs all the time.
#[derive(Default)]
struct OfPainter {
    /// The counts that pieces of each copy have.
    counts: HashSet<(u32, u64)>,
    sharing: lines_in_notes_only::Memory,
}

/// Finds out what is known about a function, from its [chains](super::observe::Evidence::chains) and
/// [`Votes`](super::observe::Votes).
pub fn picture(
    function: &Counted<'_>,
    flow: &Flow,
    (chains, all): (&[Chain], &[Vote]),
    known: (&Starts, &Symbols),
    rules: RuleSet,
    memory: &mut Memory,
) -> Picture {
    let Memory { lines, of_line, of_painter, loops } = memory;
    of_painter.counts.clear();
    let mut painter = Painter::new(function, flow, chains, known, rules, of_painter);
    painter.included.extend(included(chains, all));
    let of_function = painter.with_entries(loops);
    painter.lines(&of_function, all, lines);
    let entered = counts_of_copies::entered(chains, all);
    let mut hints = counts_of_copies::hints(chains, &lines.keys, &entered);
    if !rules.has(Rule::CountsOfCopies) {
        hints.fill(None);
    }
    painter.entered =
        entered.into_iter().zip(&hints).map(|(count, hint)| count.or(*hint)).collect();
    let copies = Copies { segments: painter.segments(&of_function, lines), hints };
    for (places, keys) in &lines.seen {
        let (places, keys) = (&of_function[places.clone()], &lines.keys[keys.clone()]);
        painter.place_line(places, keys, &copies, of_line);
    }
    let unseen = lines.unseen.iter().map(|places| &of_function[places.clone()]);
    let others: Vec<Other<'_, '_>> =
        unseen.filter_map(|lines| painter.unseen(lines, &copies.segments)).collect();
    painter.near(&others);
    if rules.has(Rule::RemovedLines) {
        painter.marks(all);
    }
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

/// The files besides its own with instructions of the function itself, and not of copies.
fn included(chains: &[Chain], all: &[Vote]) -> impl Iterator<Item = FileId> {
    let own = chains.first().map(|function| function.file);
    let is_its = move |vote: &&Vote| vote.spot.chain == 0 && vote.instructions > 0;
    all.iter().filter(is_its).map(|vote| vote.spot.file).filter(move |file| Some(*file) != own)
}

/// The votes for a line. Leaves those for later lines.
fn next_votes<'v>(all: &mut &'v [Vote], file: FileId, line: u32) -> &'v [Vote] {
    let place = |vote: &&Vote| (vote.spot.file, vote.spot.line);
    let before = all.iter().take_while(|vote| place(vote) < (file, line)).count();
    let votes = all[before..].iter().take_while(|vote| place(vote) == (file, line)).count();
    let (found, later) = all[before..].split_at(votes);
    *all = later;
    found
}

/// The lines of a function's notes, each with its blocks: their places among those [with entries](Painter::with_entries).
#[derive(Default)]
pub struct Lines {
    /// Those that the machine code shows, and the places of their keys.
    pub(super) seen: Vec<(Range<usize>, Range<usize>)>,
    /// The pieces that it shows, line by line.
    pub(super) keys: Vec<Key>,
    /// Those that it does not show.
    pub(super) unseen: Vec<Range<usize>>,
    /// The counts of a line's blocks, and the weights that votes give counts.
    pub(super) counts: Vec<i64>,
    pub(super) tally: Vec<(i64, u32)>,
}

/// Paints the picture of one function.
pub struct Painter<'f, 'n> {
    pub(super) function: &'f Counted<'n>,
    pub(super) flow: &'f Flow,
    pub(super) starts: &'f Starts,
    pub(super) symbols: &'f Symbols,
    pub(super) rules: RuleSet,
    /// How often each copy was entered, as far as known.
    pub(super) entered: Vec<Option<i64>>,
    /// Whether there are copies inlined early.
    pub(super) has_copies: bool,
    /// The counts that pieces of each copy have, if there are copies.
    pub(super) counts: &'f mut HashSet<(u32, u64)>,
    pub(super) sharing: &'f mut lines_in_notes_only::Memory,
    /// Whether #line renumbers lines of the function. If so, its last line tells nothing.
    pub(super) is_renumbered: bool,
    /// For a function that the compiler made: where the function starts whose code it got. The lines of that function
    /// that it has are its own.
    pub(super) home: Option<u32>,
    /// Whether its code and debug information are known.
    pub(super) has_code: bool,
    /// Other files with lines that the code shows in the function itself.
    pub(super) included: HashSet<FileId>,
    /// The starts of loops that have no block.
    pub(super) entries: Vec<Entry>,
    /// Lines of copies that the debug information lacks.
    pub(super) missing: Vec<Missing>,
    /// For each function whose copies have segments: whether all lines that the code shows agree with them.
    pub(super) agree: HashMap<SymbolId, bool>,
    pub(super) picture: Picture,
}

impl<'f, 'n> Painter<'f, 'n> {
    fn new(
        function: &'f Counted<'n>,
        flow: &'f Flow,
        known: &[Chain],
        (starts, symbols): (&'f Starts, &'f Symbols),
        rules: RuleSet,
        memory: &'f mut OfPainter,
    ) -> Self {
        let OfPainter { counts, sharing } = memory;
        let mut chains = known.to_vec();
        if chains.is_empty() {
            // The first copy stands for the function itself, also if there is no code.
            chains.push(Chain::itself(function.symbol, function.start(), function.file));
        }
        let pieces = Vec::with_capacity(function.lines.len());
        let (elsewhere, lost) = (Vec::new(), Vec::new());
        Self {
            function,
            flow,
            starts,
            symbols,
            rules,
            entered: Vec::new(),
            has_copies: chains.len() > 1,
            counts,
            sharing,
            is_renumbered: is_renumbered(function, starts),
            home: function.home(starts),
            has_code: !known.is_empty(),
            included: HashSet::new(),
            entries: Vec::new(),
            missing: Vec::new(),
            agree: HashMap::new(),
            picture: Picture { chains, pieces, elsewhere, lost },
        }
    }

    /// Finds the lines that the machine code shows, and those that it does not show.
    fn lines(&self, of_function: &[Line], all: &[Vote], found: &mut Lines) {
        let Lines { seen, keys, unseen, counts, tally } = found;
        seen.clear();
        keys.clear();
        unseen.clear();
        // Both are in the order of files and lines.
        let (mut all, mut first) = (all, 0);
        for lines in of_function.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line)) {
            counts.clear();
            counts.extend(lines.iter().map(|line| self.count(line)));
            counts.sort_unstable();
            let is_count = |count| counts.binary_search(&count).is_ok();
            let votes = next_votes(&mut all, lines[0].file, lines[0].line);
            let of_spots = votes.chunk_by(|a, b| a.spot == b.spot);
            let of_spots = of_spots.filter(|votes| !self.is_strayed(&votes[0].spot));
            let of_line = first..first + lines.len();
            let first_key = keys.len();
            keys.extend(of_spots.map(|votes| Key::new(votes, tally, is_count)));
            match keys.len() - first_key {
                0 => unseen.push(of_line),
                _ => seen.push((of_line, first_key..keys.len())),
            }
            first += lines.len();
        }
    }

    pub(super) fn count(&self, line: &Line) -> i64 {
        let block = line.block as usize;
        let entry = || self.entries[block - self.flow.blocks.len()].count;
        self.flow.blocks.get(block).copied().unwrap_or_else(entry)
    }

    pub(super) fn piece(&mut self, spot: Spot, line: &Line, source: Source) {
        let count = self.count(line).max(0) as u64;
        if self.has_copies {
            self.counts.insert((spot.chain, count));
        }
        let is_block = line.block < self.function.notes.blocks;
        let (block, source) =
            if is_block { (line.block, source) } else { (NO_BLOCK, Source::Entry) };
        self.picture.pieces.push(Piece { spot, block, count, source });
    }

    /// Adds pieces that the notes do not have: the compiler removed them before it laid the counters out. The
    /// debug information tells where they stood.
    ///
    /// Where instructions of such a line are at a join without other lines, in the code as in the notes, the compiler merged
    /// the ends of several lines there. The block has their sum, and nothing says how often each was executed:
    ///
    /// ```c
    /// if (a)
    ///     return &ok;     /* executed ten times, and `&ok` is loaded a thousand times */
    /// if (b) {
    ///     c++;
    ///     return &ok;
    /// }
    /// ```
    ///
    /// The last line of a function is no such line: all ends lead there in the source, too.
    fn marks(&mut self, votes: &[Vote]) {
        let mut merged: Option<Vec<i64>> = None;
        for votes in votes.chunk_by(|a, b| a.spot == b.spot) {
            let spot = votes[0].spot;
            if self.function.has(spot.file, spot.line) || self.is_strayed(&spot) {
                continue;
            }
            let of_blocks = votes.iter().filter(|vote| !vote.is_sum);
            let sum = of_blocks
                .map(|vote| vote.count)
                .try_fold(0i64, |sum, count| sum.checked_add(count?));
            let Some(count) = sum else { continue };
            let may_be_merged = votes.iter().any(|vote| vote.is_join && vote.instructions > 0)
                && !self.starts.has_end(spot.file, spot.line);
            if may_be_merged && merged.get_or_insert_with(|| self.merged()).contains(&count) {
                continue;
            }
            let count = count.max(0) as u64;
            self.picture.pieces.push(Piece {
                spot,
                block: NO_BLOCK,
                count,
                source: Source::Removed,
            });
        }
    }

    /// The counts of blocks without lines that several blocks lead to.
    fn merged(&self) -> Vec<i64> {
        let mut ways = vec![0u32; self.flow.blocks.len()];
        for arc in self.function.arcs().iter().filter(|arc| !arc.is_fake()) {
            ways[arc.destination as usize] += 1;
        }
        self.function.lines.iter().for_each(|line| ways[line.block as usize] = 0);
        ways[EXIT as usize] = 0;
        let blocks = ways.iter().zip(&self.flow.blocks);
        blocks.filter(|&(&ways, _)| ways > 1).map(|(_, &count)| count).collect()
    }
}
