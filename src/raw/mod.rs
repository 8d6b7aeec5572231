//! The raw dump (`.csraw`): what a program leaves behind, before any compiler's format.
//!
//! This module owns the bytes. [`layout`] says where everything stands. [`writer`] and [`reader`] stream
//! sections through a fixed buffer without a heap. [`merge`] holds the rules for merging two runs, [`text`]
//! carries a dump over a line for text, [`live`] keeps counters in a file while they are counted, and
//! [`gcov`] and [`llvm`] describe the modules that the two families of compilers make. The runtime and the tool share
//! all of it. The names of files, their locks and their replacement belong to `runtime`; the meaning of counters in a
//! program's source belongs to `convert`.
//!
//! # Shape of a file
//!
//! ```text
//! file header
//! MODULE  STRINGS...  OBJECTS...  FUNCTIONS...  SUMS     one executable or library
//! MODULE  ...                                            another, or another build
//! END
//! ```
//!
//! Everything after the file header is a *section*: a header of 16 bytes with kind, length, sequence number
//! and CRC-32, then at most [`layout::MAX_PAYLOAD`] bytes. The logical stream of a kind is the concatenation
//! of consecutive sections of that kind, so a writer never needs to know a length beforehand: it fills its
//! buffer, emits a section, goes on. Nothing is patched afterwards, so a dump can be streamed to a sink that
//! cannot seek.
//!
//! All integers have the lowest byte first. A mark tells the program's order, which its `.gcda` files have. Only
//! readers heed that so far: the runtime has no machine of the other order yet, and writes as memory has it. The
//! format carries a version and makes no promise between versions: dumps are for the tool of the
//! same release, profiles are for keeping.

pub mod checksum;
#[cfg(feature = "alloc")]
pub mod dump;
pub mod gcov;
pub mod head;
pub mod kind;
pub mod layout;
pub mod live;
pub mod llvm;
pub mod merge;
pub mod object;
pub mod reader;
pub mod site;
pub mod text;
pub mod writer;
