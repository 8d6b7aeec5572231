//! The counts of a function's blocks, from its counters and the graph in the notes.

pub mod counted;
pub mod flow;
pub mod loops;
