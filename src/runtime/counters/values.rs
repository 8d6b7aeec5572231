//! Interval, power-of-two, average and or-of-all counters.

use crate::runtime::atomic::AtomicI64;

use super::Update;

/// Counts in which of `steps` unit intervals from `start` the value lies. Behind the intervals come two
/// counters, the first for values above them, the second for values below.
#[inline(always)]
pub fn interval<U: Update>(counters: &[AtomicI64], value: i64, start: i64, steps: u32) {
    let steps = steps as usize;
    let place = match value.wrapping_sub(start) {
        distance if distance < 0 => steps.wrapping_add(1),
        distance => steps.min(usize::try_from(distance).unwrap_or(steps)),
    };
    if let Some(counter) = counters.get(place) {
        U::add(counter, 1);
    }
}

/// Counts whether the value's bits are those of a power of two: `[others, powers]`.
#[inline(always)]
pub fn pow2<U: Update>([others, powers]: &[AtomicI64; 2], value: i64) {
    U::add(if value.count_ones() == 1 { powers } else { others }, 1);
}

/// Sums the values and counts them.
#[inline(always)]
pub fn average<U: Update>([sum, number]: &[AtomicI64; 2], value: i64) {
    U::add(sum, value);
    U::add(number, 1);
}

/// Collects the bits that any value had.
#[inline(always)]
pub fn ior<U: Update>(bits: &AtomicI64, value: i64) {
    U::set_bits(bits, value);
}

#[cfg(test)]
mod tests {
    use crate::runtime::atomic::Ordering;
    use std::vec::Vec;

    use super::super::{Atomic, Plain};
    use super::*;

    fn interval_counts<U: Update>(values: &[i64]) -> Vec<i64> {
        let counters = [const { AtomicI64::new(0) }; 4];
        values.iter().for_each(|&value| interval::<U>(&counters, value, 0, 2));
        counters.iter().map(|counter| counter.load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn intervals_have_above_before_below() {
        let values = [0, 0, 1, 2, i64::MAX, -1, i64::MIN];
        assert_eq!(interval_counts::<Plain>(&values), [2, 1, 2, 2]);
        assert_eq!(interval_counts::<Atomic>(&values), [2, 1, 2, 2]);
    }

    #[test]
    fn the_smallest_integer_is_a_power_of_two() {
        let counters = [const { AtomicI64::new(0) }; 2];
        [0, 1, 64, 3, -1, i64::MIN].iter().for_each(|&value| pow2::<Plain>(&counters, value));
        assert_eq!(counters.map(AtomicI64::into_inner), [3, 3]);
    }

    #[test]
    fn averages_and_bits() {
        let counters = [const { AtomicI64::new(0) }; 2];
        [5, -2].iter().for_each(|&value| average::<Atomic>(&counters, value));
        assert_eq!(counters.map(AtomicI64::into_inner), [3, 2]);
        let bits = AtomicI64::new(0);
        [1, 4].iter().for_each(|&value| ior::<Plain>(&bits, value));
        assert_eq!(bits.into_inner(), 5);
    }
}
