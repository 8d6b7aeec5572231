//! What instrumented code hands to the runtime, one folder per compiler family.
//!
//! Only here raw pointers read the compiler's memory. Everything above works with slices of atomics and
//! records of the raw dump.

pub mod gcov;
