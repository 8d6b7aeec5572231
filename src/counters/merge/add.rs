//! Sums of counts.

/// The largest count. The two above it say that a whole function is warm or hot.
pub const LARGEST_COUNT: u64 = u64::MAX - 2;

/// Adds a counter `weight` times; says whether the sum is too large.
pub(super) fn add(sum: &mut u64, count: u64, weight: u64) -> bool {
    let exact = count.checked_mul(weight).and_then(|product| sum.checked_add(product));
    let is_too_large = exact.is_none_or(|exact| exact > LARGEST_COUNT);
    *sum = exact.unwrap_or(LARGEST_COUNT).min(LARGEST_COUNT);
    is_too_large
}

/// The same for a count of a value, which has no largest but that of the number; says whether it is reached.
pub(super) fn add_value(sum: &mut u64, count: u64, weight: u64) -> bool {
    let exact = count.checked_mul(weight).and_then(|product| sum.checked_add(product));
    *sum = exact.unwrap_or(u64::MAX);
    exact.is_none()
}
