//! The header, as it stands in a file.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Section};
use super::{Machine, Version, Word};
use crate::counters::Variant;

/// A header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The writer.
    pub machine: Machine,
    /// The version.
    pub version: Version,
    /// How the program was instrumented.
    pub variant: Variant,
    words: [u64; Word::ALL.len()],
}

impl Header {
    /// A header with zeros behind the version.
    pub const fn new(machine: Machine, version: Version, variant: Variant) -> Self {
        Self { machine, version, variant, words: [0; Word::ALL.len()] }
    }

    /// Reads the header that starts at byte `at` of a file.
    pub fn read(file: &[u8], at: usize) -> Result<Self, Finding> {
        let bytes = file.get(at..).unwrap_or_default();
        let fail = |place: usize, defect| Finding { offset: (at + place) as u64, defect };
        let truncated = |expected: usize| {
            let (expected, found) = (expected as u64, bytes.len() as u64);
            fail(0, Defect::Truncated { section: Section::Header, expected, found })
        };
        // The magic may be what is wrong with a short file, but not with an empty one.
        if bytes.is_empty() {
            return Err(truncated(16));
        }
        let machine = Machine::of(bytes).ok_or(fail(0, Defect::Magic))?;
        if bytes.len() < 16 {
            return Err(truncated(16));
        }
        let word = machine.u64_at(bytes, 8);
        let number = word as u32;
        let version = Version::from_number(number).ok_or(fail(8, Defect::Version(number)))?;
        if bytes.len() < version.header_bytes() {
            return Err(truncated(version.header_bytes()));
        }
        let mut header = Self::new(machine, version, Variant(word & Variant::MASK));
        for (place, word) in version.words().enumerate() {
            header.words[word as usize] = machine.u64_at(bytes, 16 + 8 * place);
        }
        Ok(header)
    }

    /// A word, 0 if the version does not have it.
    pub const fn get(&self, word: Word) -> u64 {
        self.words[word as usize]
    }

    /// Sets a word.
    pub const fn set(&mut self, word: Word, value: u64) {
        self.words[word as usize] = value;
    }

    /// Adds it to a file.
    pub fn write(&self, file: &mut Vec<u8>) {
        let mut put = |word: u64| {
            let at = file.len();
            file.resize(at + 8, 0);
            self.machine.put(file, at, 8, word);
        };
        put(self.machine.magic());
        put(self.version_word());
        self.version.words().for_each(|word| put(self.get(word)));
    }

    /// Version and variant.
    pub const fn version_word(&self) -> u64 {
        self.variant.0 & Variant::MASK | self.version.number() as u64
    }
}
