//! The summary of a profile: how its counts are distributed.
//!
//! It covers the counts of all positions, with those of inlined bodies and zeros, but without those of call
//! targets: their sum, the largest, and their number. A cutoff is a share of the sum in millionths. Its entry
//! counts the largest counts first until they reach the share: it holds the smallest count needed, and how
//! many counts are at least as large. Readers derive from this what is hot.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::Function;

/// The shares, in millionths of the sum, that every summary lists.
pub const CUTOFFS: [u32; 16] = [
    10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000,
    950_000, 990_000, 999_000, 999_900, 999_990, 999_999,
];

/// Largest count that compilers can hold: theirs are signed.
pub const LARGEST_COUNT: u64 = i64::MAX as u64;

/// A summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sum of all counts.
    pub total_count: u64,
    /// Largest count.
    pub max_count: u64,
    /// Largest head count.
    pub max_function_count: u64,
    /// Number of counts.
    pub counts: u64,
    /// Number of functions that have counts of their own.
    pub functions: u64,
    /// One entry per cutoff.
    pub cutoffs: Vec<Cutoff>,
}

/// What it takes to reach a share of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The share in millionths.
    pub share: u32,
    /// The smallest count needed.
    pub min_count: u64,
    /// Number of counts that are at least as large.
    pub counts: u64,
}

/// Counts of functions, to make their summary from.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: Vec<u64>,
    functions: u64,
    max_function_count: u64,
}

impl Tally {
    /// Notes the counts of a function.
    pub fn add(&mut self, function: &Function) {
        self.functions += 1;
        let head = function.head_count.min(LARGEST_COUNT);
        self.max_function_count = self.max_function_count.max(head);
        function.body.for_each_record(&mut |record| {
            self.counts.extend(record.count.map(|count| count.min(LARGEST_COUNT)));
        });
    }

    /// Notes a function that was entered so often; its counts follow.
    pub fn add_function(&mut self, head: u64) {
        self.functions += 1;
        self.max_function_count = self.max_function_count.max(head);
    }

    /// Notes the count of a position.
    pub fn add_count(&mut self, count: u64) {
        self.counts.push(count);
    }

    /// Takes over the counts that another one has noted.
    pub fn append(&mut self, mut other: Self) {
        self.counts.append(&mut other.counts);
        self.functions += other.functions;
        self.max_function_count = self.max_function_count.max(other.max_function_count);
    }

    /// The summary of all.
    pub fn summary(mut self) -> Summary {
        let counts = &mut self.counts;
        counts.sort_unstable_by_key(|&count| Reverse(count));
        let total: u128 = counts.iter().copied().map(u128::from).sum();
        Summary {
            total_count: u64::try_from(total).unwrap_or(u64::MAX),
            max_count: counts.first().copied().unwrap_or(0),
            max_function_count: self.max_function_count,
            counts: counts.len() as u64,
            functions: self.functions,
            cutoffs: cutoffs(counts, total),
        }
    }
}

/// Checks a summary against counts that it sees one by one, and keeps none of them.
pub struct Audit<'s> {
    summary: &'s Summary,
    functions: u64,
    max_function_count: u64,
    total: u128,
    max_count: u64,
    /// The smallest counts of the summary's cutoffs, descending, each once. Each range covers the counts from
    /// its own smallest count up to the range before.
    ranges: Vec<Range>,
    /// Number of counts below all ranges.
    others: u64,
}

#[derive(Default)]
struct Range {
    least: u64,
    counts: u64,
    sum: u128,
    /// Number of counts equal to the smallest one.
    equal: u64,
}

impl<'s> Audit<'s> {
    /// Has seen no counts yet.
    pub fn new(summary: &'s Summary) -> Self {
        let mut least: Vec<u64> = summary.cutoffs.iter().map(|cutoff| cutoff.min_count).collect();
        least.sort_unstable_by_key(|&least| Reverse(least));
        least.dedup();
        let range = |least| Range { least, ..Range::default() };
        let ranges = least.into_iter().map(range).collect();
        let (functions, max_function_count, total, max_count, others) = (0, 0, 0, 0, 0);
        Self { summary, functions, max_function_count, total, max_count, ranges, others }
    }

    /// Sees a function with this head count.
    pub fn function(&mut self, head_count: u64) {
        self.functions += 1;
        self.max_function_count = self.max_function_count.max(head_count.min(LARGEST_COUNT));
    }

