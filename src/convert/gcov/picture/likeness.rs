//! What the names of functions have in common.

use alloc::vec;

/// The length of the longest part that two names share.
pub fn common(a: &[u8], b: &[u8]) -> usize {
    let mut longest = 0;
    // For each index in `b`: the length of the common part that ends there and at the current index in `a`.
    let mut lengths = vec![0usize; b.len() + 1];
    for &byte in a {
        for place in (0..b.len()).rev() {
            lengths[place + 1] = if b[place] == byte { lengths[place] + 1 } else { 0 };
            longest = longest.max(lengths[place + 1]);
        }
    }
    longest
}

/// The number of a mangled name's identifiers that another one has not. Each has its length before it: `1A`.
pub fn strangers(name: &[u8], other: &[u8]) -> usize {
    let mut strangers = 0;
    let mut rest = name;
    while let Some(start) = rest.iter().position(u8::is_ascii_digit) {
        rest = &rest[start..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length = str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
        let end = digits.saturating_add(length.unwrap_or(0)).min(rest.len());
        let identifier = &rest[..end];
        strangers += usize::from(!other.windows(identifier.len()).any(|part| part == identifier));
        rest = &rest[end..];
    }
    strangers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An iterator over A in a function of A, and not the one over B.
    #[test]
    fn the_instance_of_a_template() {
        let caller = b"_Z3sumI1AEiRKSt6vectorIT_SaIS2_EE";
        let iterator = |of: &str| {
            alloc::format!("_ZN9__gnu_cxx17__normal_iteratorIPK1{of}St6vectorIS1_SaIS1_EEEppEv")
        };
        let [of_a, of_b] = ["A", "B"].map(iterator);
        assert_eq!(common(of_a.as_bytes(), caller), common(of_b.as_bytes(), caller));
        assert!(strangers(of_a.as_bytes(), caller) < strangers(of_b.as_bytes(), caller));
        assert_eq!(strangers(b"99999999999999999999A", b""), 1);
    }
}
