//! Adds sample profiles, as `llvm-profdata merge --sample` does.
//!
//! Positions mean the same places only in profiles of one kind, and probes only under one checksum. So profiles of
//! different kinds are not added, and functions of other checksums are left out.

use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::fmt;

use super::{Body, ContextId, Contexts, Frame, Record, Samples, Traits};
use crate::profile::SymbolId;

/// The profiles are of different kinds: their positions do not mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The kind of the sum.
    pub expected: Traits,
    /// The kind of the summand.
    pub found: Traits,
}

/// A function that was not added, or not with all that is inlined in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Its name.
    pub name: Vec<u8>,
    /// Why.
    pub why: Mismatch,
}

/// Why counts of a function are missing in the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Its control flow has another checksum, or that of a copy inlined in it has. The function or the copy is left
    /// out.
    #[error(
        "other checksum of the control flow, so from another build; what does not fit is left out"
    )]
    Checksum,
    /// A count became too large. It stays at the largest possible one.
    #[error("counts above 18446744073709551615 stay there")]
    Overflow,
}

impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = |traits: Traits| match traits.probes {
            true => "pseudo-probe",
            false => "line",
        };
        let contexts = |traits: Traits| if traits.contexts { "with" } else { "without" };
        let (expected, found) = (self.expected, self.found);
        match expected.probes == found.probes {
            false => {
                write!(f, "expected counts by {}, found counts by {}", kind(expected), kind(found))
            }
            true => write!(
                f,
                "expected counts {} contexts, found counts {} contexts",
                contexts(expected),
                contexts(found)
            ),
        }
    }
}

impl core::error::Error for Mixed {}

impl Samples {
    /// Adds another profile, with its counts multiplied by `weight`. The symbols of both are in the result, and what
    /// holds for either of them. Tells which functions do not fit.
    pub fn merge(&mut self, other: &Self, weight: u64) -> Result<Vec<Unfit>, Mixed> {
        let (expected, found) = (self.traits, other.traits);
        let are_alike = (expected.probes, expected.contexts) == (found.probes, found.contexts);
        if !are_alike && !self.functions.is_empty() {
            return Err(Mixed { expected, found });
        }
        let adopted = self.symbols.adopt_all(&other.symbols);
        let own = |symbol: SymbolId| adopted.of(symbol);
        let mut unfit = Vec::new();
        for (&context, body) in &other.functions {
            let context = adopt(&mut self.contexts, &other.contexts, context, own);
            let added = match self.functions.entry(context) {
                Entry::Vacant(place) => place.insert(Body::like(body)).merge(body, weight, &own),
                Entry::Occupied(known) => known.into_mut().merge(body, weight, &own),
            };
            if let Err(why) = added {
                let name = self.symbols.name(self.contexts.function(context)).to_vec();
                unfit.push(Unfit { name, why });
            }
        }
        self.symbol_list.extend_from_slice(&other.symbol_list);
        self.symbol_list.sort_unstable();
        self.symbol_list.dedup();
        let traits = &mut self.traits;
        traits.contexts |= found.contexts;
        traits.probes |= found.probes;
        traits.flow_sensitive |= found.flow_sensitive;
        traits.partial |= found.partial;
        traits.preinlined |= found.preinlined;
        Ok(unfit)
    }

    /// Adds counts to those of a context.
    pub fn add(&mut self, context: ContextId, body: Body) {
        match self.functions.entry(context) {
            Entry::Vacant(place) => _ = place.insert(body),
            Entry::Occupied(known) => known.into_mut().add(&body),
        }
    }
}

/// A context of another profile, in this one.
fn adopt(
    contexts: &mut Contexts,
    other: &Contexts,
    context: ContextId,
    own: impl Fn(SymbolId) -> SymbolId,
) -> ContextId {
    let mut frames: alloc::vec::Vec<Frame> = other.frames(context).collect();
    frames.iter_mut().for_each(|frame| frame.function = own(frame.function));
    let own_function = own(other.function(context));
    contexts.of(&frames).unwrap_or_else(|| contexts.base(own_function))
}

impl Body {
    /// An empty body of the same function.
    fn like(other: &Self) -> Self {
        let &Self { checksum, attributes, .. } = other;
        Self { checksum, attributes, ..Self::default() }
    }

    /// Adds another body of the same profile. Keeps its own checksum, if it has one.
    pub fn add(&mut self, other: &Self) {
        if self.checksum == 0 {
            self.checksum = other.checksum;
        }
        self.attributes |= other.attributes;
        // Counts that become too large stay at the largest one.
        let _ = self.add_own(other, 1, &|symbol| symbol);
        for (&place, body) in &other.inlined {
            self.inlined.entry(place).or_default().add(body);
        }
    }

    /// Adds the body that another profile has for the function.
    fn merge(
        &mut self,
        other: &Self,
        weight: u64,
        own: &impl Fn(SymbolId) -> SymbolId,
    ) -> Result<(), Mismatch> {
        match self.checksum {
            0 => self.checksum = other.checksum,
            checksum if checksum != other.checksum => return Err(Mismatch::Checksum),
            _ => {}
        }
        let mut added = self.add_own(other, weight, own);
        for (&(site, callee), body) in &other.inlined {
            let place = (site, own(callee));
            let copy = self.inlined.entry(place).or_insert_with(|| Self::like(body));
            added = added.and(copy.merge(body, weight, own));
        }
        added
    }

    /// Adds what another body has, without what is inlined there.
    fn add_own(
        &mut self,
        other: &Self,
        weight: u64,
        own: &impl Fn(SymbolId) -> SymbolId,
    ) -> Result<(), Mismatch> {
        let head = add(&mut self.head, other.head, weight);
        let mut added = head.and(add(&mut self.total, other.total, weight));
        for (&site, record) in &other.records {
            added = added.and(self.records.entry(site).or_default().merge(record, weight, own));
        }
        added
    }
}

impl Record {
    /// Adds another record of the same profile.
    pub fn add(&mut self, other: &Self) {
        // Counts that become too large stay at the largest one.
        let _ = self.merge(other, 1, &|symbol| symbol);
    }

    fn merge(
        &mut self,
        other: &Self,
        weight: u64,
        own: &impl Fn(SymbolId) -> SymbolId,
    ) -> Result<(), Mismatch> {
        let mut added = add(&mut self.count, other.count, weight);
        for (&target, &calls) in &other.targets {
            added = added.and(add(self.targets.entry(own(target)).or_default(), calls, weight));
        }
        added
    }
}

fn add(sum: &mut u64, count: u64, weight: u64) -> Result<(), Mismatch> {
    let exact = count.checked_mul(weight).and_then(|product| sum.checked_add(product));
    *sum = exact.unwrap_or(u64::MAX);
    exact.map(drop).ok_or(Mismatch::Overflow)
}
