//! The functions of a mapping, each once, with the counts of their regions.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};

use super::decisions::{PlacedDecision, decisions};
use crate::counters::Profile;
use crate::formats::coverage_mapping::{
    Counter, Expressions, Function, Kind, Mapping, Place, Region,
};
use crate::formats::profraw::names::Names;

/// A function with its counts.
pub struct Counted<'m> {
    /// Its name, without the name of its file.
    pub name: &'m [u8],
    /// Its mapping.
    pub mapping: &'m Function,
    /// Times it was entered.
    pub count: u64,
    /// Its regions with counts, without branches.
    pub regions: Vec<CountedRegion>,
    /// Its branches.
    pub branches: Vec<CountedBranch>,
    /// Whether a file, by its place in [`Function::files`], is the text of an expansion.
    pub is_expanded: Vec<bool>,
    /// Its decisions, if its bitmap can be read.
    pub decisions: Option<Vec<PlacedDecision>>,
    /// Whether a difference of its counters was below 0, and is 0 here.
    pub is_torn: bool,
}

/// A region and its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRegion {
    /// What it is: code, an expansion, skipped, or a gap.
    pub kind: Kind,
    /// Its file: place in [`Function::files`].
    pub file: u32,
    /// Its first character.
    pub start: Place,
    /// The character behind its last.
    pub end: Place,
    /// Times it was executed.
    pub count: u64,
}

/// A condition and its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedBranch {
    /// Its file: place in [`Function::files`].
    pub file: u32,
    /// Its first character.
    pub start: Place,
    /// The character behind its last.
    pub end: Place,
    /// Times it was true; `None` if it never can be.
    pub taken: Option<u64>,
    /// Times it was false; `None` if it never can be.
    pub other: Option<u64>,
}

/// Functions that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Those that have another hash in the profile: they were counted by another build.
    pub changed: usize,
    /// Those without a name.
    pub nameless: usize,
    /// Those with counters or expressions that do not exist.
    pub damaged: usize,
}

impl core::ops::AddAssign for Left {
    fn add_assign(&mut self, other: Self) {
        self.changed += other.changed;
        self.nameless += other.nameless;
        self.damaged += other.damaged;
    }
}

impl Counted<'_> {
    /// Its regions in a file.
    pub fn regions_in(&self, file: u32) -> impl Iterator<Item = &CountedRegion> {
        self.regions.iter().filter(move |region| self.is_in(region.file, file))
    }

    /// Its regions in the file at this place.
    pub fn regions_at(&self, place: u32) -> &[CountedRegion] {
        let start = self.regions.partition_point(|region| region.file < place);
        let end = self.regions.partition_point(|region| region.file <= place);
        &self.regions[start..end]
    }

    /// Its branches in the file at this place.
    pub fn branches_at(&self, place: u32) -> &[CountedBranch] {
        let start = self.branches.partition_point(|branch| branch.file < place);
        let end = self.branches.partition_point(|branch| branch.file <= place);
        &self.branches[start..end]
    }

    /// Whether the file at this place is this one.
    pub fn is_in(&self, place: u32, file: u32) -> bool {
        self.mapping.files.get(place as usize) == Some(&file)
    }

    /// The place of its own file, which is no expansion.
    pub fn main_file(&self) -> Option<u32> {
        self.is_expanded.iter().position(|is_expanded| !is_expanded).map(|place| place as u32)
    }

    /// The same, if it is this file.
    pub fn main_file_in(&self, file: u32) -> Option<u32> {
        let files = self.mapping.files.iter().zip(&self.is_expanded);
        let place =
            files.enumerate().position(|(_, (&own, is_expanded))| own == file && !is_expanded);
        place.map(|place| place as u32)
    }
}

/// All functions with counts. Those of which the profile knows nothing never ran.
pub fn counted<'m>(
    mapping: &'m Mapping,
    names: &'m [Names],
    profile: &Profile,
) -> (Vec<Counted<'m>>, Left) {
    let mut known: HashMap<&[u8], Vec<usize>> = HashMap::with_capacity(profile.functions.len());
    for (place, function) in profile.functions.iter().enumerate() {
        known.entry(&function.name).or_default().push(place);
    }
    let (mut functions, mut left) = (Vec::new(), Left::default());
    // Programs share a function if its files are the same: each has its own `main`.
    let mut shared = HashSet::new();
    for function in once(mapping) {
        let name = names.iter().find_map(|names| names.get(function.name_ref));
        let Some(name) = name else {
            left.nameless += 1;
            continue;
        };
        let places = known.get(name).map_or(&[][..], Vec::as_slice);
        let is_it = |place: &&usize| profile.functions[**place].hash == function.hash;
        let nothing;
        let (counters, bitmap) = match places.iter().find(is_it) {
            Some(&place) => {
                let function = &profile.functions[place];
                (&function.counters, &function.bitmap[..])
            }
            // Another program uses the function.
            None if !places.is_empty() && function.is_dummy() => continue,
            None if !places.is_empty() => {
                left.changed += 1;
                continue;
            }
            None => {
                nothing = vec![0; counters(function)];
                (&nothing, &[][..])
            }
        };
        let is_unused = function.regions.first().is_none_or(|region| region.count == Counter::Zero);
        if is_unused && counters.first().is_some_and(|&count| count > 0) {
            continue;
        }
        match count(name, function, mapping, counters, bitmap) {
            Some(counted) if shared.insert((function.name_ref, &function.files)) => {
                functions.push(counted);
            }
            Some(_) => {}
            None => left.damaged += 1,
        }
    }
    (functions, left)
}

