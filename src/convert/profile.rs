//! The profile of a dump, with the help of the compiler's notes.
//!
//! * A location's count is the largest count of the blocks that have its line, AutoFDO's own rule;
//!   its line is counted from the function's declaration.
//! * Lines of inlined functions are credited to those, see `lines`. What the copies of a
//!   function in several objects, and its inlined copies in several callers, counted is added.
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

use hashbrown::HashMap;

use super::Statistics;
use super::flow::Flow;
use super::lines::{Extent, Lines, Owner};
use super::names::Names;
use crate::formats::gcno::{self, Notes};
use crate::profile::{FileId, Position, Profile, Record, SymbolId};
use crate::raw::dump::{Dump, FunctionView, Object};
use crate::raw::gcov::Kind;

/// Makes the profile of a dump.
///
/// `notes` has each file of notes once; `chosen` tells for each module's objects which one is
/// theirs, if any fits: of the same stamp.
pub fn profile(
    dump: &Dump,
    notes: &[Notes<'_>],
    chosen: &[Vec<Option<usize>>],
    sources: &impl Sources,
) -> (Profile, Statistics) {
    let mut conversion = Conversion::default();
    let known: Vec<_> = notes.iter().map(|notes| conversion.known(notes, sources)).collect();
    conversion.lines.sort();
    for (number, (module, chosen)) in dump.modules.iter().zip(chosen).enumerate() {
        for (object, chosen) in module.objects.iter().zip(chosen) {
            let Some(functions) = chosen.and_then(|file| known.get(file)) else {
                conversion.statistics.objects_without_notes += 1;
                continue;
            };
            conversion.statistics.objects += 1;
            let runs = i64::try_from(module.record.sums.runs).unwrap_or(i64::MAX);
            for view in module.functions(object) {
                conversion.function(&view, (number, object, runs), functions, sources);
            }
        }
    }
    let dropped = dump.modules.iter().map(|module| module.record.sums.dropped);
    conversion.statistics.events_dropped = dropped.fold(0, u64::saturating_add);
    (conversion.profile, conversion.statistics)
}

/// What a conversion asks of the world outside dump and notes.
pub trait Sources {
    /// The path of a source file that the compiler, running in `directory`, called by `name`.
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        source_path(directory, name)
    }

    /// Whether [`Statistics::details`] should name everything that is dropped.
    fn wants_details(&self) -> bool {
        false
    }

    /// Where a module's machine code makes the call of an indirect-call site, if that is certain.
    fn call(&self, module: usize, function: &FunctionView<'_>, site: usize) -> Option<Call> {
        let _ = (module, function, site);
        None
    }

    /// The name of a global function that no notes know.
    fn function(&self, ident: u32) -> Option<Vec<u8>>;
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// Path of the file, as [`source_path`] makes it.
    pub path: Vec<u8>,
    /// Line, from 1.
    pub line: u32,
    /// Which of several pieces of code of the line, 0 if there is only one.
    pub discriminator: u16,
}

/// A function as its declaration names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    /// Assembler name.
    pub name: Vec<u8>,
    /// Path of the file, as [`source_path`] makes it.
    pub path: Vec<u8>,
    /// Line of the declaration.
    pub line: u32,
}

/// A call in the machine code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Its line.
    pub at: SourceLine,
    /// The function it was written in, which may be inlined where it is made.
    pub function: Option<Declared>,
}

/// What has been found so far.
#[derive(Default)]
pub(super) struct Conversion {
    pub(super) profile: Profile,
    pub(super) statistics: Statistics,
    pub(super) names: Names,
    lines: Lines,
}

/// What the notes of an object say, in terms of the profile.
#[derive(Default)]
struct Known<'n> {
    functions: HashMap<u32, (&'n gcno::Function<'n>, Extent)>,
    files: HashMap<&'n [u8], FileId>,
}

