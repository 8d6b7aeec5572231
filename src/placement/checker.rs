//! Checks where the counts of a function were put, without knowing how.
//!
//! A checker that shared the rules would share their faults. This one knows only what must hold of any placement,
//! whichever rules are in force:
//!
//! | law | what must hold |
//! |---|---|
//! | flow | each counter is the count of its arc, and what flows into a block flows out of it (Kirchhoff's law) |
//! | nothing forgotten | each executed line of a block has a position with its count, or is in the account as lost |
//! | own counts | a position that has a block has the block's line and count |
//! | no invention | each count that a reader is given is one of the function's, or marked as an estimate |
//! | lines of one block | where one block alone has a line, the line has the block's count |
//! | nothing unseen | what was executed and has a position has a count for the reader |
//!
//! Flow is verified, not solved: the arcs without counters are a tree, so there is but one solution, and counts that
//! obey the law are it. Blocks without lines have no positions, and are no loss.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;

use hashbrown::{HashMap, HashSet};

use super::assignment::{Assignment, NO_BLOCK, PlacedPosition};
use super::lost::Lost;
use super::observe::SourcePosition;
use super::project::{Credit, Credits};
use super::reader::{Inline, Reader, Zeros};
use super::solve::counted::{Counted, Line};
use super::solve::flow::{EXIT, Flow};
use crate::formats::gcno::Arc;
use crate::profile::{FileId, SymbolId};

/// A law that the counts of a function break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Assembler name of the function.
    pub function: String,
    /// The block, if it is about one.
    pub block: Option<u32>,
    /// What is wrong.
    pub what: Breach,
}

/// What breaks a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// The arc behind this counter has another count.
    Counter {
        /// The counter.
        expected: i64,
        /// The arc's count.
        found: i64,
    },
    /// What flows into the block or out of it is not the block's count.
    Unbalanced {
        /// The block's count.
        count: i64,
        /// The sum of its arcs.
        arcs: i64,
    },
    /// An executed line has no position, and the account does not say that it is lost.
    Forgotten {
        /// The line.
        line: u32,
        /// Executions of the block.
        count: u64,
    },
    /// A position stands for a line that its block does not have.
    Foreign {
        /// The line.
        line: u32,
    },
    /// A position has another count than its block.
    Miscounted {
        /// The line.
        line: u32,
        /// The block's count.
        expected: u64,
        /// The position's.
        found: u64,
    },
    /// A count that nothing in the function has, and that is not marked as an estimate.
    Invented {
        /// The line, from the start of the function or of the inlined copy that has the position.
        line: u32,
        /// The count.
        count: u64,
    },
    /// The profile has no count for a function that was executed.
    Unseen,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, block, what } = self;
        write!(f, "{function}: ")?;
        if let Some(block) = block {
            write!(f, "block {block}: ")?;
        }
        write!(f, "{what}")
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Counter { expected, found } => {
                write!(f, "an arc out of it has count {found}, and its counter is {expected}")
            }
            Self::Unbalanced { count, arcs } => {
                write!(f, "its count is {count}, and that of the arcs on one side is {arcs}")
            }
            Self::Forgotten { line, count } => {
                write!(f, "line {line} has no position; the block was executed {count} times")
            }
            Self::Foreign { line } => {
                write!(f, "a position at line {line}, which it does not have")
            }
            Self::Miscounted { line, expected, found } => {
                write!(f, "line {line} has count {found}, and the block {expected}")
            }
            Self::Invented { line, count } => {
                write!(
                    f,
                    "+{line} has count {count}: no block has it, and it is not marked as an estimate"
                )
            }
            Self::Unseen => f.write_str("executed, and without a count in the profile"),
        }
    }
}

/// What is known about a function before its counts get their places.
#[derive(Clone, Copy)]
struct Subject<'c> {
    /// Assembler name.
    name: &'c [u8],
    symbol: SymbolId,
    /// Where it is declared.
    file: FileId,
    start: u32,
    arcs: &'c [Arc],
    /// The counters of the arcs off the spanning tree.
    counters: &'c [i64],
    /// The lines of its blocks, sorted.
    lines: &'c [Line],
    flow: &'c Flow,
}

