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

// What the runtime refuses itself, as errors that no call used here gives.

/// A file that has the name of one of ours and is none.
pub const NOT_OURS: Errno = Errno::EXIST;
/// A process with more rights than its starter, and no absolute name from the link.
pub const MORE_RIGHTS: Errno = Errno::KEYREJECTED;
/// A symbolic link of another user, who must not choose where we write.
pub const FOREIGN_LINK: Errno = Errno::NOTUNIQ;
/// A symbolic link on the way of a process with more rights than its starter.
pub const ANY_LINK: Errno = Errno::REMCHG;
/// A directory that others can change where nobody else may choose which file is ours.
pub const FOREIGN_DIRECTORY: Errno = Errno::UNATCH;
/// A file of another user where only our own may be replaced.
pub const FOREIGN: Errno = Errno::OWNERDEAD;
/// A file with a second name, which may be another user's.
pub const SECOND_NAME: Errno = Errno::MULTIHOP;
