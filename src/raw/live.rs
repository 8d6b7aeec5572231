//! A live file: the place of a process's counters while it runs, with what reading them needs when the
//! process is gone.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | magic `89 43 53 4c 49 56 0d 0a` (`\x89CSLIV\r\n`) |
//! | 8 | 8 | id, with the file's first number in the lowest byte; 0 if the counts have been added to a dump |
//! | 16 | 8 | address that the counters have in the process |
//! | 24 | 8 | their length, whole pages |
//! | 32 | 56 | identity of the module, see [`super::layout`] |
//! | 88 | 8 | length of the dump behind the counters |
//! | 96 | 16 | address of the image in the process, and behind it; 0 if unknown |
//! | 112 | 8 | offset in this file of a word that becomes the id (the lowest byte may differ) when the counters are in a dump |
//! | 65536 | length | the counters, and the nodes of top-N sites |
//! | | | a dump of the module; its counts do not matter |
//! | | | the offset in this file of each array of counters, 8 bytes each, in the order of the dump; 0 for sites without slots |

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::layout::Identity;

/// First bytes of a live file.
pub const MAGIC: [u8; 8] = *b"\x89CSLIV\r\n";
/// Where the counters start: a multiple of every page size.
pub const START: u64 = 65536;

/// Most live files of one dump, and so most processes with live counters at the same time.
pub const MOST_FILES: u64 = 256;

/// Whether two ids are of one file. It may have got another number in between.
pub const fn is_same(one: u64, other: u64) -> bool {
    one / MOST_FILES == other / MOST_FILES
}

/// The id of a file that has this number now.
pub const fn renumbered(id: u64, number: u64) -> u64 {
    id / MOST_FILES * MOST_FILES + number
}

/// Where the id stands.
pub const ID: u64 = core::mem::offset_of!(Header, id) as u64;

/// Whether nothing has been counted in a file yet: its header is written last.
pub fn is_begun(file: &[u8]) -> bool {
    file.iter().take(size_of::<Header>()).all(|&byte| byte == 0)
}

/// The start of a live file.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// The id that no other live file has, or 0.
    pub id: u64,
    /// Where the counters are in the process.
    pub address: u64,
    /// The counters' length in bytes.
    pub length: u64,
    /// The module's identity.
    pub identity: Identity,
    /// Length of the dump in bytes.
    pub dump_length: u64,
    /// Where the image is in the process, and where it ends; 0 if unknown.
    pub image: [u64; 2],
    /// Where the process says that it has added the counts: it can do so where it can no longer open the file.
    pub settled_at: u64,
}

impl Header {
    /// Whether the counts have been added to a dump. `word` gives that at an offset in the file.
    pub fn is_settled(&self, word: impl FnOnce(u64) -> Option<u64>) -> bool {
        let word = |offset| word(offset).is_some_and(|found| is_same(found, self.id));
        self.id == 0 || self.settled_at >= START && word(self.settled_at)
    }
}
