//! Integers in the two encodings.

use alloc::vec::Vec;

use super::HIGH;
use super::check::{Defect, Finding, Part};
use crate::formats::leb128;

/// How integers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Fixed width, big-endian.
    Normal,
    /// Varints.
    Compact,
}

/// Bytes being written.
pub struct Output {
    pub bytes: Vec<u8>,
    encoding: Encoding,
}

impl Output {
    pub const fn new(encoding: Encoding) -> Self {
        Self { bytes: Vec::new(), encoding }
    }

    /// The first byte of a section.
    pub fn kind(&mut self, kind: u8) {
        self.byte(if self.encoding == Encoding::Compact { HIGH | kind } else { kind });
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub fn u16(&mut self, value: u16) {
        self.number(value.into(), 2);
    }

    pub fn u24(&mut self, value: u32) {
        self.number(value.into(), 3);
    }

    pub fn u32(&mut self, value: u32) {
        self.number(value.into(), 4);
    }

    pub fn u64(&mut self, value: u64) {
        self.number(value, 8);
    }

    /// A number of `width` bytes, or a varint.
    pub fn number(&mut self, value: u64, width: usize) {
        if self.encoding == Encoding::Normal {
            self.bytes.extend_from_slice(&value.to_be_bytes()[8 - width..]);
            return;
        }
        leb128::write(&mut self.bytes, value);
    }
}

/// Bytes being read.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    encoding: Encoding,
    part: Part,
}

impl<'a> Input<'a> {
    /// Reads `bytes[at..end]`.
    pub fn new(bytes: &'a [u8], part: Part, at: usize, end: usize) -> Self {
        Self { bytes, at, end: end.min(bytes.len()), encoding: Encoding::Normal, part }
    }

    /// Sets the encoding of the integers that follow.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    pub fn is_compact(&self) -> bool {
        self.encoding == Encoding::Compact
    }

    pub fn offset(&self) -> u64 {
        self.at as u64
    }

    pub fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    pub fn error<T>(&self, offset: u64, defect: Defect) -> Result<T, Finding> {
        Err(Finding { offset, defect })
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Finding> {
        let left = self.bytes.get(self.at..self.end).unwrap_or_default();
        let Some(taken) = left.get(..length) else {
            let (part, expected, found) = (self.part, length as u64, left.len() as u64);
            return self.error(self.offset(), Defect::Truncated { part, expected, found });
        };
        self.at += length;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8, Finding> {
        Ok(self.take(1)?[0])
    }

    pub fn u16(&mut self) -> Result<u16, Finding> {
        self.number(2).map(|value| value as u16)
    }

    pub fn u24(&mut self) -> Result<u32, Finding> {
        self.number(3).map(|value| value as u32)
    }

    pub fn u32(&mut self) -> Result<u32, Finding> {
        self.number(4).map(|value| value as u32)
    }

    pub fn u64(&mut self) -> Result<u64, Finding> {
        self.number(8)
    }

    /// A number that fits into `width` bytes.
    pub fn number(&mut self, width: usize) -> Result<u64, Finding> {
        let start = self.offset();
        let value = match self.encoding {
            Encoding::Normal => {
                let bytes = self.take(width)?;
                bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
            }
            Encoding::Compact => self.varint()?,
        };
        if width < 8 && value >> (8 * width) != 0 {
            return self.error(start, Defect::TooLarge { bytes: width as u8, found: value });
        }
        Ok(value)
    }

    /// A number of things. Each takes at least `size` bytes.
    pub fn count(&mut self, width: usize, size: usize) -> Result<usize, Finding> {
        let start = self.offset();
        let number = self.number(width)?;
        let most = self.left() / size;
        if number > most as u64 {
            let (part, most) = (self.part, most as u64);
            return self.error(start, Defect::Count { part, most, found: number });
        }
        Ok(number as usize)
    }

    fn varint(&mut self) -> Result<u64, Finding> {
        let start = self.offset();
        let value = leb128::read(|| self.byte())?;
        value.map_or_else(|| self.error(start, Defect::Varint), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints() {
        for (value, bytes) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (300, &[0xac, 2]),
            (u64::from(u32::MAX), &[0xff, 0xff, 0xff, 0xff, 0xf]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ] {
            let mut output = Output::new(Encoding::Compact);
            output.u64(value);
            assert_eq!(output.bytes, bytes);
            let mut input = Input::new(bytes, Part::Header, 0, bytes.len());
            input.set_encoding(Encoding::Compact);
            assert_eq!(input.u64(), Ok(value));
        }
    }

    #[test]
    fn varints_that_are_none() {
        let read = |bytes: &[u8], width| {
            let mut input = Input::new(bytes, Part::Header, 0, bytes.len());
            input.set_encoding(Encoding::Compact);
            input.number(width).map_err(|finding| finding.defect)
        };
        assert_eq!(read(&[0xff; 11], 8), Err(Defect::Varint));
        assert_eq!(
            read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], 8),
            Err(Defect::Varint)
        );
        let part = Part::Header;
        assert_eq!(read(&[0x80], 8), Err(Defect::Truncated { part, expected: 1, found: 0 }));
        assert_eq!(read(&[0xff, 0xff, 4], 2), Err(Defect::TooLarge { bytes: 2, found: 0x1_3fff }));
        assert_eq!(read(&[0x81, 0], 2), Ok(1));
    }
}
