//! Line coverage as JSON, for other programs. Written, not read.
//!
//! The schema, version 1. Fields are only ever added; a change of meaning changes the version.
//!
//! ```json
//! {
//!   "format": "countersink-coverage", "version": 1,
//!   "totals": {
//!     "lines": { "found": 2, "hit": 1 }, "functions": { "found": 1, "hit": 1 },
//!     "branches": { "found": 2, "hit": 1 }, "conditions": { "found": 4, "hit": 1 },
//!     "paths": { "found": 3, "hit": 2 }
//!   },
//!   "files": [
//!     {
//!       "path": "/home/user/a.c",
//!       "totals": { },
//!       "lines": [ { "line": 3, "count": 7 }, { "line": 4, "count": 0 } ],
//!       "functions": [
//!         { "name": "main", "line": 3, "end": 5, "count": 7, "paths": [
//!           { "found": 3, "hit": 2,
//!             "missed": [ { "number": 1, "blocks": [ 2, 4, 5 ] } ],
//!             "blocks": [
//!               { "block": 2, "lines": [ 3 ], "when_true": 3, "when_false": 4 },
//!               { "block": 4, "lines": [ 4 ] }, { "block": 5, "lines": [ 5 ] } ] } ] }
//!       ],
//!       "branches": [
//!         { "line": 3, "block": 0, "count": 7 },
//!         { "line": 3, "block": 0, "count": 0, "is_exception": true }
//!       ],
//!       "decisions": [
//!         { "line": 3, "conditions": [
//!           { "shown_true": true, "shown_false": false }, { "shown_true": false, "shown_false": false } ] }
//!       ]
//!     }
//!   ]
//! }
//! ```
//!
//! The `totals` of a file have the fields of those of all files. `end` is 0 if unknown. `block` is the number of a
//! branch's condition in its line; `count` is null if that was never evaluated. `is_exception` is missing if it is
//! false. `shown_true` and `shown_false` say whether it is shown that the decision hangs on this condition alone when
//! it is true, and when it is false: each is one of the `conditions` of the totals.
//!
//! `paths` is missing if the compiler does not observe prime paths. It has more than one element if objects have
//! different graphs of the function. `missed` are the paths that were not taken, with the compiler's numbers and the
//! blocks on the way; it is missing if the graph has other paths than the compiler. `blocks` are those of missed paths,
//! with their lines in the function's file, and the blocks that the outcomes of a condition lead to.
//!
//! Names that are not UTF-8 have
//! U+FFFD in place of the invalid bytes.

pub mod encode;
