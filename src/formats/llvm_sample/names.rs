//! The table of names of a file: reads it, and finds names and indexes in it.

use alloc::vec::Vec;

use super::check::{Defect, Finding};
use super::table::{FIXED_MD5, MD5};
use super::words::Words;

/// Names, or their MD5, by index.
#[derive(Debug)]
pub enum Names<'a> {
    /// Names.
    Text(Vec<&'a [u8]>),
    /// MD5 of names.
    Numbers(Vec<u64>),
    /// MD5 of names, eight bytes each, borrowed from the file.
    Fixed(&'a [u8]),
}

impl<'a> Names<'a> {
    /// Reads the table.
    pub fn read(words: &mut Words<'a>, flags: u64) -> Result<Self, Finding> {
        if flags & FIXED_MD5 != 0 {
            let number = words.count(8)?;
            return words.take(8 * number).map(Self::Fixed);
        }
        if flags & MD5 != 0 {
            let number = words.count(1)?;
            let numbers = (0..number).map(|_| words.number()).collect::<Result<_, _>>()?;
            return Ok(Self::Numbers(numbers));
        }
        let number = words.count(2)?;
        Ok(Self::Text((0..number).map(|_| words.name()).collect::<Result<_, _>>()?))
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Text(names) => names.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Fixed(bytes) => bytes.len() / 8,
        }
    }

    /// Calls `with` with the name, or with the decimal digits of its MD5.
    pub fn with<T>(&self, index: usize, with: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let decimal = |number: u64| alloc::format!("{number}").into_bytes();
        Some(match self {
            Self::Text(names) => with(names.get(index)?),
            Self::Numbers(numbers) => with(&decimal(*numbers.get(index)?)),
            Self::Fixed(bytes) => {
                let bytes = bytes.get(8 * index..8 * index + 8)?;
                with(&decimal(u64::from_le_bytes(bytes.try_into().unwrap_or_default())))
            }
        })
    }

    /// Reads the index of a name.
    pub fn index(&self, words: &mut Words<'_>) -> Result<usize, Finding> {
        let offset = words.offset();
        let index = words.number()?;
        let found = usize::try_from(index).ok().filter(|&index| index < self.len());
        found.ok_or(Finding { offset, defect: Defect::NameIndex(index) })
    }

    /// The index of a name.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let number = crate::samples::name_number(name);
        match self {
            Self::Text(names) => names.iter().position(|&known| known == name),
            Self::Numbers(numbers) => numbers.iter().position(|&known| known == number),
            Self::Fixed(bytes) => {
                bytes.chunks_exact(8).position(|known| known == number.to_le_bytes())
            }
        }
    }
}
