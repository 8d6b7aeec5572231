//! LLVM's text form of sample profiles, which `llvm-profdata merge --sample --text` writes and clang reads.
//! [`llvm_sample`](super::llvm_sample) has the forms in bytes.
//!
//! ```text
//! main:1069:1
//!  1: 1
//!  3.2: 20 f:12 g:8
//!  4: h:1048
//!   1: 1048
//!   !CFGChecksum: 563088904013236
//!  !CFGChecksum: 563022570642068
//! f:12:12
//!  1: 12
//! ```
//!
//! | line | contents |
//! |---|---|
//! | function | name, total, head count |
//! | function in a context | the same with `[main:3 @ f:1.2 @ g]` as the name: the outermost caller first, each caller with its call site |
//! | count | a space for each level, position, count, targets of calls |
//! | inlined copy | a space for each level, position, name, total; its own lines follow, one level deeper |
//! | metadata | a space for each level, `!CFGChecksum:` or `!Attributes:` and a number; `!Flat` |
//!
//! A position is a line, counted from the function's line and below 2^16. The discriminator follows behind a dot if it
//! is not 0. Readers skip empty lines, and lines that begin with `#` or have only spaces before it.
//!
//! Names may have spaces and colons in them, as those of Objective-C do. The name of a target ends at the first colon
//! that has a number and a space or the end of the line behind it. Any other name ends before its numbers. In contexts
//! `llvm-profdata` ends names at the first colon.
//!
//! Canonical output: functions by total, the largest first, then by name or context. Counts of a body come before
//! its inlined copies, both by position; targets by calls, the most first. The text has no summary and no list of
//! symbols.
//!
//! Sources: texts that `llvm-profdata` 14, 16, 19 and 22 wrote, and what they read and refuse.

pub mod check;
pub mod decode;
pub mod encode;
pub(super) mod line;

/// Whether a file begins with a function, followed by an indented line or another function.
pub fn looks_like(bytes: &[u8]) -> bool {
    decode::begins_well(bytes)
}
