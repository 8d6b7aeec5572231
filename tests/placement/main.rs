//! Where counts stand: positions, inlined copies, calls, and what is made of debug information.

#[path = "../compilers/mod.rs"]
mod compilers;
#[path = "../conversion/mod.rs"]
mod conversion;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../llvm/mod.rs"]
mod llvm;
#[path = "../programs/mod.rs"]
mod programs;
#[path = "../reference/mod.rs"]
mod reference;
#[path = "../self_counting/mod.rs"]
mod self_counting;

mod account;
mod artificial;
mod builds;
mod call_places;
mod copies;
mod damaged_debug_info;
mod data_files;
mod gcc;
mod inlined;
mod known_counts;
mod one_line;
mod other_machines;
mod positions;
mod profile;
