//! A whole raw dump in memory, for the tool.
//!
//! [`Dump::parse`] accepts only files that are sound from the first byte to the last, and leaves out modules whose
//! records contradict each other. So the numbers in these types always fit together. Merging follows the runtime's
//! rules. This module does not know what the counts mean in the source.

pub mod build;
mod builds;
mod check;
mod correlate;
mod live;
mod merge;
mod parse;
pub mod sum;
mod write;

use alloc::vec::Vec;
use core::fmt;

use super::gcov::{FunctionRecord, Version};
use super::kind::{Kind, Rule, Rules};
use super::layout::{ABI_LLVM, Machine, ModuleRecord, Sums};
use super::llvm;
use super::merge::{Pair, Site};
use super::reader::Damage;

pub use check::{check, sections};
pub use correlate::Outside;
pub use parse::Unreadable;

/// All modules of one file.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// In the order of the file: the order in which modules were first written.
    pub modules: Vec<Module>,
    /// Id of the live file that was added last, 0 if none was.
    pub last_live: u64,
    /// Modules of the file that cannot be right, though their bytes are those that were written.
    pub left_out: Vec<LeftOut>,
    /// Number of `.gcda` files that could not be read, if it was made of such files.
    pub files_left_out: usize,
}

/// A module that contradicts itself, or that this release does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where its MODULE section stands.
    pub offset: u64,
    /// What is wrong with it.
    pub damage: Damage,
    /// The path of the image, empty if unknown.
    pub path: Vec<u8>,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { damage, path, .. } = self;
        write!(f, "{damage}; the module of \"{}\" is left out", path.escape_ascii())
    }
}

/// One build of one executable or shared object, with the counts of its runs.
#[derive(Clone, Debug)]
pub struct Module {
    /// Identity and sizes.
    pub record: ModuleRecord,
    /// What the program runs on. All modules of a file have the same.
    pub machine: Machine,
    /// What the module's runs add up to.
    pub sums: Sums,
    /// Where the image was when it last wrote; empty if unknown.
    pub path: Vec<u8>,
    /// Its instrumented translation units.
    pub objects: Vec<Object>,
    functions: Vec<Function>,
    /// What LLVM's functions have besides, one for each; empty for gcov's.
    llvm: Vec<llvm::FunctionRecord>,
    numbers: Vec<u32>,
    counters: Vec<i64>,
    sites: Vec<SiteSpan>,
    pairs: Vec<Pair>,
}

/// One instrumented translation unit, or the functions of one layout of an image instrumented by LLVM.
#[derive(Clone, Debug)]
pub struct Object {
    /// Path of its `.gcda` file as the compiler recorded it; for LLVM see [`llvm`].
    pub path: Vec<u8>,
    /// Compiler that made it.
    pub version: Version,
    /// Time of compilation, equal in its `.gcno` file.
    pub stamp: u32,
    /// Checksum over its functions.
    pub checksum: u32,
    /// Counter kinds it uses.
    pub rules: Rules,
    /// The functions' indexes in the module.
    functions: core::ops::Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    /// As in the file; of an LLVM function only the kinds.
    record: FunctionRecord,
    rules: Rules,
    /// Index of the function's first number in the module's `numbers`. There is one number, of counters or
    /// sites, for each kind that the function has.
    numbers: usize,
    /// Index of the function's first word in the module's counters.
    counters: usize,
    /// Index of the function's first site in the module's sites.
    sites: usize,
}

impl Function {
    /// The kinds that the function's object uses, ascending, with their rules and the function's number of
    /// counters or sites of each. `numbers` are the module's.
    fn kinds(&self, numbers: &[u32]) -> impl Iterator<Item = (Kind, Rule, usize)> {
        let mut numbers = numbers.get(self.numbers..).unwrap_or_default().iter();
        let kinds = self.record.flags;
        self.rules.iter().map(move |(kind, rule)| {
            let number = if kinds & kind.bit() == 0 { None } else { numbers.next() };
            (kind, rule, number.map_or(0, |&number| number as usize))
        })
    }
}

