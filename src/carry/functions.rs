//! What became of each function of the old profile.
//!
//! | rule | example |
//! |---|---|
//! | A function of the same name in a file of the same name is the same one. | `sift` in `heap.c` |
//! | So is one of the same name in another file. | `sift` in `sort.c`, as `heap.c` has none |
//! | A function that is gone became a new one if that has its callers, its calls, its lines and a similar name. | `by_key` is gone; `by_number` is new, and has the same callers and lines |
//!
//! | Lines that are gone went to a new function that has them: see `split`. | `call` was split, and `prepare` has some of its lines |
//!
//! New functions are those whose names the old program does not have. Only the best pair of both sides is taken.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::lines::{Lines, added, lines, unchanged};
use super::split::{Loser, moves};
use crate::profile::{SymbolId, Symbols};
use crate::staleness::outline::{Outline, Outlined, Place, Shape, base_name};

/// Both programs, and how the reader of the profile sees names.
pub struct Sides<'o, N> {
    /// The old program; the profile's own positions stand for it where it is missing.
    pub old: Option<&'o Outline>,
    /// The new program.
    pub new: &'o Outline,
    /// What the reader makes of a name. Both outlines have such names.
    pub name_of: N,
    /// Whether it compares the last part of the file's path.
    pub files: bool,
}

/// What became of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Became {
    /// Whether it is gone. Some of its lines may have gone elsewhere.
    pub is_gone: bool,
    /// Its name now, if that is another one.
    pub name: Option<Vec<u8>>,
    /// The path of its file now, if that is another one.
    pub file: Option<Vec<u8>>,
    /// What became of its lines.
    pub lines: Lines,
    /// Lines that are new.
    pub added: BTreeSet<i64>,
    /// Lines that went to another function: its index in [`Functions::new`], and the line there.
    pub elsewhere: BTreeMap<i64, (usize, i64)>,
}

impl Became {
    /// Where a line is now.
    pub fn line(&self, line: i64) -> Option<i64> {
        self.lines.get(&line).copied().flatten()
    }
}

/// A function that the old program does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFunction {
    /// Its name.
    pub name: Vec<u8>,
    /// The path of its file.
    pub file: Vec<u8>,
    /// Its lines with code.
    pub lines: BTreeSet<i64>,
}

/// What became of the functions of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// By the symbol in the old profile. Those that are missing are gone.
    pub became: BTreeMap<SymbolId, Became>,
    /// Functions that the old program does not have.
    pub new: Vec<NewFunction>,
}

/// A function of the profile, and what the old program says about it.
struct Old<'o> {
    symbol: SymbolId,
    name: Vec<u8>,
    file: Option<Vec<u8>>,
    /// Its entry in the outline of the old program.
    then: Option<&'o Outlined>,
    /// Its lines in the profile and in the old program.
    shape: Shape,
}

/// Finds out what became of each function. `shapes` has what the profile shows of each.
pub fn functions<N: Fn(&[u8]) -> Vec<u8>>(
    symbols: &Symbols,
    shapes: BTreeMap<SymbolId, Shape>,
    sides: &Sides<'_, N>,
) -> Functions {
    let old: Vec<Old<'_>> =
        shapes.into_iter().map(|(symbol, shape)| sides.old_of(symbols, symbol, shape)).collect();
    let mut pairs = BTreeMap::<SymbolId, (&Outlined, Option<Vec<u8>>)>::new();
    let (mut gone, mut renamed) = (Vec::new(), BTreeMap::new());
    for function in &old {
        match sides.new.find(&function.name, function.place()) {
            Some(Place::Here(now) | Place::Elsewhere(now)) => {
                _ = pairs.insert(function.symbol, (sides.beside(function, now), None));
            }
            None => gone.push(function),
        }
    }
    let mut new = sides.new_functions(&old);
    for (function, name, now) in like(&gone, &old, &new, sides) {
        renamed.insert(function.name.clone(), name.to_vec());
        pairs.insert(function.symbol, (now, Some(name.to_vec())));
    }
    new.retain(|(name, _)| !renamed.values().any(|taken| taken == name));
    let became = |function: &Old<'_>| {
        let (now, name) = pairs.remove(&function.symbol)?;
        Some((function.symbol, function.became(now, name, &renamed, sides)))
    };
    let mut became: BTreeMap<SymbolId, Became> = old.iter().filter_map(became).collect();
    find_elsewhere(&old, &mut became, &new);
    let new = new.into_iter().map(|(name, now)| NewFunction {
        name: name.to_vec(),
        file: now.file.clone(),
        lines: now.shape.lines.keys().copied().collect(),
    });
    Functions { became, new: new.collect() }
}

