//! The values of a site in a sum.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::add::add_value;
use crate::counters::Value;

/// The largest number of values of a site in an indexed profile. `llvm-profdata` cuts each intermediate sum, too.
const MOST_VALUES: usize = 255;

/// Adds the values of a site to those of the sum, and sorts them by value; says whether a count became too large. A
/// value may occur more than once, because all unknown targets have the same one. Then the first occurrences are
/// added up, the second ones, and so on.
pub(super) fn add(own: &mut Vec<Value>, other: &mut Vec<Value>, weight: u64) -> bool {
    own.sort_unstable_by_key(|value| (value.value, Reverse(value.count)));
    other.sort_by_key(|value| value.value);
    let (mut is_too_large, mut place) = (false, 0);
    for value in other.drain(..) {
        while own.get(place).is_some_and(|own| own.value < value.value) {
            place += 1;
        }
        match own.get_mut(place).filter(|own| own.value == value.value) {
            Some(own) => is_too_large |= add_value(&mut own.count, value.count, weight),
            // Once, whatever the weight: so does `llvm-profdata`.
            None => own.insert(place, value),
        }
        place += 1;
    }
    if own.len() > MOST_VALUES {
        own.sort_by_key(|value| (Reverse(value.count), value.value));
        own.truncate(MOST_VALUES);
    }
    is_too_large
}
