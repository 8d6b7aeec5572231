//! The model of counters by function: what LLVM's raw, indexed and text profiles say, each in its own bytes.
//!
//! A profile has functions, identified by name and hash. Each has the counters that the compiler laid out, an MC/DC
//! bitmap, and value sites: targets of indirect calls, sizes of memory operations, virtual tables. A target is
//! known by its name. Counts at source positions are another model, [`crate::profile`]. Byte layouts,
//! and what readers of each version want, belong to [`crate::formats`].

pub mod merge;
mod name;
pub mod order;
pub mod overlap;
pub mod summary;

use alloc::vec::Vec;

pub use name::{file_and_symbol, name_ref};

/// The bit of a function's hash that is set if the function was counted after inlining, see
/// [`Variant::CONTEXT_SENSITIVE`].
pub const CONTEXT_SENSITIVE_HASH: u64 = 1 << 60;

/// A profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// How the program was instrumented.
    pub variant: Variant,
    /// Its functions, in the order of the file. A name and hash may appear more than once in a raw profile;
    /// merging adds them.
    pub functions: Vec<Function>,
    /// Build-ids of the images, each once, in the order of the file.
    pub binary_ids: Vec<Vec<u8>>,
    /// Temporal profile traces, one for each run.
    pub traces: Vec<Trace>,
    /// Number of runs that the traces were chosen from, if there were more runs than traces.
    pub traced_runs: u64,
    /// Names of virtual tables.
    pub vtables: Vec<Vec<u8>>,
}

impl Profile {
    /// Number of runs that the traces were chosen from.
    pub fn runs(&self) -> u64 {
        self.traced_runs.max(self.traces.len() as u64)
    }
}

/// One function under one hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Name as the compiler wrote it for profiles: the symbol, with the source file before it if it is local.
    pub name: Vec<u8>,
    /// Hash of the control flow, by the algorithm of the compiler's version.
    pub hash: u64,
    /// Executions, in the compiler's order. With single-byte coverage 1 is "covered".
    pub counters: Vec<u64>,
    /// The MC/DC bitmap: a bit for each combination of conditions that occurred.
    pub bitmap: Vec<u8>,
    /// Value sites, by [`ValueKind`].
    pub values: [Vec<Site>; ValueKind::ALL.len()],
}

/// What the values of a site are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// Targets of indirect calls: the low 64 bits of the MD5 of the function's name, 0 if it is unknown.
    IndirectCall = 0,
    /// Sizes of memory operations, in bytes.
    MemorySize = 1,
    /// Virtual tables: the low 64 bits of the MD5 of the name, 0 if it is unknown.
    VirtualTable = 2,
}

impl ValueKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::IndirectCall, Self::MemorySize, Self::VirtualTable];
}

/// The values seen at one place of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The values in the order of the file.
    pub values: Vec<Value>,
}

/// A value and how often it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// See [`ValueKind`].
    pub value: u64,
    /// Times seen.
    pub count: u64,
}

/// A temporal profile trace: the order in which one run first called functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// How much the run counts relative to others.
    pub weight: u64,
    /// For each function, the low 64 bits of the MD5 of its name.
    pub functions: Vec<u64>,
}

/// How a program was instrumented: the bits above the version in the version word of raw and indexed profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant(pub u64);

impl Variant {
    /// Entries of loops always have a counter.
    pub const LOOP_ENTRIES: Self = Self(1 << 55);
    /// The optimiser placed the counters, not the front end.
    pub const IR: Self = Self(1 << 56);
    /// There are functions counted after inlining, in the second of two instrumented builds.
    pub const CONTEXT_SENSITIVE: Self = Self(1 << 57);
    /// The entry of a function always has a counter, the first.
    pub const ENTRY_FIRST: Self = Self(1 << 58);
    /// Functions are described by the program's debug information, not in the profile.
    pub const DEBUG_INFO_CORRELATION: Self = Self(1 << 59);
    /// Counters are bytes that say "covered" or not.
    pub const SINGLE_BYTE: Self = Self(1 << 60);
    /// There is one counter for each function.
    pub const FUNCTION_ENTRY_ONLY: Self = Self(1 << 61);
    /// There are memory profiles, in indexed profiles.
    pub const MEMORY_PROFILE: Self = Self(1 << 62);
    /// The first counter of a function is the time of its first call.
    pub const TEMPORAL: Self = Self(1 << 63);
    /// All bits of a version word that belong to the variant.
    pub const MASK: u64 = 0xffff_ffff << 32;

    /// Whether all these bits are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
