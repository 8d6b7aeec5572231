//! How far counts are from the truth.

use std::collections::BTreeMap;

use crate::counts::{Counts, Estimates, Place};

/// Sums over all lines that were compared.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// All executions that the profile has, compared or not.
    pub all: u64,
    /// Executions of the lines that were compared: those whose place is certain, and estimates.
    pub certain: u64,
    pub estimated: u64,
    /// Of these, executions beyond the true ones.
    pub certain_excess: u64,
    pub estimated_excess: u64,
    /// True executions of the lines, and how many of them the profile does not have.
    pub truth: u64,
    pub absent: u64,
    /// Estimates and their excess, by how their place was inferred.
    pub by_estimate: BTreeMap<String, (f64, f64)>,
}

impl Sums {
    pub fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.certain += other.certain;
        self.estimated += other.estimated;
        self.certain_excess += other.certain_excess;
        self.estimated_excess += other.estimated_excess;
        self.truth += other.truth;
        self.absent += other.absent;
        for (how, &(executions, excess)) in &other.by_estimate {
            let sums = self.by_estimate.entry(how.clone()).or_default();
            *sums = (sums.0 + executions, sums.1 + excess);
        }
    }

    pub fn compared(&self) -> u64 {
        self.certain + self.estimated
    }

    pub fn excess(&self) -> u64 {
        self.certain_excess + self.estimated_excess
    }
}

/// Compares counts with true ones. Lines whose true count is an estimate, too, are left out.
pub fn compare<K: Ord + Place>(
    measured: &Counts<K>,
    truth: &Counts<K>,
    estimates: &Estimates,
) -> Sums {
    let mut sums =
        Sums { all: measured.values().map(|count| count.all()).sum(), ..Sums::default() };
    for (place, truth) in truth.iter().filter(|(_, truth)| truth.estimated == 0) {
        let truth = truth.certain;
        sums.truth += truth;
        let Some(found) = measured.get(place) else {
            sums.absent += truth;
            continue;
        };
        let excess = found.all().saturating_sub(truth);
        let certain_excess = found.certain.saturating_sub(truth);
        sums.certain += found.certain;
        sums.estimated += found.estimated;
        sums.certain_excess += certain_excess;
        sums.estimated_excess += excess - certain_excess;
        sums.absent += truth.saturating_sub(found.all());
        // Estimates of several kinds share a line's excess.
        let kinds = estimates.get(&place.line()).map_or(&[][..], Vec::as_slice);
        let all: u64 = kinds.iter().map(|(_, executions)| executions).sum();
        for (how, executions) in kinds {
            let share = *executions as f64 / all as f64;
            let of_how = sums.by_estimate.entry(how.clone()).or_default();
            of_how.0 += found.estimated as f64 * share;
            of_how.1 += (excess - certain_excess) as f64 * share;
        }
    }
    sums
}

/// The share of executions that stand elsewhere in another profile, or are not in it.
pub fn moved<K: Ord>(one: &Counts<K>, other: &Counts<K>) -> f64 {
    let at = |counts: &Counts<K>, place| counts.get(place).map_or(0, |count| count.all());
    let less = one.keys().map(|place| at(one, place).saturating_sub(at(other, place)));
    let all: u64 = one.values().map(|count| count.all()).sum();
    less.sum::<u64>() as f64 / all.max(1) as f64
}
