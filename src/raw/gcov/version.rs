//! The version word of GCC's objects, notes and data files.
//!
//! Four ASCII characters, most significant byte first: `'A' + major / 10`, `major % 10`, minor,
//! status (`*` release, `e` experimental, ...). 12.2 is `B22*` = 0x4232322a.

use core::fmt;

/// A version word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub u32);

/// Oldest major version with objects that we understand.
pub const OLDEST: u32 = 10;
/// Newest major version with objects that we understand.
pub const NEWEST: u32 = 17;

impl Version {
    /// Major version of the compiler, `None` if the word is not a version.
    pub const fn major(self) -> Option<u32> {
        let [tens, ones, minor, _] = self.0.to_be_bytes();
        if !tens.is_ascii_uppercase() || !ones.is_ascii_digit() || !minor.is_ascii_digit() {
            return None;
        }
        Some(10 * (tens - b'A') as u32 + (ones - b'0') as u32)
    }

    /// Minor version, `None` if the word is not a version.
    pub const fn minor(self) -> Option<u32> {
        match self.major() {
            Some(_) => Some((self.0.to_be_bytes()[2] - b'0') as u32),
            None => None,
        }
    }

    /// The major version if it lies between [`OLDEST`] and [`NEWEST`].
    pub const fn known_major(self) -> Option<u32> {
        match self.major() {
            Some(major) if major >= OLDEST && major <= NEWEST => Some(major),
            _ => None,
        }
    }

    /// Whether records count bytes, strings are unpadded and headers carry a checksum (GCC 12 on).
    /// A word that is no version counts as new.
    pub const fn counts_bytes(self) -> bool {
        match self.major() {
            Some(major) => major >= 12,
            None => true,
        }
    }

    /// Whether top-N sites are nine fixed counters instead of a list (GCC 10 and older).
    pub const fn has_fixed_topn(self) -> bool {
        matches!(self.major(), Some(major) if major <= 10)
    }

    /// Number of counter kinds that the compiler knows. Its objects have that many merge slots. `None` for
    /// majors outside [`OLDEST`] to [`NEWEST`].
    pub const fn counter_kinds(self) -> Option<usize> {
        match self.known_major() {
            Some(10..=13) => Some(8),
            Some(14) => Some(9),
            Some(_) => Some(10),
            None => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.major(), self.minor()) {
            (Some(major), Some(minor)) => write!(f, "gcc {major}.{minor}"),
            _ => write!(f, "version word {:#010x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &[u8; 4]) -> Version {
        Version(u32::from_be_bytes(*text))
    }

    #[test]
    fn words_seen_in_the_wild() {
        for (text, major, minor, kinds) in [
            (b"B02*", 10, 2, 8),
            (b"B13*", 11, 3, 8),
            (b"B22*", 12, 2, 8),
            (b"B35*", 13, 5, 8),
            (b"B44*", 14, 4, 9),
            (b"B53*", 15, 3, 10),
            (b"B62*", 16, 2, 10),
            (b"B70 ", 17, 0, 10),
        ] {
            let version = word(text);
            assert_eq!(version.known_major(), Some(major));
            assert_eq!(version.minor(), Some(minor));
            assert_eq!(version.counter_kinds(), Some(kinds));
        }
        assert_eq!(word(b"B22*").0, 0x4232_322a);
    }

    #[test]
    fn other_words() {
        assert_eq!(word(b"A93*").major(), Some(9));
        assert_eq!(word(b"A93*").known_major(), None);
        assert_eq!(Version(0x3430_372a).major(), None);
        assert_eq!(Version(0).major(), None);
    }
}
