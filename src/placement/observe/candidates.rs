//! The functions of a module that machine code is searched for.

use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::formats::afdo_v1_v3::names::without_number;
use crate::placement::RuleSet;
use crate::placement::solve::counted::Counted;
use crate::profile::{FileId, Symbols};
use crate::program::listing::{self, Listing, Tables};

/// The functions of a module that have counters, as machine code looks for them.
pub struct Candidates<'s, 'n> {
    pub(super) functions: &'s [Counted<'n>],
    pub(super) rules: RuleSet,
    /// For each function: whether it was executed.
    have_run: Vec<bool>,
    files: HashMap<Vec<u8>, FileId>,
    /// The places of their declarations, sorted, each with the function's index.
    by_place: Vec<(FileId, u32, u32)>,
    /// Functions that the compiler made, by their names for the assembler and in the source. Debug information may tell
    /// no place of theirs.
    artificial: HashMap<&'n [u8], Vec<u32>>,
}

/// The functions and files of a unit, as the profile knows them.
pub struct Unit {
    /// For each file of the unit: what the profile calls it, if it knows it.
    pub(super) files: Vec<Option<FileId>>,
    /// For each function: those functions of the module that may have its counters.
    pub(super) functions: Vec<Vec<u32>>,
    /// For each function: the file that declares it.
    pub(super) file_of: Vec<u32>,
}

impl<'s, 'n> Candidates<'s, 'n> {
    /// Looks for these functions, and finds executions by these rules.
    pub fn new(functions: &'s [Counted<'n>], symbols: &Symbols, rules: RuleSet) -> Self {
        let place =
            |(function, index): (&Counted<'_>, u32)| (function.file, function.start(), index);
        let mut by_place: Vec<_> = functions.iter().zip(0..).map(place).collect();
        by_place.sort_unstable();
        let mut artificial = HashMap::<_, Vec<u32>>::new();
        for (function, index) in functions.iter().zip(0..).filter(|(of, _)| of.notes.artificial) {
            let name = function.name();
            artificial.entry(name).or_default().push(index);
            if name_in_source(name) != name {
                artificial.entry(name_in_source(name)).or_default().push(index);
            }
        }
        let mut files = HashMap::new();
        // Functions of one object stand together.
        for of_object in functions.chunk_by(|a, b| core::ptr::eq(a.known, b.known)) {
            for &file in &of_object[0].known.files {
                files.entry_ref(symbols.path(file)).or_insert(file);
            }
        }
        let have_run = functions.iter().map(Counted::has_run).collect();
        Self { functions, rules, have_run, files, by_place, artificial }
    }

    /// The functions and files of a unit.
    pub fn unit(&self, tables: &Tables) -> Unit {
        let files: Vec<_> =
            tables.files.iter().map(|path| self.files.get(&**path).copied()).collect();
        let of = |declared: &listing::Declared| {
            if !declared.has_place {
                return self.made(&declared.name, files[declared.file as usize]);
            }
            let Some(file) = files[declared.file as usize] else { return Vec::new() };
            let first =
                self.by_place.partition_point(|&(of, line, _)| (of, line) < (file, declared.line));
            let behind = self.by_place[first..].iter();
            let there = behind.take_while(|&&(of, line, _)| (of, line) == (file, declared.line));
            let is_it = |index: &u32| {
                let name = self.functions[*index as usize].name();
                match declared.is_assembler_name {
                    true => name == &*declared.name,
                    false => may_be_called(name, &declared.name),
                }
            };
            there.map(|&(_, _, index)| index).filter(is_it).collect()
        };
        let functions = tables.functions.iter().map(of).collect();
        let file_of = tables.functions.iter().map(|declared| declared.file).collect();
        Unit { files, functions, file_of }
    }
}

impl Candidates<'_, '_> {
    /// Whether code may have been executed: not if its function has counters, and neither these nor those of a function
    /// inlined there have counted anything.
    pub(super) fn may_have_run(&self, unit: &Unit, copies: &[Option<u32>]) -> bool {
        let candidates =
            |copy: &Option<u32>| copy.map_or(&[][..], |copy| &unit.functions[copy as usize]);
        copies.first().is_none_or(|function| candidates(function).is_empty())
            || copies.iter().flat_map(candidates).any(|&index| self.have_run[index as usize])
    }

