//! The `.gcda` files of a dump: byte for byte what libgcov would have written, in the program's order of bytes.
//!
//! An object that is in several modules, or was compiled anew, has one file. As in libgcov, counts with the same
//! checksum (GCC 12 on) or stamp (before) are added. Of several builds the file has the one that the notes beside it
//! fit, or else the last one in the dump, as libgcov's would.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::formats::gcda::encode::{Encoder, TopN, Words};
use crate::formats::gcno::{self, Notes};
use crate::raw::dump::{Dump, FunctionView, Module, Object, SiteView, Values};
use crate::raw::gcov::{FunctionRecord, Version};
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::{Order, Sums};
use crate::raw::merge::{Pair, Site, counter};
use crate::raw::writer::Sink;

/// The counters of one object.
#[derive(Clone, Debug)]
pub struct ObjectCounts<'d> {
    /// The build that the file gets.
    build: Build<'d>,
    /// Builds that have no place in the file.
    pub left_out: Vec<Build<'d>>,
    /// Whether the notes chose the build.
    pub fits_notes: bool,
}

/// One build of an object.
#[derive(Clone, Debug)]
pub struct Build<'d> {
    /// Where it was counted, in the order of the dump.
    parts: Vec<Part<'d>>,
}

/// An object in one of the modules that have it.
type Part<'d> = (&'d Module, &'d Object);

impl Build<'_> {
    /// Its stamp.
    pub fn stamp(&self) -> u32 {
        self.parts[0].1.stamp
    }

    /// Whether the notes are those of this compilation. The stamp alone does not tell: with -frandom-seed it is the
    /// same in all of them.
    pub fn fits(&self, notes: &Notes<'_>) -> bool {
        let (module, object) = self.parts[0];
        let functions = notes.functions.iter().map(|function| (function.ident, function));
        let functions: HashMap<u32, &gcno::Function<'_>> = functions.collect();
        let mut views = module.functions(object).filter(|view| !view.is_absent());
        notes.stamp == object.stamp
            && views.all(|view| {
                let known = functions.get(&view.ident());
                known.is_some_and(|known| {
                    let checksums = (known.lineno_checksum, known.cfg_checksum);
                    checksums == (view.lineno_checksum(), view.cfg_checksum())
                })
            })
    }

    /// The path of the first program that has it.
    pub fn program(&self) -> &[u8] {
        &self.parts[0].0.path
    }

    /// Its runs.
    pub fn runs(&self) -> u64 {
        let runs = self.parts.iter().map(|(module, _)| module.sums.runs);
        runs.fold(0, u64::saturating_add)
    }
}

/// The sum of an object's counters.
struct Sum {
    version: Version,
    stamp: u32,
    checksum: u32,
    sums: Sums,
    functions: Vec<Function>,
}

struct Function {
    record: FunctionRecord,
    counters: Vec<(Kind, Counters)>,
}

enum Counters {
    Plain(Rule, Vec<i64>),
    Sites(Vec<Site>),
}

/// The objects of a dump by their recorded paths. `choose` gives for the path of an object with several builds the
/// place of the one that the notes fit, if there are such notes.
pub fn objects(
    dump: &Dump,
    choose: impl Fn(&[u8], &[Build<'_>]) -> Option<usize>,
) -> BTreeMap<&[u8], ObjectCounts<'_>> {
    let mut files = BTreeMap::<&[u8], Vec<Build<'_>>>::new();
    for module in dump.modules.iter().filter(|module| !module.is_llvm()) {
        for object in &module.objects {
            let part = (module, object);
            let builds = files.entry(&object.path).or_default();
            let is_its = |build: &&mut Build<'_>| are_compatible(part, build.parts[0]);
            match builds.iter_mut().find(is_its) {
                Some(build) => build.parts.push(part),
                None => builds.push(Build { parts: Vec::from([part]) }),
            }
        }
    }
    let chosen = files.into_iter().map(|(path, mut builds)| {
        let fitting = if builds.len() > 1 { choose(path, &builds) } else { None };
        let build = builds.remove(fitting.unwrap_or(builds.len() - 1));
        (path, ObjectCounts { build, left_out: builds, fits_notes: fitting.is_some() })
    });
    chosen.collect()
}

/// Whether libgcov would add an object's counts to older ones, and the functions agree.
fn are_compatible(newer: Part<'_>, older: Part<'_>) -> bool {
    let same = match newer.1.version.counts_bytes() {
        true => newer.1.checksum == older.1.checksum,
        false => newer.1.stamp == older.1.stamp,
    };
    let same = same && newer.0.machine == older.0.machine;
    same && newer.1.version == older.1.version && records(newer).eq(records(older))
}

fn records<'d>((module, object): Part<'d>) -> impl Iterator<Item = FunctionRecord> + use<'d> {
    module.functions(object).map(|view| record(&view))
}

