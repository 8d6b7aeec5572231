//! From raw dumps to profiles and to files that compilers read.
//!
//! Each family of compilers has a folder, with the same file names where they do the same: [`gcov`] makes profiles of
//! counts by source position and `.gcda` files from what gcc instrumented, [`llvm`] makes profiles of counters by
//! function from what clang and rustc instrumented. Both make [line coverage](crate::coverage). They share how messages
//! write numbers ([`number`]), and know nothing of each other. `sizes` reads from a program how large its functions
//! are.

pub mod gcov;
pub mod llvm;
pub mod number;
#[cfg(feature = "cli")]
pub mod sizes;