    /// Sees a count.
    pub fn count(&mut self, count: u64) {
        let count = count.min(LARGEST_COUNT);
        self.total += u128::from(count);
        self.max_count = self.max_count.max(count);
        let place = self.ranges.partition_point(|range| range.least > count);
        let Some(range) = self.ranges.get_mut(place) else {
            self.others += 1;
            return;
        };
        range.counts += 1;
        range.sum += u128::from(count);
        range.equal += u64::from(range.least == count);
    }

    /// Whether the summary fits everything that was seen.
    pub fn is_right(&self) -> bool {
        let Summary { total_count, max_count, max_function_count, counts, functions, cutoffs } =
            self.summary;
        let seen = self.others + self.ranges.iter().map(|range| range.counts).sum::<u64>();
        let total = u64::try_from(self.total).unwrap_or(u64::MAX);
        (*total_count, *max_count, *max_function_count, *counts, *functions)
            == (total, self.max_count, self.max_function_count, seen, self.functions)
            && cutoffs.iter().map(|cutoff| cutoff.share).eq(CUTOFFS)
            && cutoffs.iter().all(|cutoff| self.has(cutoff))
    }

    /// Whether reaching the cutoff's share takes exactly the counts down to the cutoff's smallest one, all of
    /// these included.
    fn has(&self, cutoff: &Cutoff) -> bool {
        let wanted = self.total * u128::from(cutoff.share) / 1_000_000;
        if wanted == 0 {
            return (cutoff.min_count, cutoff.counts) == (0, 0);
        }
        let place = self.ranges.partition_point(|range| range.least > cutoff.min_count);
        let (counts, sum) = self.ranges[..=place]
            .iter()
            .fold((0, 0), |(counts, sum), range| (counts + range.counts, sum + range.sum));
        let equal = u128::from(self.ranges[place].equal) * u128::from(cutoff.min_count);
        cutoff.counts == counts && (sum - equal..sum).contains(&(wanted - 1))
    }
}

/// The entries for counts in descending order.
fn cutoffs(counts: &[u64], total: u128) -> Vec<Cutoff> {
    let mut equal_counts = counts.chunk_by(|a, b| a == b);
    let (mut sum, mut min_count, mut seen) = (0, 0, 0);
    let entry = |&share: &u32| {
        let wanted = total * u128::from(share) / 1_000_000;
        while sum < wanted {
            let Some(equal) = equal_counts.next() else { break };
            sum += u128::from(equal[0]) * equal.len() as u128;
            seen += equal.len() as u64;
            min_count = equal[0];
        }
        Cutoff { share, min_count, counts: seen }
    };
    CUTOFFS.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Position, Profile};

    fn profile(functions: &[(&str, u64, &[u64])]) -> Profile {
        let mut profile = Profile::default();
        for &(name, head_count, counts) in functions {
            let symbol = profile.symbols.symbol(name.as_bytes(), None);
            let mut function = Function { head_count, ..Function::default() };
            for (line, &count) in counts.iter().enumerate() {
                let record = function.body.positions.entry(Position::line(line as u32));
                record.or_default().count = Some(count);
            }
            profile.functions.insert(symbol, function);
        }
        profile
    }

    fn rows(summary: &Summary) -> Vec<(u64, u64)> {
        summary.cutoffs.iter().map(|cutoff| (cutoff.min_count, cutoff.counts)).collect()
    }

    #[test]
    fn the_unit_test_of_google_autofdo() {
        let profile = profile(&[("foo", 200, &[300, 0, 450]), ("boo", 300, &[100, 0, 150])]);
        let summary = profile.summary();
        assert_eq!((summary.total_count, summary.max_count), (1000, 450));
        assert_eq!((summary.max_function_count, summary.counts, summary.functions), (300, 6, 2));
        let expected = [vec(5, (450, 1)), vec(3, (300, 2)), vec(2, (150, 3)), vec(6, (100, 4))];
        assert_eq!(rows(&summary), expected.concat());
    }

    fn vec(number: usize, row: (u64, u64)) -> Vec<(u64, u64)> {
        alloc::vec![row; number]
    }

    #[test]
    fn nothing_was_executed() {
        let summary = profile(&[("f", 0, &[0, 0])]).summary();
        assert_eq!((summary.total_count, summary.counts), (0, 2));
        assert_eq!(rows(&summary), vec(16, (0, 0)));
    }
}
