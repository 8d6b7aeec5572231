//! Line coverage from the modules that gcc instrumented and the compiler's notes, with the counts that gcov gives.
//!
//! | step | where |
//! |---|---|
//! | counters of each object's functions, all its copies added | here |
//! | lines with the blocks that end in them | `lines` |
//! | executions of loops within one line | `loops` |
//! | arcs by block | `arcs_by_block` |
//!
//! A source file's counts are the sums of those from each object that has code of it. Functions of the notes that no
//! counter counts never ran.

mod arcs_by_block;
mod lines;
mod loops;

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::coverage::decisions::{Condition, Decision};
use crate::coverage::paths::{PathArc, Paths};
use crate::coverage::{Coverage, File, Function};
use crate::formats::gcno::{self, Notes};
pub use crate::placement::solve::flow::FlowMemory;
use crate::placement::solve::flow::{Flow, FlowError};
use crate::raw::dump::{Module, Object};
use crate::raw::gcov::Kind;
use arcs_by_block::ArcsByBlock;
use lines::Lines;

/// Line coverage of an object, and what is not in it.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    /// The coverage.
    pub coverage: Coverage,
    /// Functions in the coverage.
    pub functions: usize,
    /// Functions with counts that the notes do not know.
    pub functions_without_notes: usize,
    /// Functions with counters that contradict each other.
    pub functions_impossible: usize,
    /// Functions whose counters of prime paths are not as many as the notes say.
    pub functions_without_paths: usize,
}

/// A function with the counts of its blocks and arcs.
struct Counted<'n> {
    notes: &'n gcno::Function<'n>,
    arcs: &'n [gcno::Arc],
    lines: &'n [gcno::Line],
    flow: Flow,
    by_block: ArcsByBlock,
    /// The decisions, each with the block of its first condition.
    decisions: Vec<(u32, Decision)>,
    /// The prime paths, if the compiler observes them and their counters fit.
    paths: Option<Paths>,
}

/// The coverage of an object from the counters of its copies. `path` gives the path of a source file from the
/// compiler's folder and the name that the compiler was given.
pub fn coverage(
    notes: &Notes<'_>,
    copies: &[(&Module, &Object)],
    path: impl Fn(&[u8], &[u8]) -> Vec<u8>,
    memory: &mut FlowMemory,
) -> Converted {
    let mut counters = Counters::new(notes);
    let mut functions_without_notes = 0;
    for (module, object) in copies {
        functions_without_notes += counters.add(module, object);
    }
    let converted = counters.coverage(&path, memory);
    Converted { functions_without_notes, ..converted }
}

/// The counters of an object's functions.
struct Counters<'n> {
    notes: &'n Notes<'n>,
    /// Indexes of the functions, by ident.
    places: HashMap<u32, usize>,
    /// By index of the function; none if it has no counters.
    counters: Vec<Vec<i64>>,
    /// The same for conditions.
    conditions: Vec<Vec<i64>>,
    /// The same for prime paths.
    paths: Vec<Vec<i64>>,
    /// The runs of all copies.
    runs: i64,
}

impl<'n> Counters<'n> {
    fn new(notes: &'n Notes<'n>) -> Self {
        let places = notes.functions.iter().enumerate();
        let places = places.map(|(place, function)| (function.ident, place)).collect();
        let none = vec![Vec::new(); notes.functions.len()];
        let (counters, conditions, paths) = (none.clone(), none.clone(), none);
        Self { notes, places, counters, conditions, paths, runs: 0 }
    }

    /// Adds a copy of the object; gives the number of its functions that the notes do not know.
    fn add(&mut self, module: &Module, object: &Object) -> usize {
        let runs = i64::try_from(module.sums.runs).unwrap_or(i64::MAX);
        self.runs = self.runs.saturating_add(runs);
        let mut unknown = 0;
        for view in module.functions(object).filter(|view| !view.is_absent()) {
            let place = self.places.get(&view.ident()).copied();
            let known = place.filter(|&place| {
                let notes = &self.notes.functions[place];
                let checksums = (view.lineno_checksum(), view.cfg_checksum());
                (notes.lineno_checksum, notes.cfg_checksum) == checksums
            });
            let Some(place) = known else {
                unknown += 1;
                continue;
            };
            add_up(&mut self.counters[place], view.counters(Kind::ARCS), i64::saturating_add);
            for (bits, kind) in
                [(&mut self.conditions, Kind::CONDITIONS), (&mut self.paths, Kind::PATHS)]
            {
                add_up(&mut bits[place], view.counters(kind), |own, more| own | more);
            }
        }
        unknown
    }

