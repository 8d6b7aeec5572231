//! The runtime under programs of clang and rustc, beside LLVM's own.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../llvm/mod.rs"]
mod llvm;
#[path = "../programs/mod.rs"]
mod programs;

mod bare;
mod calls;
mod correlated;
mod counts;
mod coverage;
mod endings;
mod firmware;
mod linking;
mod optimised;
mod slots;
