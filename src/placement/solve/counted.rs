//! The functions of a module with known counts: what the dump and the compiler's notes say about them.
//!
//! A function of a header is in many objects, with counters in each. Functions that the compiler laid out
//! alike, line by line, become one here, and their counters are added.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::flow::{self, Flow, FlowError};
use crate::formats::gcno::{self, Notes};
use crate::placement::starts::Starts;
use crate::profile::{FileId, SymbolId};
use crate::raw::dump::{FunctionView, Object};
use crate::raw::gcov::Kind;
use crate::workers::Workers;

/// Most graphs that a worker solves before others may take over: each is a matter of microseconds.
const SOLVED_AT_ONCE: usize = 16;

/// The notes of an object, with the profile's symbols and files.
pub struct Known<'n> {
    /// The notes.
    pub notes: &'n Notes<'n>,
    /// The symbol of each function of the notes.
    pub symbols: Vec<SymbolId>,
    /// The files, as the notes number them.
    pub files: Vec<FileId>,
    /// Indexes of the functions, by ident.
    functions: HashMap<u32, usize>,
}

impl<'n> Known<'n> {
    /// Notes with these symbols and files for their functions and files.
    pub fn new(notes: &'n Notes<'n>, symbols: Vec<SymbolId>, files: Vec<FileId>) -> Self {
        let places = notes.functions.iter().enumerate();
        let functions = places.map(|(place, function)| (function.ident, place)).collect();
        Self { notes, symbols, files, functions }
    }

    /// The function of a view, if it was compiled with these notes.
    fn function(&self, view: &FunctionView<'_>) -> Option<usize> {
        let place = *self.functions.get(&view.ident())?;
        let notes = &self.notes.functions[place];
        let same = notes.cfg_checksum == view.cfg_checksum()
            && notes.lineno_checksum == view.lineno_checksum();
        same.then_some(place)
    }
}

/// A line of a function: its file and number, and a block that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The file.
    pub file: FileId,
    /// The line.
    pub line: u32,
    /// The block.
    pub block: u32,
}

/// A function, and what its counters say.
pub struct Counted<'n> {
    /// The notes about the function, from one of its objects.
    pub notes: &'n gcno::Function<'n>,
    /// The notes of that object.
    pub known: &'n Known<'n>,
    /// The functions that are added here, each with its object.
    pub views: Vec<(FunctionView<'n>, &'n Object)>,
    /// The sums of the arcs' counters.
    pub counters: Cow<'n, [i64]>,
    /// The function.
    pub symbol: SymbolId,
    /// The file it is declared in.
    pub file: FileId,
    /// Executions, or why they are unknown.
    pub flow: Result<Flow, FlowError>,
    /// The lines of its blocks, sorted.
    pub lines: Vec<Line>,
}

impl<'n> Counted<'n> {
    /// The assembler name. A star marks a name that the user chose and the assembler takes as it is.
    pub fn name(&self) -> &'n [u8] {
        self.notes.name.strip_prefix(b"*").unwrap_or(self.notes.name)
    }

    /// Line of the declaration.
    pub fn start(&self) -> u32 {
        self.notes.start_line
    }

    /// The function's size. A line counts once for each block that has it.
    pub fn size(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// Whether it was executed, as far as is known.
    pub fn has_run(&self) -> bool {
        self.flow.as_ref().map_or(true, |flow| flow.blocks.iter().any(|&count| count > 0))
    }

    /// Whether some object has both functions.
    pub fn shares_object(&self, other: &Self) -> bool {
        self.views
            .iter()
            .any(|&(_, object)| other.views.iter().any(|&(_, other)| core::ptr::eq(object, other)))
    }

    /// For a function that the compiler made out of another one's code, such as the body of a parallel region: the line
    /// where the other one starts.
    pub fn home(&self, starts: &Starts) -> Option<u32> {
        let around = || starts.around(self.file, self.start());
        self.notes.artificial.then(around)?.map(|starts| starts[0].line)
    }

    /// Whether a line is one of a function that the compiler made.
    pub fn has_by_home(&self, line: &Line, starts: &Starts) -> bool {
        let around = starts.around(line.file, line.line).map(|starts| starts[0].line);
        self.notes.artificial && line.file == self.file && around == self.home(starts)
    }

    /// The arcs of the function's graph.
    pub fn arcs(&self) -> &'n [gcno::Arc] {
        self.known.notes.arcs(self.notes)
    }

    /// A line once for each block that has it.
    pub fn blocks_of(&self, file: FileId, line: u32) -> &[Line] {
        let first = self.lines.partition_point(|known| (known.file, known.line) < (file, line));
        let end = self.lines.partition_point(|known| (known.file, known.line) <= (file, line));
        &self.lines[first..end]
    }

    /// The lines of a block in the order of its statements.
    pub fn lines_in_order(
        &self,
        block: u32,
    ) -> impl DoubleEndedIterator<Item = (FileId, u32)> + ExactSizeIterator + Clone {
        // The notes list one block after the other.
        let all = self.known.notes.lines(self.notes);
        let first = all.partition_point(|line| line.block < block);
        let rest = &all[first..];
        let end = rest.partition_point(|line| line.block <= block);
        rest[..end].iter().map(|line| (self.known.files[line.file as usize], line.line))
    }

    /// Whether a block has this line.
    pub fn has(&self, file: FileId, line: u32) -> bool {
        !self.blocks_of(file, line).is_empty()
    }

    /// What the counters say, and the lines of the blocks.
    fn solve(&mut self, runs: i64, memory: &mut flow::FlowMemory) {
        let left = runs.saturating_mul(self.views.len() as i64);
        self.flow = Flow::solve(self.notes.blocks, self.arcs(), &self.counters, left, memory);
        let file = |line: &gcno::Line| self.known.files[line.file as usize];
        let line =
            |line: &gcno::Line| Line { file: file(line), line: line.line, block: line.block };
        let mut lines: Vec<_> = self.known.notes.lines(self.notes).iter().map(line).collect();
        lines.sort_unstable();
        self.lines = lines;
    }

    fn is_like(&self, notes: &gcno::Function<'_>, known: &Known<'_>) -> bool {
        let line = |of: &Known<'_>, line: &gcno::Line| {
            (line.block, line.line, of.files[line.file as usize])
        };
        self.arcs() == known.notes.arcs(notes)
            && self
                .known
                .notes
                .lines(self.notes)
                .iter()
                .map(|found| line(self.known, found))
                .eq(known.notes.lines(notes).iter().map(|found| line(known, found)))
    }
}

