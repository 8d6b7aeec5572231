//! The header of a raw profile: the words behind magic and version, 64 bits each.

use super::Version;

/// The magic of profiles with 8-byte and with 4-byte pointers; its bytes stand in the writer's byte order.
pub const MAGICS: [u64; 2] = [0xff6c_7072_6f66_7281, 0xff6c_7072_6f66_5281];

/// A word of the header behind magic and version. All versions have their words in this order.
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
    /// The last value kind.
    LastKind,
}

impl Word {
    /// All words, in their order.
    pub const ALL: [Self; Self::LastKind as usize + 1] = [
        Self::BinaryIds,
        Self::Records,
        Self::PadBeforeCounters,
        Self::Counters,
        Self::PadAfterCounters,
        Self::Bitmaps,
        Self::PadAfterBitmaps,
        Self::Uniform,
        Self::PadAfterUniform,
        Self::UniformDelta,
        Self::Names,
        Self::CountersDelta,
        Self::BitmapDelta,
        Self::NamesDelta,
        Self::VTables,
        Self::VTableNames,
        Self::LastKind,
    ];

    /// The first version that has it.
    const fn since(self) -> Version {
        match self {
            Self::BinaryIds => Version::V7,
            Self::Bitmaps | Self::PadAfterBitmaps | Self::BitmapDelta => Version::V9,
            Self::VTables | Self::VTableNames => Version::V10,
            Self::Uniform | Self::PadAfterUniform | Self::UniformDelta => Version::V11,
            _ => Version::V5,
        }
    }
}

impl Version {
    /// The words of the header behind magic and version.
    pub fn words(self) -> impl Iterator<Item = Word> {
        Word::ALL.into_iter().filter(move |word| word.since() <= self)
    }

    /// Bytes of the header.
    pub fn header_bytes(self) -> usize {
        self.words().fold(16, |bytes, _| bytes + 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_headers() {
        assert_eq!(Version::ALL.map(Version::header_bytes), [80, 88, 88, 112, 128, 152]);
    }

    #[test]
    fn words_stand_at_their_numbers() {
        assert!(Word::ALL.into_iter().enumerate().all(|(place, word)| word as usize == place));
    }
}
