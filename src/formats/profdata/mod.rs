//! LLVM's indexed profiles: what `llvm-profdata merge` writes, and what `-fprofile-use` reads. Versions 1 to 14
//! are read, 4 to 14 written.
//!
//! Every integer is little-endian, of 64 bits unless the table says otherwise. Offsets count from the start of
//! the file. The layouts were found by experiments with LLVM 13 to 16, 19 and 22. What only other releases write
//! follows the published format: versions below 7, 10, 11 and 14.
//!
//! **Header** ([`header`]):
//!
//! | offset | field |
//! |---|---|
//! | 0 | magic, `ff 6c 70 72 6f 66 69 81` |
//! | 8 | version in the low half, [variant](crate::counters::Variant) in the high half |
//! | 16 | unused, 0 |
//! | 24 | kind of hash, 0: low 64 bits of the MD5 |
//! | 32 | offset of the hash table |
//! | 40 | from version 8: offset of the memory profile, 0 if there is none |
//! | 48 | from version 9: offset of the build-ids |
//! | 56 | from version 10: offset of the traces, 0 if there are none |
//! | 64 | from version 12: offset of the names of virtual tables |
//!
//! **Summary** ([`summary`]), from version 4, right behind the header; a second one for context-sensitive
//! functions if the variant has them:
//!
//! | number | field |
//! |---|---|
//! | 1 | number of totals, 6 |
//! | 1 | number of cutoffs, 16 |
//! | 6 | functions, counters, largest entry count, largest count, largest count except entries, sum of the counts |
//! | 3 each | cutoff in millionths of the sum, smallest count that is needed for it, number of such counters |
//!
//! **Hash table** ([`table`]): the buckets stand between the summary and the table, not aligned. Zeros fill up to
//! a multiple of 8.
//!
//! | size | field |
//! |---|---|
//! | 2 | for each bucket that is not empty: number of items |
//! | 8, 8, 8 | for each item: hash of the name, length of the name, length of the records |
//! | | the name, the records |
//! | 8, 8 | at the offset of the hash table: number of buckets, a power of two; number of items |
//! | 8 each | offset of each bucket, 0 if it is empty. A name is in the bucket of its hash's low bits |
//!
//! **Record** ([`record`]), one for each hash of the function's control flow:
//!
//! | size | field |
//! |---|---|
//! | 8 | hash of the control flow |
//! | 8, 8 each | counters; version 1 has no number: they fill the item |
//! | 8, 8 each | version 11 to 13: bytes of the bitmap |
//! | 8, 1 each | from version 14: bytes of the bitmap, with zeros up to a multiple of 8; then a bitmap of uniformity in the same form |
//! | | from version 3: the values |
//!
//! **Values** of a record; all is one block, whose size is a multiple of 8:
//!
//! | size | field |
//! |---|---|
//! | 4, 4 | size of the block, number of kinds that have sites |
//! | 4, 4 | for each kind: [its number](crate::counters::ValueKind), number of sites |
//! | 1 each | for each site: number of values; then zeros up to a multiple of 8 |
//! | 8, 8 | for each value: the value, its count |
//!
//! **Behind the hash table**, each at its offset in the header:
//!
//! | size | field |
//! |---|---|
//! | 8 | bytes of the build-ids; for each its length, its bytes, zeros up to a multiple of 8 |
//! | 8 | length of the names of virtual tables; then two LEB128: length, compressed length or 0; the names with a byte 1 between them; zeros up to a multiple of 8 |
//! | 8, 8 | temporal profile traces, runs that they were chosen from; for each trace its weight, number of functions, their MD5s |
//!
//! `llvm-profdata merge` drops the names of virtual tables unless told `--keep-vtable-symbols`, and then compresses
//! them. Here they are written uncompressed whenever the profile has them. Every reader accepts that, too.

pub mod check;
pub mod decode;
pub mod encode;
pub mod header;
pub mod lookup;
mod open;
mod order;
pub mod record;
mod release;
pub mod summary;
pub mod table;
mod tail;
mod version;
mod words;

pub use release::{Hashes, oldest_version, version_for_llvm};
pub use version::Version;

/// The first eight bytes of a file.
pub const MAGIC: [u8; 8] = *b"\xfflprofi\x81";
