//! Defects of files, their places, and their numbers.
//!
//! Readers tell each tolerated defect as they find it. A file of a few megabytes may have millions, so nobody
//! keeps them all.

use core::{fmt, mem};

use crate::raw::reader::Damage;

#[cfg(feature = "alloc")]
pub use findings::{Findings, Kind};

/// A defect and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding<D> {
    /// Byte of the file.
    pub offset: u64,
    /// The defect.
    pub defect: D,
}

impl<D: fmt::Display> fmt::Display for Finding<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}: {}", self.offset, self.defect)
    }
}

impl<D: fmt::Debug + fmt::Display> core::error::Error for Finding<D> {}

/// A defect of a text and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError<D> {
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1.
    pub column: u64,
    /// The defect.
    pub defect: D,
}

impl<D: fmt::Display> fmt::Display for TextError<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.defect)
    }
}

impl<D: fmt::Debug + fmt::Display> core::error::Error for TextError<D> {}

/// What can be found in a file.
pub trait Found {
    /// Where it is, to sort by: byte, or line and column.
    fn place(&self) -> (u64, u64);
    /// Whether it is of the same kind as another one.
    fn is_like(&self, other: &Self) -> bool;
}

impl<D> Found for Finding<D> {
    fn place(&self) -> (u64, u64) {
        (self.offset, 0)
    }

    fn is_like(&self, other: &Self) -> bool {
        mem::discriminant(&self.defect) == mem::discriminant(&other.defect)
    }
}

impl<D> Found for TextError<D> {
    fn place(&self) -> (u64, u64) {
        (self.line, self.column)
    }

    fn is_like(&self, other: &Self) -> bool {
        mem::discriminant(&self.defect) == mem::discriminant(&other.defect)
    }
}

impl Found for Damage {
    fn place(&self) -> (u64, u64) {
        (self.offset, 0)
    }

    fn is_like(&self, other: &Self) -> bool {
        mem::discriminant(&self.defect) == mem::discriminant(&other.defect)
    }
}

#[cfg(feature = "alloc")]
mod findings {
    use alloc::vec::Vec;

    use super::Found;

    /// How many defects of each kind are kept.
    const KEPT: usize = 8;

    /// What was found in a file: the number of defects of each kind, and the first few.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Findings<F> {
        kinds: Vec<Kind<F>>,
    }

    /// Defects of one kind.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Kind<F> {
        /// The first few in the file, at least one.
        pub first: Vec<F>,
        /// Number of defects.
        pub number: u64,
    }

    impl<F> Default for Findings<F> {
        fn default() -> Self {
            Self { kinds: Vec::new() }
        }
    }

    impl<F: Found> Findings<F> {
        /// Notes a defect and gives the number of its kind so far.
        pub fn note(&mut self, found: F) -> u64 {
            let alike = |kind: &&mut Kind<F>| kind.first[0].is_like(&found);
            let Some(kind) = self.kinds.iter_mut().find(alike) else {
                self.kinds.push(Kind { first: [found].into(), number: 1 });
                return 1;
            };
            kind.number += 1;
            if kind.first.len() < KEPT {
                kind.first.push(found);
            }
            kind.number
        }

        /// Adds what was found in another part of the file.
        pub fn append(&mut self, other: Self) {
            for mut kind in other.kinds {
                let alike = |own: &&mut Kind<F>| own.first[0].is_like(&kind.first[0]);
                let Some(own) = self.kinds.iter_mut().find(alike) else {
                    self.kinds.push(kind);
                    continue;
                };
                own.number += kind.number;
                own.first.append(&mut kind.first);
                own.first.sort_by_key(Found::place);
                own.first.truncate(KEPT);
            }
        }

        /// The kinds, in the order in which they were found.
        pub fn kinds(&self) -> &[Kind<F>] {
            &self.kinds
        }

        /// The first few of each kind.
        pub fn iter(&self) -> impl Iterator<Item = &F> {
            self.kinds.iter().flat_map(|kind| &kind.first)
        }

        /// Whether nothing was found.
        pub fn is_empty(&self) -> bool {
            self.kinds.is_empty()
        }
    }
}
