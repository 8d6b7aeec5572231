//! Compares a dump with the notes of the program as it is now, by checksums of the compiler.
//!
//! A function's ident is made of its name, or if it is local to its object, of its place. So a local function that has
//! moved has another ident. Then the order of the object's functions and their checksums lead to it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::judgement::{Judged, Reason, Tally, Verdict, What};
use crate::convert::gcov::names::ident;
use crate::formats::gcno::{self, Notes};
use crate::raw::dump::{FunctionView, Module, Object};
use crate::raw::gcov::Kind;

/// An object of a dump, and its notes now.
pub struct Compared<'n> {
    /// The module that has it.
    pub module: &'n Module,
    /// The object.
    pub object: &'n Object,
    /// Its notes now, if there are any.
    pub notes: Option<&'n Notes<'n>>,
}

/// Compares objects. Executions are those of the arcs that have counters. `path` gives the path of a file of notes.
pub fn judge(objects: &[Compared<'_>], path: impl Fn(&Notes<'_>, &[u8]) -> Vec<u8>) -> Verdict {
    let mut rows = BTreeMap::<_, (Tally, BTreeMap<What, u128>)>::new();
    for compared in objects {
        let views: Vec<_> = compared.module.functions(compared.object).collect();
        let views: Vec<_> = views.into_iter().filter(|view| !view.is_absent()).collect();
        let Some(notes) = compared.notes else {
            let name = Name { file: compared.object.path.clone(), line: None, name: Vec::new() };
            let row = rows.entry(name).or_default();
            for view in &views {
                note(row, executions(view), Some(What::NoNotes));
            }
            continue;
        };
        for (view, (function, what)) in views.iter().zip(pair(&views, notes)) {
            let name = match function {
                Some(function) => Name {
                    file: path(notes, notes.source(function)),
                    line: Some(function.start_line),
                    name: function.name.strip_prefix(b"*").unwrap_or(function.name).to_vec(),
                },
                None => Name {
                    file: compared.object.path.clone(),
                    line: None,
                    name: format!("function {:#010x}", view.ident()).into_bytes(),
                },
            };
            note(rows.entry(name).or_default(), executions(view), what);
        }
    }
    finish(rows)
}

/// What a function of the result is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    file: Vec<u8>,
    line: Option<u32>,
    name: Vec<u8>,
}

fn executions(view: &FunctionView<'_>) -> u128 {
    view.counters(Kind::ARCS).iter().map(|&count| count.max(0) as u128).sum()
}

fn note(row: &mut (Tally, BTreeMap<What, u128>), executions: u128, what: Option<What>) {
    row.0.all += executions;
    match what {
        None => row.0.fit += executions,
        Some(what) if executions > 0 => *row.1.entry(what).or_default() += executions,
        Some(_) => {}
    }
}

fn finish(rows: BTreeMap<Name, (Tally, BTreeMap<What, u128>)>) -> Verdict {
    let mut verdict = Verdict::default();
    for (Name { file, line, name }, (executions, reasons)) in rows {
        verdict.executions.all += executions.all;
        verdict.executions.fit += executions.fit;
        let reasons = reasons.into_iter().map(|(what, executions)| Reason { what, executions });
        verdict.functions.push(Judged {
            name,
            file: Some(file),
            line,
            executions,
            calls: Tally::default(),
            reasons: reasons.collect(),
        });
    }
    verdict.sort();
    verdict
}

/// The function of the notes that each function of an object is now, and what has changed.
fn pair<'n>(
    views: &[FunctionView<'_>],
    notes: &'n Notes<'_>,
) -> Vec<(Option<&'n gcno::Function<'n>>, Option<What>)> {
    let by_ident: BTreeMap<u32, usize> =
        notes.functions.iter().enumerate().map(|(place, of)| (of.ident, place)).collect();
    let found: Vec<Option<usize>> =
        views.iter().map(|view| by_ident.get(&view.ident()).copied()).collect();
    let taken: BTreeSet<usize> = found.iter().flatten().copied().collect();
    let left: Vec<usize> = (0..views.len()).filter(|&place| found[place].is_none()).collect();
    let free: Vec<usize> = (0..notes.functions.len()).filter(|p| !taken.contains(p)).collect();
    let graph = |place: &usize| views[*place].cfg_checksum();
    let free_graph = |place: &usize| notes.functions[*place].cfg_checksum;
    let old: Vec<u32> = left.iter().map(graph).collect();
    let new: Vec<u32> = free.iter().map(free_graph).collect();
    let mut others = BTreeMap::new();
    for (old, new) in in_order(&old, &new) {
        others.insert(left[old], free[new]);
    }
    let of = |(place, view): (usize, &FunctionView<'_>)| match (found[place], others.get(&place)) {
        (Some(now), _) => {
            let now = &notes.functions[now];
            (Some(now), (now.cfg_checksum != view.cfg_checksum()).then_some(What::Graph))
        }
        (None, Some(&now)) => {
            let now = &notes.functions[now];
            // The ident of a global function comes from its name alone: the name is another one.
            let is_global = ident(now.name) == now.ident;
            let like = is_global.then(|| Some(now.name.to_vec()));
            (Some(now).filter(|_| !is_global), like.map(|like| What::Gone { like }))
        }
        (None, None) => (None, Some(What::Gone { like: None })),
    };
    views.iter().enumerate().map(of).collect()
}

/// Pairs of equal numbers in the order of both lists, as many as possible.
fn in_order(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    /// More are not compared.
    const MOST: usize = 1 << 24;
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MOST {
        return Vec::new();
    }
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let here = row * width + column;
            longest[here] = match old[row] == new[column] {
                true => longest[here + width + 1] + 1,
                false => longest[here + width].max(longest[here + 1]),
            };
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < old.len() && column < new.len() {
        let here = row * width + column;
        match () {
            () if old[row] == new[column] => {
                pairs.push((row, column));
                (row, column) = (row + 1, column + 1);
            }
            () if longest[here + width] >= longest[here + 1] => row += 1,
            () => column += 1,
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_order() {
        assert_eq!(in_order(&[1, 2, 3, 4], &[2, 9, 4, 1]), [(1, 0), (3, 2)]);
        assert_eq!(in_order(&[], &[1]), []);
        assert_eq!(in_order(&[7, 7], &[7, 7, 7]), [(0, 0), (1, 1)]);
    }
}
