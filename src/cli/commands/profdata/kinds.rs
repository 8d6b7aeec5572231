//! Which kinds of profiles `llvm-profdata merge` adds, by its release.
//!
//! LLVM 13 asks whether the optimiser placed the counters or a front end, and refuses to add one to the other. From
//! LLVM 14 on, only a text that says `:fe` is of a front end; raw and indexed profiles do not say so, and are added to
//! all others but such texts. A sum that says nothing takes any kind. Counters of function entries only are not added
//! to those of a profile whose entries, or entries of loops, always have a counter.

use crate::cli::inputs::instr_profiles::read::Marks;
use crate::counters::Variant;
use crate::counters::merge::Sampling;

/// The release whose rules hold if nobody chooses one.
pub const USUAL: u32 = 22;
/// The first release that takes a profile for damaged if a counter is very large.
const DOUBTS_LARGE_COUNTS: u32 = 18;

/// What a release makes of profiles.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    major: u32,
    sum: Option<Kind>,
}

/// How the counters of a profile were placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    variant: Variant,
    says_front_end: bool,
}

impl Kinds {
    /// Those of a release, before anything was added.
    pub const fn of(major: u32) -> Self {
        Self { major, sum: None }
    }

    /// Whether a profile may be added to those before it.
    pub fn add(&mut self, variant: Variant, marks: Marks) -> bool {
        let found = Kind { variant, says_front_end: marks.says_front_end };
        let Some(sum) = self.sum else {
            self.sum = Some(found);
            return true;
        };
        let is_any = sum == Kind { variant: Variant(0), says_front_end: false };
        let (fits, kept) = match self.major {
            ..=13 => {
                let fits = sum.variant.has(Variant::IR) == variant.has(Variant::IR);
                // The last file decides.
                (fits, sum.variant.0 & !Variant::ENTRY_FIRST.0)
            }
            _ => {
                let says_same = sum.says_front_end == found.says_front_end;
                let clash = clash(sum.variant, variant) || clash(variant, sum.variant);
                (is_any || says_same && !clash, sum.variant.0)
            }
        };
        if fits {
            let variant = Variant(kept | variant.0);
            let says_front_end = sum.says_front_end || found.says_front_end;
            self.sum = Some(Kind { variant, says_front_end });
        }
        fits
    }

    /// What all that was added says together.
    pub fn variant(&self) -> Variant {
        self.sum.map_or(Variant(0), |sum| sum.variant)
    }

    /// Which temporal profile traces it keeps.
    pub const fn sampling(&self) -> Sampling {
        Sampling::of_llvm(self.major)
    }

    /// Whether a profile is taken for damaged, but added all the same.
    pub const fn doubts(&self, marks: Marks) -> bool {
        self.major >= DOUBTS_LARGE_COUNTS && marks.has_large_count
    }
}

/// Whether one has only entries of functions, and the other more about entries.
fn clash(only: Variant, other: Variant) -> bool {
    let more = other.has(Variant::ENTRY_FIRST) || other.has(Variant::LOOP_ENTRIES);
    only.has(Variant::FUNCTION_ENTRY_ONLY) && more
}
