//! The lines and calls of functions, without what they count.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::formats::afdo_v1_v3::names::without_number;
use crate::formats::gcno::Notes;
use crate::profile::{Body, Profile, SymbolId};

/// Whether only the object file calls a function so: names of C++ and Rust, and those of nested functions, such as
/// `add.5`.
fn is_linkage_name(name: &[u8]) -> bool {
    name.starts_with(b"_Z") || without_number(name).len() < name.len()
}

/// The functions of a program as it is now.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// By name.
    functions: BTreeMap<Vec<u8>, Vec<Outlined>>,
    /// Lines of functions that notes do not name, because they are always inlined; by file.
    unnamed: BTreeMap<Vec<u8>, BTreeSet<u32>>,
    /// What is known besides the functions and lines.
    pub knows: Knows,
}

/// What an outline can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knows {
    /// The calls of each line.
    pub calls: bool,
    /// Whether the profile has all lines that were compiled. Versions 1 and 2 leave some out.
    pub profile_is_whole: bool,
}

/// A function of the program.
#[derive(Clone, Debug, Default)]
pub struct Outlined {
    /// Path of the file that declares it; empty if nothing tells it.
    pub file: Vec<u8>,
    /// Line of the declaration.
    pub declared: u32,
    /// Whether it has code of its own, besides that of its inlined copies.
    pub stands_alone: bool,
    /// Whether it may be another function of the same identifier: the debug information does not name it as the
    /// profile does.
    pub is_guess: bool,
    /// Whether the debug information does not tell where it is declared. Then the place is that of its first
    /// instruction.
    pub is_unplaced: bool,
    /// Its lines. There are none if it is only declared.
    pub shape: Shape,
}

/// The lines of a function that have code, by their distance from the declaration.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// By distance.
    pub lines: BTreeMap<i64, Line>,
    /// Hashes of the texts of all lines from the declaration on, with code or without; empty if they are unknown.
    pub texts: Vec<u64>,
}

/// What is known of a line, besides that it has code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The discriminators of its positions.
    pub discriminators: BTreeSet<u16>,
    /// Functions that it calls, or called before they were inlined.
    pub calls: BTreeSet<Vec<u8>>,
    /// Whether it calls functions that nobody can name.
    pub calls_others: bool,
}

impl Outlined {
    /// Whether a file of this name may declare it. The first instruction of a function may come from a header.
    fn may_be_in(&self, file: Option<&[u8]>) -> bool {
        self.is_unplaced
            || self.file.is_empty()
            || file.is_none_or(|file| base_name(file) == base_name(&self.file))
    }

    /// Whether its lines are unknown.
    pub fn is_undescribed(&self) -> bool {
        self.is_unplaced && self.shape.lines.is_empty()
    }
}

impl Line {
    /// Whether it may call this function.
    pub fn may_call(&self, name: &[u8]) -> bool {
        self.calls_others || self.calls.contains(name)
    }

    /// Whether it calls anything.
    pub fn has_calls(&self) -> bool {
        self.calls_others || !self.calls.is_empty()
    }
}

impl Shape {
    /// The line at a distance.
    pub fn line(&mut self, distance: i64) -> &mut Line {
        self.lines.entry(distance).or_default()
    }

    /// Adds the lines of another function.
    pub fn add(&mut self, other: &Self) {
        if self.texts.is_empty() {
            self.texts.clone_from(&other.texts);
        }
        for (&distance, line) in &other.lines {
            let own = self.line(distance);
            own.discriminators.extend(&line.discriminators);
            own.calls.extend(line.calls.iter().cloned());
            own.calls_others |= line.calls_others;
        }
    }

    /// This shape moved to where it has most lines in common with another one.
    pub fn moved_to(&self, other: &Self) -> Self {
        /// More pairs of lines are not compared.
        const MOST: usize = 1 << 22;
        let mut common = BTreeMap::<i64, usize>::new();
        if self.lines.len().saturating_mul(other.lines.len()) <= MOST {
            for there in other.lines.keys() {
                self.lines.keys().for_each(|here| *common.entry(there - here).or_default() += 1);
            }
        }
        let nearest = |&(&by, &lines): &(&i64, &usize)| (lines, core::cmp::Reverse(by.abs()));
        let by = common.iter().max_by_key(nearest).map_or(0, |(&by, _)| by);
        let moved = self.lines.iter().map(|(line, of)| (line + by, of.clone()));
        Self { lines: moved.collect(), texts: Vec::new() }
    }

