//! The runtime in programs: how it is linked, what they notice of it, and what they count, beside libgcov.

#[path = "../complaints/mod.rs"]
mod complaints;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../llvm/mod.rs"]
mod llvm;
#[path = "../programs/mod.rs"]
mod programs;

mod bare;
mod behaviour;
mod endings;
mod instructions;
mod interface;
mod interrupted_flush;
mod libgcov;
mod link_order;
mod linked_file;
mod linking;
mod live;
mod many_runs;
mod no_heap;
mod older_dumps;
mod other_compilers;
mod processes;
mod real_programs;
mod rights;
mod stress;
mod threads;
