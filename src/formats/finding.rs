//! A defect of a binary file, and its place.

use core::fmt;

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
