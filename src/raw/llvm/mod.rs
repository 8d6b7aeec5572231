//! What the sections of a module instrumented by LLVM hold: clang's and rustc's objects.
//!
//! [`version`] knows LLVM's versions and how programs are instrumented, [`layout`] where the fields of the compilers'
//! records are, [`header`] what stands before them in a raw profile, [`kind`] the kinds of counters and how they merge,
//! [`record`] the records of a dump, and [`plain`] a shorter form of most. An *object* is a run of functions with one
//! layout, usually all of the image.
//!
//! **STRINGS**: the image's path, then the names of all functions as the compilers have encoded them, then those of
//! virtual tables.
//!
//! **OBJECTS**: one 32-byte [`super::gcov::ObjectRecord`] per object. Its version is that of the layout, its
//! stamp the upper half of the version word. The first object has the names in place of a path, and their CRC-32 as
//! checksum. If it has none, because its functions are [`correlated`], and the image has no build-id, the checksum is
//! that of the image's code. Two objects of version 0, without functions, may stand behind the others: one has the
//! names of virtual tables, and one, without names, has as checksum how many bytes of records have a layout that the
//! runtime does not know.
//!
//! **FUNCTIONS**: the functions in the order of the image's records. Those that count only executions stand in rows,
//! see
//! [`plain`]. In an image of [`correlated`] functions, one stands for all of them. Each other one has:
//!
//! * a word 0, which no row begins with;
//! * the head: a 32-byte [`record::FunctionRecord`], then as for gcov's functions the numbers of counters of its
//!   kinds, three for a site;
//! * the counts, kind by kind, as for gcov's functions. Kinds of bytes have eight to a word, the last word filled
//!   with zeros.
//!
//! The signature of a module without a build-id covers the heads of all functions as they stand behind the word 0, with
//! 0 for the offsets: those are content, see [`record::FunctionRecord`].
//!
//! Up to format version 3 it covers the offsets, too, which also functions of other images have: from the start of this
//! image, wherever they lay. Functions with an offset from 2^32 on stand in no row. In version 2, all functions have
//! heads, and none has a word 0.
//!
//! The value of an indirect call is the target's offset from the start of its image, or the number of its name, with
//! bits of [`record::Target`]. So runs of one build agree, wherever the system has loaded it. It has a name if its
//! record has no offset: if it is in another image, or the site is in one that does not know where it is.

pub mod correlated;
pub mod header;
pub mod kind;
pub mod layout;
pub mod plain;
pub mod record;
pub mod version;

pub use correlated::CorrelatedFunction;
pub use header::{MAGICS, Word};
pub use layout::Layout;
pub use record::{FunctionRecord, Target};
pub use version::Version;