/// Finds out what the counters of functions say.
pub fn solve(functions: &mut [Counted<'_>], runs: i64, workers: &impl Workers) {
    let solve = |functions: &mut [Counted<'_>], memory: &mut flow::FlowMemory, (): &mut ()| {
        functions.iter_mut().for_each(|function| function.solve(runs, memory));
    };
    workers.pass(functions.chunks_mut(SOLVED_AT_ONCE), solve, |()| ());
}

/// The functions of a module that the notes know, and the number of the other functions.
pub fn counted<'n>(
    objects: Vec<(&'n Object, &'n Known<'n>, Vec<FunctionView<'n>>)>,
) -> (Vec<Counted<'n>>, usize) {
    let most = objects.iter().map(|(_, _, views)| views.len()).sum();
    let mut all: Vec<Counted<'n>> = Vec::with_capacity(most);
    // The functions with the same key have numbers from 0.
    let mut places = HashMap::with_capacity(most);
    let mut unknown = 0;
    for (object, known, views) in objects {
        for view in views {
            let Some(place) = known.function(&view) else {
                unknown += 1;
                continue;
            };
            let notes = &known.notes.functions[place];
            let symbol = known.symbols[place];
            let key = (notes.ident, notes.lineno_checksum, notes.cfg_checksum, symbol);
            let counters = view.counters(Kind::ARCS);
            let mut number = 0u32;
            let alike = (0..).map_while(|number| places.get(&(key, number)).copied());
            let same = alike.inspect(|_| number += 1).find(|&place: &usize| {
                all[place].counters.len() == counters.len() && all[place].is_like(notes, known)
            });
            if let Some(place) = same {
                let sums = all[place].counters.to_mut().iter_mut().zip(counters);
                sums.for_each(|(sum, count)| *sum = sum.saturating_add(*count));
                all[place].views.push((view, object));
                continue;
            }
            places.insert((key, number), all.len());
            all.push(Counted {
                notes,
                known,
                views: [(view, object)].into(),
                counters: counters.into(),
                symbol,
                file: known.files[notes.file as usize],
                flow: Err(FlowError::Unsolvable),
                lines: Vec::new(),
            });
        }
    }
    all.shrink_to_fit();
    (all, unknown)
}

#[cfg(test)]
impl Counted<'static> {
    /// The only function of these notes, for tests.
    pub(crate) fn made(known: &'static Known<'static>, flow: Flow) -> Self {
        let notes = &known.notes.functions[0];
        let line = |line: &gcno::Line| {
            let file = known.files[line.file as usize];
            Line { file, line: line.line, block: line.block }
        };
        let mut lines: Vec<Line> = known.notes.lines(notes).iter().map(line).collect();
        lines.sort_unstable();
        Self {
            notes,
            known,
            views: Vec::new(),
            counters: Cow::Borrowed(&[]),
            symbol: known.symbols[0],
            file: known.files[0],
            flow: Ok(flow),
            lines,
        }
    }
}
