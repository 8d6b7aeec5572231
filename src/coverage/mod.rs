//! The model of line coverage: what the lines, functions and branches of source files counted, as people read it.
//!
//! The report formats are written from here, [`lcov`](crate::formats::lcov) and
//! [`cobertura`](crate::formats::cobertura). Counts at positions of functions, for compilers, are another model,
//! [`crate::profile`]. [`markers`] leaves out what comments of the source exclude, [`decisions`] has
//! conditions, [`paths`] prime paths, [`instances`] what LLVM's totals are of.

pub mod decisions;
pub mod instances;
pub mod markers;
mod missed;
pub mod paths;

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};

use decisions::Decision;
use instances::Instances;
use paths::Paths;

/// The coverage of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The source files, by path.
    pub files: BTreeMap<Vec<u8>, File>,
}

/// The coverage of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Executions of the lines that have code, by number.
    pub lines: BTreeMap<u32, u64>,
    /// The functions that start here, in the order of the compiler.
    pub functions: Vec<Function>,
    /// The branches, by line and their number in it.
    pub branches: BTreeMap<(u32, u32), Branch>,
    /// The decisions whose conditions the compiler observes, by line and their number in it.
    pub decisions: BTreeMap<(u32, u32), Decision>,
    /// What each function has, if the compiler's own tool counts lines and branches for each function.
    pub instances: Instances,
    /// Whether functions that start at the same line are instances of one, which count once.
    pub has_instances: bool,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name, as the assembler knows it.
    pub name: Vec<u8>,
    /// The line it starts at.
    pub line: u32,
    /// The line it ends at; 0 if unknown.
    pub end: u32,
    /// Times it was entered.
    pub count: u64,
    /// Its prime paths, if the compiler observes them: an entry for each of its graphs. Several objects may have the
    /// function with different graphs.
    pub paths: Vec<Paths>,
}

/// A way on from a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Number of the condition in its line. The ways on from a condition have one number.
    pub block: u32,
    /// Times taken; `None` if the condition was never evaluated.
    pub count: Option<u64>,
    /// Whether an exception leads here from a call.
    pub is_exception: bool,
    /// The line of the same file in which the block ends that it leads to; 0 if unknown.
    pub leads_to: u32,
}

/// Numbers of functions, lines, branches and conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Functions. The instances of a template count once.
    pub functions: Total,
    /// Lines.
    pub lines: Total,
    /// Branches.
    pub branches: Total,
    /// Outcomes of conditions: two for each condition of a decision.
    pub conditions: Total,
    /// Prime paths.
    pub paths: Total,
}

/// How many there are, and how many of these were executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// All of them.
    pub found: u64,
    /// Those with a count.
    pub hit: u64,
}

impl Total {
    /// The total of these counts.
    pub fn of(counts: impl Iterator<Item = u64>) -> Self {
        let mut total = Self::default();
        counts.for_each(|count| total.add(count));
        total
    }

    /// Counts one more, with this count.
    pub const fn add(&mut self, count: u64) {
        self.add_all(1, count);
    }

    /// Counts more, each with this count.
    pub const fn add_all(&mut self, number: u64, count: u64) {
        self.found += number;
        self.hit += if count > 0 { number } else { 0 };
    }
}

impl core::ops::AddAssign for Total {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.hit += other.hit;
    }
}

impl File {
    /// The totals: those of all functions, or else the numbers of entries.
    pub fn totals(&self) -> Totals {
        let [functions, lines, branches] = match self.instances.is_empty() {
            false => self.instances.totals(),
            true => [
                self.functions_total(),
                Total::of(self.lines.values().copied()),
                Total::of(self.branches.values().map(|branch| branch.count.unwrap_or(0))),
            ],
        };
        let (conditions, paths) = (self.conditions(), self.paths());
        Totals { functions, lines, branches, conditions, paths }
    }

    /// The functions by their entries.
    fn functions_total(&self) -> Total {
        if !self.has_instances {
            return Total::of(self.functions.iter().map(|function| function.count));
        }
        let mut most = BTreeMap::<u32, u64>::new();
        for function in &self.functions {
            let count = most.entry(function.line).or_default();
            *count = function.count.max(*count);
        }
        Total::of(most.into_values())
    }

    fn conditions(&self) -> Total {
        let mut conditions = Total::default();
        self.decisions.values().for_each(|decision| conditions += decision.total());
        conditions
    }

