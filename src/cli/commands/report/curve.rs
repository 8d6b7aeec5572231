//! The curve of cutoffs: how many of the largest counts make up which share of all counts.

use std::cmp::Reverse;
use std::prelude::v1::*;

use serde::Serialize;

use crate::profile::Profile;

/// Least ratio of the numbers of counts at two neighbouring points of the curve.
const STEP: f64 = 1.06;

/// The distribution of the counts over the counted places.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curve {
    /// Number of places.
    pub places: usize,
    /// Number of places that were never executed.
    pub never: usize,
    /// The largest count.
    #[serde(skip)]
    pub largest: u64,
    /// 0.9 and 0.99, each with the number of the largest counts that make up this share.
    pub marks: Vec<(f64, usize)>,
    /// Each with a number of the largest counts, and the share that they make up, from 0 to 1.
    points: Vec<(usize, f64)>,
}

impl Curve {
    /// The distribution of a profile.
    pub fn of(profile: &Profile) -> Self {
        let mut counts = Vec::new();
        for function in profile.functions.values() {
            function.body.for_each_record(&mut |record| counts.extend(record.count));
        }
        counts.sort_unstable_by_key(|&count| Reverse(count));
        let all: u128 = counts.iter().copied().map(u128::from).sum();
        let never = counts.len() - counts.partition_point(|&count| count > 0);
        let largest = counts.first().copied().unwrap_or(0);
        let mut curve = Self { places: counts.len(), never, largest, ..Self::default() };
        if all > 0 {
            curve.draw(&counts, all);
        }
        curve
    }

    fn draw(&mut self, counts: &[u64], all: u128) {
        let (mut sum, mut next) = (0u128, 1.0);
        let mut wanted = [0.9, 0.99].into_iter().peekable();
        for (number, &count) in (1..).zip(counts) {
            sum += u128::from(count);
            let share = sum as f64 / all as f64;
            while let Some(mark) = wanted.next_if(|&mark| share >= mark) {
                self.marks.push((mark, number));
            }
            if number as f64 >= next || number == counts.len() {
                self.points.push((number, share));
                next = (next * STEP).max(number as f64 + 1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Function, Position};

    #[test]
    fn few_lines_carry_most() {
        let mut profile = Profile::default();
        let symbol = profile.symbols.symbol(b"f", None);
        let mut function = Function::default();
        for (line, count) in (0..).zip([0, 90, 9, 1, 0]) {
            let record = function.body.positions.entry(Position::line(line)).or_default();
            record.count = Some(count);
        }
        profile.functions.insert(symbol, function);
        let curve = Curve::of(&profile);
        assert_eq!((curve.places, curve.never, curve.largest), (5, 2, 90));
        assert_eq!(curve.marks, [(0.9, 1), (0.99, 2)]);
        assert_eq!(curve.points, [(1, 0.9), (2, 0.99), (3, 1.0), (4, 1.0), (5, 1.0)]);
        assert!(Curve::of(&Profile::default()).points.is_empty());
    }
}
