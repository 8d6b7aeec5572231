//! How much two profiles agree: what `llvm-profdata overlap` computes.
//!
//! Each count is a share of the sum of its profile. The overlap of two profiles is the sum of the smaller shares:
//! 1 if the counts are in proportion, 0 if the profiles have none in common. Functions are compared by name and hash. A
//! function whose shape differs, or whose name has other hashes in the base, is a mismatch.

use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::{CONTEXT_SENSITIVE_HASH, Function, Profile, Site, Value, ValueKind, Variant};

/// How much a profile agrees with a base.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Functions that both have with the same shape.
    pub matched: u64,
    /// Functions of the second profile that the base has with another shape.
    pub mismatched: u64,
    /// Functions of the second profile whose name the base lacks.
    pub only_in_second: u64,
    /// Counters.
    pub counters: Shares,
    /// Values, by [`ValueKind`].
    pub values: [Shares; ValueKind::ALL.len()],
    /// The matched functions that ran in the second profile, in its order.
    pub functions: Vec<FunctionOverlap>,
}

/// How much the counts of one sort agree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Sum of the base's counts.
    pub base: u128,
    /// Sum of the second profile's counts.
    pub second: u128,
    /// The overlap, from 0 to 1.
    pub overlap: f64,
    /// Share of the second profile's counts that is in mismatched functions, from 0 to 1.
    pub mismatched: f64,
    /// Share of the second profile's counts that is in functions that the base lacks, from 0 to 1.
    pub only_in_second: f64,
}

/// How much the two profiles agree about one function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionOverlap {
    /// Its name.
    pub name: Vec<u8>,
    /// Hash of its control flow.
    pub hash: u64,
    /// Number of its counters.
    pub number_of_counters: usize,
    /// The largest counter in the second profile.
    pub largest: u64,
    /// Its counters, as shares of their sum in this function.
    pub counters: Shares,
    /// The same for its values, by [`ValueKind`].
    pub values: [Shares; ValueKind::ALL.len()],
}

/// Compares a profile with a base. Functions that never ran in the second profile match. Leaves out functions that were
/// counted after inlining.
pub fn overlap(base: &Profile, second: &Profile) -> Overlap {
    compare(base, second, false)
}

/// Compares only the functions that were counted after inlining.
pub fn overlap_context_sensitive(base: &Profile, second: &Profile) -> Overlap {
    compare(base, second, true)
}

fn compare(base: &Profile, second: &Profile, late: bool) -> Overlap {
    let base = || wanted(base, late);
    let second = || wanted(second, late);
    let names: HashSet<&[u8]> = base().map(|function| function.name.as_slice()).collect();
    let by_hash: HashMap<_, _> =
        base().map(|function| ((function.name.as_slice(), function.hash), function)).collect();
    let mut result = Overlap::default();
    result.each(|shares, sort| {
        shares.base = base().map(|function| sum(function, sort)).sum();
        shares.second = second().map(|function| sum(function, sort)).sum();
    });
    for function in second() {
        let name = function.name.as_slice();
        let own = by_hash.get(&(name, function.hash)).filter(|own| has_same_shape(own, function));
        match own {
            // What never ran has no shape to disagree about.
            _ if names.contains(name) && sum(function, None) == 0 => result.matched += 1,
            Some(own) => result.add(own, function),
            None if names.contains(name) => {
                result.mismatched += 1;
                result.each(|shares, sort| shares.mismatched += shares.of_second(function, sort));
            }
            None => {
                result.only_in_second += 1;
                result
                    .each(|shares, sort| shares.only_in_second += shares.of_second(function, sort));
            }
        }
    }
    result
}

/// The functions that were counted after inlining, or the others. Front ends count before it, whatever the bits
/// of their hashes are.
fn wanted(profile: &Profile, late: bool) -> impl Iterator<Item = &Function> {
    let is_ir = profile.variant.has(Variant::IR);
    let is_late = |function: &Function| function.hash & CONTEXT_SENSITIVE_HASH != 0;
    profile.functions.iter().filter(move |function| !is_ir || is_late(function) == late)
}

impl Overlap {
    fn add(&mut self, own: &Function, other: &Function) {
        self.matched += 1;
        self.each(|shares, sort| shares.overlap += shares.score(own, other, sort));
        let of = |sort| {
            let mut shares =
                Shares { base: sum(own, sort), second: sum(other, sort), ..Shares::default() };
            shares.overlap = shares.score(own, other, sort);
            shares
        };
        self.functions.push(FunctionOverlap {
            name: other.name.clone(),
            hash: other.hash,
            number_of_counters: other.counters.len(),
            largest: other.counters.iter().copied().max().unwrap_or(0),
            counters: of(None),
            values: ValueKind::ALL.map(|kind| of(Some(kind))),
        });
    }

    /// Visits the shares of the counters, and those of each value kind.
    fn each(&mut self, mut visit: impl FnMut(&mut Shares, Option<ValueKind>)) {
        visit(&mut self.counters, None);
        for kind in ValueKind::ALL {
            visit(&mut self.values[kind as usize], Some(kind));
        }
    }
}

impl Shares {
    fn score(&self, own: &Function, other: &Function, sort: Option<ValueKind>) -> f64 {
        let smaller = |(own, other)| self.smaller(own, other);
        let Some(kind) = sort else {
            return own
                .counters
                .iter()
                .copied()
                .zip(other.counters.iter().copied())
                .map(smaller)
                .sum();
        };
        let sites = own.values[kind as usize].iter().zip(&other.values[kind as usize]);
        sites.flat_map(|(own, other)| common(own, other)).map(smaller).sum()
    }

    /// The smaller share of two counts.
    fn smaller(&self, own: u64, other: u64) -> f64 {
        if self.base == 0 || self.second == 0 {
            return 0.0;
        }
        (own as f64 / self.base as f64).min(other as f64 / self.second as f64)
    }

    /// The share that a function has in the second profile.
    fn of_second(&self, function: &Function, sort: Option<ValueKind>) -> f64 {
        match self.second {
            0 => 0.0,
            second => sum(function, sort) as f64 / second as f64,
        }
    }
}

/// The counts of values that two sites have in common.
fn common(own: &Site, other: &Site) -> Vec<(u64, u64)> {
    let sorted = |site: &Site| -> Vec<Value> {
        let mut values = site.values.clone();
        values.sort_by_key(|value| value.value);
        values
    };
    let (own, mut common) = (sorted(own), Vec::new());
    let mut own = own.iter().peekable();
    for value in sorted(other) {
        while own.next_if(|own| own.value < value.value).is_some() {}
        common.extend(
            own.next_if(|own| own.value == value.value).map(|own| (own.count, value.count)),
        );
    }
    common
}

fn sum(function: &Function, sort: Option<ValueKind>) -> u128 {
    let Some(kind) = sort else {
        return function.counters.iter().map(|&count| u128::from(count)).sum();
    };
    let values = function.values[kind as usize].iter().flat_map(|site| &site.values);
    values.map(|value| u128::from(value.count)).sum()
}

fn has_same_shape(own: &Function, other: &Function) -> bool {
    let has_same_sites =
        |kind: ValueKind| own.values[kind as usize].len() == other.values[kind as usize].len();
    own.counters.len() == other.counters.len() && ValueKind::ALL.into_iter().all(has_same_sites)
}