    /// The functions of this name that the compiler made: those of a file, if it has any. Each object may have one of
    /// this name.
    fn made(&self, name: &[u8], file: Option<FileId>) -> Vec<u32> {
        let all = self.artificial.get(name).map_or(&[][..], Vec::as_slice);
        let is_there = |index: &u32| Some(self.functions[*index as usize].file) == file;
        let there: Vec<u32> = all.iter().copied().filter(is_there).collect();
        if there.is_empty() { all.to_vec() } else { there }
    }
}

/// The name in the source of a function that the compiler made, from its assembler name: without the number of a nested
/// function, as in `add.5`, and what surrounds the name in C++, as in `_Z3addii`.
fn name_in_source(name: &[u8]) -> &[u8] {
    let mangled = name.strip_prefix(b"_Z").unwrap_or_default();
    let digits = mangled.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = str::from_utf8(&mangled[..digits]).ok().and_then(|text| text.parse().ok());
    if let Some(identifier) = length.and_then(|length: usize| mangled[digits..].get(..length)) {
        return identifier;
    }
    without_number(name)
}

/// A listing under analysis.
pub struct ListingView<'l, 's, 'n> {
    /// The functions that it is searched for.
    pub candidates: &'l Candidates<'s, 'n>,
    /// The unit it belongs to.
    pub unit: &'l Unit,
    /// The listing.
    pub listing: &'l Listing,
}

/// Whether the source may call a function with this assembler name so.
fn may_be_called(assembler: &[u8], source: &[u8]) -> bool {
    if assembler == source {
        return true;
    }
    let template = source.iter().position(|&byte| byte == b'<').unwrap_or(source.len());
    let name = source[..template].strip_prefix(b"~").unwrap_or(&source[..template]);
    let is_mangled = assembler.starts_with(b"_Z");
    is_mangled
        && (name.starts_with(b"operator")
            || name.is_empty()
            || assembler.windows(name.len()).any(|part| part == name))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    /// Code is read if its function was executed or has no counters, or if a function inlined there was executed.
    #[test]
    fn code_that_may_have_run() {
        let new = Candidates::new(&[], &Symbols::default(), RuleSet::ALL);
        let candidates = Candidates { have_run: vec![true, false], ..new };
        let functions = vec![vec![0], vec![1], vec![], vec![1, 0]];
        let unit = Unit { files: vec![], functions, file_of: vec![] };
        let (executed, not_executed, without_counters, either) =
            (Some(0), Some(1), Some(2), Some(3));
        let may_have_run = |copies: &[Option<u32>]| candidates.may_have_run(&unit, copies);
        assert!(may_have_run(&[executed]) && may_have_run(&[executed, not_executed]));
        assert!(may_have_run(&[without_counters]) && may_have_run(&[None]));
        assert!(may_have_run(&[either]) && may_have_run(&[not_executed, executed]));
        assert!(!may_have_run(&[not_executed]));
        assert!(!may_have_run(&[not_executed, without_counters, None, not_executed]));
    }

    #[test]
    fn names_of_functions_that_the_compiler_made() {
        for (assembler, source) in [
            (
                "_Z41__static_initialization_and_destruction_0ii",
                "__static_initialization_and_destruction_0",
            ),
            ("tasks__counter__addN.5", "tasks__counter__addN"),
            ("work._omp_fn.0", "work._omp_fn"),
            ("_GLOBAL__sub_I_two", "_GLOBAL__sub_I_two"),
            ("_ZN1AC2Ev", "_ZN1AC2Ev"),
            ("_Z99f", "_Z99f"),
            ("f.", "f."),
        ] {
            assert_eq!(name_in_source(assembler.as_bytes()), source.as_bytes());
        }
    }

    #[test]
    fn names_in_the_source_and_for_the_assembler() {
        let may =
            |assembler: &str, source: &str| may_be_called(assembler.as_bytes(), source.as_bytes());
        assert!(may("main", "main") && !may("main2", "main"));
        assert!(may("_ZN5ShapeD2Ev", "~Shape") && !may("_ZN5ShapeD2Ev", "~Other"));
        assert!(may("_Z6largerIiET_S0_S0_", "larger<int>"));
        assert!(may("_ZZ4mainENKUlT_E_clIiEEDaS_", "operator()<int>"));
    }
}
