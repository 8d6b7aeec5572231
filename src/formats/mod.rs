//! File formats other than the raw dump: one folder for each, with the same file names: `encode`, `decode`,
//! `check` for what can be wrong, and `body` for one function where that needs a file of its own.
//!
//! | folder | format | `encode` | `decode` |
//! |---|---|---|---|
//! | [`afdo_v1_v3`] | AutoFDO version 1 to 3, and 0x3430372a | yes | yes |
//! | [`afdo_v4`] | AutoFDO version 4, binary | yes | yes |
//! | [`afdo_v4_text`] | AutoFDO version 4, text | yes | yes |
//! | [`gcda`] | GCC's counters of one object | yes | yes |
//! | [`gcno`] | GCC's notes about one object | | yes |
//! | [`profdata`] | LLVM's indexed profiles | yes | yes |
//! | [`profraw`] | LLVM's raw profiles | yes | yes |
//! | [`proftext`] | LLVM's profiles as text | yes | yes |
//! | `json` | profiles for other programs, with the feature `cli` | yes | |
//!
//! [`words`] has what `gcda` and `gcno` share.

#[cfg(feature = "alloc")]
pub mod afdo_v1_v3;
#[cfg(feature = "alloc")]
pub mod afdo_v4;
#[cfg(feature = "alloc")]
pub mod afdo_v4_text;
#[cfg(feature = "alloc")]
mod encode_error;
mod finding;
pub mod gcda;
#[cfg(feature = "alloc")]
pub mod gcno;
#[cfg(feature = "cli")]
pub mod json;
#[cfg(feature = "alloc")]
pub mod profdata;
#[cfg(feature = "alloc")]
pub mod profraw;
#[cfg(feature = "alloc")]
pub mod proftext;
#[cfg(feature = "alloc")]
pub mod words;

#[cfg(feature = "alloc")]
pub use encode_error::EncodeError;
pub use finding::{Finding, Found};
#[cfg(feature = "alloc")]
pub use finding::{Findings, Kind};
