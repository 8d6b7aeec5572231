//! `.gcno`: the control-flow graph and lines of every function of one object. The compiler writes it with
//! `-ftest-coverage`.
//!
//! A stream of 32-bit words in the producer's byte order. Lengths are in bytes from GCC 12 on, in
//! words before; strings likewise, see [`super::words`]. There is no terminator.
//!
//! | record | contents |
//! |---|---|
//! | header | magic `gcno`, version word, stamp, from GCC 12 a word 0, string: working directory of the compiler, word: 1 if unexecuted blocks are known |
//! | FUNCTION 0x01000000 | ident, line checksum, cfg checksum, string: assembler name (`*` before a name set by the user), word: 1 if made by the compiler, string: source file, start line, start column, end line, end column |
//! | BLOCKS 0x01410000 | number of blocks |
//! | ARCS 0x01430000 | source block, then pairs (destination block, flags) |
//! | CONDITIONS 0x01470000 | pairs (block, number of conditions), one for each decision, from GCC 14 with `-fcondition-coverage` |
//! | PATHS 0x01490000 | number of prime paths, from GCC 15 with `-fpath-coverage`; 0 if there are too many |
//! | LINES 0x01450000 | block, then items: a line number, or 0 and a string: the file of what follows; ended by 0 and an empty string |
//!
//! Block 0 is the entry, block 1 the exit. Arc flags: 1 = on the spanning tree, so without a counter; 2 =
//! fake, a call that may not return or an entry from elsewhere; 4 = fall-through; from GCC 15 on 8 and 16 = true and
//! false. A function's counters belong to its arcs that are not on the tree, in the order of the records. It has two
//! counters of conditions for each decision, and one of paths for each 64 paths. Other records are skipped.
//!
//! Sources: `gcov-io.h`, `coverage.cc`, `profile.cc` of GCC 10 to 16, and the files they write.

pub mod decode;

pub use decode::{Arc, DecisionNote, Function, Line, Notes};

/// First word of a notes file.
pub const MAGIC: [u8; 4] = *b"gcno";
