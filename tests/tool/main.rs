//! The commands of the tool, as users meet them.

#[path = "../compilers/mod.rs"]
mod compilers;
#[path = "../complaints/mod.rs"]
mod complaints;
#[path = "../conversion/mod.rs"]
mod conversion;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../llvm/mod.rs"]
mod llvm;
#[path = "../programs/mod.rs"]
mod programs;
#[path = "../schema/mod.rs"]
mod schema;

mod bad_input;
mod bad_places;
mod carry;
mod compiler_commands;
mod doctor;
mod flags;
mod fleet;
mod folders;
mod for_people;
mod launch;
mod llvm_profiles;
mod mistakes;
mod profdata;
mod profiles;
mod promises;
mod slice;
mod stale;
