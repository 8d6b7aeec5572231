//! The block, the copy and the count of each position of a function: what the rules find out, before any reader's
//! wishes.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::{fmt, iter};

use hashbrown::{HashMap, HashSet};

use super::Rule;
use super::facts::Facts;
use super::facts::call_order::CallOrder;
use super::facts::position_evidence::PositionEvidence;
use super::facts::segment::DeclaredAt;
use super::known_positions::KnownPositions;
use super::lost::Lost;
use super::observe::{InlineInstance, SourcePosition};
use super::solve::counted::{Counted, Line};
use super::solve::loops;
use super::starts::Start;
use crate::profile::{FileId, SymbolId};

/// Where the counts of a function belong.
#[derive(Default)]
pub struct Assignment<'a> {
    /// Copies inlined early, see [`Evidence::instances`](super::observe::Evidence::instances), and those that only
    /// the lines of blocks show.
    pub instances: Vec<InlineInstance>,
    /// Positions in the source, each with its block.
    pub placed: Vec<PlacedPosition>,
    /// Blocks of a line without a position of their own. Each was executed as often as one that has a position by an
    /// estimate, and shares that.
    pub sharing: Vec<Line>,
    /// Lines of other functions that are not known to be inlined here.
    pub elsewhere: Vec<(Elsewhere, u64)>,
    /// Lines that no known function has.
    pub lost: Vec<(Line, u64, Lost)>,
    /// What is still to do.
    pub(super) open: Open<'a>,
}

/// What the rules before have left to those behind them.
#[derive(Default)]
pub struct Open<'a> {
    /// The lines that the code shows.
    pub groups: Vec<Group<'a>>,
    /// Lines of functions that are not known to be inlined here.
    pub others: Vec<Other<'a>>,
    /// Lines of copies that the debug information lacks.
    pub missing: Vec<Missing>,
    /// For each function whose copies have segments: whether all lines that the code shows agree with them.
    pub agree: HashMap<DeclaredAt, bool>,
    /// The counts that positions of each copy have, if there are copies.
    pub counts: HashSet<(u32, u64)>,
    /// The positions in the blocks of lines of functions that left no trace.
    pub known: Option<KnownPositions>,
    pub sharing: SharingMemory,
}

/// A line of a copy that the debug information lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub line: Line,
    /// Another copy of its function.
    pub instance: u32,
}

/// Lines of another function that is not known to be inlined here, and where it may start.
pub type Other<'a> = (&'a [Line], &'a [Start]);

/// Memory to share the blocks of one line after the other.
#[derive(Default)]
pub struct SharingMemory {
    /// The discriminator of each copy's next position.
    pub next: Vec<u16>,
    /// The blocks, by their counts.
    pub by_count: Vec<(i64, Line)>,
}

/// Blocks of a line, and the positions that the code shows there. Rules split a line into such groups, and then give
/// the positions blocks.
pub struct Group<'a> {
    pub lines: Cow<'a, [Line]>,
    /// If there are none, all blocks belong to one copy, or are left.
    pub positions: Cow<'a, [PositionEvidence]>,
    pub kind: Kind,
    /// Positions that have blocks, by the index of the block.
    pub found: Vec<(SourcePosition, usize)>,
    /// For each block: whether no position has its count; empty if all counts have one. `None` until that is known.
    pub is_open: Option<Vec<bool>>,
    /// What the calls before the line tell, if that is not known of all copies.
    pub call_order: Option<Box<CallOrder>>,
}

/// What is known about a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The whole line, or what is left of it. Blocks without a position may belong to other copies.
    Line,
    /// The blocks that a rule gave one copy.
    OfCopy(u32, Rule),
    /// The whole line. Other copies have these blocks, and perhaps more that have no position.
    Shared(HashSet<u32>),
    /// Blocks that are left when all positions have theirs. The positions are those of the whole line.
    Left,
}

impl<'a> Group<'a> {
    pub const fn new(
        lines: Cow<'a, [Line]>,
        positions: Cow<'a, [PositionEvidence]>,
        kind: Kind,
    ) -> Self {
        Self { lines, positions, kind, found: Vec::new(), is_open: None, call_order: None }
    }

