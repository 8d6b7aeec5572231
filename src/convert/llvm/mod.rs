//! From the modules that clang and rustc instrumented to a profile of counters by function.
//!
//! [`profile`](mod@profile) makes it from the dump alone. [`coverage`] makes line coverage of it with the program's
//! coverage mapping. `targets` turns the values of indirect calls, which are
//! addresses in images, into hashes of names. The formats of LLVM's profiles belong to [`crate::formats`].

pub mod coverage;
pub mod profile;
mod targets;

pub use profile::{Converted, Unconvertible, profile};
