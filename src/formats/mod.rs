//! File formats other than the raw dump: one folder for each, with the same file names: `encode`, `decode`,
//! `check` for what can be wrong, and `body` for one function where that needs a file of its own.
//!
//! | folder | format | `encode` | `decode` |
//! |---|---|---|---|
//! | [`afdo_v1_v3`] | AutoFDO version 1 to 3, and 0x3430372a | yes | yes |
//! | [`afdo_v4`] | AutoFDO version 4, binary | yes | yes |
//! | [`afdo_v4_text`] | AutoFDO version 4, text | yes | yes |
//! | [`cobertura`] | Cobertura's reports, XML | yes | |
//! | `coverage_json` | line coverage for other programs, with the feature `cli` | yes | |
//! | [`coverage_mapping`] | LLVM's coverage mapping, in programs | | yes |
//! | [`gcda`] | GCC's counters of one object | yes | yes |
//! | [`gcno`] | GCC's notes about one object | | yes |
//! | [`lcov`] | lcov's tracefiles | yes | yes |
//! | [`llvm_sample`] | LLVM's sample profiles, binary and extensible binary | yes | yes |
//! | [`llvm_sample_text`] | LLVM's sample profiles as text | yes | yes |
//! | [`profdata`] | LLVM's indexed profiles | yes | yes |
//! | [`profraw`] | LLVM's raw profiles | yes | yes |
//! | [`proftext`] | LLVM's profiles as text | yes | yes |
//! | `json` | profiles for other programs, with the feature `cli` | yes | |
//! | [`callgrind`] | for callgrind_annotate and KCachegrind | yes | |
//! | [`collapsed`] | stacks for flame graphs | yes | |
//! | [`pprof`] | for pprof | yes | |
//! | `speedscope` | for speedscope, with the feature `cli` | yes | |
//! | `parquet` | dumps and profiles as tables, with the feature `parquet` | yes | yes |
//!
//! [`words`] has what `gcda` and `gcno` share, [`frame_names`] what the formats for viewers share.

#[cfg(feature = "alloc")]
pub mod afdo_v1_v3;
#[cfg(feature = "alloc")]
pub mod afdo_v4;
#[cfg(feature = "alloc")]
pub mod afdo_v4_text;
#[cfg(feature = "alloc")]
pub mod callgrind;
#[cfg(feature = "alloc")]
pub mod cobertura;
#[cfg(feature = "alloc")]
pub mod collapsed;
#[cfg(feature = "cli")]
pub mod coverage_json;
#[cfg(feature = "alloc")]
pub mod coverage_mapping;
#[cfg(feature = "alloc")]
mod encode_error;
mod finding;
#[cfg(feature = "alloc")]
pub mod frame_names;
pub mod gcda;
#[cfg(feature = "alloc")]
pub mod gcno;
#[cfg(feature = "cli")]
pub mod json;
#[cfg(feature = "alloc")]
pub mod lcov;
#[cfg(feature = "alloc")]
mod leb128;
#[cfg(feature = "alloc")]
pub mod llvm_sample;
#[cfg(feature = "alloc")]
pub mod llvm_sample_text;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "alloc")]
pub mod pprof;
#[cfg(feature = "alloc")]
pub mod profdata;
#[cfg(feature = "alloc")]
pub mod profraw;
#[cfg(feature = "alloc")]
pub mod proftext;
#[cfg(feature = "cli")]
pub mod speedscope;
#[cfg(feature = "alloc")]
pub mod symbol_order;
#[cfg(feature = "alloc")]
pub mod words;

#[cfg(feature = "alloc")]
pub use encode_error::EncodeError;
pub use finding::{Finding, Found, TextError};
#[cfg(feature = "alloc")]
pub use finding::{Findings, Kind};
