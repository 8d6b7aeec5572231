//! The rules for merging the counts of two runs, equal to libgcov's. But a sum that is too large stays at the largest
//! number, where libgcov's begins anew below zero.
//!
//! Plain counters are merged one by one ([`counter`]); the targets of a top-N site are merged by
//! value ([`Site`]). The order matters as in libgcov: the newer run is in memory, and the older file is
//! folded into it.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::raw::kind::Rule;

/// Most values a site holds; libgcov's sites hold 32. The error bound of all counts depends on this: among a
/// million events no count is wrong by more than a million / 64.
pub const SITE_LIMIT: usize = 64;

/// Merges one counter of a kind that is not top-N.
pub fn counter(rule: Rule, newer: i64, older: i64) -> i64 {
    match rule {
        Rule::Add | Rule::TopN => newer.saturating_add(older),
        Rule::Saturate => (newer as u64).saturating_add(older as u64) as i64,
        Rule::Ior | Rule::Bytes => newer | older,
        Rule::Time if newer == 0 => older,
        Rule::Time if older == 0 => newer,
        Rule::Time => newer.min(older),
    }
}

/// A value seen at a top-N site and how often.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Pair {
    /// Callee ident, divisor, size, ...
    pub value: i64,
    /// Times seen, right to within the site's error.
    pub count: i64,
}

/// A top-N site: its number of events, and the values kept.
///
/// A negative total says that values were lost in merging; its magnitude is the number of events.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Events at the site, negative once a merge found it full.
    pub total: i64,
    /// The most that a count may differ from the truth, in either direction. A value that is not kept was
    /// seen no more often than this. 0 if everything is exact.
    pub error: i64,
    /// The values kept, in the order of their first appearance.
    pub pairs: Pairs,
}

/// Values of a site.
pub type Pairs = heapless::Vec<Pair, SITE_LIMIT>;

impl Site {
    /// A site without values yet.
    pub const fn new(total: i64, error: i64) -> Self {
        Self { total, error, pairs: heapless::Vec::new() }
    }

    /// Begins to fold an older site in. Call [`Merge::finish`] after the pairs.
    pub fn merge(&mut self, older_total: i64, older_error: i64) -> Merge<'_> {
        let lost = older_total < 0 || self.total < 0;
        let total = self.total.saturating_abs();
        self.total = total.saturating_add(older_total.saturating_abs());
        self.error = self.error.saturating_add(older_error);
        Merge { site: self, next: 0, unknown: heapless::Vec::new(), lost }
    }

    /// Adds further events, of one value. In a full site that lacks it, the value takes the place of the smallest count
    /// if that is smaller.
    pub fn add(&mut self, mut pair: Pair) {
        self.total = self.total.saturating_add(pair.count);
        if self.add_to_known(pair) || self.pairs.push(pair).is_ok() {
            return;
        }
        let smallest = self.pairs.iter_mut().min_by_key(|pair| pair.count);
        if let Some(smallest) = smallest.filter(|smallest| smallest.count < pair.count) {
            core::mem::swap(smallest, &mut pair);
        }
        self.error = self.error.saturating_add(pair.count);
    }

    /// Adds `pair` if the site has its value; says whether it does.
    #[inline(always)]
    pub fn add_to_known(&mut self, pair: Pair) -> bool {
        for known in &mut self.pairs {
            if known.value == pair.value {
                known.count = known.count.saturating_add(pair.count);
                return true;
            }
        }
        false
    }
}

/// A merge in progress, see [`Site::merge`].
#[derive(Debug)]
pub struct Merge<'s> {
    site: &'s mut Site,
    /// The place behind the last value that both sites had. As runs are alike, so is the order of their
    /// values.
    next: usize,
    /// The older values that the site lacks.
    unknown: Pairs,
    lost: bool,
}

