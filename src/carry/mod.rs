//! Moves the counts of an old profile to the lines of the new source.
//!
//! Compilers look up a position by its function's name and its distance from the function's first line. After edits the
//! counts of an old profile belong to other lines, and those of a renamed function to none. Carrying finds out
//! what became of each function and of each line, and gives the counts their new positions. It has three phases:
//!
//! | phase | example | where |
//! |---|---|---|
//! | functions: each function of the profile is looked up by its name, then by its likeness | `by_key` is gone, and `by_number` is new: the same functions call it, and it calls the same | [`functions`] |
//! | lines: the lines of each function are aligned, with calls as anchors | line 8 of `sift` calls `less`; now line 11 does, so lines from 8 on have moved down by 3 | [`lines`] |
//! | counts: each count gets its new position, and inlined copies move with their calls | 500 at line 8 of `sift` stands at line 11 now; so does the copy of `less` that is inlined there | [`counts`], [`samples`] |
//!
//! What cannot be carried is left out: a count at a line that is gone would belong to another line. [`Tally`] says how
//! much that is. The old program's outline is optional. Without it the profile's own positions stand for the program:
//! these have the targets of indirect calls and inlined functions, but not the functions that are called directly.
//!
//! The caller reads files, and gives the outlines the texts of lines. Formats are not known here.

pub mod counts;
pub mod functions;
pub mod lines;
pub mod samples;
mod split;
mod tally;
mod texts;

pub use functions::{Became, Functions, Sides};
pub use tally::{Class, Loss, Tally, Why};
