//! A counter sink: the library that a program instrumented by gcc pours its counters into, and the
//! conversion of what it wrote into profiles that compilers read.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(countersink_archive)]
mod archive;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod convert;
#[forbid(unsafe_code)]
pub mod formats;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod profile;
#[forbid(unsafe_code)]
pub mod raw;
#[cfg(feature = "runtime")]
pub mod runtime;
