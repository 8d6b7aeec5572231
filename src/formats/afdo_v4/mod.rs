//! AutoFDO GCOV version 4, binary: the proposal of 23 April 2026, dialect `rfc1`.
//!
//! Every integer is big-endian and unsigned. In a compact section all integers but single bytes are varints
//! (7 bits a byte, least significant first, high bit on all but the last). Where the proposal says nothing,
//! our decisions are marked with **D** and the number used in the tests.
//!
//! **Header** ([`table`]; the only part that a second dialect would change):
//!
//! | bytes | field |
//! |---|---|
//! | 4 | `gcov` |
//! | 4 | version, 4 |
//! | 1 | flags: bit 7 = the next fields are varints (D4: only those); others 0 |
//! | 7 | number of entries in the section table |
//! | 8, 8 | offset and size of the summary |
//! | 8, 8 | offset and size of the file names |
//! | 8, 8 | offset and size, for each entry of the table |
//!
//! References give a section by its rank by offset among all, the two fixed ones included (D1). Its size
//! includes the byte it starts with (D5): bit 7 = compact, others the type.
//!
//! | type | section | contents |
//! |---|---|---|
//! | 1 | string table (`trie`) | 4: number of strings; a trie |
//! | 2 | summary | 8 each: total count, largest count, largest head count, number of counts, of functions, of cutoffs; per cutoff 4: share in millionths, 8: smallest count, 8: number of counts |
//! | 3 | file names | 4: number; per file 4: length with NUL, the path with NUL, 4: its string table, 4: its symbol names, 4 and 4: its first symbol and the one behind its last |
//! | 4 | symbol names | 4: number; per symbol 4: string, 4: symbol id, 4: its info section or 0xffffffff |
//! | 5 | symbol info | 8: head count, 8: timestamp, 4: number of locations, the locations |
//!
//! A trie node is a byte (bit 7: a string ends here; others: number of children), 4: the string's number if
//! one ends here, and per child 2: length of the label, the label, the child. A node with more than 127
//! children has the rest under a child with an empty label (D20). A label too long for its length is a chain
//! of nodes (D21).
//!
//! All names together may have 128 bytes for each byte of the file, and 16 MiB besides: a small file must not
//! mean an enormous profile (D10). Names may share so much that they would exceed this. Then the root of each
//! table has a child for every 128 names instead of one for each first byte. So every file that is written
//! can be read, at whatever cost.
//!
//! A location is a byte (bit 7: has a discriminator; others: type), 3: line from the function's
//! start, 2: discriminator if it has one, and:
//!
//! | type | location | contents |
//! |---|---|---|
//! | 1 | zero | |
//! | 2 | normal | 4: count |
//! | 3 | wide | 8: count, above 2^32-1 |
//! | 4 | called function | 4: symbol, 8: calls |
//! | 5 | called functions | 4: number, then per function 4: symbol, 8: calls |
//! | 6 | inlined function | 4: symbol, 4: number of locations, the locations |
//! | other | | 4: number of bytes to skip |
//!
//! Canonical output: summary, file names, then for each file string table, symbol names and infos in
//! the order of ids; no gaps. Files bytewise, the unknown file last and always there (D12); ids from
//! 1 (D14), by file and name (D15). Locations by line, discriminator, kind (count, targets, inlined)
//! and symbol (D28); one target as type 4, several as type 5 by id (D30).

mod body;
pub mod catalogue;
pub mod check;
pub mod decode;
pub mod encode;
mod ids;
pub mod lookup;
pub mod merge;
mod number;
mod open;
pub mod part;
pub mod records;
pub mod slice;
mod source;
mod summand;
pub mod table;
pub mod trie;

pub use ids::Ids;

/// `gcov` and version 4: the first eight bytes of a file.
pub const MAGIC: [u8; 8] = *b"gcov\0\0\0\x04";

/// Whether a file's header says that it is compact.
pub fn is_compact(bytes: &[u8]) -> bool {
    bytes.get(MAGIC.len()).is_some_and(|flags| flags & HIGH != 0)
}

/// Stands for the info section of symbols that have none.
const NO_INFO: u32 = u32::MAX;
/// Bit 7 of a section's or location's first byte.
const HIGH: u8 = 0x80;

/// Section types.
mod section {
    pub const STRING_TABLE: u8 = 1;
    pub const SUMMARY: u8 = 2;
    pub const FILE_NAMES: u8 = 3;
    pub const SYMBOL_NAMES: u8 = 4;
    pub const SYMBOL_INFO: u8 = 5;
}

/// Location types.
mod location {
    pub const ZERO: u8 = 1;
    pub const NORMAL: u8 = 2;
    pub const WIDE: u8 = 3;
    pub const CALLED: u8 = 4;
    pub const CALLED_SEVERAL: u8 = 5;
    pub const INLINED: u8 = 6;
}
