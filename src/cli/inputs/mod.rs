//! What commands read: dumps, profiles, and what tells the places of their counts.

pub mod binary;
pub mod changes;
pub mod conversion;
pub mod correlation;
pub mod coverage;
pub mod data_files;
pub mod debug_file;
pub mod folder;
pub mod format;
pub mod input;
pub mod instr_profiles;
pub mod live_files;
pub mod missing;
pub mod notes;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod program;
pub mod source_text;
pub mod sources;
pub mod tarball;
