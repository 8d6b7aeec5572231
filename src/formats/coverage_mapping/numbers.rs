//! Reads the numbers of a mapping, one after the other.

use super::check::{Defect, Finding, Part};
use crate::formats::leb128;

/// The bytes that are left, and their offset in the section.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    bytes: &'a [u8],
    /// Offset of the first byte that is left.
    at: u64,
    part: Part,
}

impl<'a> Numbers<'a> {
    /// The numbers of a part that starts at this offset of its section.
    pub const fn new(bytes: &'a [u8], at: u64, part: Part) -> Self {
        Self { bytes, at, part }
    }

    /// Offset of the next number.
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// Number of bytes that are left.
    pub const fn left(&self) -> usize {
        self.bytes.len()
    }

    /// A defect here.
    pub const fn fail<T>(&self, defect: Defect) -> Result<T, Finding> {
        Err(Finding { offset: self.at, defect })
    }

    /// Takes this number of bytes.
    pub fn take(&mut self, length: u64) -> Result<&'a [u8], Finding> {
        let length = usize::try_from(length).ok();
        let Some((taken, rest)) = length.and_then(|length| self.bytes.split_at_checked(length))
        else {
            return self.fail(Defect::Truncated(self.part));
        };
        self.bytes = rest;
        self.at += taken.len() as u64;
        Ok(taken)
    }

    /// Takes a number.
    pub fn next(&mut self) -> Result<u64, Finding> {
        let start = *self;
        let number = leb128::read(|| Ok(self.take(1)?[0]))?;
        number.map_or_else(|| start.fail(Defect::Number(self.part)), Ok)
    }

    /// Takes a number of 32 bits.
    pub fn next_u32(&mut self) -> Result<u32, Finding> {
        let start = *self;
        let number = self.next()?;
        u32::try_from(number).or_else(|_| start.fail(Defect::Number(self.part)))
    }

    /// Takes a number of items that have at least `smallest` bytes each.
    pub fn next_length(&mut self, smallest: usize) -> Result<usize, Finding> {
        let start = *self;
        let number = self.next()?;
        match usize::try_from(number) {
            Ok(number) if number <= self.left() / smallest => Ok(number),
            _ => start.fail(Defect::Truncated(self.part)),
        }
    }
}
