//! What the sections of a module instrumented by GCC hold.
//!
//! [`version`] decodes the compiler's version word, [`kind`] knows the counter kinds and how they
//! merge, [`record`] has the object and function records. The numbers are GCC's (`gcov-io.h`,
//! `gcov-counter.def`, releases 10 to 16 and the snapshot of 17), checked against its compilers.
//!
//! **OBJECTS**: one 32-byte [`ObjectRecord`] per object, in the order of registration.
//!
//! **FUNCTIONS**: for each object its functions in the object's order, each followed by its counts. So
//! writing and merging walk everything once:
//!
//! * the head: a 16-byte [`FunctionRecord`], which names the kinds that the function has counters of;
//!   then for each of these kinds (ascending) a `u32`, the number of 64-bit counters that the compiler laid
//!   out; padded with zero to 8 bytes;
//! * the counts, kind by kind, all signed 64-bit words. A top-N kind has for each site: total,
//!   [`crate::raw::site::SiteHead`], the error if the head announces it, then the values with their counts in the
//!   order of the site's list, as the head says. Any other kind has its counters.

pub mod kind;
pub mod record;
pub mod version;

pub use crate::raw::kind::{Kind, Rule, Rules};
pub use crate::raw::object::ObjectRecord;
pub use record::FunctionRecord;
pub use version::Version;
