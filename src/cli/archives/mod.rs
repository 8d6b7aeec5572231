//! The archives that the tool carries, and what links a program with one.

pub mod archive;
pub mod folder;
pub mod linked_file;
pub mod target;
