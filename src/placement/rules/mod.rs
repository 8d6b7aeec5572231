//! The rules, a file for each or for each few that work together.

pub mod by_count;
pub mod call_order;
pub mod discriminators;
pub mod gaps;
pub mod likeness;
pub mod lines_in_notes_only;
pub mod long_lines;
pub mod numbering;
pub mod only_block;
pub mod pairing;
pub mod removed_lines;
pub mod segments;
pub mod silent_copies;
pub mod unrecorded_inlines;
