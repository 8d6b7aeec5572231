//! File formats other than the raw dump: one folder a format, the same file names in each.

pub mod gcda;