    /// Whether no rule has given its positions blocks.
    pub const fn is_new(&self) -> bool {
        self.is_open.is_none()
    }

    /// Whether its positions wait for blocks.
    pub fn is_waiting(&self) -> bool {
        self.is_new() && self.kind != Kind::Left && !self.positions.is_empty()
    }

    /// Whether blocks are left without a position.
    pub fn is_any_open(&mut self) -> bool {
        self.is_open.get_or_insert_with(|| vec![true; self.lines.len()]).contains(&true)
    }

    /// All blocks have positions now.
    pub fn close(&mut self) {
        self.is_open = Some(Vec::new());
    }
}

impl<'a> Assignment<'a> {
    /// Nothing but these copies.
    pub fn of(instances: Vec<InlineInstance>) -> Self {
        Self { instances, ..Self::default() }
    }

    /// Each line that the code shows is a group at first.
    pub fn new(facts: &'a Facts<'_, '_>) -> Self {
        let mut new = Self::of(facts.instances.clone());
        new.placed.reserve(facts.function.lines.len());
        new.open.groups.reserve(facts.in_code.len());
        for (lines, positions) in &facts.in_code {
            let (lines, positions) =
                (&facts.lines[lines.clone()], &facts.positions[positions.clone()]);
            let (lines, positions) = (Cow::Borrowed(lines), Cow::Borrowed(positions));
            new.open.groups.push(Group::new(lines, positions, Kind::Line));
        }
        new
    }

    /// Gives a position a line's block.
    pub fn place(
        &mut self,
        facts: &Facts<'_, '_>,
        at: SourcePosition,
        line: &Line,
        (rule, provenance): (Rule, Provenance),
    ) {
        let count = facts.count(line).max(0) as u64;
        if facts.has_copies() {
            self.open.counts.insert((at.instance, count));
        }
        let (block, rule, provenance) = match facts.has_block(line) {
            true => (line.block, rule, provenance),
            false => (NO_BLOCK, Rule::Preheaders, Provenance::Preheader),
        };
        let copy_by = None;
        self.placed.push(PlacedPosition { at, block, count, provenance, rule, copy_by });
    }

    /// Keeps blocks of a line for copies that the debug information lacks. `instance` is another copy of their
    /// function.
    pub fn add_missing(&mut self, instance: u32, lines: &[Line]) {
        self.open.missing.extend(lines.iter().map(|&line| Missing { line, instance }));
    }

    /// Lets a function change or split the groups to which no rule has given positions.
    pub fn split_groups(&mut self, split: impl Fn(&mut Self, Group<'a>, &mut Vec<Group<'a>>)) {
        let groups = core::mem::take(&mut self.open.groups);
        let mut split_groups = Vec::with_capacity(groups.len());
        for group in groups {
            split(self, group, &mut split_groups);
        }
        self.open.groups = split_groups;
    }

