//! What one function adds to a profile: its counts at their places, as the reader is given them, and what the account
//! says about them. `profile` adds up what all functions add.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::statistics::Estimated;
use crate::placement::assignment::{Assignment, Elsewhere, PlacedPosition};
use crate::placement::checker::{Fault, check};
use crate::placement::estimate::Estimate;
use crate::placement::explain::{Explanation, SourceLine, explain, never_executed};
use crate::placement::facts::Facts;
use crate::placement::facts::preheaders;
use crate::placement::lost::Lost;
use crate::placement::observe::{CodeAddress, Evidence, Observations};
use crate::placement::project::hot_calls::{KnownCall, calls};
use crate::placement::project::{Credit, Credits, Projection};
use crate::placement::reader::{HotCalls, Reader, Zeros};
use crate::placement::solve::counted::{Counted, Line};
use crate::placement::solve::flow::Flow;
use crate::placement::starts::Starts;
use crate::placement::{self, RuleSet};
use crate::profile::{Position, SymbolId, Symbols};

/// What is wanted of each function.
#[derive(Clone, Copy)]
pub struct Wanted<'s> {
    /// The counts that this reader is given.
    pub reader: Reader,
    /// By these rules.
    pub rules: RuleSet,
    /// Whether each estimate is named.
    pub details: bool,
    /// Whether the counts are checked.
    pub check: bool,
    /// The line that is explained.
    pub line: Option<&'s SourceLine>,
}

/// The functions of a module, and all that is known when their counts are placed.
pub struct Projecting<'m, 'n> {
    pub functions: &'m [Counted<'n>],
    /// Functions by the addresses of their code.
    pub addresses: &'m HashMap<CodeAddress, u32>,
    pub starts: &'m Starts,
    pub symbols: &'m Symbols,
    pub wanted: Wanted<'m>,
}

/// Memory to look at functions.
#[derive(Default)]
pub struct FunctionMemory {
    observations: Observations,
    preheaders: preheaders::LoopMemory,
    projection: Projection,
    estimates: Vec<(Line, Estimate)>,
}

/// What a function's lines say.
#[derive(Default)]
pub struct Projected {
    /// Index of the function.
    pub place: usize,
    /// Counts by their places.
    pub credited: Credits,
    /// Executions of lines without a place.
    pub lost: Vec<(Line, u64, Lost)>,
    /// Calls of functions of the same objects.
    pub calls: Vec<KnownCall>,
    /// Executions of all lines in the notes.
    pub executions: u64,
    /// Executions whose place is an estimate.
    pub estimated: Estimated,
    /// The same by function, line from its start, and how the place was inferred, if details are wanted.
    pub estimates: Vec<((SymbolId, u32, Estimate), u64)>,
    /// What the checker found.
    pub faults: Vec<Fault>,
    /// How the counts of the wanted line got their places.
    pub explanations: Vec<Explanation>,
}

impl Projected {
    /// Turns to a function, and keeps the memory.
    fn start(&mut self, place: usize) {
        self.place = place;
        (self.executions, self.estimated) = Default::default();
        self.credited.clear();
        self.lost.clear();
        self.calls.clear();
        self.estimates.clear();
        self.faults.clear();
        self.explanations.clear();
    }
}

impl Projecting<'_, '_> {
    /// Finds what a function's counters add to the profile: nothing if they contradict each other.
    pub fn function(
        &self,
        place: usize,
        evidence: &Evidence,
        memory: &mut FunctionMemory,
        projected: &mut Projected,
    ) {
        let Wanted { reader, rules, details, check: wants_check, line } = self.wanted;
        let function = &self.functions[place];
        projected.start(place);
        let Ok(flow) = &function.flow else { return };
        if !function.has_run() {
            return self.never_executed(function, projected);
        }
        let shown = (&*evidence.instances, memory.observations.of(evidence, rules));
        let known = (self.starts, self.symbols);
        let facts = Facts::gather(function, flow, shown, known, rules, &mut memory.preheaders);
        let mut assignment = placement::place(&facts);
        if reader.zeros == Zeros::OnesInLoops {
            assignment.raise_zeros_in_loops(function);
        }
        let FunctionMemory { projection, estimates: of_lines, .. } = memory;
        assignment.project(function, reader, projection, &mut projected.credited);
        account(function, flow, &assignment, projection, (of_lines, projected));
        if details {
            projected.estimates = estimates(&assignment);
        }
        if wants_check {
            projected.faults = check(function, &assignment, &projected.credited, reader);
        }
        if let Some(line) = line {
            projected.explanations = explain(line, &facts, &assignment);
        }
        if reader.hot_calls != HotCalls::None {
            let (functions, addresses) = (self.functions, self.addresses);
            projected.calls = calls(function, evidence, &assignment, functions, addresses, reader);
        }
    }

