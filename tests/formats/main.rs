//! What the formats of profiles, tables and viewers hold, byte for byte, and what other tools read in them.

#[path = "../golden/mod.rs"]
mod golden;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../llvm/mod.rs"]
mod llvm;
#[path = "../programs/mod.rs"]
mod programs;
#[path = "../schema/mod.rs"]
mod schema;

mod afdo_v1_v3;
mod afdo_v4;
mod afdo_v4_decisions;
mod afdo_v4_lookup;
mod afdo_v4_text;
mod autofdo_tools;
mod llvm_matrix;
mod llvm_properties;
mod llvm_sample;
mod llvm_sample_properties;
mod llvm_sample_sizes;
mod profdata;
mod profile_properties;
mod profraw;
mod proftext;
mod tables;
mod viewers;
