//! LLVM's instrumentation, versions 13 to 23: the sections that clang's and rustc's objects leave in an image.
//!
//! | section | content |
//! |---|---|
//! | `__llvm_prf_data` | function records, see [`crate::raw::llvm::version`] |
//! | `__llvm_prf_cnts` | counters: 64-bit words, 0 at first; or bytes, 0xff at first, 0 when executed |
//! | `__llvm_prf_bits` | bitmaps of conditions |
//! | `__llvm_prf_vals` | a slot for each site of values, NULL at first |
//! | `__llvm_prf_vnds` | room for values, 24 bytes each; here the heads of sites |
//! | `__llvm_prf_names` | the functions' names, encoded |
//! | `__llvm_prf_vtab`, `__llvm_prf_vns` | virtual tables, and their names, encoded |
//!
//! No object says which layout its records have, and objects of several compilers may be in one image. So
//! `object.rs` recognises the layouts by what the records lead to.

mod array;
pub mod buffer;
mod correlated;
mod function;
mod module;
mod object;
#[cfg(feature = "runtime")]
pub mod pattern;
mod record;
mod registry;
mod sections;
mod site;

pub use array::Array;
pub use correlated::WholeRecord;
pub use function::{Function, Functions};
pub use object::Object;
pub use record::Record;
pub use registry::Registry;
pub use sections::{Bounds, Sections};
pub use site::{Head, Heads, Slot, begun, note_first_call, size_class};
