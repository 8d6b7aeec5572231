//! Adds profiles, as `llvm-profdata merge` does.
//!
//! Functions with the same name and hash are added: their counters, the bits of their bitmaps, and for each site the
//! counts of equal values. If a function does not fit, the caller learns why, and the sum keeps what it had.
//!
//! A sum of more than 100 runs keeps a random choice of their traces, the same that `llvm-profdata` makes. It
//! applies weights only to traces from raw profiles; here each trace gets the weight of its summand.
//!
//! A [`Summand`] is the model, or what a reader sees in the bytes of a file. The functions of a program mostly
//! come in the same order. So each is first looked for behind the function that it followed in the last summand.

mod add;
mod slots;
mod summand;
mod traces;
mod twister;
mod values;

use alloc::vec::Vec;
use core::fmt;

use hashbrown::HashSet;

use super::{Profile, Variant};
use slots::Slots;
use traces::Traces;

pub use add::LARGEST_COUNT;
pub use summand::{Summand, View};
pub use traces::{Sampling, TraceLimits};

/// A sum of profiles.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    variant: Option<Variant>,
    /// That of summands without functions.
    of_empty: Option<Variant>,
    slots: Slots,
    binary_ids: Distinct,
    vtables: Distinct,
    traces: Traces,
}

/// Names or build-ids, each once.
#[derive(Clone, Debug, Default)]
struct Distinct {
    in_order: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
}

impl Distinct {
    fn add(&mut self, one: &[u8]) {
        if !self.known.contains(one) {
            self.known.insert(one.into());
            self.in_order.push(one.into());
        }
    }
}

/// A function of a summand that was not added, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Name of the function.
    pub name: Vec<u8>,
    /// Hash of its control flow.
    pub hash: u64,
    /// Why.
    pub why: Mismatch,
}

/// Why a function's counts do not fit those of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Another number of counters. Nothing of the function was added.
    #[error("expected {expected} counters, found {found}")]
    Counters {
        /// The sum's.
        expected: usize,
        /// The summand's.
        found: usize,
    },
    /// Another number of bytes of the bitmap. Nothing of the function was added.
    #[error("expected a bitmap of {expected} bytes, found one of {found}")]
    Bitmap {
        /// The sum's.
        expected: usize,
        /// The summand's.
        found: usize,
    },
    /// Another number of sites of a kind. The values of this kind were not added.
    #[error("expected {expected} value sites, found {found}")]
    Sites {
        /// The sum's.
        expected: usize,
        /// The summand's.
        found: usize,
    },
    /// A count became too large. It stays at the largest possible one.
    #[error("counts above {LARGEST_COUNT}")]
    Overflow,
}

/// The programs were instrumented in ways that cannot be added: by the front end and by the optimiser, or with
/// counts and with single-byte coverage. Newer releases of `llvm-profdata` add them, but no compiler understands
/// the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The variant of the sum.
    pub expected: Variant,
    /// The variant of the summand.
    pub found: Variant,
}

impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = |variant: Variant| {
            let by = if variant.has(Variant::IR) { "the optimiser (IR)" } else { "the front end" };
            let what =
                if variant.has(Variant::SINGLE_BYTE) { "single-byte counters" } else { "counters" };
            (what, by)
        };
        let (expected, found) = (level(self.expected), level(self.found));
        write!(
            f,
            "expected {} placed by {}, found {} placed by {}",
            expected.0, expected.1, found.0, found.1
        )
    }
}

impl core::error::Error for Mixed {}

impl Sum {
    /// An empty sum that keeps other numbers of traces than `llvm-profdata`.
    pub fn with_trace_limits(limits: TraceLimits) -> Self {
        Self { traces: Traces::new(limits), ..Self::default() }
    }

    /// Adds a profile `weight` times. Tells which functions do not fit.
    pub fn add(&mut self, profile: &Profile, weight: u64) -> Result<Vec<Refused>, Mixed> {
        self.add_summand(profile, weight)
    }

    /// Adds whatever has functions.
    pub fn add_summand<S: Summand>(
        &mut self,
        summand: &S,
        weight: u64,
    ) -> Result<Vec<Refused>, Mixed> {
        self.unite_variant(summand.variant(), summand.functions().next().is_none())?;
        let mut refused = Vec::new();
        self.slots.start_summand();
        for function in summand.functions() {
            self.slots.add(&function, weight, &mut |why| {
                refused.push(Refused { name: function.name().into(), hash: function.hash(), why });
            });
        }
        self.add_others(summand, weight);
        Ok(refused)
    }

    /// Passes over a file that is not added, where files are dealt out to parts, see [`TraceLimits::parts`].
    pub fn skip(&mut self) {
        self.traces.skip();
    }

    /// The sum.
    pub fn finish(self) -> Profile {
        let (traces, traced_runs) = self.traces.finish();
        Profile {
            variant: self.variant.or(self.of_empty).unwrap_or_default(),
            functions: self.slots.finish(),
            binary_ids: self.binary_ids.in_order,
            traces,
            traced_runs,
            vtables: self.vtables.in_order,
        }
    }

    /// A summand without functions fits all others: a program may have images without counters.
    fn unite_variant(&mut self, found: Variant, is_empty: bool) -> Result<(), Mixed> {
        if is_empty {
            self.of_empty.get_or_insert(found);
            return Ok(());
        }
        let expected = *self.variant.get_or_insert(found);
        let differ = expected.0 ^ found.0;
        if differ & (Variant::IR.0 | Variant::SINGLE_BYTE.0) != 0 {
            return Err(Mixed { expected, found });
        }
        self.variant = Some(Variant(expected.0 | found.0));
        Ok(())
    }

    fn add_others<S: Summand>(&mut self, summand: &S, weight: u64) {
        summand.binary_ids().for_each(|id| self.binary_ids.add(id));
        summand.vtables().for_each(|name| self.vtables.add(name));
        let traces = summand.traces().map(|mut trace| {
            trace.weight = trace.weight.saturating_mul(weight);
            trace
        });
        self.traces.add(traces, summand.runs());
    }
}