    /// The share of all lines that both have, from 0 to 1. The first two lines do not count: debug information and
    /// notes differ in which of them they name.
    pub fn likeness(&self, other: &Self) -> f64 {
        const FROM: i64 = 2;
        let both = other.lines.range(FROM..).filter(|(line, _)| self.lines.contains_key(line));
        let both = both.count();
        let number = |shape: &Self| shape.lines.range(FROM..).count();
        let all = number(self) + number(other) - both;
        if all == 0 { 0.0 } else { both as f64 / all as f64 }
    }
}

/// Where a function is now.
#[derive(Clone, Copy, Debug)]
pub enum Place<'o> {
    /// In a file of the same name.
    Here(&'o Outlined),
    /// In another file.
    Elsewhere(&'o Outlined),
}

impl Outline {
    /// The function with this name and place. Adds it if it is new.
    pub fn function(&mut self, name: &[u8], file: &[u8], declared: u32) -> &mut Outlined {
        if !self.functions.contains_key(name) {
            self.functions.insert(name.to_vec(), Vec::new());
        }
        let all = self.functions.entry(name.to_vec()).or_default();
        let is_it = |known: &Outlined| known.declared == declared && known.file == file;
        let place = all.iter().position(is_it).unwrap_or_else(|| {
            all.push(Outlined { file: file.to_vec(), declared, ..Outlined::default() });
            all.len() - 1
        });
        &mut all[place]
    }

    /// Whether it has no function with lines.
    pub fn is_empty(&self) -> bool {
        self.functions.values().flatten().all(|function| function.shape.lines.is_empty())
    }

    /// Gives the functions the texts of their lines: `texts` gives the hashes of the lines in a range of a file, which
    /// is as long as the function, and some lines longer.
    pub fn add_texts(
        &mut self,
        mut texts: impl FnMut(&[u8], core::ops::RangeInclusive<u32>) -> Vec<u64>,
    ) {
        /// The profile may have lines behind those of optimised code.
        const BEHIND: u32 = 16;
        let functions = self.functions.values_mut().flatten();
        let placed = |function: &&mut Outlined| !function.file.is_empty() && !function.is_unplaced;
        for function in functions.filter(placed) {
            let last = function.shape.lines.last_key_value().map_or(0, |(&last, _)| last);
            let Ok(last) = u32::try_from(last) else { continue };
            let end = function.declared.saturating_add(last).saturating_add(BEHIND);
            function.shape.texts = texts(&function.file, function.declared..=end);
        }
    }

    /// All functions, with their names.
    pub fn functions(&self) -> impl Iterator<Item = (&[u8], &Outlined)> {
        self.functions
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |function| (name.as_slice(), function)))
    }

    /// The functions with this name in a file of this name. Compilers compare at most the last part of the path, and
    /// names as `name_of` makes them, so there may be several.
    pub fn all_here(&self, name: &[u8], file: Option<&[u8]>) -> impl Iterator<Item = &Outlined> {
        let all = self.functions.get(name).into_iter().flatten();
        all.filter(move |known| known.may_be_in(file))
    }

    /// Looks for a function. Among several functions, one with lines is the first choice.
    pub fn find(&self, name: &[u8], file: Option<&[u8]>) -> Option<Place<'_>> {
        let all = self.functions.get(name)?;
        let alike = |known: &&Outlined| known.may_be_in(file);
        let most = |known: &&Outlined| known.shape.lines.len();
        let here = all.iter().filter(alike).max_by_key(most).map(Place::Here);
        here.or_else(|| all.iter().max_by_key(most).map(Place::Elsewhere))
    }

    /// Looks among the lines of functions without names for those of a function: gives the line of its declaration.
    pub fn find_unnamed(&self, shape: &Shape, file: &[u8]) -> Option<u32> {
        /// In thousandths of the lines of both.
        const LEAST: usize = 750;
        /// Other functions are at least so far away.
        const AROUND: u32 = 2;
        let first = *shape.lines.keys().find(|&&distance| distance > 0)?;
        let last = *shape.lines.last_key_value()?.0;
        let same = |path: &&Vec<u8>| base_name(path) == base_name(file);
        let lines = &self.unnamed[self.unnamed.keys().find(same)?];
        let likeness = |line: &u32| {
            let start = u32::try_from(i64::from(*line) - first).ok()?;
            let end = u32::try_from(i64::from(start) + last).ok()?;
            let there = lines.range(line.saturating_sub(AROUND)..=end.saturating_add(AROUND));
            let there: Vec<i64> = there.map(|&line| i64::from(line) - i64::from(start)).collect();
            let both = there.iter().filter(|distance| shape.lines.contains_key(*distance)).count();
            // Notes have no lines for the start and the end of such a function.
            let own = shape.lines.keys().filter(|&&line| line > 0 && line < last).count();
            let all = own.max(both) + there.len() - both;
            (both > 0 && both * 1000 >= LEAST * all).then_some((both, start))
        };
        lines.iter().filter_map(likeness).max().map(|(_, start)| start)
    }

    /// The outline with other names: those that the reader of a profile compares.
    pub fn renamed(self, name_of: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        let mut renamed =
            Self { knows: self.knows, unnamed: self.unnamed, functions: BTreeMap::new() };
        for (name, all) in self.functions {
            for function in all {
                let Outlined { file, declared, stands_alone, is_guess, is_unplaced, mut shape } =
                    function;
                let into = renamed.function(&name_of(&name), &file, declared);
                into.stands_alone |= stands_alone;
                into.is_guess |= is_guess;
                into.is_unplaced |= is_unplaced;
                for line in shape.lines.values_mut() {
                    line.calls = line.calls.iter().map(|name| name_of(name)).collect();
                }
                into.shape.add(&shape);
            }
        }
        renamed
    }

    /// Gives linkage names to functions that the debug information names as the source does: those that are local to an
    /// object, such as instances of a template for a lambda. The profile has their linkage names. All functions of the
    /// same identifier and file get the name, too.
    pub fn add_linkage_names(&mut self, profile: &Profile, identifier: impl Fn(&[u8]) -> Vec<u8>) {
        let named = self.linkage_names(profile, identifier);
        for function in self.functions.values_mut().flatten() {
            for line in function.shape.lines.values_mut() {
                let also = line.calls.iter().filter_map(|callee| named.get(callee)).flatten();
                let also: Vec<Vec<u8>> = also.map(|(name, _)| name.clone()).collect();
                line.calls.extend(also);
            }
        }
        for (name, function) in named.into_values().flatten() {
            self.functions.entry(name).or_default().push(function);
        }
    }

    /// The functions with linkage names that this outline lacks, by the names that it has.
    fn linkage_names(
        &self,
        profile: &Profile,
        identifier: impl Fn(&[u8]) -> Vec<u8>,
    ) -> BTreeMap<Vec<u8>, Vec<(Vec<u8>, Outlined)>> {
        let mut local = HashMap::<Vec<u8>, Vec<(&Vec<u8>, &Outlined)>>::new();
        for (name, all) in self.functions.iter().filter(|(name, _)| !is_linkage_name(name)) {
            let of = local.entry(identifier(name)).or_default();
            of.extend(all.iter().map(|function| (name, function)));
        }
        let symbols = &profile.symbols;
        let mut named = BTreeMap::<Vec<u8>, Vec<(Vec<u8>, Outlined)>>::new();
        for symbol in shapes(profile, &|symbol| symbols.name(symbol).to_vec()).into_keys() {
            let name = symbols.name(symbol);
            if !is_linkage_name(name) || self.functions.contains_key(name) {
                continue;
            }
            let is_there = |known: &Outlined| known.may_be_in(symbols.declared_in(symbol));
            let found = local.get(&identifier(name)).into_iter().flatten();
            for &(local, known) in found.filter(|(_, known)| is_there(known)) {
                let known = Outlined { is_guess: true, ..known.clone() };
                named.entry(local.clone()).or_default().push((name.to_vec(), known));
            }
        }
        named
    }

    /// Adds what notes say. `path` gives the path of a file of these notes.
    pub fn add_notes(&mut self, notes: &Notes<'_>, path: impl Fn(&[u8]) -> Vec<u8>) {
        let paths: Vec<Vec<u8>> = notes.files.iter().map(|file| path(file)).collect();
        let name = |name: &'_ [u8]| name.strip_prefix(b"*").unwrap_or(name).to_vec();
        // The functions of each file, by their first lines.
        let mut starts = HashMap::<u32, Vec<(u32, u32, usize)>>::new();
        for (number, function) in notes.functions.iter().enumerate() {
            if !function.artificial {
                let range = (function.start_line, function.end_line, number);
                starts.entry(function.file).or_default().push(range);
            }
        }
        starts.values_mut().for_each(|starts| starts.sort_unstable());
        let around = |file: u32, line: u32| {
            let starts = starts.get(&file).map_or(&[][..], Vec::as_slice);
            let before = &starts[..starts.partition_point(|&(start, ..)| start <= line)];
            let (.., number) = before.iter().rev().find(|&&(_, end, _)| line <= end)?;
            Some(*number)
        };
        for (itself, function) in notes.functions.iter().enumerate() {
            let file = &paths[function.file as usize];
            self.function(&name(function.name), file, function.start_line);
            let home = around(function.file, function.start_line);
            for line in notes.lines(function) {
                // A line of a function that was inlined here belongs to that function. But the compiler makes functions
                // out of others' code, such as the body of a parallel region.
                let around = around(line.file, line.line);
                let is_own = function.artificial && line.file == function.file && around == home;
                let owner = if is_own { Some(itself) } else { around };
                let Some(number) = owner else {
                    let path = paths[line.file as usize].clone();
                    self.unnamed.entry(path).or_default().insert(line.line);
                    continue;
                };
                let of = &notes.functions[number];
                let path = &paths[of.file as usize];
                let outlined = self.function(&name(of.name), path, of.start_line);
                outlined.shape.line(i64::from(line.line) - i64::from(of.start_line));
            }
        }
    }
}

