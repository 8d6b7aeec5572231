//! The header: which words each version has, in their order.

use super::check::{Defect, Finding, Section};
use super::{Machine, Version};
use crate::counters::Variant;

/// A word of the header behind magic and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Bytes of the binary ids, with their padding.
    BinaryIds,
    /// Number of records.
    Records,
    /// Bytes of padding before the counters.
    PadBeforeCounters,
    /// Number of counters.
    Counters,
    /// Bytes of padding behind the counters.
    PadAfterCounters,
    /// Bytes of the bitmaps.
    Bitmaps,
    /// Bytes of padding behind the bitmaps.
    PadAfterBitmaps,
    /// Number of uniform counters.
    Uniform,
    /// Bytes of padding behind them.
    PadAfterUniform,
    /// Distance from the records to the uniform counters.
    UniformDelta,
    /// Bytes of the names, without padding.
    Names,
    /// Address of the counters up to version 7; since then distance from the records to the counters.
    CountersDelta,
    /// Distance from the records to the bitmaps.
    BitmapDelta,
    /// Address of the names.
    NamesDelta,
    /// Number of virtual tables.
    VTables,
    /// Bytes of their names.
    VTableNames,
    /// The last kind of values.
    LastKind,
}

use Word::{
    BinaryIds, BitmapDelta, Bitmaps, Counters, CountersDelta, LastKind, Names, NamesDelta,
    PadAfterBitmaps, PadAfterCounters, PadAfterUniform, PadBeforeCounters, Records, Uniform,
    UniformDelta, VTableNames, VTables,
};

const WORDS: usize = LastKind as usize + 1;

const V5: &[Word] = &[
    Records,
    PadBeforeCounters,
    Counters,
    PadAfterCounters,
    Names,
    CountersDelta,
    NamesDelta,
    LastKind,
];
const V7_TO_V8: &[Word] = &[
    BinaryIds,
    Records,
    PadBeforeCounters,
    Counters,
    PadAfterCounters,
    Names,
    CountersDelta,
    NamesDelta,
    LastKind,
];
const V9: &[Word] = &[
    BinaryIds,
    Records,
    PadBeforeCounters,
    Counters,
    PadAfterCounters,
    Bitmaps,
    PadAfterBitmaps,
    Names,
    CountersDelta,
    BitmapDelta,
    NamesDelta,
    LastKind,
];
const V10: &[Word] = &[
    BinaryIds,
    Records,
    PadBeforeCounters,
    Counters,
    PadAfterCounters,
    Bitmaps,
    PadAfterBitmaps,
    Names,
    CountersDelta,
    BitmapDelta,
    NamesDelta,
    VTables,
    VTableNames,
    LastKind,
];
const V11: &[Word] = &[
    BinaryIds,
    Records,
    PadBeforeCounters,
    Counters,
    PadAfterCounters,
    Bitmaps,
    PadAfterBitmaps,
    Uniform,
    PadAfterUniform,
    UniformDelta,
    Names,
    CountersDelta,
    BitmapDelta,
    NamesDelta,
    VTables,
    VTableNames,
    LastKind,
];

impl Version {
    /// The words of the header behind magic and version.
    pub const fn words(self) -> &'static [Word] {
        match self {
            Self::V5 => V5,
            Self::V7 | Self::V8 => V7_TO_V8,
            Self::V9 => V9,
            Self::V10 => V10,
            Self::V11 => V11,
        }
    }

    /// Bytes of the header.
    pub const fn header_bytes(self) -> usize {
        8 * (2 + self.words().len())
    }
}

/// A header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The writer.
    pub machine: Machine,
    /// The version.
    pub version: Version,
    /// How the program was instrumented.
    pub variant: Variant,
    words: [u64; WORDS],
}

impl Header {
    /// A header with zeros behind the version.
    pub const fn new(machine: Machine, version: Version, variant: Variant) -> Self {
        Self { machine, version, variant, words: [0; WORDS] }
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
        for (place, &word) in version.words().iter().enumerate() {
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

    /// Version and variant.
    pub const fn version_word(&self) -> u64 {
        self.variant.0 & Variant::MASK | self.version.number() as u64
    }
}
