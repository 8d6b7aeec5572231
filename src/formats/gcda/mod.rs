//! `.gcda`: the counters of one object, as libgcov writes them and gcov and `-fprofile-use` read.
//!
//! A stream of 32-bit words in the producer's byte order; 64-bit values are two words, low word
//! first. Lengths are in bytes from GCC 12 on, in words before.
//!
//! | record | words |
//! |---|---|
//! | header | magic `gcda`, version word, stamp, from GCC 12 checksum |
//! | OBJECT_SUMMARY | tag 0xa1000000, length 8, runs, sum of the runs' largest arc counters (its low 32 bits) |
//! | FUNCTION | tag 0x01000000, length 12, ident, line checksum, cfg checksum; or length 0 alone: a place without a function |
//! | counters of kind k | tag 0x01a10000 + k * 0x20000, length, values |
//! | end | 0 |
//!
//! A FUNCTION is followed by one counter record for each kind that the object uses. From GCC 11 on a record
//! of plain counters that are all zero has the negative of its length and no values. A top-N site is its
//! total, the number of pairs, and the pairs `(value, count)`; such records are never shortened. In GCC 10 a
//! site is nine values: the total and four pairs, the first seen last. Their counts are four times what was
//! counted; a pair below a quarter of the total is two zeros.
//!
//! Sources: `gcov-io.h` and `libgcov-driver.c` of GCC 10 to 16, and the files they write.

#[cfg(feature = "alloc")]
pub mod decode;
pub mod encode;

/// First word of a data file.
pub const MAGIC: u32 = 0x6763_6461;
/// First word of the record that names the file in a merged stream.
pub const FILE_NAME_MAGIC: u32 = 0x6763_666e;
/// Tag of the record with runs and maxima.
pub const OBJECT_SUMMARY: u32 = 0xa100_0000;
/// Tag of a function.
pub const FUNCTION: u32 = 0x0100_0000;
