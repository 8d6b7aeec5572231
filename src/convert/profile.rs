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

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::Statistics;
use super::copies::{self, Chain, Copies, Link};
use super::flow::Flow;
use super::lines::{Extent, Home, Lines, Owner};
use super::names::Names;
use super::source::Sources;
use crate::formats::gcno::{self, Notes};
use crate::profile::{FileId, Position, Profile, Record, SymbolId, Symbols};
use crate::raw::dump::{Dump, FunctionView, Module, Object};
use crate::raw::gcov::Kind;

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
/// theirs, if any fits: of the same stamp.
pub fn profile(
    dump: &Dump,
    notes: &[Notes<'_>],
    chosen: &[Vec<Option<usize>>],
    sources: &impl Sources,
    inline: Inline,
) -> (Profile, Statistics) {
    let mut conversion = Conversion { inline, ..Conversion::default() };
    let known: Vec<_> = notes.iter().map(|notes| conversion.known(notes, sources)).collect();
    conversion.lines.sort();
    for (number, (module, chosen)) in dump.modules.iter().zip(chosen).enumerate() {
        let known = chosen.iter().map(|chosen| known.get((*chosen)?));
        let objects: Vec<_> = module.objects.iter().zip(known).collect();
        conversion.module(module, number, &objects, sources);
    }
    let dropped = dump.modules.iter().map(|module| module.record.sums.dropped);
    conversion.statistics.events_dropped = dropped.fold(0, u64::saturating_add);
    (conversion.profile, conversion.statistics)
}

/// What has been found so far.
#[derive(Default)]
pub(super) struct Conversion {
    pub(super) profile: Profile,
    pub(super) statistics: Statistics,
    pub(super) names: Names,
    lines: Lines,
    /// Functions that have notes.
    noted: HashSet<SymbolId>,
    /// Of the module at hand.
    copies: Copies,
    inline: Inline,
}

/// What the notes of an object say, in terms of the profile.
#[derive(Default)]
struct Known<'n> {
    functions: HashMap<u32, (&'n gcno::Function<'n>, Extent)>,
    files: HashMap<&'n [u8], FileId>,
    /// The functions by name.
    homes: HashMap<&'n [u8], Home>,
}

impl Known<'_> {
    /// Whether a function has notes, and so counters of its own.
    fn has(&self, symbol: SymbolId, symbols: &Symbols) -> bool {
        self.homes.get(symbols.name(symbol)).is_some_and(|home| home.symbol == symbol)
    }
}

/// A function whose blocks' counts are known.
pub(super) struct Counted<'n> {
    pub(super) notes: &'n gcno::Function<'n>,
    pub(super) flow: Flow,
    pub(super) extent: Extent,
    known: &'n Known<'n>,
}

impl Counted<'_> {
    /// The file that the notes call so.
    pub(super) fn file(&self, name: &[u8]) -> FileId {
        self.known.files[name]
    }

    /// A function of this name and place of which the same object has notes.
    pub(super) fn noted(&self, name: &[u8], start: u32) -> Option<Home> {
        self.known.homes.get(name).copied().filter(|home| home.start == start)
    }
}

/// A position in a function, or in a body inlined there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    function: SymbolId,
    /// Calls that were inlined, outermost first.
    within: Vec<(Position, SymbolId)>,
    position: Position,
}