    /// A function that was never executed: zeros for its lines. All its blocks have that count, so no rule is asked.
    fn never_executed(&self, function: &Counted<'_>, projected: &mut Projected) {
        let start = function.start();
        let own = function.lines.iter().filter(|line| {
            line.file == function.file && (start..=function.notes.end_line).contains(&line.line)
        });
        let zero = |line| Credit { position: Position::line(line), count: 0, is_estimate: false };
        let offsets = own.map(|line| line.line - start).take_while(|&line| line <= 0xffff);
        projected.credited.fill(function.symbol, offsets.map(zero));
        if let Some(line) = self.wanted.line {
            projected.explanations = never_executed(line, function, self.symbols);
        }
    }
}

/// Finds which executions of a function are estimates and which are lost. Lines of other functions get their counts
/// here.
fn account(
    function: &Counted<'_>,
    flow: &Flow,
    assignment: &Assignment<'_>,
    Projection { unanswered, needed, .. }: &Projection,
    (estimates, projected): (&mut Vec<(Line, Estimate)>, &mut Projected),
) {
    let counts = |line: &Line| flow.blocks[line.block as usize].max(0) as u64;
    projected.executions = function.lines.iter().map(counts).fold(0, u64::saturating_add);
    let of_placed =
        assignment.placed.iter().filter_map(|placed| Some((placed.line(), Estimate::of(placed)?)));
    let of_needed = needed.iter().map(|&line| (line, Estimate::SharedLine));
    let of_sharing = assignment.sharing.iter().map(|&line| (line, Estimate::Order));
    estimates.clear();
    estimates.extend(of_placed.chain(of_sharing).chain(of_needed));
    estimates.sort_unstable();
    estimates.dedup_by_key(|(line, _)| *line);
    estimates.retain(|(line, _)| unanswered.binary_search(line).is_err());
    for (line, how) in estimates {
        projected.estimated.add(*how, counts(line));
    }
    for &(Elsewhere { symbol: function, line, .. }, count) in &assignment.elsewhere {
        let credit = Credit { position: Position::line(line), count, is_estimate: true };
        projected.credited.push(function, credit);
        projected.estimated.add(Estimate::Elsewhere, count);
    }
    let unanswered = unanswered.iter().map(|line| (*line, counts(line), Lost::NoCommonCount));
    let lost = assignment.lost.iter().copied().chain(unanswered).filter(|&(_, count, _)| count > 0);
    projected.lost.extend(lost);
}

/// The positions of a function whose place was inferred: function and line there, how, and executions.
fn estimates(assignment: &Assignment<'_>) -> Vec<((SymbolId, u32, Estimate), u64)> {
    let of_placed = |placed: &PlacedPosition| {
        let instance = &assignment.instances[placed.at.instance as usize];
        let line = placed.at.line.wrapping_sub(instance.start);
        Some(((instance.symbol, line, Estimate::of(placed)?), placed.count))
    };
    let elsewhere = assignment.elsewhere.iter().map(|&(Elsewhere { symbol, line, .. }, count)| {
        ((symbol, line, Estimate::Elsewhere), count)
    });
    let placed = assignment.placed.iter().filter_map(of_placed);
    placed.chain(elsewhere).filter(|&(_, count)| count > 0).collect()
}