impl Merge<'_> {
    /// Folds one of the older values in.
    #[inline(always)]
    pub fn pair(&mut self, pair: Pair) {
        let Self { site: Site { pairs, .. }, next, unknown, .. } = self;
        let is_same = |known: &Pair| known.value == pair.value;
        if !pairs.get(*next).is_some_and(is_same) {
            let Some(place) = pairs.iter().position(is_same) else {
                let _ = unknown.push(pair);
                return;
            };
            *next = place;
        }
        if let Some(known) = pairs.get_mut(*next) {
            known.count = known.count.saturating_add(pair.count);
        }
        *next = next.wrapping_add(1);
    }

    /// Adds the values that only the older site had. They go behind the others while there is room, as in
    /// libgcov; then each takes the place of the smallest count, if that is smaller. Marks the total if
    /// values were lost, now or before.
    pub fn finish(&mut self) {
        let Self { site, unknown, lost, .. } = self;
        let mut largest_lost = 0;
        for &pair in unknown.iter() {
            let Err(mut gone) = site.pairs.push(pair) else { continue };
            *lost = true;
            let smallest = site.pairs.iter_mut().min_by_key(|pair| pair.count);
            if let Some(smallest) = smallest.filter(|smallest| smallest.count < gone.count) {
                core::mem::swap(smallest, &mut gone);
            }
            largest_lost = gone.count.max(largest_lost);
        }
        // The count of a lost value was right to within the error, and is now 0.
        site.error = site.error.saturating_add(largest_lost).min(site.total);
        if *lost {
            site.total = site.total.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(total: i64, pairs: &[(i64, i64)]) -> Site {
        let pairs = pairs.iter().map(|&(value, count)| Pair { value, count });
        Site { total, error: 0, pairs: pairs.collect() }
    }

    fn merged(newer: &Site, older: &Site) -> Site {
        let mut result = newer.clone();
        let mut merge = result.merge(older.total, older.error);
        older.pairs.iter().for_each(|&pair| merge.pair(pair));
        merge.finish();
        result
    }

    #[test]
    fn counters_follow_their_rule() {
        assert_eq!(counter(Rule::Add, 2, 3), 5);
        assert_eq!(counter(Rule::Add, i64::MAX - 1, 2), i64::MAX);
        assert_eq!(counter(Rule::Saturate, -2, 2), -1);
        assert_eq!(counter(Rule::Ior, 0b101, 0b011), 0b111);
        assert_eq!(counter(Rule::Bytes, 0x0100, 0x0101), 0x0101);
        let sums = [(1, 2), (-2, 1), (-1, 1), (i64::MAX, 2)];
        let sums = sums.map(|(newer, older)| counter(Rule::Saturate, newer, older));
        assert_eq!(sums, [3, -1, -1, i64::MIN + 1]);
        // The example of GCC's own behaviour: {1,4,3,2} with a run giving {1,2,3,0}.
        let merged = [(1, 1), (2, 4), (3, 3), (0, 2)].map(|(n, o)| counter(Rule::Time, n, o));
        assert_eq!(merged, [1, 2, 3, 2]);
    }

    #[test]
    fn values_add_and_new_ones_follow() {
        let result = merged(&site(5, &[(7, 3), (9, 2)]), &site(4, &[(8, 1), (9, 3)]));
        assert_eq!(result.total, 9);
        let pairs: [(i64, i64); 3] = [(7, 3), (9, 5), (8, 1)];
        assert!(result.pairs.iter().map(|p| (p.value, p.count)).eq(pairs));
    }

    #[test]
    fn sums_of_sites_stay_at_the_largest_number() {
        let large = site(i64::MAX - 1, &[(7, i64::MAX - 1)]);
        let result = merged(&large, &large);
        assert_eq!((result.total, result.pairs[0].count), (i64::MAX, i64::MAX));
    }

    #[test]
    fn a_full_site_turns_its_total_negative_and_stays_so() {
        let full = site(128, &core::array::from_fn::<_, 64, _>(|value| (value as i64, 2)));
        let once = merged(&full, &site(2, &[(100, 1), (63, 1)]));
        assert_eq!((once.total, once.error), (-130, 1));
        assert_eq!(once.pairs[63], Pair { value: 63, count: 3 });
        let twice = merged(&once, &site(3, &[(100, 3)]));
        assert_eq!((twice.total, twice.error), (-133, 3));
        assert_eq!(twice.pairs[0], Pair { value: 100, count: 3 });
        assert_eq!(merged(&site(1, &[(1, 1)]), &once).total, -131);
    }

    #[test]
    fn further_events_of_a_full_site() {
        let mut few = site(5, &[(7, 3), (9, 2)]);
        [(9, 4), (8, 1)].into_iter().for_each(|(value, count)| few.add(Pair { value, count }));
        assert_eq!(
            (few.total, few.error, &few.pairs[1..]),
            (10, 0, &site(0, &[(9, 6), (8, 1)]).pairs[..])
        );
        let mut full = site(128, &core::array::from_fn::<_, 64, _>(|value| (value as i64, 2)));
        [(100, 1), (101, 5)].into_iter().for_each(|(value, count)| full.add(Pair { value, count }));
        assert_eq!((full.total, full.error), (134, 3));
        assert_eq!(full.pairs[0], Pair { value: 101, count: 5 });
    }

    /// Whatever is lost, no count differs from the truth by more than the error.
    #[test]
    fn the_error_bounds_all_counts() {
        let run = |number: i64| -> std::vec::Vec<(i64, i64)> {
            (0..60).map(|i| ((i * i + number * i) % 150, 1 + (i * 31 + number) % 40)).collect()
        };
        let mut truth = std::collections::BTreeMap::new();
        let mut file = site(0, &[]);
        for number in 0..20 {
            let mut newer = site(0, &[]);
            for (value, count) in run(number) {
                *truth.entry(value).or_insert(0) += count;
                newer = merged(&newer, &site(count, &[(value, count)]));
            }
            file = merged(&newer, &file);
        }
        assert_eq!(file.total, -truth.values().sum::<i64>());
        assert!(file.error > 0 && file.error < -file.total / 10, "{}", file.error);
        for (value, truth) in truth {
            let kept = file.pairs.iter().find(|pair| pair.value == value);
            let count = kept.map_or(0, |pair| pair.count);
            assert!((count - truth).abs() <= file.error, "{value}: {count}, not {truth}");
        }
    }
}
