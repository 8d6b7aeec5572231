//! What the sections of a module instrumented by LLVM hold: clang's and rustc's objects.
//!
//! [`version`] has the layouts and variants, [`kind`] the kinds of counters and how they merge, [`record`] the
//! records. An *object* is a run of functions with one layout, usually all of the image.
//!
//! **STRINGS**: behind the image's path the names of all functions as the compilers have encoded them, then those
//! of virtual tables.
//!
//! **OBJECTS**: one 32-byte [`super::gcov::ObjectRecord`] per object. Its version is the number of the layout, its
//! stamp the upper half of the version word. The first object has the names in place of a path, and their CRC-32
//! as checksum; an object without functions behind the others has the names of virtual tables.
//!
//! **FUNCTIONS**: each function in the order of the image's records, followed by its counts:
//!
//! * the head: a 32-byte [`record::FunctionRecord`], then as for gcov's functions the numbers of counters of its
//!   kinds, three for a site;
//! * the counts, kind by kind, as for gcov's functions. Kinds of bytes have eight to a word, the last word filled
//!   with zeros.
//!
//! The value of an indirect call is the target's offset from the start of its image, with bits of
//! [`record::Target`]. So runs of one build agree, wherever the system has loaded it.

pub mod kind;
pub mod record;
pub mod version;

pub use record::{FunctionRecord, Target};
pub use version::Layout;