/// A top-N site and the place of its values in the module's pairs.
#[derive(Clone, Debug)]
struct SiteSpan {
    total: i64,
    error: i64,
    pairs: core::ops::Range<usize>,
}

impl Module {
    /// The functions of one of the module's objects, in order.
    pub fn functions(&self, object: &Object) -> impl Iterator<Item = FunctionView<'_>> + Clone {
        let functions = self.functions.get(object.functions.clone()).unwrap_or_default();
        let records = self.llvm.get(object.functions.clone()).unwrap_or_default();
        let records = records.iter().map(Some).chain(core::iter::repeat(None));
        functions.iter().zip(records).map(|(function, llvm)| FunctionView {
            module: self,
            function,
            llvm,
        })
    }

    /// The function with this number among all of the module.
    pub fn function(&self, number: usize) -> Option<FunctionView<'_>> {
        let function = self.functions.get(number)?;
        Some(FunctionView { module: self, function, llvm: self.llvm.get(number) })
    }

    /// Number of counters, those of top-N sites left out.
    pub fn counter_count(&self) -> usize {
        self.counters.len()
    }

    /// Number of top-N sites.
    pub fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// Number of counts that have reached the largest number. The true sums may be larger.
    pub fn saturated(&self) -> u64 {
        const LARGEST: [i64; 2] = [i64::MAX, u64::MAX as i64];
        let at_sites = self.sites.iter().filter(|site| site.total.saturating_abs() == i64::MAX);
        let mut number = at_sites.count() as u64;
        // Nearly always there are none.
        if !self.counters.iter().any(|count| LARGEST.contains(count)) {
            return number;
        }
        for object in &self.objects {
            for (kind, values) in self.functions(object).flat_map(|function| function.kinds()) {
                let largest = match object.rules.rule(kind) {
                    Some(Rule::Add) => i64::MAX,
                    Some(Rule::Saturate) => u64::MAX as i64,
                    _ => continue,
                };
                if let Values::Counters(counters) = values {
                    number += counters.iter().filter(|&&count| count == largest).count() as u64;
                }
            }
        }
        number
    }

    /// Whether clang or rustc instrumented it, not gcc.
    pub fn is_llvm(&self) -> bool {
        self.record.identity.abi == ABI_LLVM
    }

    /// Bytes of LLVM's function records with a layout that the runtime did not know. Their functions are missing.
    pub fn unknown_records(&self) -> u64 {
        let are_unknown =
            |object: &&Object| self.is_llvm() && object.version.0 == 0 && object.path.is_empty();
        self.objects.iter().filter(are_unknown).map(|object| u64::from(object.checksum)).sum()
    }

    /// Whether its image is unknown: it has neither a path nor a build-id, as without an operating system.
    pub fn is_of_unknown_image(&self) -> bool {
        self.path.is_empty() && self.build_id().is_empty()
    }

    /// Build-id of the image, empty if it has none.
    pub fn build_id(&self) -> &[u8] {
        self.record.identity.build_id()
    }
}

/// A function and its counters.
#[derive(Clone, Copy, Debug)]
pub struct FunctionView<'d> {
    module: &'d Module,
    function: &'d Function,
    llvm: Option<&'d llvm::FunctionRecord>,
}

