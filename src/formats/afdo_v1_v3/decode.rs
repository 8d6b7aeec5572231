//! Reads version 2, strictly: unlike the compilers, which take what is missing for zeros.

use alloc::vec::Vec;
use core::fmt;

use super::{FUNCTIONS, INDIRECT_CALL, MAGIC, MODULES, NAMES, VERSION, WORKING_SET};
use crate::profile::{Body, Function, Position, Profile, SymbolId};

/// What is wrong with a file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Byte of the file.
    pub offset: u64,
    /// The defect.
    pub defect: Defect,
}

/// A defect of a version 2 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Another word was due.
    Word {
        /// The word due.
        expected: u32,
        /// The word found.
        found: u32,
    },
    /// The file ends early.
    Truncated {
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// More things than there are bytes for.
    Count(u32),
    /// A string of length 0, or without its NUL, or with one inside.
    Name,
    /// A name that does not exist, or the empty first one.
    NameIndex(u64),
    /// Functions inlined into each other too deep.
    Depth,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}: ", self.offset)?;
        match self.defect {
            Defect::Word { expected, found } => {
                write!(f, "expected {expected:#x}, found {found:#x}")
            }
            Defect::Truncated { expected, found } => {
                write!(f, "cut short: expected {expected} more bytes, found {found}")
            }
            Defect::Count(found) => write!(f, "found {found} things, for which bytes are missing"),
            Defect::Name => f.write_str("expected a name with one NUL, at its end"),
            Defect::NameIndex(index) => write!(f, "there is no name {index}"),
            Defect::Depth => f.write_str("functions inlined into each other too deep"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// Deepest nesting of inlined functions that is read.
const DEEPEST: usize = 512;

/// Reads a file.
pub fn decode(bytes: &[u8]) -> Result<Profile, DecodeError> {
    let mut reader = Reader { bytes, at: 0, names: Vec::new(), profile: Profile::default() };
    reader.expect(MAGIC)?;
    reader.expect(VERSION)?;
    reader.word()?;
    reader.expect(NAMES)?;
    reader.word()?;
    for _ in 0..reader.count(5)? {
        let name = reader.string()?;
        reader.names.push(name);
    }
    reader.expect(FUNCTIONS)?;
    reader.word()?;
    for _ in 0..reader.count(20)? {
        let head_count = reader.value()?;
        let (symbol, body) = reader.instance(0)?;
        let function = reader.profile.functions.entry(symbol).or_default();
        // Compilers take the last of equal names.
        *function = Function { head_count, timestamp: 0, body };
    }
    reader.tail()?;
    Ok(reader.profile)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    names: Vec<&'a [u8]>,
    profile: Profile,
}

impl<'a> Reader<'a> {
    fn instance(&mut self, depth: usize) -> Result<(SymbolId, Body), DecodeError> {
        if depth > DEEPEST {
            return self.error(self.at, Defect::Depth);
        }
        let start = self.at;
        let name = self.word()?;
        let symbol = self.symbol(start, name.into())?;
        let positions = self.count(16)?;
        let call_sites = self.count(16)?;
        let mut body = Body::default();
        for _ in 0..positions {
            self.position(&mut body)?;
        }
        for _ in 0..call_sites {
            let position = self.location()?;
            let (callee, inner) = self.instance(depth + 1)?;
            let record = body.positions.entry(position).or_default();
            record.inline(callee, inner);
        }
        Ok((symbol, body))
    }

    fn position(&mut self, body: &mut Body) -> Result<(), DecodeError> {
        let position = self.location()?;
        let targets = self.word()?;
        let count = self.value()?;
        let record = body.positions.entry(position).or_default();
        record.count = Some(count);
        for _ in 0..targets {
            self.expect(INDIRECT_CALL)?;
            let start = self.at;
            let name = self.value()?;
            let target = self.symbol(start, name)?;
            let calls = self.value()?;
            let sum = record.targets.entry(target).or_default();
            *sum = sum.saturating_add(calls);
        }
        Ok(())
    }

    fn location(&mut self) -> Result<Position, DecodeError> {
        let location = self.word()?;
        Ok(Position { line: location >> 16, discriminator: location as u16 })
    }

    fn tail(&mut self) -> Result<(), DecodeError> {
        self.expect(MODULES)?;
        self.word()?;
        self.expect(0)?;
        self.expect(WORKING_SET)?;
        let words = self.word()?;
        self.take(words as usize * 4).map(drop)
    }

    fn symbol(&mut self, offset: usize, index: u64) -> Result<SymbolId, DecodeError> {
        let name = usize::try_from(index).ok().and_then(|index| self.names.get(index));
        match name {
            Some(name) if !name.is_empty() => Ok(self.profile.symbols.symbol(name, None)),
            _ => self.error(offset, Defect::NameIndex(index)),
        }
    }

    fn string(&mut self) -> Result<&'a [u8], DecodeError> {
        let start = self.at;
        let length = self.word()?;
        match self.take(length as usize)? {
            [name @ .., 0] if !name.contains(&0) => Ok(name),
            _ => self.error(start, Defect::Name),
        }
    }

    /// A number of things that take at least `size` bytes each.
    fn count(&mut self, size: usize) -> Result<u32, DecodeError> {
        let start = self.at;
        let number = self.word()?;
        if number as usize > (self.bytes.len() - self.at) / size {
            return self.error(start, Defect::Count(number));
        }
        Ok(number)
    }

    fn expect(&mut self, expected: u32) -> Result<(), DecodeError> {
        let start = self.at;
        match self.word()? {
            found if found == expected => Ok(()),
            found => self.error(start, Defect::Word { expected, found }),
        }
    }

    fn value(&mut self) -> Result<u64, DecodeError> {
        let low = self.word()?;
        Ok(u64::from(self.word()?) << 32 | u64::from(low))
    }

    fn word(&mut self) -> Result<u32, DecodeError> {
        let bytes = self.take(4)?;
        Ok(u32::from_ne_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let left = &self.bytes[self.at..];
        let Some(taken) = left.get(..length) else {
            let (expected, found) = (length as u64, left.len() as u64);
            return self.error(self.at, Defect::Truncated { expected, found });
        };
        self.at += length;
        Ok(taken)
    }

    fn error<T>(&self, offset: usize, defect: Defect) -> Result<T, DecodeError> {
        Err(DecodeError { offset: offset as u64, defect })
    }
}