    /// Lets a function give positions to groups.
    pub fn for_each_group(&mut self, mut place: impl FnMut(&mut Self, &mut Group<'a>)) {
        let mut groups = core::mem::take(&mut self.open.groups);
        for group in &mut groups {
            let first = self.placed.len();
            place(self, group);
            if let Kind::OfCopy(_, rule) = group.kind {
                self.placed[first..].iter_mut().for_each(|placed| placed.copy_by = Some(rule));
            }
        }
        self.open.groups = groups;
    }

    /// Gives back what was still open.
    pub fn close(&mut self) {
        self.open = Open::default();
    }

    /// Lines of blocks that have no position because rules are switched off are lost.
    pub fn lose_the_rest(&mut self, facts: &Facts<'_, '_>) {
        let mut placed: HashSet<Line> = self.placed.iter().map(PlacedPosition::line).collect();
        for group in &self.open.groups {
            let Some(is_open) = &group.is_open else { continue };
            let open = is_open.iter().copied().chain(iter::repeat(false));
            let with_others = group.lines.iter().zip(open).filter(|(_, open)| !open);
            placed.extend(with_others.map(|(line, _)| *line));
        }
        let of_others: HashSet<_> = self.elsewhere.iter().map(|(at, _)| at.of).collect();
        let lost: HashSet<Line> = self.lost.iter().map(|&(line, ..)| line).collect();
        let is_left = |line: &&Line| {
            !placed.contains(*line)
                && !lost.contains(*line)
                && !of_others.contains(&(line.file, line.line))
        };
        let left = facts.function.lines.iter().filter(is_left);
        let left = left.map(|line| (*line, facts.count(line).max(0) as u64, Lost::NoRule));
        self.lost.extend(left);
    }

    /// Gives blocks with count 0 in loops without calls a count of 1.
    pub fn raise_zeros_in_loops(&mut self, function: &Counted<'_>) {
        if !self.placed.iter().any(|placed| placed.count == 0) {
            return;
        }
        let in_loops = loops::without_calls(function.notes.blocks, function.arcs());
        let zeros = self.placed.iter_mut().filter(|placed| placed.count == 0);
        zeros.filter(|placed| in_loops[placed.block as usize]).for_each(|placed| placed.count = 1);
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

/// The block of a position that has none: the entry, which has no lines.
pub const NO_BLOCK: u32 = 0;

/// A position in the source, and its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedPosition {
    /// Where it stands.
    pub at: SourcePosition,
    /// The block, or the function's entry if it has none.
    pub block: u32,
    /// Executions.
    pub count: u64,
    /// How the position and its block are known.
    pub provenance: Provenance,
    /// The rule that placed it.
    pub rule: Rule,
    /// The rule that gave its copy the block, if several copies have the line and `rule` has not.
    pub copy_by: Option<Rule>,
}

impl PlacedPosition {
    /// Whether it was inferred that the block has this position.
    pub const fn is_estimate(&self) -> bool {
        !matches!(self.certainty(), Certainty::Exact | Certainty::Count)
    }

    /// What of it is exact, and what is an estimate.
    pub const fn certainty(&self) -> Certainty {
        match self.provenance {
            Provenance::Code | Provenance::Mark | Provenance::Preheader => Certainty::Exact,
            Provenance::Gap | Provenance::Notes => Certainty::Count,
            Provenance::Order | Provenance::Left => Certainty::Line,
            Provenance::Guess | Provenance::Neighbour => Certainty::Block,
            Provenance::Removed => Certainty::Nothing,
        }
    }

    /// The line in the block.
    pub fn line(&self) -> Line {
        Line { file: self.at.file, line: self.at.line, block: self.block }
    }
}

/// What of a position is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// All of it.
    Exact,
    /// The copy, the line and the count. The discriminator is an estimate.
    Count,
    /// The copy and the line have blocks with such counts. Which of the positions has which block is an estimate.
    Line,
    /// The line's block has the count. In which inlined copy is an estimate.
    Block,
    /// The count is an estimate, too.
    Nothing,
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Count => "exact, only the discriminator is an estimate",
            Self::Line => "which block of the line has this discriminator is an estimate",
            Self::Block => "in which inlined copy is an estimate",
            Self::Nothing => "the count is an estimate",
        })
    }
}

/// How a position and its block are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Instructions of it were executed as often as the block.
    Code,
    /// The debug information names it, but has no instructions for it.
    Mark,
    /// It is in the code. Its block is an estimate.
    Order,
    /// The notes have its block. Its discriminator is missing between those of positions in the code.
    Gap,
    /// The notes have its block. The line has a position in the code without a certain count, which may have that
    /// block.
    Left,
    /// Only the notes have it. Its discriminator is an estimate.
    Notes,
    /// Its copy is an estimate, too.
    Guess,
    /// It is a value that comes with the way into a loop, and has no block.
    Preheader,
    /// The line next to it in its block shows where it is inlined.
    Neighbour,
    /// The debug information names it, but it has no counters: the compiler removed it before laying them
    /// out.
    Removed,
}
