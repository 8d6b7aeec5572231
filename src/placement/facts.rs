//! The facts about a function that the rules go by. They are gathered once, and never change.
//!
//! The notes say which blocks have a line, and the counters how often each block was executed. The machine code shows
//! positions: in which copy, on which line and discriminator, and mostly how often.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashSet;

use super::observe::{InlineInstance, Observation};
use super::rules::pairing::PositionEvidence;
use super::rules::preheaders::{self, Preheader};
use super::rules::segments::Segments;
use super::rules::{counts_of_copies, segments};
use super::solve::counted::{Counted, Line};
use super::solve::flow::Flow;
use super::starts::Starts;
use super::{Rule, RuleSet};
use crate::profile::{FileId, Symbols};

/// The facts about a function.
pub struct Facts<'f, 'n> {
    pub function: &'f Counted<'n>,
    pub flow: &'f Flow,
    pub starts: &'f Starts,
    pub symbols: &'f Symbols,
    /// The rules in force.
    pub rules: RuleSet,
    /// What the code shows, by line.
    pub observations: &'f [Observation],
    /// Copies inlined early, see [`Evidence::instances`](super::observe::Evidence::instances). The first one stands
    /// for the function itself, also without code.
    pub instances: Vec<InlineInstance>,
    /// The lines of its blocks and of its preheaders, sorted. Preheaders have numbers behind those of the blocks.
    pub lines: Cow<'f, [Line]>,
    /// The ways into loops that have no block.
    pub preheaders: Vec<Preheader>,
    /// The lines that the code shows, and their positions among `positions`.
    pub in_code: Vec<(Range<usize>, Range<usize>)>,
    /// The positions that the code shows, line by line.
    pub positions: Vec<PositionEvidence>,
    /// The lines that the code does not show.
    pub in_notes_only: Vec<Range<usize>>,
    /// How often each copy was entered, as far as known.
    pub entered: Vec<Option<i64>>,
    /// The count of all of a copy, as far as known.
    pub hints: Vec<Option<i64>>,
    /// The blocks of each copy of a function that was inlined several times.
    pub segments: Segments,
    /// Whether #line renumbers lines of the function. If so, its last line tells nothing.
    pub is_renumbered: bool,
    /// For a function that the compiler made: where the function starts whose code it got. The lines of that function
    /// that it has are its own.
    pub home: Option<u32>,
    /// Whether its code and debug information are known.
    pub has_code: bool,
    /// Other files with lines that the code shows in the function itself.
    pub included: HashSet<FileId>,
}

