//! The rules, a file for each or for each few that work together.

pub mod call_order;
pub mod counts_of_copies;
pub mod likeness;
pub mod lines_in_code;
pub mod lines_in_notes_only;
pub mod long_lines;
pub mod pairing;
pub mod preheaders;
pub mod segments;
pub mod unrecorded_inlines;
