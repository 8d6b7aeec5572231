//! Numbers and bytes of a file.

use super::check::{Defect, Finding, Part, Tell};
use crate::formats::leb128;

/// Bytes being read. Offsets count from the start of the file.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The part that is being read.
    pub part: Part,
}

impl<'a> Words<'a> {
    /// Starts to read at `start`. The bytes end at `end`, or with the file.
    pub fn new(file: &'a [u8], start: usize, end: usize, part: Part) -> Self {
        let bytes = &file[..end.min(file.len())];
        Self { bytes, at: start.min(bytes.len()), part }
    }

    pub const fn at(&self) -> usize {
        self.at
    }

    pub const fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Where the bytes end.
    pub const fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The number of things that follow. Each takes at least `size` bytes.
    pub fn count(&mut self, size: usize) -> Result<usize, Finding> {
        let offset = self.offset();
        let found = self.u64()?;
        let most = (self.left() / size) as u64;
        if found > most {
            return Err(Finding { offset, defect: Defect::Count { part: self.part, most, found } });
        }
        Ok(found as usize)
    }

    /// Skips the padding that follows this number of bytes, up to a multiple of 8. It should be zeros.
    pub fn pad_to_8(&mut self, length: usize, tell: Tell<'_>) -> Result<(), Finding> {
        let offset = self.offset();
        let padding = self.take(length.next_multiple_of(8) - length)?;
        if padding.iter().any(|&byte| byte != 0) {
            tell(Finding { offset, defect: Defect::Padding(self.part) });
        }
        Ok(())
    }

    pub fn u16(&mut self) -> Result<u16, Finding> {
        self.take(2).map(|bytes| u16::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    pub fn u32(&mut self) -> Result<u32, Finding> {
        self.take(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    pub fn u64(&mut self) -> Result<u64, Finding> {
        self.take(8).map(word)
    }

    /// A LEB128 number.
    pub fn leb128(&mut self) -> Result<u64, Finding> {
        let offset = self.offset();
        let number = leb128::read(|| Ok(self.take(1)?[0]))?;
        number.ok_or(Finding { offset, defect: Defect::Leb128 })
    }

    /// The next bytes, to be read on their own.
    pub fn sub(&mut self, length: usize, part: Part) -> Result<Self, Finding> {
        let start = self.at;
        self.take(length)?;
        Ok(Self { bytes: &self.bytes[..self.at], at: start, part })
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Finding> {
        let left = &self.bytes[self.at..];
        let Some(taken) = left.get(..length) else {
            let (expected, found) = (length as u64, left.len() as u64);
            let defect = Defect::Truncated { part: self.part, expected, found };
            return Err(Finding { offset: self.offset(), defect });
        };
        self.at += length;
        Ok(taken)
    }
}

/// A number of eight bytes.
pub(super) fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}
