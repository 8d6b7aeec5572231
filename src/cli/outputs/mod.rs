//! What commands write: profiles in their formats, and the account of a conversion.

pub mod account;
pub mod coverage;
pub mod gcda;
pub mod instr_profile;
pub mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parts;
pub mod preinliner;
pub mod profile;
pub mod samples;
pub mod sum;
pub mod viewers;
