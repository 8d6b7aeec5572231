//! Adds sample profiles.

use alloc::collections::btree_map::Entry;

use super::{Body, ContextId, Contexts, Frame, Record, Samples};
use crate::profile::{RareMap, SymbolId};

impl Samples {
    /// Adds another profile, with its counts multiplied by `weight`. The symbols of both are in the result, and what
    /// holds for either of them.
    pub fn merge(&mut self, other: &Self, weight: u64) {
        let adopted = self.symbols.adopt_all(&other.symbols);
        let own = |symbol: SymbolId| adopted.of(symbol);
        for (&context, body) in &other.functions {
            let context = adopt(&mut self.contexts, &other.contexts, context, own);
            self.functions.entry(context).or_default().merge(body, weight, &own);
        }
        self.symbol_list.extend_from_slice(&other.symbol_list);
        self.symbol_list.sort_unstable();
        self.symbol_list.dedup();
        let traits = &mut self.traits;
        traits.contexts |= other.traits.contexts;
        traits.probes |= other.traits.probes;
        traits.flow_sensitive |= other.traits.flow_sensitive;
        traits.partial |= other.traits.partial;
        traits.preinlined |= other.traits.preinlined;
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
    /// Adds another body of the same profile. Keeps its own checksum, if it has one.
    pub fn add(&mut self, other: &Self) {
        self.merge(other, 1, &|symbol| symbol);
    }

    fn merge(&mut self, other: &Self, weight: u64, own: &impl Fn(SymbolId) -> SymbolId) {
        add(&mut self.head, other.head, weight);
        add(&mut self.total, other.total, weight);
        if self.checksum == 0 {
            self.checksum = other.checksum;
        }
        self.attributes |= other.attributes;
        for (&site, record) in &other.records {
            self.records.entry(site).or_default().merge(record, weight, own);
        }
        for (&(site, callee), body) in &other.inlined {
            self.inlined.entry((site, own(callee))).or_default().merge(body, weight, own);
        }
    }
}

impl Record {
    /// Adds another record of the same profile.
    pub fn add(&mut self, other: &Self) {
        self.merge(other, 1, &|symbol| symbol);
    }

    fn merge(&mut self, other: &Self, weight: u64, own: &impl Fn(SymbolId) -> SymbolId) {
        add(&mut self.count, other.count, weight);
        add_targets(&mut self.targets, &other.targets, weight, own);
    }
}

fn add_targets(
    sum: &mut RareMap<SymbolId, u64>,
    other: &RareMap<SymbolId, u64>,
    weight: u64,
    own: &impl Fn(SymbolId) -> SymbolId,
) {
    for (&target, &calls) in other {
        add(sum.entry(own(target)).or_default(), calls, weight);
    }
}

fn add(sum: &mut u64, count: u64, weight: u64) {
    *sum = sum.saturating_add(count.saturating_mul(weight));
}
