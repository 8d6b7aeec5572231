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

/// Adds counters, little-endian, to as many others; says whether a sum is too large.
pub(super) fn add_words(sums: &mut [u64], words: &[[u8; 8]]) -> bool {
    /// Two numbers below it have a sum that is not too large.
    const SMALL: u64 = 1 << 62;
    let counts = words.iter().map(|&word| u64::from_le_bytes(word));
    // Nearly all are small. Without a question for each, the compiler adds several at a time.
    let bits = sums.iter().zip(counts.clone()).fold(0, |bits, (&sum, count)| bits | sum | count);
    if bits < SMALL {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        return false;
    }
    sums.iter_mut()
        .zip(counts)
        .fold(false, |is_too_large, (sum, count)| is_too_large | add(sum, count, 1))
}

/// The same for a count of a value, which has no largest but that of the number; says whether it is reached.
pub(super) fn add_value(sum: &mut u64, count: u64, weight: u64) -> bool {
    let exact = count.checked_mul(weight).and_then(|product| sum.checked_add(product));
    *sum = exact.unwrap_or(u64::MAX);
    exact.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_added_as_counters_are() {
        let counts = [0, 1, 1 << 40, (1 << 62) - 1, 1 << 62, 1 << 63, LARGEST_COUNT, u64::MAX];
        for first in counts {
            for second in counts {
                let (mut one, mut other) = ([first, 7], [first, 7]);
                let words = [second, 1].map(u64::to_le_bytes);
                let is_too_large = add_words(&mut one, &words);
                assert_eq!(add(&mut other[0], second, 1), is_too_large, "{first} + {second}");
                add(&mut other[1], 1, 1);
                assert_eq!(one, other, "{first} + {second}");
            }
        }
    }
}
