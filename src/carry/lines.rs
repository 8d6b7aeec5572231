//! What became of the lines of a function.
//!
//! [`alignment`](crate::staleness::alignment) has the rules: which pattern of lines with code, calls and discriminators
//! explains the other one with the fewest gaps. For example, a function has code at lines 2, 3, 5 and 8, and line 5
//! calls `less`. Now lines 2, 3, 8 and 11 have code, and line 8 calls `less`. So three lines were added before line 5.

use alloc::collections::BTreeMap;

use crate::staleness::alignment::{Fate, align};
use crate::staleness::outline::{Knows, Shape};

/// Where each line of a function is now, by distance; `None` for those that are gone.
pub type Lines = BTreeMap<i64, Option<i64>>;

/// Aligns the lines of the old function with those of the new one.
pub fn lines(old: &Shape, new: &Shape, knows: Knows) -> Lines {
    if new.lines.is_empty() {
        return unchanged(old);
    }
    let place = |(line, fate)| match fate {
        Fate::Same | Fate::Open(_) => (line, Some(line)),
        Fate::Moved(by) => (line, Some(line + by)),
        Fate::Gone => (line, None),
    };
    align(old, new, knows).into_iter().map(place).collect()
}

/// All lines are where they were.
pub fn unchanged(old: &Shape) -> Lines {
    old.lines.keys().map(|&line| (line, Some(line))).collect()
}
