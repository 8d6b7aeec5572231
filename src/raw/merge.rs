//! The rules by which the counts of two runs become one, equal to libgcov's.
//!
//! Plain counters are merged one by one ([`counter`]); the targets of a top-N site are merged by
//! value ([`Site`]). The order matters as in libgcov: the newer run is in memory and the older
//! file is folded into it.

use crate::raw::gcov::Rule;

/// Most values a site holds. A constant of libgcov's since GCC 11, no option changes it.
pub const SITE_LIMIT: usize = 32;

/// Merges one counter of a kind that is not top-N.
pub fn counter(rule: Rule, newer: i64, older: i64) -> i64 {
    match rule {
        Rule::Add | Rule::TopN => newer.wrapping_add(older),
        Rule::Ior => newer | older,
        Rule::Time if newer == 0 => older,
        Rule::Time if older == 0 => newer,
        Rule::Time => newer.min(older),
    }
}

/// A value seen at a top-N site and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Callee ident, divisor, size, ...
    pub value: i64,
    /// Times seen, less what was taken off while the site was full.
    pub count: i64,
}

/// A top-N site: all events, and the values kept of them.
///
/// A negative total says that values were lost in merging; its magnitude is the number of events.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Events at the site, negative once a merge found it full.
    pub total: i64,
    /// The values kept, in the order of their first appearance.
    pub pairs: heapless::Vec<Pair, SITE_LIMIT>,
}

impl Site {
    /// A site of which only the total is known yet.
    pub const fn new(total: i64) -> Self {
        Self { total, pairs: heapless::Vec::new() }
    }

    /// Begins to fold an older total in. [`Merge::finish`] must be called after the pairs.
    pub fn merge(&mut self, older_total: i64) -> Merge<'_> {
        let lost = older_total < 0 || self.total < 0;
        let total = self.total.wrapping_abs();
        self.total = total.wrapping_add(older_total.wrapping_abs());
        Merge { site: self, lost }
    }

    /// Counts `pair` in; `false` if the site was full and the value not among its own.
    ///
    /// In a full site the smallest count is lowered by one, and the value takes its place if that
    /// leaves less than the value's own count.
    fn add(&mut self, pair: Pair) -> bool {
        if let Some(known) = self.pairs.iter_mut().find(|known| known.value == pair.value) {
            known.count = known.count.wrapping_add(pair.count);
            return true;
        }
        if self.pairs.push(pair).is_ok() {
            return true;
        }
        // The first of equals, as a strict comparison while walking the list finds it.
        let smallest = self.pairs.iter_mut().reduce(|a, b| if b.count < a.count { b } else { a });
        if let Some(smallest) = smallest {
            smallest.count = smallest.count.wrapping_sub(1);
            if smallest.count < pair.count {
                *smallest = pair;
            }
        }
        false
    }
}

/// A merge in progress, see [`Site::merge`].
#[derive(Debug)]
pub struct Merge<'s> {
    site: &'s mut Site,
    lost: bool,
}

impl Merge<'_> {
    /// Folds one of the older values in.
    pub fn pair(&mut self, pair: Pair) {
        self.lost |= !self.site.add(pair);
    }

    /// Marks the total if values were lost, now or before.
    pub fn finish(self) {
        if self.lost {
            self.site.total = self.site.total.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(total: i64, pairs: &[(i64, i64)]) -> Site {
        let pairs = pairs.iter().map(|&(value, count)| Pair { value, count });
        Site { total, pairs: pairs.collect() }
    }

    fn merged(newer: &Site, older: &Site) -> Site {
        let mut result = newer.clone();
        let mut merge = result.merge(older.total);
        older.pairs.iter().for_each(|&pair| merge.pair(pair));
        merge.finish();
        result
    }

    #[test]
    fn counters_follow_their_rule() {
        assert_eq!(counter(Rule::Add, 2, 3), 5);
        assert_eq!(counter(Rule::Ior, 0b101, 0b011), 0b111);
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
    fn a_full_site_turns_its_total_negative_and_stays_so() {
        let full = site(64, &core::array::from_fn::<_, 32, _>(|value| (value as i64, 2)));
        let once = merged(&full, &site(1, &[(100, 1)]));
        assert_eq!(once.total, -65);
        assert_eq!(once.pairs[0], Pair { value: 0, count: 1 });
        let twice = merged(&once, &site(1, &[(100, 1)]));
        assert_eq!(twice.total, -66);
        assert_eq!(twice.pairs[0], Pair { value: 100, count: 1 });
        assert_eq!(merged(&site(1, &[(1, 1)]), &once).total, -66);
    }
}