/// The laws that the counts of a function break: as they are known, and as a reader is given them.
pub fn check(
    function: &Counted<'_>,
    assignment: &Assignment<'_>,
    credits: &Credits,
    reader: Reader,
) -> Vec<Fault> {
    let Ok(flow) = &function.flow else { return Vec::new() };
    let subject = Subject {
        name: function.name(),
        symbol: function.symbol,
        file: function.file,
        start: function.start(),
        arcs: function.arcs(),
        counters: &function.counters,
        lines: &function.lines,
        flow,
    };
    check_subject(subject, assignment, credits, reader)
}

fn check_subject(
    subject: Subject<'_>,
    assignment: &Assignment<'_>,
    credits: &Credits,
    reader: Reader,
) -> Vec<Fault> {
    let mut checking = Checking { subject, assignment, credits, reader, faults: Vec::new() };
    checking.flow();
    checking.own_counts();
    checking.nothing_forgotten();
    checking.lines_of_one_block();
    checking.no_invention();
    checking.nothing_unseen();
    checking.faults
}

/// The check of one function.
struct Checking<'c> {
    subject: Subject<'c>,
    assignment: &'c Assignment<'c>,
    credits: &'c Credits,
    reader: Reader,
    faults: Vec<Fault>,
}

impl Checking<'_> {
    fn fault(&mut self, block: Option<u32>, what: Breach) {
        let fault = self.fault_of(block, what);
        self.faults.push(fault);
    }

    fn fault_of(&self, block: Option<u32>, what: Breach) -> Fault {
        let function = String::from_utf8_lossy(self.subject.name).into_owned();
        Fault { function, block, what }
    }

    /// A block's count, as positions have it.
    fn count(&self, block: u32) -> u64 {
        self.subject.flow.blocks[block as usize].max(0) as u64
    }

    /// Whether a position may have this count, if its block has that one: some readers are given 1 for 0.
    fn is_count(&self, found: u64, of_block: u64) -> bool {
        found == of_block
            || (found == 1 && of_block == 0 && self.reader.zeros == Zeros::OnesInLoops)
    }

    /// Counters are the counts of arcs, and arcs are balanced at each block.
    ///
    /// Where processes left in the middle, or a counter has reached the largest number, the law does not hold, and only
    /// the counters are compared.
    fn flow(&mut self) {
        let arcs = self.subject.arcs;
        let (mut into, mut out) = (
            vec![None; self.subject.flow.blocks.len()],
            vec![None; self.subject.flow.blocks.len()],
        );
        let mut counters = self.subject.counters.iter();
        let add = |sum: &mut Option<i64>, count: i64| {
            *sum = Some(sum.unwrap_or(0).saturating_add(count));
        };
        for (arc, &count) in arcs.iter().zip(&self.subject.flow.arcs) {
            add(&mut into[arc.destination as usize], count);
            add(&mut out[arc.source as usize], count);
            let counter = if arc.is_on_tree() { None } else { counters.next().copied() };
            if let Some(expected) = counter
                && count != expected
                && (arc.is_fake() || count != expected.max(0))
            {
                self.fault(Some(arc.source), Breach::Counter { expected, found: count });
            }
        }
        let is_exact = !self.subject.flow.mended && !self.subject.counters.contains(&i64::MAX);
        for (block, &count) in self.subject.flow.blocks.iter().enumerate().filter(|_| is_exact) {
            for arcs in [into[block], out[block]].into_iter().flatten() {
                if arcs != count {
                    self.fault(Some(block as u32), Breach::Unbalanced { count, arcs });
                }
            }
        }
    }

    /// Pieces with a block have its line and its count.
    fn own_counts(&mut self) {
        for placed in self.assignment.placed.iter().filter(|placed| placed.block != NO_BLOCK) {
            let PlacedPosition { block, count: found, .. } = *placed;
            let (line, expected) = (placed.at.line, self.count(block));
            if self.subject.lines.binary_search(&placed.line()).is_err() {
                self.fault(Some(block), Breach::Foreign { line });
            }
            if !self.is_count(found, expected) {
                self.fault(Some(block), Breach::Miscounted { line, expected, found });
            }
        }
    }

    /// Executed lines have positions, or stand elsewhere, or are lost. Blocks of a line that were executed equally
    /// often may share a position: the compiler may have merged their code.
    fn nothing_forgotten(&mut self) {
        let assignment = self.assignment;
        let of_placed = |placed: &PlacedPosition| (placed.at.file, placed.at.line, placed.count);
        let of_lost = |&(line, count, _): &(Line, u64, Lost)| (line.file, line.line, count);
        let placed = assignment.placed.iter().map(of_placed);
        let known: HashSet<_> = placed.chain(assignment.lost.iter().map(of_lost)).collect();
        let elsewhere: HashSet<_> = assignment.elsewhere.iter().map(|(at, _)| at.of).collect();
        for line in self.subject.lines {
            let count = self.count(line.block);
            let is_known = known.contains(&(line.file, line.line, count))
                || elsewhere.contains(&(line.file, line.line));
            if count > 0 && !is_known {
                self.fault(Some(line.block), Breach::Forgotten { line: line.line, count });
            }
        }
    }

    /// Where one block alone has a line, all positions of the line have its count.
    fn lines_of_one_block(&mut self) {
        let mut alone: Vec<Line> = Vec::new();
        let same_line = |a: &Line, b: &Line| (a.file, a.line) == (b.file, b.line);
        for lines in self.subject.lines.chunk_by(same_line) {
            alone.extend(if let [only] = lines { Some(*only) } else { None });
        }
        for placed in &self.assignment.placed {
            let PlacedPosition { at, count: found, .. } = *placed;
            let only =
                alone.binary_search_by_key(&(at.file, at.line), |line| (line.file, line.line));
            let Ok(only) = only else { continue };
            let (block, line) = (alone[only].block, at.line);
            let expected = self.count(block);
            if !self.is_count(found, expected) {
                self.fault(Some(block), Breach::Miscounted { line, expected, found });
            }
        }
        self.given_lines_of_one_block(&alone);
    }

    /// The same for what the reader is given of the function itself, unless several lines have one number there: those
    /// of several files, or 2^16 lines apart.
    fn given_lines_of_one_block(&mut self, alone: &[Line]) {
        let function = self.subject;
        let number = |line: u32| line.wrapping_sub(function.start) & 0xffff;
        let own = self.assignment.placed.iter().filter(|placed| placed.at.instance == 0);
        let of_placed = own.map(|placed| (placed.at.file, placed.at.line));
        let all = function.lines.iter().map(|line| (line.file, line.line)).chain(of_placed);
        let ambiguous = of_several_lines(all.map(|line| (number(line.1), line)));
        let of_file = alone.iter().filter(|line| line.file == function.file);
        let alone: HashMap<u32, &Line> = of_file.map(|line| (number(line.line), line)).collect();
        let is_own = |symbol, within: &[_]| {
            self.reader.inline == Inline::Nested && symbol == function.symbol && within.is_empty()
        };
        for (symbol, within, counts) in self.credits.iter() {
            for &Credit { position, count: found, .. } in counts {
                let Some(line) = alone.get(&position.line) else { continue };
                let expected = self.count(line.block);
                let is_clear = is_own(symbol, within) && !ambiguous.contains(&position.line);
                if is_clear && !self.is_count(found, expected) {
                    let what = Breach::Miscounted { line: line.line, expected, found };
                    self.faults.push(self.fault_of(Some(line.block), what));
                }
            }
        }
    }

    /// Counts that are no estimates are those of blocks or arcs, or of the arcs into a loop.
    fn no_invention(&mut self) {
        let certain = self.credits.iter().flat_map(|(_, _, counts)| counts);
        let mut certain = certain.filter(|credit| !credit.is_estimate).peekable();
        if certain.peek().is_none() {
            return;
        }
        let counts = self.counts();
        for &Credit { position, count, .. } in certain {
            let raised = count == 1 && counts.contains(&0) && self.is_count(1, 0);
            if !counts.contains(&(count as i64)) && !raised {
                self.fault(None, Breach::Invented { line: position.line, count });
            }
        }
    }

    /// The counts that something in the function has.
    fn counts(&self) -> HashSet<i64> {
        let mut counts: HashSet<i64> =
            self.subject.flow.blocks.iter().map(|&count| count.max(0)).collect();
        counts.extend(&self.subject.flow.arcs);
        // What enters a loop is what flows into its first block but for one arc.
        for (arc, count) in self.subject.arcs.iter().zip(&self.subject.flow.arcs) {
            let block = self.subject.flow.blocks[arc.destination as usize];
            counts.insert(block.saturating_sub(*count));
        }
        counts
    }

    /// A function that was executed and has positions has a count for the reader, unless other lines have the number of
    /// each of its lines there.
    fn nothing_unseen(&mut self) {
        let number = |at: &SourcePosition| {
            let start = self.assignment.instances[at.instance as usize].start;
            (at.instance, at.line.wrapping_sub(start) & 0xffff)
        };
        let placed = || self.assignment.placed.iter().map(|placed| &placed.at);
        let ambiguous = of_several_lines(placed().map(|at| (number(at), (at.file, at.line))));
        let clear = placed().filter(|at| !ambiguous.contains(&number(at)));
        let clear: HashSet<_> = clear.map(|at| (at.file, at.line)).collect();
        let executed = self.subject.lines.iter().filter(|line| line.block != EXIT);
        let mut executed = executed.filter(|line| self.count(line.block) > 0);
        let first = executed.find(|line| clear.contains(&(line.file, line.line)));
        let mut given = self.credits.iter().flat_map(|(_, _, counts)| counts);
        if let Some(first) = first
            && !given.any(|credit| credit.count > 0)
        {
            self.fault(Some(first.block), Breach::Unseen);
        }
    }
}

