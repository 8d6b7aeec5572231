//! The subcommands, a file or a folder each. What several of them need is in the folders beside this one.

pub mod carry;
pub mod check;
pub mod completions;
pub mod convert;
pub mod diff;
pub mod doctor;
pub mod extract;
pub mod flags;
pub mod fold;
pub mod install;
pub mod launch;
pub mod man;
pub mod merge;
pub mod profdata;
pub mod report;
pub mod rewrite;
pub mod show;
pub mod slice;
pub mod stale;
pub mod targets;
pub mod tests;
