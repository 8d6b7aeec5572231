//! The table of positions: profiles by source position, of one build or of many. `encode` and `decode` write and read
//! it.
//!
//! | column | type | in a merge | content |
//! |---|---|---|---|
//! | `version` | INT32 | key | [`super::VERSION`] |
//! | `symbol` | text | key | the function |
//! | `file` | text | key | the file that declares it, empty if unknown |
//! | `path` | text | key | the inlined bodies down to the position, see below; empty in the function itself |
//! | `line` | INT64 | key | lines from the declaration of the innermost function |
//! | `discriminator` | INT32 | key | |
//! | `what` | text | key | the fact of the row, see below |
//! | `rule` | text | with the key | how `count` is merged: `sum` or `min` |
//! | `target` | text | key | the target of a call, else empty |
//! | `target_file` | text | key | the file that declares the target, empty if unknown |
//! | `profile` | text | key, or left out | id of the profile |
//! | `count` | DECIMAL(20,0) | SUM, or MIN where `rule` is `min` | |
//!
//! | `what` | `rule` | `count` |
//! |---|---|---|
//! | `head` | `sum` | head count of the function; each function has this row |
//! | `first` | `min` | rank of the function by first execution, if known |
//! | `count` | `sum` | executions of the position |
//! | `target` | `sum` | calls of the target from the position |
//! | `error` | `sum` | the bound of the error of the position's target counts |
//! | `place` | `sum` | 0: the position exists, without a count, targets or bodies |
//! | `inlined` | `sum` | 0: the body at the end of `path` has no positions |
//!
//! A path has `LINE.DISCRIMINATOR>SYMBOL@FILE` for each body, the outermost first, with `;` between them. Names in a
//! path escape the characters `.`, `>`, `@` and `;`, too, see [`super::text`]. The rows are sorted by all keys, in
//! runs of a million.

pub mod decode;
pub mod encode;

use super::counters;
use super::rows::Table;

/// The table's name.
pub const NAME: &str = "positions";

/// Characters with a meaning in paths.
const MARKS: &str = ".>@;";

/// Whether a table is one of positions. Its name decides. Without one, the columns decide that only this table has.
pub fn is_it(table: &Table) -> bool {
    match table.name() {
        Some(NAME) => true,
        Some(counters::NAME) => false,
        _ => ["symbol", "path", "discriminator"].iter().any(|column| table.has(column)),
    }
}