/// Finds the lines that went to new functions.
fn find_elsewhere(
    old: &[Old<'_>],
    became: &mut BTreeMap<SymbolId, Became>,
    new: &[(&[u8], &Outlined)],
) {
    let gone = |function: &Old<'_>| -> BTreeSet<i64> {
        let Some(became) = became.get(&function.symbol) else {
            return function.shape.lines.keys().copied().collect();
        };
        let gone = became.lines.iter().filter(|(_, now)| now.is_none());
        gone.map(|(&line, _)| line).collect()
    };
    let with_texts = old.iter().filter(|function| !function.shape.texts.is_empty());
    let losers: Vec<Loser<'_, SymbolId>> = with_texts
        .map(|function| Loser {
            key: function.symbol,
            shape: &function.shape,
            gone: gone(function),
        })
        .filter(|loser| !loser.gone.is_empty())
        .collect();
    let shapes: Vec<&Shape> = new.iter().map(|(_, now)| &now.shape).collect();
    for (symbol, elsewhere) in moves(&losers, &shapes) {
        let gone = || Became { is_gone: true, ..Became::default() };
        became.entry(symbol).or_insert_with(gone).elsewhere = elsewhere;
    }
}

impl<'o, N: Fn(&[u8]) -> Vec<u8>> Sides<'o, N> {
    /// What is known about a function of the profile.
    fn old_of(&self, symbols: &Symbols, symbol: SymbolId, mut shape: Shape) -> Old<'o> {
        let name = (self.name_of)(symbols.name(symbol));
        let file = symbols.declared_in(symbol).map(<[u8]>::to_vec);
        let place = file.as_deref().filter(|_| self.files);
        let then = match self.old.and_then(|old| old.find(&name, place)) {
            Some(Place::Here(then) | Place::Elsewhere(then)) => Some(then),
            None => None,
        };
        if let Some(then) = then {
            shape.add(&then.shape);
        }
        Old { symbol, name, file, then, shape }
    }

    /// The functions with lines whose names the old program does not have.
    fn new_functions(&self, old: &[Old<'_>]) -> Vec<(&'o [u8], &'o Outlined)> {
        let mut known: BTreeSet<&[u8]> = old.iter().map(|function| &*function.name).collect();
        known.extend(self.old.into_iter().flat_map(Outline::functions).map(|(name, _)| name));
        let new = self.new.functions();
        new.filter(|(name, now)| !known.contains(name) && !now.shape.lines.is_empty()).collect()
    }

    /// Among several functions of one name, the one in a file like that of the old program.
    fn beside(&self, function: &Old<'_>, now: &'o Outlined) -> &'o Outlined {
        let Some(then) = function.then.filter(|then| !then.file.is_empty()) else { return now };
        let here = self.new.all_here(&function.name, Some(&then.file));
        here.max_by_key(|known| known.shape.lines.len()).unwrap_or(now)
    }
}

impl Old<'_> {
    fn place(&self) -> Option<&[u8]> {
        self.then.map(|then| &*then.file).filter(|file| !file.is_empty()).or(self.file.as_deref())
    }

    /// What became of it, if `now` is what it is now.
    fn became<N>(
        &self,
        now: &Outlined,
        name: Option<Vec<u8>>,
        renamed: &BTreeMap<Vec<u8>, Vec<u8>>,
        sides: &Sides<'_, N>,
    ) -> Became {
        let new = match now.is_unplaced {
            true => Cow::Owned(now.shape.moved_to(&self.shape)),
            false => Cow::Borrowed(&now.shape),
        };
        let is_known = self.then.is_none_or(|then| !then.is_undescribed());
        let (lines, added) = match is_known && !now.is_undescribed() {
            true => {
                let lines = lines(&with_new_names(&self.shape, renamed), &new, sides.new.knows);
                let added = if self.then.is_some() { added(&lines, &new) } else { BTreeSet::new() };
                (lines, added)
            }
            false => (unchanged(&self.shape), BTreeSet::new()),
        };
        Became { name, file: self.moved_to(now), lines, added, ..Became::default() }
    }

    /// The file in which it is now, if that is another one.
    fn moved_to(&self, now: &Outlined) -> Option<Vec<u8>> {
        let file = self.file.as_ref().filter(|_| !now.file.is_empty() && !now.is_unplaced)?;
        let is_same = match self.then {
            Some(then) => then.file == now.file,
            None => base_name(file) == base_name(&now.file),
        };
        (!is_same).then(|| now.file.clone())
    }
}

