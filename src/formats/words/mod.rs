//! Reading the 32-bit words and strings of GCC's notes and data files.
//!
//! Both kinds of file are streams of words in the byte order of the machine that wrote them; the magic tells
//! it. Up to GCC 11 lengths count words, and strings are padded to words with at least one NUL. From 12 on
//! both count bytes.

mod check;

pub use check::{Part, WordDefect, WordError};

use crate::raw::gcov::Version;
use crate::raw::layout::Order;

/// A place in a file.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    /// What has not been read of the file, or of the record.
    left: &'a [u8],
    at: usize,
    swapped: bool,
    /// The part that is being read.
    part: Part,
    /// The version of the file, once its header is read.
    pub version: Version,
}

impl<'a> Words<'a> {
    /// The order of bytes of the machine that wrote the file.
    pub const fn order(&self) -> Order {
        if self.swapped { Order::NATIVE.other() } else { Order::NATIVE }
    }

    /// Starts at the magic, which must spell `magic` in either byte order, and the version behind it.
    pub fn open(bytes: &'a [u8], magic: [u8; 4]) -> Result<Self, WordError> {
        let part = Part::Header;
        let mut words = Self { left: bytes, at: 0, swapped: false, part, version: Version(0) };
        let found = words.word()?;
        words.swapped = found.swap_bytes() == u32::from_be_bytes(magic);
        if !words.swapped && found != u32::from_be_bytes(magic) {
            return Err(words.error_at(0, WordDefect::Magic { expected: magic, found }));
        }
        words.version = Version(words.word()?);
        if words.version.known_major().is_none() {
            return Err(words.error_at(4, WordDefect::Version(words.version)));
        }
        Ok(words)
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Whether the file, or the record taken with [`Words::record`], ends here.
    pub fn is_at_end(&self) -> bool {
        self.left.is_empty()
    }

    /// Bytes left.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> Result<u32, WordError> {
        let Some((&bytes, left)) = self.left.split_first_chunk() else {
            return Err(self.truncated(size_of::<u32>()));
        };
        self.left = left;
        self.at += bytes.len();
        let word = u32::from_ne_bytes(bytes);
        Ok(if self.swapped { word.swap_bytes() } else { word })
    }

    /// The next 64-bit value, low word first.
    pub fn value(&mut self) -> Result<i64, WordError> {
        let low = self.word()?;
        let high = self.word()?;
        Ok(i64::from(high as i32) << 32 | i64::from(low))
    }

    /// The next string, without its padding.
    pub fn string(&mut self) -> Result<&'a [u8], WordError> {
        let length = self.length()? as usize;
        let bytes = self.take(length)?;
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Ok(bytes.get(..end).unwrap_or_default())
    }

    /// The length of a record or string, in bytes.
    pub fn length(&mut self) -> Result<i64, WordError> {
        let length = i64::from(self.word()? as i32);
        Ok(if self.version.counts_bytes() { length } else { length * 4 })
    }

    /// The tag of the next record.
    pub fn tag(&mut self) -> Result<u32, WordError> {
        self.part = Part::RecordHead;
        self.word()
    }

    /// The next `length` bytes, a record with this tag, as a file of their own. `self` goes on behind them.
    pub fn record(&mut self, tag: u32, length: usize) -> Result<Self, WordError> {
        let at = self.at;
        self.part = Part::Record(tag);
        let left = self.take(length)?;
        Ok(Self { left, at, ..*self })
    }

    /// An error about something at `offset`.
    pub fn error_at(&self, offset: u64, defect: WordDefect) -> WordError {
        WordError { offset, defect }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WordError> {
        let Some((taken, left)) = self.left.split_at_checked(length) else {
            return Err(self.truncated(length));
        };
        self.left = left;
        self.at += length;
        Ok(taken)
    }

    #[cold]
    fn truncated(&self, expected: usize) -> WordError {
        let (part, expected, found) = (self.part, expected as u64, self.left.len() as u64);
        self.error_at(self.offset(), WordDefect::Truncated { part, expected, found })
    }
}
