//! What the names of functions have in common: which of several functions that start on one line a caller calls.
//!
//! ```cpp
//! template <class T> T larger(T a, T b) { return a < b ? b : a; }     // larger<A> and larger<B> start here
//! A best(A a, A b) { return larger(a, b); }   // _Z4best1AS_ is more like _Z6largerI1AET_S1_S1_ than like that of B
//! ```
//!
//! [`unrecorded_inlines`](super::unrecorded_inlines) asks. The answer is an estimate, as all of its places are.

/// The length of the longest part that two names share.
pub fn common(a: &[u8], b: &[u8]) -> usize {
    // One name is moved along the other.
    let behind = (0..a.len()).map(|start| (&a[start..], b));
    let before = (1..b.len()).map(|start| (a, &b[start..]));
    behind.chain(before).fold(0, |longest, (a, b)| longest_run(a, b, longest))
}

/// The length of the longest run of places where both names have the same byte, or `least` if none is longer.
fn longest_run(a: &[u8], b: &[u8], least: usize) -> usize {
    let length = a.len().min(b.len());
    let (mut longest, mut start) = (least, 0);
    // The end of a longer run is looked at first. Where it differs, all places up to there are passed at once.
    while start + longest < length {
        let run = start..=start + longest;
        let mut pairs = a[run.clone()].iter().zip(&b[run]);
        match pairs.rposition(|(a, b)| a != b) {
            Some(differs) => start += differs + 1,
            None => {
                let same = |&(a, b): &(&u8, &u8)| a == b;
                longest = a[start..].iter().zip(&b[start..]).take_while(same).count();
            }
        }
    }
    longest
}

/// Counts a mangled name's identifiers: those absent from another name, and those that both have.
pub fn foreign_identifiers(name: &[u8], other: &[u8]) -> (usize, usize) {
    let (mut foreign, mut shared) = (0, 0);
    for identifier in Identifiers(name) {
        let has_it = other.windows(identifier.len()).any(|part| part == identifier);
        *(if has_it { &mut shared } else { &mut foreign }) += 1;
    }
    (foreign, shared)
}

/// The identifiers in the rest of a mangled name. Each has its length before it: `1A`.
struct Identifiers<'n>(&'n [u8]);

impl<'n> Iterator for Identifiers<'n> {
    type Item = &'n [u8];

    fn next(&mut self) -> Option<&'n [u8]> {
        loop {
            let start = self.0.iter().position(u8::is_ascii_digit)?;
            let (before, rest) = self.0.split_at(start);
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if matches!(before.last(), Some(b'S' | b'T')) {
                // `S1_` stands for a part of the name before it, and `T0_` for a parameter of a template.
                self.0 = &rest[digits..];
                continue;
            }
            let length = str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
            let end = digits.saturating_add(length.unwrap_or(0)).min(rest.len());
            let (identifier, rest) = rest.split_at(end);
            self.0 = rest;
            return Some(identifier);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_common_part() {
        let of = |a: &str, b: &str| common(a.as_bytes(), b.as_bytes());
        assert_eq!([of("", "abc"), of("abc", ""), of("abc", "def")], [0; 3]);
        assert_eq!([of("abc", "abc"), of("xxabc", "abcyy"), of("abcyy", "xxabc")], [3; 3]);
        assert_eq!([of("abxabcd", "abcdxab"), of("aaaab", "aab"), of("cab", "bca")], [4, 3, 2]);
    }

    /// An iterator over A in a function of A, and not the one over B.
    #[test]
    fn the_instance_of_a_template() {
        let caller = b"_Z3sumI1AEiRKSt6vectorIT_SaIS2_EE";
        let iterator = |of: &str| {
            alloc::format!("_ZN9__gnu_cxx17__normal_iteratorIPK1{of}St6vectorIS1_SaIS1_EEEppEv")
        };
        let [of_a, of_b] = ["A", "B"].map(iterator);
        assert_eq!(common(of_a.as_bytes(), caller), common(of_b.as_bytes(), caller));
        assert!(
            foreign_identifiers(of_a.as_bytes(), caller)
                < foreign_identifiers(of_b.as_bytes(), caller)
        );
        assert_eq!(foreign_identifiers(b"99999999999999999999A", b""), (1, 0));
    }

    /// An iterator over pointers to S in a function of these, and not the one over int.
    #[test]
    fn the_instance_with_as_many_foreign_identifiers() {
        let caller = b"_Z1aRKSt6vectorIP1SSaIS1_EE";
        let of_s = b"_ZN9__gnu_cxx17__normal_iteratorIPKP1SSt6vectorIS2_SaIS2_EEEppEv";
        let of_int = b"_ZN9__gnu_cxx17__normal_iteratorIPKiSt6vectorIiSaIiEEEppEv";
        assert_eq!(common(of_s, caller), common(of_int, caller));
        assert_eq!(
            [foreign_identifiers(of_s, caller), foreign_identifiers(of_int, caller)],
            [(2, 2), (2, 1)]
        );
    }
}