fn record(view: &FunctionView<'_>) -> FunctionRecord {
    FunctionRecord {
        ident: view.ident(),
        lineno_checksum: view.lineno_checksum(),
        cfg_checksum: view.cfg_checksum(),
        flags: if view.is_absent() { FunctionRecord::ABSENT } else { 0 },
    }
}

impl<'d> ObjectCounts<'d> {
    /// The build that the file gets.
    pub const fn build(&self) -> &Build<'d> {
        &self.build
    }

    /// Writes the file.
    pub fn write_to<S: Sink>(&self, sink: S) -> Result<(), S::Error> {
        let parts = &self.build.parts;
        let order = parts.last().map_or(Order::NATIVE, |(module, _)| module.machine.order);
        let blocks = Blocks { sink, order, block: heapless::Vec::new() };
        if let [part] = parts[..] {
            return encode(part, blocks)?.end();
        }
        let sums = parts.iter().map(|&part| Sum::of(part));
        let add = |older: Sum, mut newer: Sum| {
            newer.merge(&older);
            newer
        };
        sums.reduce(add).map_or(Ok(()), |sum| sum.encode(blocks)?.end())
    }
}

/// Writes the counts of a single module without copying them.
fn encode<W: Words>((module, object): Part<'_>, words: W) -> Result<W, W::Error> {
    let mut encoder = Encoder::new(words, object.version, object.stamp, object.checksum)?;
    encoder.summary(module.sums.runs, module.sums.sum_max)?;
    for view in module.functions(object) {
        if !encoder.function(&record(&view))? {
            continue;
        }
        for (kind, values) in view.kinds() {
            match values {
                Values::Counters(values) => encoder.counters(kind, values.iter().copied())?,
                Values::Sites(sites) => encoder.sites(kind, sites)?,
            }
        }
    }
    encoder.finish()
}

impl TopN for SiteView<'_> {
    fn total(&self) -> i64 {
        self.total
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.pairs.iter().copied()
    }
}

impl Sum {
    fn of((module, object): Part<'_>) -> Self {
        Self {
            version: object.version,
            stamp: object.stamp,
            checksum: object.checksum,
            sums: module.sums,
            functions: module.functions(object).map(|view| Function::of(&view, object)).collect(),
        }
    }

    fn merge(&mut self, older: &Self) {
        self.sums = self.sums.plus(older.sums);
        for (function, older) in self.functions.iter_mut().zip(&older.functions) {
            for ((_, counters), (_, older)) in function.counters.iter_mut().zip(&older.counters) {
                counters.merge(older);
            }
        }
    }

    fn encode<W: Words>(&self, words: W) -> Result<W, W::Error> {
        let mut encoder = Encoder::new(words, self.version, self.stamp, self.checksum)?;
        encoder.summary(self.sums.runs, self.sums.sum_max)?;
        for function in &self.functions {
            if !encoder.function(&function.record)? {
                continue;
            }
            for (kind, counters) in &function.counters {
                counters.encode(*kind, &mut encoder)?;
            }
        }
        encoder.finish()
    }
}

