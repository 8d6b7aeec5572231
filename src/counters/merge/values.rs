//! The values of a site in a sum.

use alloc::vec::Vec;

use super::add::add_value;
use crate::counters::Value;

/// Adds the values of a site to those of the sum; says whether a count became too large. Then all are sorted by
/// value. If a value occurs more than once, the first ones are added, the second ones, and so on.
pub(super) fn add(own: &mut Vec<Value>, other: &mut Vec<Value>, weight: u64) -> bool {
    own.sort_by_key(|value| value.value);
    other.sort_by_key(|value| value.value);
    let (mut is_too_large, mut place) = (false, 0);
    for value in other.drain(..) {
        while own.get(place).is_some_and(|own| own.value < value.value) {
            place += 1;
        }
        match own.get_mut(place).filter(|own| own.value == value.value) {
            Some(own) => is_too_large |= add_value(&mut own.count, value.count, weight),
            None => {
                let mut new = Value { count: 0, ..value };
                is_too_large |= add_value(&mut new.count, value.count, weight);
                own.insert(place, new);
            }
        }
        place += 1;
    }
    is_too_large
}
