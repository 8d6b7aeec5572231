//! AutoFDO GCOV before version 4. Of these, version 2 is written and read: the one that GCC 12 to 15
//! take.
//!
//! A stream of 32-bit words in the byte order of the writer's machine; 64-bit values are two words,
//! low word first. A string is its length with the NUL (4) and its bytes with the NUL.
//!
//! | part | contents |
//! |---|---|
//! | header | 4: magic 0x67636461 (`adcg` in little-endian files), 4: version 2, 4: 0 |
//! | names | 4: tag 0xaa000000, 4: length, 4: number, the strings; the first is empty and never referred to |
//! | functions | 4: tag 0xac000000, 4: length, 4: number; per function 8: head count, an instance |
//! | modules | 4: tag 0xae000000, 4: 0, 4: 0 |
//! | working set | 4: tag 0xaf000000, 4: 384, then 128 times 4 and 8 zero bytes |
//!
//! An instance is 4: name, 4: number of positions, 4: number of call sites; per position 4: location,
//! 4: number of targets, 8: count, and per target 4: type 7, 8: name, 8: calls; per call site 4:
//! location, an instance. A location is the line from the function's declaration (high half) and the
//! discriminator (low half), both modulo 2^16.
//!
//! Lengths are in words and computed as if strings were padded to words, as `create_gcov` does it;
//! every reader skips them. Canonical output: names bytewise, functions by name, positions and call
//! sites by location and name.
//!
//! Sources: `auto-profile.cc` of GCC 12 to 15 and `profile_writer.cc` of google/autofdo, by the files
//! they read and write.

pub mod decode;
pub mod encode;

/// First word of a file, also of `.gcda` files, whose second word is no small number.
pub const MAGIC: u32 = 0x6763_6461;
/// The version that is written and read.
pub const VERSION: u32 = 2;

const NAMES: u32 = 0xaa00_0000;
const FUNCTIONS: u32 = 0xac00_0000;
const MODULES: u32 = 0xae00_0000;
const WORKING_SET: u32 = 0xaf00_0000;
/// Pairs of words in the working set, all zero.
const WORKING_SET_ENTRIES: u32 = 128;
/// The only type of target: indirect calls with the most frequent callees.
const INDIRECT_CALL: u32 = 7;

/// Whether bytes start as a version 2 file of this machine's byte order does.
pub fn is_version_2(bytes: &[u8]) -> bool {
    let start = [MAGIC.to_ne_bytes(), VERSION.to_ne_bytes()].concat();
    bytes.starts_with(&start)
}
