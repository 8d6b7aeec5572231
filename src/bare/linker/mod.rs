//! Where LLVM's sections are in a program without an operating system that depends on the crate.
//!
//! Not here: those of a program that links an archive, which are in C (`runtime-c/llvm.c`), as stable Rust has no weak
//! symbols but in assembly.

#[cfg_attr(not(target_family = "wasm"), path = "elf.rs")]
#[cfg_attr(target_family = "wasm", path = "wasm.rs")]
mod symbols;

pub use symbols::sections;
