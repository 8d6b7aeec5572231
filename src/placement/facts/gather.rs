//! Gathers the facts about a function.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::position_evidence::PositionEvidence;
use super::segment::Segments;
use super::{Facts, counts_of_copies, preheaders};
use crate::placement::observe::{InlineInstance, Observation};
use crate::placement::solve::counted::{Counted, Line};
use crate::placement::solve::flow::Flow;
use crate::placement::starts::Starts;
use crate::placement::{Rule, RuleSet};
use crate::profile::{FileId, Symbols};

impl<'f, 'n> Facts<'f, 'n> {
    /// Gathers the facts, from the [instances](crate::placement::observe::Evidence::instances) and
    /// [`Observations`](crate::placement::observe::Observations) of a function.
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
        facts.segments = facts.find_segments();
        facts
    }

    /// Finds the lines that the machine code shows, and those that it does not show.
    fn find_positions(&mut self) {
        let (mut counts, mut tally) = (Vec::new(), Vec::new());
        // Both are in the order of files and lines.
        let (mut observations, mut first) = (self.observations, 0);
        let (mut in_code, mut positions) = (Vec::new(), Vec::with_capacity(observations.len()));
        let mut in_notes_only = Vec::new();
        for lines in self.lines.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line)) {
            counts.clear();
            counts.extend(lines.iter().map(|line| self.count(line)));
            counts.sort_unstable();
            let is_count = |count| counts.binary_search(&count).is_ok();
            let observations = next_observations(&mut observations, lines[0].file, lines[0].line);
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
fn next_observations<'v>(
    all: &mut &'v [Observation],
    file: FileId,
    line: u32,
) -> &'v [Observation] {
    let place = |observation: &&Observation| (observation.at.file, observation.at.line);
    let before = all.iter().take_while(|observation| place(observation) < (file, line)).count();
    let observations =
        all[before..].iter().take_while(|observation| place(observation) == (file, line)).count();
    let (found, later) = all[before..].split_at(observations);
    *all = later;
    found
}
