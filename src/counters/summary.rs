//! How the counts of a profile are distributed. Compilers take their thresholds of hot and cold from it.

use alloc::vec::Vec;

use super::{CONTEXT_SENSITIVE_HASH, Function, Profile, ValueKind};

/// The cutoffs of a summary: shares of the sum, in millionths.
pub const CUTOFFS: [u64; 16] = [
    10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000,
    950_000, 990_000, 999_000, 999_900, 999_990, 999_999,
];

/// A first counter of this size or more is no count: it says that the whole function is warm or hot.
pub const LEAST_PSEUDO_COUNT: u64 = u64::MAX - 1;

/// How counts are distributed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of functions.
    pub functions: u64,
    /// Number of their counters.
    pub counters: u64,
    /// The largest of the first counters.
    pub largest_entry: u64,
    /// The largest counter.
    pub largest: u64,
    /// The largest counter that is not a first one.
    pub largest_inner: u64,
    /// Sum of the counters, modulo 2^64.
    pub sum: u64,
    /// By share, ascending.
    pub cutoffs: Vec<Cutoff>,
}

/// How many counters make up a share of the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cutoff {
    /// The share, in millionths.
    pub share: u64,
    /// The smallest of the largest counters that make it up.
    pub least: u64,
    /// Number of counters of this size and above.
    pub counters: u64,
}

impl Summary {
    /// The summary of a profile, without functions that were counted after inlining.
    pub fn of(profile: &Profile) -> Self {
        Self::of_functions(profile.functions.iter().filter(|function| !is_late(function)))
    }

    /// The summary of the functions that were counted after inlining.
    pub fn of_context_sensitive(profile: &Profile) -> Self {
        Self::of_functions(profile.functions.iter().filter(|function| is_late(function)))
    }

    fn of_functions<'a>(functions: impl Iterator<Item = &'a Function>) -> Self {
        let mut tally = Tally::default();
        functions.for_each(|function| tally.add(function.counters.iter().copied()));
        tally.finish()
    }
}

/// The value sites of one kind, and how many values they have, as `llvm-profdata show` counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Number of sites.
    pub sites: u64,
    /// Number of those that have values.
    pub with_values: u64,
    /// Number of values.
    pub values: u64,
    /// Number of sites by their number of values, from one on.
    pub histogram: Vec<u64>,
}

impl Sites {
    /// The sites of a kind in a profile, without functions that were counted after inlining.
    pub fn of(profile: &Profile, kind: ValueKind) -> Self {
        let mut all = Self::default();
        for function in profile.functions.iter().filter(|function| !is_late(function)) {
            for site in &function.values[kind as usize] {
                all.add(site.values.len());
            }
        }
        all
    }

    fn add(&mut self, values: usize) {
        self.sites += 1;
        if values == 0 {
            return;
        }
        self.with_values += 1;
        self.values += values as u64;
        self.histogram.resize(self.histogram.len().max(values), 0);
        self.histogram[values - 1] += 1;
    }
}

fn is_late(function: &Function) -> bool {
    function.hash & CONTEXT_SENSITIVE_HASH != 0
}

/// Counts of functions, for their summary.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    summary: Summary,
    /// All counts but zeros. Sorting them needs less time and memory than a map of how often each occurs.
    counts: Vec<u64>,
    zeros: u64,
}

impl Tally {
    /// Adds the counters of a function.
    pub fn add(&mut self, mut counters: impl ExactSizeIterator<Item = u64>) {
        let number = counters.len() as u64;
        let Some(first) = counters.next() else {
            self.summary.functions += 1;
            return;
        };
        if first >= LEAST_PSEUDO_COUNT {
            return;
        }
        self.summary.functions += 1;
        self.summary.counters += number;
        self.summary.largest_entry = self.summary.largest_entry.max(first);
        self.count(first);
        for count in counters {
            self.summary.largest_inner = self.summary.largest_inner.max(count);
            self.count(count);
        }
    }

    fn count(&mut self, count: u64) {
        // As LLVM's tools, which let this sum overflow.
        self.summary.sum = self.summary.sum.wrapping_add(count);
        self.summary.largest = self.summary.largest.max(count);
        match count {
            0 => self.zeros += 1,
            _ => self.counts.push(count),
        }
    }

    /// The summary.
    pub fn finish(self) -> Summary {
        self.finish_for(&CUTOFFS)
    }

    /// The summary with other shares, ascending, in millionths.
    pub fn finish_for(mut self, shares: &[u64]) -> Summary {
        self.counts.sort_unstable();
        let equal = self.counts.chunk_by(|one, other| one == other).rev();
        let zeros = (self.zeros > 0).then_some((0, self.zeros));
        let mut numbers = equal.map(|equal| (equal[0], equal.len() as u64)).chain(zeros);
        let (mut sum, mut least, mut counters) = (0u64, 0, 0);
        let sum_of_all = u128::from(self.summary.sum);
        let cutoff = |&share: &u64| {
            let wanted = sum_of_all * u128::from(share) / 1_000_000;
            while u128::from(sum) < wanted
                && let Some((count, number)) = numbers.next()
            {
                sum = sum.wrapping_add(count.wrapping_mul(number));
                (least, counters) = (count, counters + number);
            }
            Cutoff { share, least, counters }
        };
        Summary { cutoffs: shares.iter().map(cutoff).collect(), ..self.summary }
    }
}
