//! Reads the numbers and names in the bytes of a file or section.

use super::check::{Defect, Finding, Part};
use crate::formats::leb128;

/// Bytes being read.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the bytes in the file.
    base: u64,
    /// Whether each byte has its own offset in the file. Decompressed bytes do not.
    is_placed: bool,
    /// The part that is being read.
    pub part: Part,
}

impl<'a> Words<'a> {
    /// Bytes of a file, at the offset `base`.
    pub const fn new(bytes: &'a [u8], base: u64, part: Part) -> Self {
        Self { bytes, at: 0, base, is_placed: true, part }
    }

    /// Decompressed bytes. The compressed ones are at the offset `base`.
    pub const fn unplaced(bytes: &'a [u8], base: u64, part: Part) -> Self {
        Self { bytes, at: 0, base, is_placed: false, part }
    }

    pub const fn offset(&self) -> u64 {
        if self.is_placed { self.base + self.at as u64 } else { self.base }
    }

    /// Number of bytes read so far.
    pub const fn at(&self) -> usize {
        self.at
    }

    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn fail<T>(&self, defect: Defect) -> Result<T, Finding> {
        Err(Finding { offset: self.offset(), defect })
    }

    /// Goes to a byte of the section.
    pub fn seek(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Finding> {
        let left = &self.bytes[self.at..];
        let Some(taken) = left.get(..length) else {
            let (part, expected, found) = (self.part, length as u64, left.len() as u64);
            return self.fail(Defect::Truncated { part, expected, found });
        };
        self.at += length;
        Ok(taken)
    }

    pub fn u64(&mut self) -> Result<u64, Finding> {
        self.take(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// A ULEB128 number.
    pub fn number(&mut self) -> Result<u64, Finding> {
        let offset = self.offset();
        let number = leb128::read(|| Ok(self.take(1)?[0]))?;
        number.ok_or(Finding { offset, defect: Defect::Leb128 })
    }

    /// A number of at most 32 bits.
    pub fn u32(&mut self) -> Result<u32, Finding> {
        let offset = self.offset();
        let found = self.number()?;
        let defect = Defect::Number { most: u32::MAX.into(), found };
        u32::try_from(found).map_err(|_| Finding { offset, defect })
    }

    /// A number of items that have at least `size` bytes each.
    pub fn count(&mut self, size: usize) -> Result<usize, Finding> {
        let offset = self.offset();
        let found = self.number()?;
        let most = (self.left() / size) as u64;
        if found > most {
            return Err(Finding { offset, defect: Defect::Count { part: self.part, most, found } });
        }
        Ok(found as usize)
    }

    /// A name with a NUL behind it.
    pub fn name(&mut self) -> Result<&'a [u8], Finding> {
        let left = &self.bytes[self.at..];
        let Some(length) = left.iter().position(|&byte| byte == 0) else {
            let (part, found) = (self.part, left.len() as u64);
            return self.fail(Defect::Truncated { part, expected: found + 1, found });
        };
        if length == 0 {
            return self.fail(Defect::Name);
        }
        self.at += length + 1;
        Ok(&left[..length])
    }
}
