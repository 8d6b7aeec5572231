//! Words, values and strings of a file.

use super::check::{Defect, Finding, Part};

/// Bytes being read.
pub struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
    /// Whether strings are padded to words.
    pub padded_strings: bool,
    /// The part that is being read.
    pub part: Part,
}

impl<'a> Words<'a> {
    /// A file from its start.
    pub const fn new(bytes: &'a [u8], big_endian: bool) -> Self {
        Self { bytes, at: 0, big_endian, padded_strings: false, part: Part::Header }
    }

    pub const fn offset(&self) -> u64 {
        self.at as u64
    }

    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn error<T>(&self, offset: u64, defect: Defect) -> Result<T, Finding> {
        Err(Finding { offset, defect })
    }

    pub fn expect(&mut self, expected: u32) -> Result<(), Finding> {
        let start = self.offset();
        match self.word()? {
            found if found == expected => Ok(()),
            found => self.error(start, Defect::Word { expected, found }),
        }
    }

    /// A tag, and the length that every reader skips.
    pub fn tag(&mut self, expected: u32) -> Result<(), Finding> {
        self.expect(expected)?;
        self.word().map(drop)
    }

    /// A number of things. Each takes at least `size` bytes.
    pub fn count(&mut self, size: usize) -> Result<usize, Finding> {
        let start = self.offset();
        let found = self.word()?.into();
        self.plausible(start, found, size)
    }

    /// The same from a value of two words.
    pub fn wide_count(&mut self, size: usize) -> Result<usize, Finding> {
        let start = self.offset();
        let found = self.value()?;
        self.plausible(start, found, size)
    }

    fn plausible(&self, start: u64, found: u64, size: usize) -> Result<usize, Finding> {
        let most = (self.left() / size) as u64;
        match found <= most {
            true => Ok(found as usize),
            false => self.error(start, Defect::Count { part: self.part, most, found }),
        }
    }

    pub fn string(&mut self) -> Result<&'a [u8], Finding> {
        let start = self.offset();
        let length = u64::from(self.word()?) * if self.padded_strings { 4 } else { 1 };
        let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let end = bytes.iter().position(|&byte| byte == 0);
        let padding = if self.padded_strings { 4 } else { 1 };
        match end.map(|end| bytes.split_at(end)) {
            Some((string, rest)) if rest.len() <= padding && rest.iter().all(|&byte| byte == 0) => {
                Ok(string)
            }
            _ => self.error(start, Defect::Name),
        }
    }

    pub fn value(&mut self) -> Result<u64, Finding> {
        let low = self.word()?;
        Ok(u64::from(self.word()?) << 32 | u64::from(low))
    }

    pub fn word(&mut self) -> Result<u32, Finding> {
        let bytes = self.take(4)?.try_into().unwrap_or_default();
        Ok(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Finding> {
        let left = &self.bytes[self.at..];
        let Some(taken) = left.get(..length) else {
            let (part, expected, found) = (self.part, length as u64, left.len() as u64);
            return self.error(self.offset(), Defect::Truncated { part, expected, found });
        };
        self.at += length;
        Ok(taken)
    }
}