    fn paths(&self) -> Total {
        let mut all = Total::default();
        let paths = self.functions.iter().flat_map(|function| &function.paths);
        paths.for_each(|paths| all += paths.total());
        all
    }

    /// Keeps what another file has, too.
    pub fn retain_those_of(&mut self, other: &Self) {
        let functions: HashSet<(&[u8], u32)> =
            other.functions.iter().map(|function| (&*function.name, function.line)).collect();
        self.functions.retain(|function| functions.contains(&(&*function.name, function.line)));
        self.lines.retain(|line, _| other.lines.contains_key(line));
        self.branches.retain(|place, _| other.branches.contains_key(place));
        self.decisions.retain(|place, _| other.decisions.contains_key(place));
        self.instances = Instances::default();
    }

    fn add(&mut self, other: Self, places: &mut FunctionPlaces) {
        for (line, count) in other.lines {
            let sum = self.lines.entry(line).or_default();
            *sum = sum.saturating_add(count);
        }
        for function in other.functions {
            match places.of(&function, &self.functions) {
                Some(place) => {
                    let own = &mut self.functions[place];
                    own.count = own.count.saturating_add(function.count);
                    for more in function.paths {
                        if !own.paths.iter_mut().any(|paths| paths.add(&more)) {
                            own.paths.push(more);
                        }
                    }
                }
                None => self.functions.push(function),
            }
        }
        for (place, branch) in other.branches {
            let own = self.branches.entry(place).or_insert(Branch { count: None, ..branch });
            own.count = match (own.count, branch.count) {
                (Some(own), Some(more)) => Some(own.saturating_add(more)),
                (own, more) => own.or(more),
            };
        }
        for ((line, number), decision) in other.decisions {
            self.add_decision(line, number, decision);
        }
        self.instances.add_all(other.instances);
        self.has_instances |= other.has_instances;
    }
}

impl Coverage {
    /// Adds the coverage of another program, or of another part of this one.
    pub fn add(&mut self, other: Self) {
        for (path, file) in other.files {
            match self.files.entry(path) {
                Entry::Vacant(entry) => _ = entry.insert(file),
                Entry::Occupied(mut entry) => {
                    entry.get_mut().add(file, &mut FunctionPlaces::default());
                }
            }
        }
    }

    /// Keeps the files, and what they have, that another coverage has, too.
    pub fn retain_those_of(&mut self, other: &Self) {
        self.files.retain(|path, file| {
            let same = other.files.get(path);
            same.into_iter().for_each(|same| file.retain_those_of(same));
            same.is_some()
        });
    }

    /// What all files have.
    pub fn totals(&self) -> Totals {
        let mut all = Totals::default();
        for totals in self.files.values().map(File::totals) {
            all.functions += totals.functions;
            all.lines += totals.lines;
            all.branches += totals.branches;
            all.conditions += totals.conditions;
            all.paths += totals.paths;
        }
        all
    }
}

/// Adds up many coverages. A header may be in each.
#[derive(Debug, Default)]
pub struct Sum {
    coverage: Coverage,
    /// For files that several had.
    places: HashMap<Vec<u8>, FunctionPlaces>,
}

impl Sum {
    /// Adds another one.
    pub fn add(&mut self, other: Coverage) {
        for (path, file) in other.files {
            match self.coverage.files.get_mut(&path) {
                Some(own) => own.add(file, self.places.entry(path).or_default()),
                None => _ = self.coverage.files.insert(path, file),
            }
        }
    }

    /// The sum.
    pub fn finish(self) -> Coverage {
        self.coverage
    }
}

/// The places of a file's functions, by name and line.
#[derive(Debug, Default)]
struct FunctionPlaces {
    places: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

impl FunctionPlaces {
    /// The place among all functions of one with the name and line of this one. Functions may have been added since the
    /// last call.
    fn of(&mut self, function: &Function, all: &[Function]) -> Option<usize> {
        let hash = |function: &Function| self.hasher.hash_one((&function.name, function.line));
        let places = &mut self.places;
        for place in places.len()..all.len() {
            places.insert_unique(hash(&all[place]), place, |&other| hash(&all[other]));
        }
        let is_same =
            |&place: &usize| (&all[place].name, all[place].line) == (&function.name, function.line);
        self.places.find(hash(function), is_same).copied()
    }
}
