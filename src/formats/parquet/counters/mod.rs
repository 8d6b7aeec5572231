//! The table of counters: all facts of dumps, one per row. `encode` and `decode` write and read it;
//! [`crate::raw::dump::sum`] adds the facts.
//!
//! | column | type | in a merge | content |
//! |---|---|---|---|
//! | `version` | INT32 | key | [`super::VERSION`] |
//! | `function` | text | with the key | LLVM's name of the function; gcc's ident; empty in rows about a module |
//! | `object` | text | with the key | path of the object's `.gcda` file; empty for LLVM |
//! | `build_id` | text | with the key | the image's build-id in hexadecimal digits, empty if it has none |
//! | `module` | text | key | identifies the build: signature and hash of the layout, 32 hexadecimal digits |
//! | `ordinal` | INT32 | key | number of the function in the module, from 0; -1 in rows about a module |
//! | `hash` | INT64 | with the key | checksum of the function's control flow |
//! | `kind` | text | key | the kind of counters, see [`kind_name`] |
//! | `what` | text | key | the fact of the row, see below |
//! | `rule` | text | with the key | how `count` is merged: `sum`, `min`, or not at all: `or`, `last` |
//! | `index` | INT32 | key | number of the counter or site among those of its kind |
//! | `value` | INT64 | key | the value of a site; 0 in other rows |
//! | `dump` | text | key, or left out | id of the dump; empty in rows of several dumps, and of layouts |
//! | `count` | DECIMAL(20,0) | SUM, or MIN where `rule` is `min` | |
//! | `bits` | INT64 | BIT_OR | |
//! | `rank` | INT64 | MAX | orders the facts that depend on the order of the dumps, see [`crate::raw::dump::sum`] |
//! | `content` | bytes | of the row with the largest rank | |
//!
//! Columns marked "with the key" have one value per key. The facts:
//!
//! | `what` | `rule` | filled |
//! |---|---|---|
//! | `layout` | `last` | `content`: the module without counts, as a raw dump. One row per build, with an empty `dump` |
//! | `path` | `last` | `content`: path of the image; `rank`: number of the dump |
//! | `live` | `last` | `content`: id of the live file that was last added to the dump, 8 bytes; `rank`: minus the number of the dump. `module` is empty |
//! | `runs`, `sum_max`, `dropped` | `sum` | `count`: see [`crate::raw::layout::Sums`]; `rank` of `runs`: that of the module |
//! | `counter` | `sum`, `min` | `count` |
//! | `counter` | `or` | `bits`; eight counters of one byte per row |
//! | `total` | `sum` | `count`: events of a site; `bits`: 1 if values were lost in merging |
//! | `error` | `sum` | `count`: the bound of the error of a site's counts |
//! | `value` | `sum` | `count`: the count of one value of a site; `rank` |
//!
//! Counters of 0, sites without events and errors of 0 have no rows; the layout has them. The sum leaves out a module
//! that has only a layout, so a query that leaves out dumps may keep all layouts. The layout has the format of the
//! release's raw dumps ([`crate::raw::layout::VERSION`]).
//!
//! **Identity**: `module` covers order of bytes, width of pointers, build-id, signature, and the layout (objects with
//! version, stamp, checksum and path; functions with their hashes, kinds and numbers of counters). A merge never adds
//! dumps with different identities. **Merged**: counts, runs and their sums, bits, and the last path.
//!
//! Rows are sorted by function, object, module, ordinal, kind, index, and last by dump, in runs of about 100 MB of
//! dumps. So the statistics of the row groups show an engine where it finds a function of all builds.

pub mod decode;
pub mod encode;

use crate::raw::kind::Kind;
use crate::raw::llvm;

/// The table's name.
pub const NAME: &str = "counters";

const GCOV: [&str; 16] = [
    "arcs",
    "interval",
    "pow2",
    "topn",
    "indirect_call",
    "average",
    "ior",
    "time",
    "conditions",
    "paths",
    "kind10",
    "kind11",
    "kind12",
    "kind13",
    "kind14",
    "kind15",
];

/// The name of a kind of counters.
pub const fn kind_name(kind: Kind, is_llvm: bool) -> &'static str {
    match kind {
        llvm::kind::EXECUTIONS if is_llvm => "executions",
        llvm::kind::COVERED if is_llvm => "covered",
        llvm::kind::BITMAP if is_llvm => "bitmap",
        llvm::kind::MEMORY_SIZE if is_llvm => "memory_size",
        llvm::kind::VIRTUAL_TABLE if is_llvm => "virtual_table",
        Kind(number) => GCOV[(number & 15) as usize],
    }
}

/// The kind of counters of this name.
pub fn kind_of(name: &[u8], is_llvm: bool) -> Option<Kind> {
    (0..16).map(Kind).find(|&kind| kind_name(kind, is_llvm).as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_names() {
        for kind in (0..16).map(Kind) {
            for is_llvm in [false, true] {
                assert_eq!(kind_of(kind_name(kind, is_llvm).as_bytes(), is_llvm), Some(kind));
            }
        }
    }
}