/// A shape whose calls have the names that functions have now.
fn with_new_names(shape: &Shape, renamed: &BTreeMap<Vec<u8>, Vec<u8>>) -> Shape {
    let mut shape = shape.clone();
    for line in shape.lines.values_mut().filter(|line| !line.calls.is_empty()) {
        let new = line.calls.iter().map(|name| renamed.get(name).unwrap_or(name).clone());
        line.calls = new.collect();
    }
    shape
}

/// Pairs the functions that are gone with new ones that are like them.
fn like<'f, 'o, N>(
    gone: &[&'f Old<'o>],
    old: &[Old<'o>],
    new: &[(&'o [u8], &'o Outlined)],
    sides: &Sides<'o, N>,
) -> Vec<(&'f Old<'o>, &'o [u8], &'o Outlined)> {
    if gone.is_empty() {
        return Vec::new();
    }
    let shapes = old.iter().map(|function| (&*function.name, &function.shape));
    let others = sides.old.into_iter().flat_map(Outline::functions);
    let callers_then = callers(shapes.chain(others.map(|(name, then)| (name, &then.shape))));
    let callers_now = callers(sides.new.functions().map(|(name, now)| (name, &now.shape)));
    let none = BTreeSet::new();
    let mut pairs = Vec::new();
    for function in gone {
        let callers = callers_then.get(&*function.name).unwrap_or(&none);
        let then = Traits::of(&function.name, function.place(), &function.shape, callers);
        for &(name, now) in new {
            let callers = callers_now.get(name).unwrap_or(&none);
            let likeness = then.likeness(&Traits::of(name, Some(&now.file), &now.shape, callers));
            if likeness >= LEAST_LIKENESS {
                pairs.push((likeness, *function, name, now));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut taken, mut given) = (BTreeSet::new(), BTreeSet::new());
    pairs.retain(|(_, function, name, _)| {
        let is_free = !taken.contains(&function.symbol) && !given.contains(name);
        taken.insert(function.symbol);
        given.insert(*name);
        is_free
    });
    pairs.into_iter().map(|(_, function, name, now)| (function, name, now)).collect()
}

/// Instrumented programs call functions of these names besides those of the source.
const RUNTIMES: [&[u8]; 2] = [b"__gcov_", b"__llvm_profile_"];
/// Functions that are less alike are not paired.
const LEAST_LIKENESS: f64 = 0.5;

/// The functions that call each function.
fn callers<'s>(
    shapes: impl Iterator<Item = (&'s [u8], &'s Shape)>,
) -> BTreeMap<&'s [u8], BTreeSet<&'s [u8]>> {
    let mut callers = BTreeMap::<&[u8], BTreeSet<&[u8]>>::new();
    for (name, shape) in shapes {
        for callee in shape.lines.values().flat_map(|line| &line.calls) {
            callers.entry(callee).or_default().insert(name);
        }
    }
    callers
}

/// What two functions are compared by.
struct Traits<'t> {
    name: &'t [u8],
    file: Option<&'t [u8]>,
    calls: BTreeSet<&'t [u8]>,
    callers: &'t BTreeSet<&'t [u8]>,
    shape: &'t Shape,
    /// The texts of its lines with code.
    texts: BTreeSet<u64>,
}

impl<'t> Traits<'t> {
    fn of(
        name: &'t [u8],
        file: Option<&'t [u8]>,
        shape: &'t Shape,
        callers: &'t BTreeSet<&'t [u8]>,
    ) -> Self {
        let calls = shape.lines.values().flat_map(|line| &line.calls).map(|name| &**name);
        let calls = calls.filter(|name| !RUNTIMES.iter().any(|start| name.starts_with(start)));
        let text = |line: &i64| shape.texts.get(usize::try_from(*line).ok()?).copied();
        // The declaration has the name.
        let texts = shape.lines.range(1..).filter_map(|(line, _)| text(line)).collect();
        Self { name, file, calls: calls.collect(), callers, shape, texts }
    }

    /// How much both have in common, from 0 to 1. What neither has does not count.
    fn likeness(&self, other: &Self) -> f64 {
        let file = |traits: &Self| traits.file.filter(|file| !file.is_empty()).map(<[u8]>::to_vec);
        let is_beside = file(self).zip(file(other)).map(|(a, b)| base_name(&a) == base_name(&b));
        let has_lines = [self, other].iter().any(|of| of.shape.lines.range(2..).next().is_some());
        let parts = [
            (3.0, share(&self.calls, &other.calls)),
            (3.0, share(self.callers, other.callers)),
            (2.0, has_lines.then(|| self.shape.likeness(other.shape))),
            (2.0, Some(alike(self.name, other.name))),
            (4.0, share(&self.texts, &other.texts)),
            (1.0, is_beside.map(|is| if is { 1.0 } else { 0.0 })),
        ];
        let known = parts.iter().filter_map(|&(weight, part)| Some((weight, part?)));
        let (sum, all) = known
            .fold((0.0, 0.0), |(sum, all), (weight, part)| (sum + weight * part, all + weight));
        sum / all
    }
}

/// The share of what either has that both have.
fn share<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> Option<f64> {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    (all > 0).then(|| both as f64 / all as f64)
}

/// How much of two names is at both their beginnings or both their ends, from 0 to 1.
fn alike(a: &[u8], b: &[u8]) -> f64 {
    let longest = a.len().max(b.len());
    let common =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let before = common(&mut a.iter().zip(b));
    let behind = common(&mut a.iter().rev().zip(b.iter().rev()));
    let both = (before + behind).min(a.len().min(b.len()));
    if longest == 0 { 0.0 } else { both as f64 / longest as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of functions, each with its file and the function that each of its lines calls, if any.
    fn program(functions: &[(&str, &str, &[&str])]) -> Outline {
        let mut outline = Outline::default();
        for (name, file, calls) in functions {
            let function = outline.function(name.as_bytes(), file.as_bytes(), 10);
            for (distance, call) in (1..).zip(*calls) {
                let line = function.shape.line(distance);
                line.calls.extend((!call.is_empty()).then(|| call.as_bytes().to_vec()));
            }
        }
        outline.knows.calls = true;
        outline
    }

    /// What became of a function of an old program, all of whose functions are in the profile.
    fn became(old: &Outline, new: &Outline, name: &str) -> Option<Became> {
        let mut symbols = Symbols::default();
        let mut shapes = BTreeMap::new();
        for (name, function) in old.functions() {
            let file = symbols.file(&function.file);
            shapes.insert(symbols.symbol(name, Some(file)), function.shape.clone());
        }
        let sides = Sides { old: Some(old), new, name_of: <[u8]>::to_vec, files: true };
        let functions = functions(&symbols, shapes, &sides);
        let symbol = symbols.iter().find(|&symbol| symbols.name(symbol) == name.as_bytes())?;
        functions.became.get(&symbol).filter(|became| !became.is_gone).cloned()
    }

    const SORT: [&str; 5] = ["", "less", "", "swap", ""];

    #[test]
    fn a_function_of_the_same_name_is_the_same_one() {
        let old = program(&[("sift", "heap.c", &SORT), ("sort", "heap.c", &["sift"])]);
        let same = became(&old, &old, "sift").unwrap();
        assert_eq!(same.line(4), Some(4));
        assert_eq!((same.name, same.file), (None, None));
        let moved = program(&[("sift", "sort.c", &SORT), ("sort", "heap.c", &["sift"])]);
        assert_eq!(became(&old, &moved, "sift").unwrap().file, Some(b"sort.c".to_vec()));
    }

    #[test]
    fn a_function_with_another_name_has_the_callers_and_calls() {
        let old = program(&[("sift", "heap.c", &SORT), ("sort", "heap.c", &["sift"])]);
        let calling = ("sort", "heap.c", &["sift_down"][..]);
        let new = program(&[("sift_down", "heap.c", &SORT), calling, ("up", "heap.c", &["", ""])]);
        assert_eq!(became(&old, &new, "sift").unwrap().name, Some(b"sift_down".to_vec()));
        // The call has the new name, so its line is where it was.
        assert_eq!(became(&old, &new, "sort").unwrap().line(1), Some(1));
    }

    #[test]
    fn nothing_is_like_a_function_that_is_gone() {
        let old = program(&[("sift", "heap.c", &SORT), ("main", "main.c", &["sift"])]);
        let new =
            program(&[("parse", "text.c", &["read", "", "free"]), ("main", "main.c", &["parse"])]);
        assert_eq!(became(&old, &new, "sift"), None);
        // A name that the old program has is no new name.
        let new = program(&[("main", "main.c", &SORT)]);
        assert_eq!(became(&old, &new, "sift"), None);
    }

    #[test]
    fn likeness_of_names() {
        assert!(alike(b"by_key", b"by_number") > 0.3);
        assert!((alike(b"sift", b"sift") - 1.0).abs() < 1e-9);
        assert!(alike(b"a", b"bc") < 1e-9);
    }
}
