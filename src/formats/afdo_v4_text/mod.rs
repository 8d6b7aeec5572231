//! AutoFDO GCOV version 4, the text form of the same proposal.
//!
//! ```text
//! filenames = { "a.c", "a.h" }
//!
//! summary = { total_count = 5000001042, ..., detailed_entries = { {cutoff = 10000, ...}, ... } }
//!
//! symbol_names = { 1 = "cb1":0, 2 = "cb2":0 }
//!
//! "main":0(3:1:0) = {
//!   locations = { 2 = 0, 3.1 = 1000, 4 = 5000000000 },
//!   callsites = { 4 -> { 1 = 700, 2 = 300 } },
//!   inlined = { 5 = "sq":1(4) = { locations = { 1 = 42 } } }
//! }
//! ```
//!
//! A symbol is its name, its file (place in `filenames`, -1 unknown), and in parentheses its id, for
//! functions also head count and timestamp. A position is a line and, behind a dot, a discriminator that is
//! not 0. Call sites name their targets by id. Symbols that are only targets have their names in
//! `symbol_names`, which the proposal lacks and lets every reader skip (D44). Names cannot contain a
//! quotation mark: there is no escape for it (D40).
//!
//! Canonical output: one thing a line, indented by two spaces; files, ids and records in the order of the
//! binary form. Reading accepts any white space, order and repetition of sections (D45), and one comma too
//! many (D46).

pub mod check;
pub mod decode;
pub mod encode;
mod scanner;

/// First word of a file in canonical form.
pub const START: &[u8] = b"filenames";