/// The numbers that several lines have in the profile: those of several files, or 2^16 lines apart.
fn of_several_lines<N: Copy + Eq + Hash>(
    lines: impl Iterator<Item = (N, (FileId, u32))>,
) -> HashSet<N> {
    let mut first = HashMap::new();
    let other = lines.filter(|&(number, line)| *first.entry(number).or_insert(line) != line);
    other.map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::placement::Rule;
    use crate::placement::assignment::Provenance;
    use crate::placement::observe::InlineInstance;
    use crate::profile::{Position, Profile};

    const TREE: u32 = 1;

    /// A function with a loop: block 2 is the head, 3 the body, 4 the end. The body stands on a line of its own.
    struct Made {
        arcs: Vec<Arc>,
        counters: Vec<i64>,
        lines: Vec<Line>,
        flow: Flow,
        assignment: Assignment<'static>,
        credits: Credits,
        symbol: SymbolId,
        file: FileId,
    }

    const COUNTS: [(u32, u32, u64); 3] = [(11, 2, 11), (12, 3, 10), (13, 4, 1)];
    const START: u32 = 10;

    impl Made {
        fn new() -> Self {
            let mut profile = Profile::default();
            let file = profile.symbols.file(b"f.c");
            let symbol = profile.symbols.symbol(b"f", Some(file));
            let arcs = [(0, 2, 0), (2, 3, TREE), (3, 2, 0), (2, 4, TREE), (4, 1, TREE)];
            let arcs = arcs.map(|(from, to, flags)| Arc::new(from, to, flags)).to_vec();
            let flow = Flow {
                blocks: [1, 1, 11, 10, 1].into(),
                arcs: [1, 10, 10, 1, 1].into(),
                mended: false,
            };
            let line = |&(line, block, _): &_| Line { file, line, block };
            let placed = |&(line, block, count): &_| {
                let at = SourcePosition { instance: 0, file, line, discriminator: 0 };
                let (provenance, rule) = (Provenance::Code, Rule::Counts);
                PlacedPosition { at, block, count, provenance, rule, copy_by: None }
            };
            let mut credits = Credits::default();
            for (line, _, count) in COUNTS {
                let position = Position { line: line - START, discriminator: 0 };
                credits.push(symbol, Credit { position, count, is_estimate: false });
            }
            let assignment = Assignment {
                instances: [InlineInstance::itself(symbol, START, file)].into(),
                placed: COUNTS.iter().map(placed).collect(),
                ..Assignment::default()
            };
            let (lines, counters) = (COUNTS.iter().map(line).collect(), [1, 10].into());
            Self { arcs, counters, lines, flow, assignment, credits, symbol, file }
        }

        fn faults(&self) -> Vec<(Option<u32>, Breach)> {
            let Self { arcs, counters, lines, flow, symbol, file, .. } = self;
            let (name, symbol, file) = (b"f", *symbol, *file);
            let subject = Subject { name, symbol, file, start: START, arcs, counters, lines, flow };
            let faults = check_subject(subject, &self.assignment, &self.credits, Reader::EXACT);
            faults.into_iter().map(|fault| (fault.block, fault.what)).collect()
        }
    }

    #[test]
    fn what_obeys_the_laws() {
        assert_eq!(Made::new().faults(), []);
    }

    #[test]
    fn counts_that_are_not_those_of_the_counters() {
        let mut made = Made::new();
        made.counters[1] = 9;
        assert_eq!(made.faults(), [(Some(3), Breach::Counter { expected: 9, found: 10 })]);
        let mut made = Made::new();
        made.flow.arcs[1] = 7;
        let unbalanced = |count, arcs| Breach::Unbalanced { count, arcs };
        assert_eq!(made.faults(), [(Some(2), unbalanced(11, 8)), (Some(3), unbalanced(10, 7))]);
    }

    #[test]
    fn a_line_without_a_position() {
        let mut made = Made::new();
        let placed = made.assignment.placed.remove(1);
        assert_eq!(made.faults(), [(Some(3), Breach::Forgotten { line: 12, count: 10 })]);
        made.assignment.lost.push((placed.line(), 10, Lost::NoFunction));
        assert_eq!(made.faults(), []);
    }

    #[test]
    fn positions_of_other_blocks() {
        let mut made = Made::new();
        made.assignment.placed[1].block = 2;
        let miscounted = Breach::Miscounted { line: 12, expected: 11, found: 10 };
        let foreign = Breach::Foreign { line: 12 };
        assert_eq!(made.faults(), [(Some(2), foreign), (Some(2), miscounted)]);
    }

    #[test]
    fn what_the_reader_is_given() {
        let mut made = Made::new();
        made.credits = Credits::default();
        assert_eq!(made.faults(), [(Some(2), Breach::Unseen)]);
        let mut given = Credit {
            position: Position { line: 2, discriminator: 0 },
            count: 9,
            is_estimate: false,
        };
        let miscounted = (Some(3), Breach::Miscounted { line: 12, expected: 10, found: 9 });
        made.credits.push(made.symbol, given);
        assert_eq!(made.faults(), [miscounted, (None, Breach::Invented { line: 2, count: 9 })]);
        // An estimate may have any count, but not on the line of one block.
        given.is_estimate = true;
        made.credits = Credits::default();
        made.credits.push(made.symbol, given);
        assert_eq!(made.faults(), [miscounted]);
    }
    /// Two lines that the profile cannot tell apart: the reader may have been given the count of either.
    #[test]
    fn lines_with_one_number() {
        let mut made = Made::new();
        made.lines.truncate(1);
        made.assignment.placed.truncate(1);
        made.credits = Credits::default();
        assert_eq!(made.faults(), [(Some(2), Breach::Unseen)]);
        let (line, first) = (made.lines[0], made.assignment.placed[0]);
        let far = Line { line: line.line + (1 << 16), block: 4, ..line };
        made.lines.push(far);
        let at = SourcePosition { line: far.line, ..first.at };
        made.assignment.placed.push(PlacedPosition { at, block: 4, count: 1, ..first });
        assert_eq!(made.faults(), []);
    }
}