    /// The coverage of the object.
    fn coverage(
        &self,
        path: impl Fn(&[u8], &[u8]) -> Vec<u8>,
        memory: &mut FlowMemory,
    ) -> Converted {
        let mut converted = Converted::default();
        let mut functions = Vec::with_capacity(self.counters.len());
        for (place, notes) in self.notes.functions.iter().enumerate() {
            // Such as constructors of the object. gcov leaves them out, too.
            if notes.artificial {
                continue;
            }
            match self.count(place, memory) {
                Ok(counted) => {
                    converted.functions_without_paths +=
                        usize::from(notes.paths > 0 && counted.paths.is_none());
                    functions.push(counted);
                }
                Err(_) => converted.functions_impossible += 1,
            }
        }
        let mut files: Vec<File> = vec![File::default(); self.notes.files.len()];
        converted.functions = functions.len();
        for counted in &mut functions {
            let name = counted.notes.name.strip_prefix(b"*").unwrap_or(counted.notes.name);
            let count = counted.flow.blocks.first().map_or(0, |&count| count.max(0) as u64);
            let (line, end) = (counted.notes.start_line, counted.notes.end_line);
            let paths = counted.paths.take().into_iter().collect();
            let function = Function { name: name.to_vec(), line, end, count, paths };
            files[counted.notes.file as usize].functions.push(function);
        }
        Lines::of(&functions).add_to(&functions, &mut files);
        for (name, file) in self.notes.files.iter().zip(files) {
            if !file.lines.is_empty() || !file.functions.is_empty() {
                let files = [(path(self.notes.directory, name), file)].into();
                converted.coverage.add(Coverage { files });
            }
        }
        converted
    }

    fn count(&self, place: usize, memory: &mut FlowMemory) -> Result<Counted<'n>, FlowError> {
        let notes = &self.notes.functions[place];
        let (arcs, lines) = (self.notes.arcs(notes), self.notes.lines(notes));
        let number = arcs.iter().filter(|arc| !arc.is_on_tree()).count();
        let zeros;
        let counters = match &*self.counters[place] {
            [] => {
                zeros = vec![0; number];
                &zeros
            }
            counters => counters,
        };
        let flow = Flow::solve(notes.blocks, arcs, counters, self.runs, memory)?;
        let by_block = ArcsByBlock::new(notes.blocks, arcs);
        let decisions = self.decisions(notes, &self.conditions[place]);
        let paths = self.paths(notes, &self.paths[place]);
        Ok(Counted { notes, arcs, lines, flow, by_block, decisions, paths })
    }

    /// The prime paths, if the compiler observes them and their counters fit.
    fn paths(&self, notes: &gcno::Function<'_>, counters: &[i64]) -> Option<Paths> {
        let expected = notes.paths.div_ceil(u64::BITS) as usize;
        if notes.paths == 0 || !(counters.is_empty() || counters.len() == expected) {
            return None;
        }
        let arcs = self.notes.arcs(notes).iter().filter(|arc| !arc.is_fake());
        let arcs = arcs.map(|arc| PathArc {
            from: arc.source,
            to: arc.destination,
            outcome: arc.outcome(),
        });
        let lines = self.notes.lines(notes).iter().filter(|line| line.file == notes.file);
        let lines = lines.map(|line| (line.block, line.line));
        let taken = counters.iter().map(|&bits| bits as u64).collect();
        Some(Paths::new(notes.paths, taken, notes.blocks, arcs, lines))
    }

    fn decisions(&self, notes: &gcno::Function<'_>, counters: &[i64]) -> Vec<(u32, Decision)> {
        let decisions = self.notes.decisions(notes).iter();
        // Without counters nothing is shown.
        let pairs = counters.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let pairs = pairs.chain(core::iter::repeat((0, 0)));
        let decision = |(note, (on_true, on_false)): (&gcno::DecisionNote, (i64, i64))| {
            let condition = |bit: u32| Condition {
                shown_true: on_true >> bit & 1 == 1,
                shown_false: on_false >> bit & 1 == 1,
            };
            let conditions = (0..note.conditions).map(condition).collect();
            (note.block, Decision { conditions })
        };
        decisions.zip(pairs).map(decision).collect()
    }
}

/// Adds the counters of a copy to those of others.
fn add_up(sums: &mut Vec<i64>, counters: &[i64], add: impl Fn(i64, i64) -> i64) {
    if sums.len() < counters.len() {
        sums.resize(counters.len(), 0);
    }
    for (sum, &count) in sums.iter_mut().zip(counters) {
        *sum = add(*sum, count);
    }
}
