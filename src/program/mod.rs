//! Reads programs: their machine code and debug information.
//!
//! | what | where |
//! |---|---|
//! | sections, words and functions of a program, or of an object file | `object_file` |
//! | what an instruction does, and where control goes | `decode` |
//! | the control-flow graph of a function | `cfg` |
//! | addresses and counters that registers and slots of the stack hold | `dataflow` |
//! | the counters of a function | `counters` |
//! | functions, inlined copies and lines | `debug` |
//! | all of that about each function | `disassembly`, as [`listing`]s |
//! | lines and calls alone | `outline` |
//!
//! What listings say about counts is not found out here, but in [`crate::placement::observe`].

#[cfg(feature = "cli")]
mod cfg;
#[cfg(feature = "cli")]
pub mod counters;
#[cfg(feature = "cli")]
mod dataflow;
#[cfg(feature = "cli")]
pub mod debug;
#[cfg(feature = "cli")]
mod decode;
#[cfg(feature = "cli")]
pub mod disassembly;
pub mod listing;
#[cfg(feature = "cli")]
pub mod object_file;
#[cfg(feature = "cli")]
pub mod outline;
pub mod source_path;
