//! What instrumented code hands to the runtime, one folder per compiler family.
//!
//! The only place where the compiler's memory is read through raw pointers; everything above works
//! with slices of atomics and records of the raw dump.

pub mod gcov;
