//! Profiles as JSON, for other programs. Written, not read.
//!
//! The schema, version 1. Fields are only ever added; a change of meaning changes the version.
//!
//! ```json
//! {
//!   "format": "countersink-profile", "version": 1,
//!   "summary": {
//!     "total_count": 5000001042, "max_count": 5000000000, "max_function_count": 1,
//!     "counts": 4, "functions": 1,
//!     "cutoffs": [ { "share": 10000, "min_count": 5000000000, "counts": 1 } ]
//!   },
//!   "files": [ "/home/user/a.c" ],
//!   "functions": [
//!     {
//!       "name": "main", "file": 0, "head_count": 1, "timestamp": 0,
//!       "locations": [
//!         { "line": 3, "discriminator": 1, "count": 1000 },
//!         { "line": 4, "discriminator": 0, "count": 1000,
//!           "targets": [ { "name": "callee", "file": null, "count": 700 } ] },
//!         { "line": 5, "discriminator": 0,
//!           "inlined": [ { "name": "sq", "file": 0, "locations": [] } ] }
//!       ]
//!     }
//!   ]
//! }
//! ```
//!
//! Counts are executions. `share` is in millionths of the total count. `line` is counted from the function's
//! declaration. `file` is an index into `files`, `null` if unknown. `count`, `targets` and `inlined` are missing where
//! there are none. `is_estimate` is true where it was inferred that the count belongs to this position, and else
//! missing; only profiles that were made from a dump know it. `target_error` is how far each count of the targets may
//! be wrong, because there were more than the runtime keeps apart; it is missing if 0. Names that are not UTF-8 have
//! U+FFFD in place of the invalid bytes. Functions, targets and inlined bodies are in the order of the binary form, by
//! file and name.

pub mod encode;