impl Conversion {
    /// Takes the names and places of the functions of an object.
    fn known<'n>(&mut self, notes: &'n Notes<'n>, sources: &impl Sources) -> Known<'n> {
        let mut known = Known::default();
        for function in &notes.functions {
            let lines = function.lines.iter().map(|line| line.file);
            for file in lines.chain([function.source]) {
                let path = || self.profile.symbols.file(&sources.path(notes.directory, file));
                known.files.entry(file).or_insert_with(path);
            }
            let extent = self.extent(function, known.files[function.source]);
            known.functions.insert(function.ident, (function, extent));
            known.homes.insert(assembler_name(function), extent.home());
        }
        known
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
    ) {
        self.copies = self.copies(module, number, objects, sources);
        let runs = i64::try_from(module.record.sums.runs).unwrap_or(i64::MAX);
        for &(object, known) in objects {
            let Some(known) = known else {
                self.statistics.objects_without_notes += 1;
                continue;
            };
            self.statistics.objects += 1;
            for view in module.functions(object) {
                self.function(&view, (number, object, runs), known, sources);
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
        for &(object, known) in objects {
            let Some(known) = known else { continue };
            for view in module.functions(object) {
                let Some(&(notes, extent)) = known.functions.get(&view.ident()) else { continue };
                for line in &notes.lines {
                    copies.want(extent.symbol, known.files[line.file], line.line);
                }
            }
        }
        let symbols = &mut self.profile.symbols;
        let mut extents = HashMap::<SymbolId, Extent>::new();
        for (at, stack) in sources.stacks(number, &copies.wanted(symbols)) {
            copies.add(&at, &stack, symbols);
            let (Home { symbol, start }, file) = copies::home(stack.innermost(), symbols);
            if at.path == stack.innermost().at.path && start <= at.line {
                let first = Extent { symbol, file, start, end: start };
                let extent = extents.entry(symbol).or_insert(first);
                extent.end = extent.end.max(at.line);
            }
        }
        let without_notes = extents.values().filter(|extent| !self.noted.contains(&extent.symbol));
        without_notes.for_each(|&extent| self.lines.add(extent));
        self.lines.sort();
        copies
    }

    fn function(
        &mut self,
        view: &FunctionView<'_>,
        (module, object, runs): (usize, &Object, i64),
        known: &Known<'_>,
        sources: &impl Sources,
    ) {
        if view.is_absent() {
            return;
        }
        let same = |notes: &gcno::Function<'_>| {
            notes.cfg_checksum == view.cfg_checksum()
                && notes.lineno_checksum == view.lineno_checksum()
        };
        let notes = known.functions.get(&view.ident()).filter(|(notes, _)| same(notes));
        let Some(&(notes, extent)) = notes else {
            self.statistics.functions_without_notes += 1;
            return;
        };
        let arcs = view.counters(Kind::ARCS);
        match Flow::solve(notes.blocks, &notes.arcs, arcs, runs) {
            Ok(flow) => {
                self.statistics.functions += 1;
                self.statistics.counters += arcs.len();
                self.statistics.functions_mended += usize::from(flow.mended);
                let counted = Counted { notes, flow, extent, known };
                self.head(view, &counted);
                let credited = self.positions(&counted, sources);
                self.targets(view, module, &counted, &credited, sources);
            }
            Err(error) => {
                self.statistics.functions_impossible += 1;
                let name = String::from_utf8_lossy(notes.name);
                let path = String::from_utf8_lossy(&object.path);
                self.statistics.details.push(format!("{path}: {name}: {error}; not used"));
            }
        }
    }

    fn head(&mut self, view: &FunctionView<'_>, counted: &Counted<'_>) {
        let function = self.profile.functions.entry(counted.extent.symbol).or_default();
        let entries = counted.flow.entries(&counted.notes.arcs).max(0) as u64;
        function.head_count = function.head_count.saturating_add(entries);
        let first = view.counters(Kind::TIME).first().copied().unwrap_or(0).max(0) as u64;
        if first != 0 && (function.timestamp == 0 || first < function.timestamp) {
            function.timestamp = first;
        }
    }

    /// Credits the counts of the function's lines; tells what stands where.
    fn positions(&mut self, counted: &Counted<'_>, sources: &impl Sources) -> BTreeMap<Place, u64> {
        let mut counts = BTreeMap::<(FileId, u32), Vec<i64>>::new();
        for line in &counted.notes.lines {
            let count = counted.flow.blocks[line.block as usize];
            counts.entry((counted.file(line.file), line.line)).or_default().push(count);
        }
        let mut credited = BTreeMap::new();
        for ((file, line), counts) in counts {
            match self.owner(counted, file, line) {
                Owner::One(home) => {
                    let place = self.place(counted, home, Position::line(line - home.start));
                    self.credited_to(&place, counted);
                    let count = self.count(counted, home, (file, line), &counts).max(0) as u64;
                    let sum = self.record(&place).count.get_or_insert(0);
                    *sum = sum.saturating_add(count);
                    credited.insert(place, count);
                }
                _ if counts.iter().all(|&count| count <= 0) => {}
                Owner::Nobody => {
                    self.statistics.lines_outside += 1;
                    self.dropped(file, line, "no known function", sources);
                }
                Owner::Several => {
                    self.statistics.lines_ambiguous += 1;
                    self.dropped(file, line, "several functions", sources);
                }
            }
        }
        credited
    }

    fn credited_to(&mut self, place: &Place, counted: &Counted<'_>) {
        let lines = match place.function == counted.extent.symbol {
            true if place.within.is_empty() => &mut self.statistics.lines,
            true => &mut self.statistics.lines_nested,
            false => &mut self.statistics.lines_inlined,
        };
        *lines += 1;
    }

    fn dropped(&mut self, file: FileId, line: u32, why: &str, sources: &impl Sources) {
        if sources.wants_details() {
            let path = String::from_utf8_lossy(self.profile.symbols.path(file));
            self.statistics.details.push(format!("{path}:{line}: lies in {why}; dropped"));
        }
    }

    /// The executions of a line, of those of its blocks.
    fn count(
        &self,
        counted: &Counted<'_>,
        home: Home,
        (file, line): (FileId, u32),
        blocks: &[i64],
    ) -> i64 {
        // A function without notes has no counters of its own, nor have those through which it came
        // here: so all its copies were counted here, and as many blocks as copies are one of each.
        let symbols = &self.profile.symbols;
        let counts_here =
            |chain: &&Chain| !chain.iter().any(|link| counted.known.has(link.home.symbol, symbols));
        let chains = self.copies.chains(counted.extent.symbol, file, line);
        if copies::to(home.symbol, chains).filter(counts_here).count() == blocks.len() {
            return blocks.iter().fold(0, |sum, &count| sum.saturating_add(count.max(0)));
        }
        blocks.iter().copied().max().unwrap_or(0)
    }

    /// Whose line it is that was found in a function.
    pub(super) fn owner(&self, counted: &Counted<'_>, file: FileId, line: u32) -> Owner {
        let extent = &counted.extent;
        let chains = self.copies.chains(extent.symbol, file, line);
        match self.lines.owner(file, line, extent, chains) {
            // A position cannot be before its function: so the line has been changed with #line.
            Owner::One(home) if line < home.start => Owner::Nobody,
            owner => owner,
        }
    }

    /// The place of a position in a function, or in its copy if there is one only.
    pub(super) fn place(&self, counted: &Counted<'_>, home: Home, position: Position) -> Place {
        let copies = self.copies.between(counted.extent.symbol, home.symbol);
        // Copies may differ in what positions do not tell, the column.
        let mut copies = copies.iter().map(|chain| calls(&counted.extent, chain));
        match (self.inline, copies.next()) {
            (Inline::Nested, Some(Some(within)))
                if home.symbol != counted.extent.symbol
                    && copies.all(|other| other.as_ref() == Some(&within)) =>
            {
                Place { function: counted.extent.symbol, within, position }
            }
            _ => Place { function: home.symbol, within: Vec::new(), position },
        }
    }

    /// The record at a place.
    pub(super) fn record(&mut self, place: &Place) -> &mut Record {
        let function = self.profile.functions.entry(place.function).or_default();
        let mut body = &mut function.body;
        for &(call, callee) in &place.within {
            body = body.positions.entry(call).or_default().inlined.entry(callee).or_default();
        }
        body.positions.entry(place.position).or_default()
    }
}

/// A star marks names that the user chose and the assembler takes as they are.
fn assembler_name<'n>(function: &gcno::Function<'n>) -> &'n [u8] {
    function.name.strip_prefix(b"*").unwrap_or(function.name)
}

/// The calls of a chain, unless one stands before its function, through `#line`.
fn calls(from: &Extent, chain: &Chain) -> Option<Vec<(Position, SymbolId)>> {
    let starts = [from.start].into_iter().chain(chain.iter().map(|link| link.home.start));
    let call = |(link, start): (&Link, u32)| {
        let line = link.line.checked_sub(start)?;
        Some((Position { line, discriminator: link.discriminator }, link.home.symbol))
    };
    chain.iter().zip(starts).map(call).collect()
}