/// The names of functions whose counters contradict each other.
pub fn torn(functions: &[Counted<'_>]) -> Vec<Vec<u8>> {
    functions.iter().filter(|function| function.is_torn).map(|torn| torn.name.into()).collect()
}

/// Each function of a program once. The mapping of an object that uses the function replaces one of an object that does
/// not.
fn once(mapping: &Mapping) -> Vec<&Function> {
    let mut all: Vec<&Function> = Vec::with_capacity(mapping.functions.len());
    let mut places = HashMap::with_capacity(mapping.functions.len());
    for function in &mapping.functions {
        match places.entry((function.program, function.name_ref)) {
            Entry::Vacant(entry) => {
                entry.insert(all.len());
                all.push(function);
            }
            Entry::Occupied(entry) => {
                let own = &mut all[*entry.get()];
                if own.is_dummy() && !function.is_dummy() {
                    *own = function;
                }
            }
        }
    }
    all
}

/// How many counters a mapping has use for.
fn counters(function: &Function) -> usize {
    let others = |region: &Region| match region.kind {
        Kind::Branch(other) | Kind::Condition(other, _) => other,
        _ => Counter::Zero,
    };
    let of_regions = function.regions.iter().flat_map(|region| [region.count, others(region)]);
    let of_expressions = function.expressions.iter().flat_map(|parts| [parts.left, parts.right]);
    let number = |counter| match counter {
        Counter::Number(number) => number as usize + 1,
        _ => 0,
    };
    of_regions.chain(of_expressions).map(number).max().unwrap_or(0)
}

/// Counts the regions of a function.
fn count<'m>(
    name: &'m [u8],
    function: &'m Function,
    mapping: &'m Mapping,
    counters: &[u64],
    bitmap: &[u8],
) -> Option<Counted<'m>> {
    let mut values = Expressions::new(&function.expressions, counters);
    let first = first_of_files(function);
    let (mut regions, mut branches) = (Vec::new(), Vec::new());
    let mut is_expanded = vec![false; function.files.len()];
    for region in &function.regions {
        let &Region { kind, file, start, end, .. } = region;
        match kind {
            Kind::Decision { .. } => {}
            Kind::Branch(other) | Kind::Condition(other, _) => {
                let mut side = |counter: Counter| {
                    let count = values.value(counter).ok()?;
                    Some((counter != Counter::Zero).then_some(count))
                };
                let (taken, other) = (side(region.count)?, side(other)?);
                branches.push(CountedBranch { file, start, end, taken, other });
            }
            Kind::Code | Kind::Expansion(_) | Kind::Skipped | Kind::Gap => {
                if let Kind::Expansion(expanded) = kind {
                    *is_expanded.get_mut(expanded as usize)? = true;
                }
                let count = values.value(counter_of(region, &function.regions, &first)).ok()?;
                regions.push(CountedRegion { kind, file, start, end, count });
            }
        }
    }
    let own_file = function.files.first().and_then(|&file| mapping.files.get(file as usize));
    let with_file = own_file.and_then(|file| name.strip_prefix(&**file)?.strip_prefix(b":"));
    let count = regions.first().map_or(0, |region| region.count);
    let name = with_file.unwrap_or(name);
    let is_torn = values.is_torn();
    let has_run = counters.first().is_some_and(|&count| count > 0);
    let decisions = decisions(function, bitmap, has_run);
    let mapping = function;
    Some(Counted { name, mapping, count, regions, branches, is_expanded, decisions, is_torn })
}

/// The index of each file's first region.
fn first_of_files(function: &Function) -> Vec<Option<usize>> {
    let mut first = vec![None; function.files.len()];
    for (place, region) in function.regions.iter().enumerate() {
        if let Some(first) = first.get_mut(region.file as usize) {
            first.get_or_insert(place);
        }
    }
    first
}

/// The counter of a region. That of an expansion is the counter of the first region of its text.
fn counter_of(region: &Region, regions: &[Region], first: &[Option<usize>]) -> Counter {
    let mut region = region;
    // Each step leads to another file, unless they lead in a circle.
    for _ in 0..=first.len() {
        let Kind::Expansion(file) = region.kind else { return region.count };
        let Some(&Some(place)) = first.get(file as usize) else { return Counter::Zero };
        region = &regions[place];
    }
    Counter::Zero
}