/// The counters of one kind of one function.
#[derive(Clone, Debug)]
pub enum Values<'d> {
    /// Plain counters.
    Counters(&'d [i64]),
    /// Top-N sites.
    Sites(Sites<'d>),
}

impl<'d> FunctionView<'d> {
    /// What is known of a function that LLVM instrumented.
    pub fn llvm(&self) -> Option<&'d llvm::FunctionRecord> {
        self.llvm
    }

    /// Number of the function, unique in its object.
    pub fn ident(&self) -> u32 {
        self.function.record.ident
    }

    /// Checksum of the function's name and place.
    pub fn lineno_checksum(&self) -> u32 {
        self.function.record.lineno_checksum
    }

    /// Checksum of its control-flow graph.
    pub fn cfg_checksum(&self) -> u32 {
        self.function.record.cfg_checksum
    }

    /// Whether the object only holds the place of a copy that lives in another object.
    pub fn is_absent(&self) -> bool {
        self.function.record.flags & FunctionRecord::ABSENT != 0
    }

    /// The kinds that the object uses, and how each merges.
    pub const fn rules(&self) -> Rules {
        self.function.rules
    }

    /// The kinds that the object uses, ascending, with this function's counters of each. Counters of bytes are
    /// eight to a word.
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, Values<'d>)> + use<'d> {
        let Self { module, function, .. } = *self;
        let (mut counters, mut sites) = (function.counters, function.sites);
        function.kinds(&module.numbers).map(move |(kind, rule, count)| {
            let values = match rule {
                Rule::TopN => {
                    let spans = module.sites.get(sites..sites + count).unwrap_or_default();
                    sites += count;
                    Values::Sites(Sites { spans: spans.iter(), pairs: &module.pairs })
                }
                _ => {
                    let words = rule.words(count);
                    let values = module.counters.get(counters..counters + words);
                    counters += words;
                    Values::Counters(values.unwrap_or_default())
                }
            };
            (kind, values)
        })
    }

    /// Counters of a kind of single bytes; empty if the function has none.
    pub fn bytes(&self, wanted: Kind) -> Vec<u8> {
        let kinds = self.function.kinds(&self.module.numbers);
        let number = kinds.filter(|&(kind, ..)| kind == wanted).map(|(.., number)| number).sum();
        let words = self.counters(wanted).iter().flat_map(|word| word.to_ne_bytes());
        words.take(number).collect()
    }

    /// Plain counters of a kind; empty if the function has none.
    pub fn counters(&self, wanted: Kind) -> &'d [i64] {
        self.kinds()
            .find_map(|(kind, values)| match values {
                Values::Counters(counters) if kind == wanted => Some(counters),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// Top-N sites of a kind; none if the function has none.
    pub fn sites(&self, wanted: Kind) -> Sites<'d> {
        self.kinds()
            .find_map(|(kind, values)| match values {
                Values::Sites(sites) if kind == wanted => Some(sites),
                _ => None,
            })
            .unwrap_or(Sites { spans: [].iter(), pairs: &[] })
    }
}

/// Top-N sites in order.
#[derive(Clone, Debug)]
pub struct Sites<'d> {
    spans: core::slice::Iter<'d, SiteSpan>,
    pairs: &'d [Pair],
}

impl<'d> Iterator for Sites<'d> {
    type Item = SiteView<'d>;

    fn next(&mut self) -> Option<Self::Item> {
        let span = self.spans.next()?;
        let pairs = self.pairs.get(span.pairs.clone()).unwrap_or_default();
        Some(SiteView { total: span.total, error: span.error, pairs })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl ExactSizeIterator for Sites<'_> {}

/// One top-N site.
#[derive(Clone, Copy, Debug)]
pub struct SiteView<'d> {
    /// Events, negative if values were lost in merging.
    pub total: i64,
    /// How far each count may differ from the truth, see [`Site::error`]; 0 if all are exact.
    pub error: i64,
    /// The values kept, in the order of their first appearance.
    pub pairs: &'d [Pair],
}

impl SiteView<'_> {
    /// The site with its own copy of the values.
    pub fn to_site(self) -> Site {
        let pairs = self.pairs.iter().copied().collect();
        Site { total: self.total, error: self.error, pairs }
    }

    /// Events that no kept value accounts for.
    pub fn lost(&self) -> u64 {
        let kept = self.pairs.iter().fold(0i64, |sum, pair| sum.saturating_add(pair.count));
        self.total.saturating_abs().saturating_sub(kept).max(0) as u64
    }
}
