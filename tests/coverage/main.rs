//! Coverage of lines, branches, conditions and paths, beside the compilers' own tools.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../llvm/mod.rs"]
mod llvm;
#[path = "../programs/mod.rs"]
mod programs;
#[path = "../tracefile/mod.rs"]
mod tracefile;

mod conditions;
mod damaged;
mod lines;
mod mcdc;
mod prime_paths;
mod report;
mod review;
mod selection;
mod tests_of_lines;
