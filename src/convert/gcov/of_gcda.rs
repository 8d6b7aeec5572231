//! A dump from `.gcda` files: what our runtime would have written of the same runs. [`super::gcda`] is the way back.
//!
//! Nothing in a file names its program. Files with equal runs and equal sums of largest counters were written at the
//! same exits, so they become one module, without a path and a build-id.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::formats::gcda::decode::{Counters, Data, Function};
use crate::raw::dump::build::{Counts, NewFunction, NewObject};
use crate::raw::dump::{Dump, Module};
use crate::raw::gcov::{FunctionRecord, Version};
use crate::raw::layout::{Machine, Order, Sums};
use crate::raw::merge::{Pair, Site};

/// More counters of a function that a file only names by their number are not believed: 8 MB. No function has as many,
/// and there may be many damaged files.
const MOST_ZEROS: u64 = 1 << 20;
/// The same for all functions of a file: 128 MB.
const MOST_ZEROS_OF_FILE: u64 = 1 << 24;

/// A file that says that it has more counters than any function or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyZeros {
    found: u64,
    most: u64,
}

impl fmt::Display for TooManyZeros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} counters that are zero, more than {}", self.found, self.most)
    }
}

/// Refuses a file whose counters would not fit into memory.
pub fn check(data: &Data) -> Result<(), TooManyZeros> {
    let functions = data.functions.iter().flatten();
    let counters = functions.flat_map(|function| &function.counters);
    let mut all = 0u64;
    for (_, counters) in counters {
        let Counters::Zeros(found) = *counters else { continue };
        all = all.saturating_add(found);
        if found > MOST_ZEROS {
            return Err(TooManyZeros { found, most: MOST_ZEROS });
        }
    }
    match all {
        found if found > MOST_ZEROS_OF_FILE => {
            Err(TooManyZeros { found, most: MOST_ZEROS_OF_FILE })
        }
        _ => Ok(()),
    }
}

/// The dump of files, by their paths. Each must have passed [`check`].
pub fn dump(files: impl IntoIterator<Item = (Vec<u8>, Data)>) -> Dump {
    let mut programs = BTreeMap::<(bool, u32, u32), Vec<NewObject>>::new();
    for (path, data) in files {
        let (runs, sum_max) = data.summary.unwrap_or_default();
        let key = (data.order == Order::Big, runs, sum_max);
        programs.entry(key).or_default().push(object(path, data));
    }
    let module = |((is_big, runs, sum_max), objects): ((bool, u32, u32), Vec<NewObject>)| {
        let order = if is_big { Order::Big } else { Order::Little };
        let sums = Sums { runs: runs.into(), sum_max: sum_max.into(), dropped: 0 };
        Module::of_objects(Machine { order, ..Machine::NATIVE }, sums, objects)
    };
    programs.into_iter().map(module).collect()
}

fn object(path: Vec<u8>, data: Data) -> NewObject {
    let Data { version, stamp, checksum, functions, .. } = data;
    let functions = functions.into_iter().map(|place| function(version, place)).collect();
    NewObject { path, version, stamp, checksum, functions }
}

fn function(version: Version, place: Option<Function>) -> NewFunction {
    let Some(Function { ident, lineno_checksum, cfg_checksum, mut counters }) = place else {
        let flags = FunctionRecord::ABSENT;
        let record = FunctionRecord { ident: 0, lineno_checksum: 0, cfg_checksum: 0, flags };
        return NewFunction { record, counts: Vec::new() };
    };
    // Compilers write them so. A kind that a damaged file has twice counts once.
    counters.sort_by_key(|(kind, _)| *kind);
    counters.dedup_by_key(|(kind, _)| *kind);
    let counts = counters.into_iter().map(|(kind, counters)| {
        let counts = match counters {
            Counters::Plain(values) => Counts::Plain(kind.usual_rule(), values),
            Counters::Zeros(number) => Counts::Plain(kind.usual_rule(), vec![0; number as usize]),
            Counters::Sites(sites) => {
                let site = |(total, pairs)| site(version, total, pairs);
                Counts::Sites(sites.into_iter().map(site).collect())
            }
        };
        (kind, counts)
    });
    let record = FunctionRecord { ident, lineno_checksum, cfg_checksum, flags: 0 };
    NewFunction { record, counts: counts.collect() }
}

/// A site, with the counts as they were in memory: GCC 10 writes four times each, and the value that it saw first last.
fn site(version: Version, total: i64, mut pairs: Vec<Pair>) -> Site {
    const FACTOR: i64 = 4;
    if version.has_fixed_topn() {
        pairs.reverse();
        pairs.iter_mut().for_each(|pair| pair.count /= FACTOR);
        pairs.retain(|pair| pair.count != 0);
    }
    let mut site = Site::new(total, 0);
    for pair in pairs {
        if site.pairs.push(pair).is_err() {
            // Values are lost, which the sign says.
            site.total = total.saturating_abs().wrapping_neg();
            break;
        }
    }
    site
}
