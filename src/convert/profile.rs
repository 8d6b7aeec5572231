//! The profile of a dump, with the help of the compiler's notes.
//!
//! * A location's count is the largest count of the blocks that have its line, AutoFDO's own rule;
//!   its line is counted from the function's declaration.
//! * Lines of inlined functions are credited to those, see `lines`, or on request to the copy in the
//!   caller, where that is certain. What the copies of a function in several objects, and its
//!   inlined copies in several callers, counted is added.
//! * The head count is the sum of the arcs that leave the entry, without those by which control
//!   comes back into the middle, as after `setjmp` or through computed gotos.
//! * The timestamp is the time counter, the smallest of all copies.
//! * Call targets stand at the line of the call where that is certain, see `targets`.
//!
//! Functions that were never executed are in the profile, with zeros: that is known, too.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::Statistics;
use super::copies::{self, Copies};
use super::flow::{Flow, FlowError};
use super::lines::{Extent, Home, Lines};
use super::names::Names;
use super::positions::Positions;
use super::source::Sources;
use super::workers::Workers;
use crate::formats::gcno::{self, Notes};
use crate::profile::{FileId, Profile, SymbolId, Symbols};
use crate::raw::dump::{Dump, FunctionView, Module, Object};
use crate::raw::gcov::Kind;

/// Functions whose counts are in memory at once, besides the profile.
const BATCH: usize = 128;

/// Where the counts of functions stand that were inlined before the counters were laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inline {
    /// With the functions themselves.
    #[default]
    Flat,
    /// At the calls, as bodies of their own, where it is certain which call it is; else as above.
    Nested,
}

/// Makes the profile of a dump.
///
/// `notes` has each file of notes once; `chosen` tells for each module's objects which one is
/// theirs, if any fits: of the same stamp. How many `workers` there are makes no difference to the
/// result.
pub fn profile(
    dump: &Dump,
    notes: &[Notes<'_>],
    chosen: &[Vec<Option<usize>>],
    sources: &impl Sources,
    workers: &impl Workers,
    inline: Inline,
) -> (Profile, Statistics) {
    let verbose = sources.wants_details();
    let mut conversion = Conversion { inline, verbose, ..Conversion::default() };
    let known: Vec<_> = notes.iter().map(|notes| conversion.known(notes, sources)).collect();
    conversion.lines.sort();
    for (number, (module, chosen)) in dump.modules.iter().zip(chosen).enumerate() {
        let known = chosen.iter().map(|chosen| known.get((*chosen)?));
        let objects: Vec<_> = module.objects.iter().zip(known).collect();
        conversion.module(module, number, &objects, sources, workers);
    }
    let dropped = dump.modules.iter().map(|module| module.sums.dropped);
    conversion.statistics.events_dropped = dropped.fold(0, u64::saturating_add);
    (conversion.profile, conversion.statistics)
}

/// What has been found so far.
#[derive(Default)]
pub(super) struct Conversion {
    pub(super) profile: Profile,
    pub(super) statistics: Statistics,
    pub(super) names: Names,
    pub(super) lines: Lines,
    /// Functions that have notes.
    noted: HashSet<SymbolId>,
    /// Of the module at hand.
    pub(super) copies: Copies,
    pub(super) inline: Inline,
    /// Whether everything that is dropped is named.
    pub(super) verbose: bool,
}

/// What the notes of an object say, in terms of the profile.
pub(super) struct Known<'n> {
    notes: &'n Notes<'n>,
    functions: HashMap<u32, (&'n gcno::Function<'n>, Extent)>,
    /// As the notes number them.
    files: Vec<FileId>,
    /// The functions by name.
    homes: HashMap<&'n [u8], Home>,
}

impl Known<'_> {
    /// Whether a function has notes, and so counters of its own.
    pub(super) fn has(&self, symbol: SymbolId, symbols: &Symbols) -> bool {
        self.homes.get(symbols.name(symbol)).is_some_and(|home| home.symbol == symbol)
    }
}

/// A function whose blocks' counts are known.
pub(super) struct Counted<'n> {
    pub(super) notes: &'n gcno::Function<'n>,
    pub(super) flow: Flow,
    pub(super) extent: Extent,
    pub(super) known: &'n Known<'n>,
}

impl<'n> Counted<'n> {
    pub(super) fn arcs(&self) -> &'n [gcno::Arc] {
        self.known.notes.arcs(self.notes)
    }

    pub(super) fn lines(&self) -> &'n [gcno::Line] {
        self.known.notes.lines(self.notes)
    }

    /// The file of a line.
    pub(super) fn file(&self, line: &gcno::Line) -> FileId {
        self.known.files[line.file as usize]
    }

    /// A function of this name and place of which the same object has notes.
    pub(super) fn noted(&self, name: &[u8], start: u32) -> Option<Home> {
        self.known.homes.get(name).copied().filter(|home| home.start == start)
    }
}

/// What a function's counters say.
enum Solved<'n> {
    /// It has other notes or none.
    Unknown,
    /// They cannot be.
    Impossible(&'n gcno::Function<'n>, FlowError),
    /// This.
    Counted(Counted<'n>, Positions),
}

/// A function of the dump, in an object whose notes are known.
struct Task<'n> {
    view: FunctionView<'n>,
    object: &'n Object,
    known: &'n Known<'n>,
}

impl Conversion {
    /// Takes the names and places of the functions of an object.
    fn known<'n>(&mut self, notes: &'n Notes<'n>, sources: &impl Sources) -> Known<'n> {
        let symbols = &mut self.profile.symbols;
        let path = |file: &&[u8]| symbols.file(&sources.path(notes.directory, file));
        let files: Vec<FileId> = notes.files.iter().map(path).collect();
        let mut functions = HashMap::with_capacity(notes.functions.len());
        let mut homes = HashMap::with_capacity(notes.functions.len());
        for function in &notes.functions {
            let extent = self.extent(function, files[function.file as usize]);
            functions.insert(function.ident, (function, extent));
            homes.insert(assembler_name(function), extent.home());
        }
        Known { notes, functions, files, homes }
    }

