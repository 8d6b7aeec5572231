//! LLVM's text form of instrumentation profiles (`.proftext`): what `llvm-profdata merge --text` writes.
//!
//! ```text
//! # IR level Instrumentation Flag
//! :ir
//! main
//! # Func Hash:
//! 742261418966908927
//! # Num Counters:
//! 2
//! # Counter Values:
//! 100
//! 1
//! # Num Value Kinds:
//! 1
//! # ValueKind = IPVK_IndirectCallTarget:
//! 0
//! # NumValueSites:
//! 1
//! 2
//! callback:25
//! ** External Symbol **:1
//!
//! ```
//!
//! | part | lines |
//! |---|---|
//! | header | any of `:ir`, `:csir`, `:fe`, `:entry_first`, `:not_entry_first`, `:instrument_loop_entries`, `:single_byte_coverage` |
//! | traces | `:temporal_prof_traces`, number of traces, number of traces ever seen; per trace weight, names with commas between them |
//! | function | name, hash, number of counters, the counters |
//! | bitmap | `$` and number of bytes, the bytes; may be missing |
//! | values | number of kinds; per kind its number and number of sites; per site number of values; per value `value:count`, functions and virtual tables by name; may be missing |
//!
//! Lines that are empty or begin with `#` say nothing. Hashes and bitmap bytes may be hexadecimal.
//!
//! Canonical output: functions by name and hash, values by count, the larger first. A target that is no function
//! of the profile is an external symbol; such a function leaves a gap in a trace. Traces without functions are
//! left out. Virtual tables have their names as with `--keep-vtable-symbols`, if the
//! profile has them. A text
//! does not say whether single-byte coverage is of function entries only.
//!
//! Sources: texts that `llvm-profdata` 13 to 16, 19 and 22 wrote, and what it reads and refuses.

pub mod check;
pub mod decode;
pub mod encode;
mod lines;

use crate::counters::Variant;

/// The name of a target that is unknown.
const EXTERNAL: &[u8] = b"** External Symbol **";

/// Most values of one site that are written.
const MOST_VALUES: usize = 255;

/// The lines of the header, in their order, with comment and bits.
const HEADERS: [(&str, &str, Variant); 4] = [
    ("IR level Instrumentation Flag", "ir", Variant::IR),
    ("Always instrument the function entry block", "entry_first", Variant::ENTRY_FIRST),
    ("Always instrument the loop entry blocks", "instrument_loop_entries", Variant::LOOP_ENTRIES),
    ("Instrument block coverage", "single_byte_coverage", Variant::SINGLE_BYTE),
];

/// Whether a file begins like such a text: with a line of the header, or with a function's name, hash and
/// counters.
pub fn looks_like(bytes: &[u8]) -> bool {
    decode::begins_well(bytes)
}