/// A function whose blocks' counts are known.
pub(super) struct Counted<'n> {
    pub(super) notes: &'n gcno::Function<'n>,
    pub(super) flow: Flow,
    extent: Extent,
    pub(super) files: &'n HashMap<&'n [u8], FileId>,
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
        }
        known
    }

    fn extent(&mut self, function: &gcno::Function<'_>, file: FileId) -> Extent {
        // A star marks names that the user chose and the assembler takes as they are.
        let name = function.name.strip_prefix(b"*").unwrap_or(function.name);
        let symbol = self.profile.symbols.symbol(name, Some(file));
        let extent = Extent { symbol, file, start: function.start_line, end: function.end_line };
        self.names.add(function.ident, symbol);
        if !function.artificial {
            self.lines.add(extent);
        }
        extent
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
                let counted = Counted { notes, flow, extent, files: &known.files };
                self.head(view, &counted);
                self.positions(&counted, sources);
                self.targets(view, module, &counted, sources);
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

    /// Credits the counts of the function's lines.
    fn positions(&mut self, counted: &Counted<'_>, sources: &impl Sources) {
        let mut largest = BTreeMap::<(FileId, u32), i64>::new();
        for line in &counted.notes.lines {
            let count = counted.flow.blocks[line.block as usize];
            let most = largest.entry((counted.files[line.file], line.line)).or_default();
            *most = count.max(*most);
        }
        for ((file, line), count) in largest {
            let owner = self.lines.owner(file, line, &counted.extent);
            if let Some(record) = position(owner, line, &counted.extent).map(|at| self.record(at)) {
                let sum = record.count.get_or_insert(0);
                *sum = sum.saturating_add(count.max(0) as u64);
            }
            let (counter, why) = match owner {
                Owner::Itself => (&mut self.statistics.lines, None),
                Owner::Inlined(_) => (&mut self.statistics.lines_inlined, None),
                Owner::Nobody | Owner::Several if count <= 0 => continue,
                Owner::Nobody => (&mut self.statistics.lines_outside, Some("no known function")),
                Owner::Several => (&mut self.statistics.lines_ambiguous, Some("several functions")),
            };
            *counter += 1;
            if let Some(why) = why.filter(|_| sources.wants_details()) {
                let path = String::from_utf8_lossy(self.profile.symbols.path(file));
                self.statistics.details.push(format!("{path}:{line}: lies in {why}; dropped"));
            }
        }
    }

    /// The function and position that a line found in a function belongs to, if that is known.
    pub(super) fn place(&self, counted: &Counted<'_>, file: FileId, line: u32) -> Option<Place> {
        let owner = self.lines.owner(file, line, &counted.extent);
        position(owner, line, &counted.extent)
    }

    /// The record at a place.
    pub(super) fn record(&mut self, (symbol, position): Place) -> &mut Record {
        let function = self.profile.functions.entry(symbol).or_default();
        function.body.positions.entry(position).or_default()
    }
}

/// A function and a position in it.
pub(super) type Place = (SymbolId, Position);

fn position(owner: Owner, line: u32, own: &Extent) -> Option<Place> {
    let extent = match owner {
        Owner::Itself => *own,
        Owner::Inlined(extent) => extent,
        Owner::Nobody | Owner::Several => return None,
    };
    Some((extent.symbol, Position::line(line.checked_sub(extent.start)?)))
}

/// The path of a source file called by `name` in `directory`, without `.` components.
pub fn source_path(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let whole = match name.starts_with(b"/") {
        true => name.to_vec(),
        false => [directory, b"/", name].concat(),
    };
    // What `..` leads to is only known if no link is in the way; as in compilers, it stays.
    let parts = whole.split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
    parts.flat_map(|part| [b"/", part].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_sources() {
        let path = |directory: &str, name: &str| {
            String::from_utf8(source_path(directory.as_bytes(), name.as_bytes())).unwrap()
        };
        assert_eq!(path("/home/u", "a.c"), "/home/u/a.c");
        assert_eq!(path("/home/u", "./x//a.c"), "/home/u/x/a.c");
        assert_eq!(path("/home/u", "../a.h"), "/home/u/../a.h");
        assert_eq!(path("/home/u", "/usr/include/a.h"), "/usr/include/a.h");
    }
}