/// The last part of a path.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// The shapes of a profile's functions, inlined ones included, as far as the profile has positions of them.
pub fn shapes(
    profile: &Profile,
    name_of: &impl Fn(SymbolId) -> Vec<u8>,
) -> BTreeMap<SymbolId, Shape> {
    let mut shapes = BTreeMap::new();
    for (&symbol, function) in &profile.functions {
        add(&mut shapes, symbol, &function.body, name_of);
    }
    shapes
}

fn add(
    shapes: &mut BTreeMap<SymbolId, Shape>,
    symbol: SymbolId,
    body: &Body,
    name_of: &impl Fn(SymbolId) -> Vec<u8>,
) {
    shapes.entry(symbol).or_default();
    for (position, record) in &body.positions {
        let line = shapes.entry(symbol).or_default().line(position.signed_line());
        line.discriminators.insert(position.discriminator);
        let callees = record.targets.keys().chain(record.inlined.keys());
        line.calls.extend(callees.map(|&callee| name_of(callee)));
        for (&callee, inner) in &record.inlined {
            add(shapes, callee, inner, name_of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The debug information of an object's static initialisation names no file, and its first instruction may come
    /// from an inline function of a header.
    #[test]
    fn a_function_without_a_place_may_be_in_any_file() {
        let mut program = Outline::default();
        program.function(b"init", b"list.h", 7).is_unplaced = true;
        program.function(b"run", b"list.h", 9);
        let here = |name: &[u8]| matches!(program.find(name, Some(b"a.cc")), Some(Place::Here(_)));
        assert!(here(b"init"));
        assert!(!here(b"run"));
    }
}