impl<'f, 'n> Facts<'f, 'n> {
    /// Gathers the facts, from the [instances](super::observe::Evidence::instances) and
    /// [`Observations`](super::observe::Observations) of a function.
    pub fn gather(
        function: &'f Counted<'n>,
        flow: &'f Flow,
        (known, observations): (&[InlineInstance], &'f [Observation]),
        (starts, symbols): (&'f Starts, &'f Symbols),
        rules: RuleSet,
        memory: &mut preheaders::LoopMemory,
    ) -> Self {
        let mut instances = known.to_vec();
        if instances.is_empty() {
            instances.push(InlineInstance::itself(
                function.symbol,
                function.start(),
                function.file,
            ));
        }
        let (lines, preheaders) = match rules.has(Rule::Preheaders) {
            true => preheaders::find(function, flow, memory),
            false => (Cow::Borrowed(&*function.lines), Vec::new()),
        };
        let mut facts = Self {
            function,
            flow,
            starts,
            symbols,
            rules,
            observations,
            instances,
            lines,
            preheaders,
            in_code: Vec::new(),
            positions: Vec::new(),
            in_notes_only: Vec::new(),
            entered: Vec::new(),
            hints: Vec::new(),
            segments: Segments::default(),
            is_renumbered: is_renumbered(function, starts),
            home: function.home(starts),
            has_code: !known.is_empty(),
            included: included(known, observations).collect(),
        };
        facts.find_positions();
        let entered = counts_of_copies::entered(known, observations);
        facts.hints = counts_of_copies::hints(known, &facts.positions, &entered);
        if !rules.has(Rule::CountsOfCopies) {
            facts.hints.fill(None);
        }
        let entered = entered.into_iter().zip(&facts.hints);
        facts.entered = entered.map(|(count, hint)| count.or(*hint)).collect();
        facts.segments = segments::find(&facts);
        facts
    }

    /// Finds the lines that the machine code shows, and those that it does not show.
    fn find_positions(&mut self) {
        let (mut counts, mut tally) = (Vec::new(), Vec::new());
        // Both are in the order of files and lines.
        let (mut observations, mut first) = (self.observations, 0);
        let (mut in_code, mut positions) = (Vec::new(), Vec::new());
        let mut in_notes_only = Vec::new();
        for lines in self.lines.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line)) {
            counts.clear();
            counts.extend(lines.iter().map(|line| self.count(line)));
            counts.sort_unstable();
            let is_count = |count| counts.binary_search(&count).is_ok();
            let observations = next_votes(&mut observations, lines[0].file, lines[0].line);
            let of_positions = observations.chunk_by(|a, b| a.at == b.at);
            let of_positions =
                of_positions.filter(|observations| !self.is_strayed(&observations[0].at));
            let of_line = first..first + lines.len();
            let first_position = positions.len();
            positions.extend(
                of_positions
                    .map(|observations| PositionEvidence::new(observations, &mut tally, is_count)),
            );
            match positions.len() - first_position {
                0 => in_notes_only.push(of_line),
                _ => in_code.push((of_line, first_position..positions.len())),
            }
            first += lines.len();
        }
        (self.in_code, self.positions, self.in_notes_only) = (in_code, positions, in_notes_only);
    }

    /// Whether there are copies inlined early.
    pub fn has_copies(&self) -> bool {
        self.instances.len() > 1
    }

    /// The executions of a line's block, or of its preheader.
    pub fn count(&self, line: &Line) -> i64 {
        let block = line.block as usize;
        let preheader = || self.preheaders[block - self.flow.blocks.len()].count;
        self.flow.blocks.get(block).copied().unwrap_or_else(preheader)
    }

    /// Whether a line has a block, and not only a preheader.
    pub fn has_block(&self, line: &Line) -> bool {
        line.block < self.function.notes.blocks
    }
}

/// Whether #line renumbers a function: its notes say that it ends where it starts, and it has lines behind that.
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
fn included(
    instances: &[InlineInstance],
    observations: &[Observation],
) -> impl Iterator<Item = FileId> {
    let own = instances.first().map(|function| function.file);
    let is_its = move |observation: &&Observation| {
        observation.at.instance == 0 && observation.instructions > 0
    };
    observations
        .iter()
        .filter(is_its)
        .map(|observation| observation.at.file)
        .filter(move |file| Some(*file) != own)
}

/// The observations for a line. Leaves those for later lines.
fn next_votes<'v>(all: &mut &'v [Observation], file: FileId, line: u32) -> &'v [Observation] {
    let place = |observation: &&Observation| (observation.at.file, observation.at.line);
    let before = all.iter().take_while(|observation| place(observation) < (file, line)).count();
    let observations =
        all[before..].iter().take_while(|observation| place(observation) == (file, line)).count();
    let (found, later) = all[before..].split_at(observations);
    *all = later;
    found
}

/// Made-up functions, for the tests of rules.
#[cfg(test)]
pub(super) mod made {
    use alloc::boxed::Box;
    use alloc::vec;

    use super::super::assignment::Assignment;
    use super::super::observe::SourcePosition;
    use super::super::solve::counted;
    use super::super::starts::Start;
    use super::*;
    use crate::formats::gcno::{self, Arc, Notes};
    use crate::placement;
    use crate::profile::{Position, SymbolId};

    /// Lines of the function `main` in `a.c`.
    pub const LINES: [u32; 2] = [100, 199];
    /// The line of `copy` in `a.h`.
    pub const COPY: u32 = 10;

    /// A position as rules place it: copy, line, discriminator, block, count, rule.
    pub type Placed = (u32, u32, u16, u32, u64, Rule);

    /// A function, and what the code shows of it.
    pub struct Made {
        function: Counted<'static>,
        flow: Flow,
        starts: Starts,
        symbols: Symbols,
        pub files: [FileId; 2],
        instances: Vec<InlineInstance>,
        observations: Vec<Observation>,
    }

