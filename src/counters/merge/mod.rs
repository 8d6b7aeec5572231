//! Adds profiles, as `llvm-profdata merge` does.
//!
//! Counters of the same name and hash are added, bitmaps united, values of a site added by value. What cannot be
//! added is told for each function; then the sum keeps what it had.
//!
//! A [`Summand`] is the model, or what a reader sees in the bytes of a file. The functions of a program mostly
//! come in the same order, so each is first looked for behind its predecessor of the summand before.

mod add;
mod slots;
mod summand;
mod values;

use alloc::vec::Vec;
use core::fmt;

use super::{Profile, Trace, Variant};
use slots::Slots;

pub use add::LARGEST_COUNT;
pub use summand::{Summand, View};

/// A sum of profiles.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    variant: Option<Variant>,
    slots: Slots,
    binary_ids: Vec<Vec<u8>>,
    vtables: Vec<Vec<u8>>,
    traces: Vec<Trace>,
    runs: u64,
}

/// A function of a summand that was not added, or not whole.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Another number of counters. Nothing of the function was added.
    Counters {
        /// The sum's.
        expected: usize,
        /// The summand's.
        found: usize,
    },
    /// Another number of bytes of the bitmap. Nothing of the function was added.
    Bitmap {
        /// The sum's.
        expected: usize,
        /// The summand's.
        found: usize,
    },
    /// Another number of sites of a kind. The values of this kind were not added.
    Sites {
        /// The sum's.
        expected: usize,
        /// The summand's.
        found: usize,
    },
    /// A count became too large. It is the largest one now.
    Overflow,
}

/// Profiles of programs that were instrumented in ways that cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The variant of the sum.
    pub expected: Variant,
    /// The variant of the summand.
    pub found: Variant,
}

impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = |variant: Variant| match variant.has(Variant::IR) {
            true => "the optimiser (IR)",
            false => "the front end",
        };
        let (expected, found) = (level(self.expected), level(self.found));
        write!(f, "expected counters placed by {expected}, found some placed by {found}")
    }
}

impl core::error::Error for Mixed {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counters { expected, found } => {
                write!(f, "expected {expected} counters, found {found}")
            }
            Self::Bitmap { expected, found } => {
                write!(f, "expected a bitmap of {expected} bytes, found one of {found}")
            }
            Self::Sites { expected, found } => {
                write!(f, "expected {expected} sites of values, found {found}")
            }
            Self::Overflow => write!(f, "counts above {LARGEST_COUNT}"),
        }
    }
}

impl Sum {
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
        self.unite_variant(summand.variant())?;
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

    /// The sum.
    pub fn finish(self) -> Profile {
        Profile {
            variant: self.variant.unwrap_or_default(),
            functions: self.slots.finish(),
            binary_ids: self.binary_ids,
            traces: self.traces,
            traced_runs: self.runs,
            vtables: self.vtables,
        }
    }

    fn unite_variant(&mut self, found: Variant) -> Result<(), Mixed> {
        let expected = *self.variant.get_or_insert(found);
        if expected.has(Variant::IR) != found.has(Variant::IR) {
            return Err(Mixed { expected, found });
        }
        self.variant = Some(Variant(expected.0 | found.0));
        Ok(())
    }

    fn add_others<S: Summand>(&mut self, summand: &S, weight: u64) {
        for id in summand.binary_ids() {
            if !self.binary_ids.iter().any(|own| own == id) {
                self.binary_ids.push(id.into());
            }
        }
        for name in summand.vtables() {
            if !self.vtables.iter().any(|own| own == name) {
                self.vtables.push(name.into());
            }
        }
        self.runs += summand.runs();
        for mut trace in summand.traces() {
            trace.weight = trace.weight.saturating_mul(weight);
            self.traces.push(trace);
        }
    }
}