    fn extent(&mut self, function: &gcno::Function<'_>, file: FileId) -> Extent {
        let symbol = self.profile.symbols.symbol(assembler_name(function), Some(file));
        let extent = Extent { symbol, file, start: function.start_line, end: function.end_line };
        self.names.add(function.ident, symbol);
        self.noted.insert(symbol);
        if !function.artificial {
            self.lines.add(extent);
        }
        extent
    }

    fn module(
        &mut self,
        module: &Module,
        number: usize,
        objects: &[(&Object, Option<&Known<'_>>)],
        sources: &impl Sources,
        workers: &impl Workers,
    ) {
        self.copies = self.copies(module, number, objects, sources);
        let runs = i64::try_from(module.sums.runs).unwrap_or(i64::MAX);
        let mut tasks = Vec::new();
        for &(object, known) in objects {
            let Some(known) = known else {
                self.statistics.objects_without_notes += 1;
                continue;
            };
            self.statistics.objects += 1;
            let present = module.functions(object).filter(|view| !view.is_absent());
            tasks.extend(present.map(|view| Task { view, object, known }));
        }
        for tasks in tasks.chunks(BATCH) {
            let solved = workers.map(tasks, |task| self.solve(task, runs));
            for (task, solved) in tasks.iter().zip(solved) {
                self.function(task, number, solved, sources);
            }
        }
    }

    /// What is inlined where in a module's code.
    fn copies(
        &mut self,
        module: &Module,
        number: usize,
        objects: &[(&Object, Option<&Known<'_>>)],
        sources: &impl Sources,
    ) -> Copies {
        let mut copies = Copies::default();
        let symbols = &mut self.profile.symbols;
        let stacks = sources.stacks(number, || {
            for &(object, known) in objects {
                let Some(known) = known else { continue };
                let found =
                    module.functions(object).filter_map(|v| known.functions.get(&v.ident()));
                for &(notes, extent) in found {
                    for line in known.notes.lines(notes) {
                        copies.want(extent.symbol, known.files[line.file as usize], line.line);
                    }
                }
            }
            copies.wanted(symbols)
        });
        let mut extents = HashMap::<SymbolId, Extent>::new();
        for (at, stack) in stacks {
            copies.add(&at, &stack, symbols);
            let (Home { symbol, start }, file) = copies::home(stack.innermost(), symbols);
            if at.path == stack.innermost().at.path && start <= at.line {
                let first = Extent { symbol, file, start, end: start };
                let extent = extents.entry(symbol).or_insert(first);
                extent.end = extent.end.max(at.line);
            }
        }
        extents.retain(|symbol, _| !self.noted.contains(symbol));
        if !extents.is_empty() {
            extents.into_values().for_each(|extent| self.lines.add(extent));
            self.lines.sort();
        }
        copies
    }

    /// Finds out what a function's counters say.
    fn solve<'n>(&self, Task { view, known, .. }: &Task<'n>, runs: i64) -> Solved<'n> {
        let same = |notes: &gcno::Function<'_>| {
            notes.cfg_checksum == view.cfg_checksum()
                && notes.lineno_checksum == view.lineno_checksum()
        };
        let notes = known.functions.get(&view.ident()).filter(|(notes, _)| same(notes));
        let Some(&(notes, extent)) = notes else { return Solved::Unknown };
        let arcs = known.notes.arcs(notes);
        match Flow::solve(notes.blocks, arcs, view.counters(Kind::ARCS), runs) {
            Ok(flow) => {
                let counted = Counted { notes, flow, extent, known };
                let positions = self.positions(&counted);
                Solved::Counted(counted, positions)
            }
            Err(error) => Solved::Impossible(notes, error),
        }
    }

    fn function(
        &mut self,
        Task { view, object, .. }: &Task<'_>,
        module: usize,
        solved: Solved<'_>,
        sources: &impl Sources,
    ) {
        match solved {
            Solved::Unknown => self.statistics.functions_without_notes += 1,
            Solved::Impossible(notes, error) => {
                self.statistics.functions_impossible += 1;
                let name = String::from_utf8_lossy(notes.name);
                let path = String::from_utf8_lossy(&object.path);
                self.statistics.details.push(format!("{path}: {name}: {error}; not used"));
            }
            Solved::Counted(counted, mut positions) => {
                self.statistics.functions += 1;
                self.statistics.counters += view.counters(Kind::ARCS).len();
                self.statistics.functions_mended += usize::from(counted.flow.mended);
                self.head(view, &counted);
                self.credit(counted.extent.symbol, &mut positions);
                self.targets(view, module, &counted, positions.credited, sources);
            }
        }
    }

    fn head(&mut self, view: &FunctionView<'_>, counted: &Counted<'_>) {
        let function = self.profile.functions.entry(counted.extent.symbol).or_default();
        let entries = counted.flow.entries(counted.arcs()).max(0) as u64;
        function.head_count = function.head_count.saturating_add(entries);
        let first = view.counters(Kind::TIME).first().copied().unwrap_or(0).max(0) as u64;
        if first != 0 && (function.timestamp == 0 || first < function.timestamp) {
            function.timestamp = first;
        }
    }
}

/// A star marks names that the user chose and the assembler takes as they are.
fn assembler_name<'n>(function: &gcno::Function<'n>) -> &'n [u8] {
    function.name.strip_prefix(b"*").unwrap_or(function.name)
}
