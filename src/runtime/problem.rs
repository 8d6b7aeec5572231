//! Why a dump could not be written.

use super::sys::Errno;
use crate::raw::reader::Failure;

/// Why there is no merged dump: the system failed, or the old file is bad and its reader knows more.
pub type Problem = Failure<Errno>;

impl From<Errno> for Problem {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}