    impl Made {
        /// `main`, with lines of these blocks: block, index of the file, line. Blocks 0 and 1 are entry and exit.
        pub fn new(lines: &[(u32, u32, u32)], arcs: &[(u32, u32)], counts: &[i64]) -> Self {
            let arcs = arcs.iter().map(|&(from, to)| Arc::new(from, to, 0)).collect();
            let line = |&(block, file, line)| gcno::Line { block, file, line, ends: 0 };
            let lines = lines.iter().map(line).collect();
            let blocks = counts.len() as u32;
            let notes = Notes::of_one(b"main", LINES, blocks, arcs, lines, vec![b"a.c", b"a.h"]);
            let notes: &'static Notes<'static> = Box::leak(Box::new(notes));
            let mut symbols = Symbols::default();
            let files = [b"a.c", b"a.h"].map(|file| symbols.file(file));
            let symbol = symbols.symbol(b"main", Some(files[0]));
            let mut starts = Starts::default();
            let [start, end] = LINES;
            let start = Start { line: start, symbol, end: Some(end), is_outer: false };
            starts.add(files[0], start);
            let known = counted::Known::new(notes, vec![symbol], files.to_vec());
            let flow = Flow { blocks: counts.to_vec(), arcs: Vec::new(), mended: false };
            let function = Counted::made(Box::leak(Box::new(known)), flow.clone());
            let instances = vec![InlineInstance::itself(symbol, LINES[0], files[0])];
            Self { function, flow, starts, symbols, files, instances, observations: Vec::new() }
        }

        fn inlined(&mut self) -> SymbolId {
            let symbol = self.symbols.symbol(b"copy", Some(self.files[1]));
            let start = Start { line: COPY, symbol, end: None, is_outer: false };
            self.starts.add(self.files[1], start);
            symbol
        }

        /// Adds a copy of the function `copy`, which `main` calls at a line.
        pub fn copy(&mut self, line: u32) -> u32 {
            let (symbol, file) = (self.inlined(), self.files[1]);
            let call = Position::line(line - LINES[0]);
            let instance =
                InlineInstance { caller: 0, call, symbol, start: COPY, file, calls: 1, column: 0 };
            self.instances.push(instance);
            self.instances.len() as u32 - 1
        }

        /// A function `copy` that is known, and not known to be inlined.
        pub fn declare(&mut self) {
            let symbol = self.inlined();
            let end = Some(COPY + 20);
            self.starts.add(self.files[1], Start { line: COPY, symbol, end, is_outer: false });
        }

        /// Instructions of a position that were executed so often, if that is known.
        pub fn observe(
            &mut self,
            instance: u32,
            line: u32,
            discriminator: u16,
            count: Option<i64>,
        ) {
            let file = self.files[usize::from(instance != 0)];
            let at = SourcePosition { instance, file, line, discriminator };
            let observation = Observation {
                at,
                count,
                before: None,
                instructions: 2,
                is_sum: false,
                is_join: false,
            };
            self.observations.push(observation);
        }

        /// The code of a position is at a join.
        pub fn observe_at_join(&mut self, line: u32, count: i64) {
            self.observe(0, line, 0, Some(count));
            self.observations.last_mut().unwrap().is_join = true;
        }

        /// What these rules find, sorted.
        pub fn place(mut self, rules: RuleSet) -> Vec<Placed> {
            self.starts.sort();
            self.observations.sort_by_key(|observation| {
                let SourcePosition { instance, file, line, discriminator } = observation.at;
                (file, line, instance, discriminator)
            });
            let known = (&*self.instances, &*self.observations);
            let about = (&self.starts, &self.symbols);
            let mut memory = preheaders::LoopMemory::default();
            let (function, flow) = (&self.function, &self.flow);
            let facts = Facts::gather(function, flow, known, about, rules, &mut memory);
            let Assignment { placed, .. } = placement::place(&facts);
            let placed = placed.iter().map(|placed| {
                let SourcePosition { instance, line, discriminator, .. } = placed.at;
                (instance, line, discriminator, placed.block, placed.count, placed.rule)
            });
            let mut placed: Vec<Placed> = placed.collect();
            placed.sort_unstable();
            placed
        }
    }
}