impl Function {
    fn of(view: &FunctionView<'_>, object: &Object) -> Self {
        let counters = view.kinds().map(|(kind, values)| {
            let rule = object.rules.rule(kind).unwrap_or(kind.usual_rule());
            let counters = match values {
                Values::Counters(values) => Counters::Plain(rule, values.to_vec()),
                Values::Sites(sites) => Counters::Sites(sites.map(|site| site.to_site()).collect()),
            };
            (kind, counters)
        });
        Self { record: record(view), counters: counters.collect() }
    }
}

impl Counters {
    fn merge(&mut self, older: &Self) {
        match (self, older) {
            (Self::Plain(rule, values), Self::Plain(_, older)) => {
                for (value, older) in values.iter_mut().zip(older) {
                    *value = counter(*rule, *value, *older);
                }
            }
            (Self::Sites(sites), Self::Sites(older)) => {
                for (site, older) in sites.iter_mut().zip(older) {
                    let mut merge = site.merge(older.total, older.error);
                    older.pairs.iter().for_each(|&pair| merge.pair(pair));
                    merge.finish();
                }
            }
            _ => {}
        }
    }

    fn encode<W: Words>(&self, kind: Kind, encoder: &mut Encoder<W>) -> Result<(), W::Error> {
        match self {
            Self::Plain(_, values) => encoder.counters(kind, values.iter().copied()),
            Self::Sites(sites) => encoder.sites(kind, sites.iter()),
        }
    }
}

/// Bytes that are written at once.
const BLOCK: usize = 8 * 1024;

/// Words on their way to a file.
struct Blocks<S> {
    sink: S,
    order: Order,
    block: heapless::Vec<u8, BLOCK>,
}

impl<S: Sink> Blocks<S> {
    fn end(mut self) -> Result<(), S::Error> {
        self.sink.write(&self.block)
    }
}

impl<S: Sink> Words for Blocks<S> {
    type Error = S::Error;

    fn word(&mut self, word: u32) -> Result<(), S::Error> {
        if self.block.is_full() {
            self.sink.write(&self.block)?;
            self.block.clear();
        }
        let _ = self.block.extend_from_slice(&match self.order {
            Order::Little => word.to_le_bytes(),
            Order::Big => word.to_be_bytes(),
        });
        Ok(())
    }
}

/// The place of a file, as libgcov's `GCOV_PREFIX` and `GCOV_PREFIX_STRIP` define it: under `prefix`, without
/// the first `strip` directories. The leading slash is not one of these.
pub fn place(recorded: &[u8], prefix: Option<&[u8]>, strip: usize) -> Vec<u8> {
    let prefix = match prefix {
        Some(prefix) => prefix.strip_suffix(b"/").unwrap_or(prefix),
        None if strip > 0 => b".",
        None => return recorded.to_vec(),
    };
    let relative = recorded.strip_prefix(b"/").unwrap_or(recorded);
    let slashes = relative.iter().enumerate().filter(|&(_, &byte)| byte == b'/');
    // The last component always stays, so there may be fewer slashes to strip at.
    let rest = match slashes.take(strip).last() {
        Some((slash, _)) => &relative[slash + 1..],
        None => relative,
    };
    [prefix, b"/", rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_as_libgcov_makes_them() {
        let path = b"/a/b/c.gcda".as_slice();
        for (prefix, strip, expected) in [
            (None, 0, "/a/b/c.gcda"),
            (Some("/p"), 0, "/p/a/b/c.gcda"),
            (Some("/p/"), 1, "/p/b/c.gcda"),
            (Some("p"), 2, "p/c.gcda"),
            (Some("/p"), 9, "/p/c.gcda"),
            (None, 1, "./b/c.gcda"),
        ] {
            let place = place(path, prefix.map(str::as_bytes), strip);
            assert_eq!(core::str::from_utf8(&place), Ok(expected));
        }
        assert_eq!(place(b"d/x.gcda", Some(b"/p"), 0), b"/p/d/x.gcda");
    }
}
