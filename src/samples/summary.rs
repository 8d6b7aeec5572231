//! The summary of a sample profile. Contexts of one function count as one function.

use alloc::collections::BTreeMap;

use super::{Body, Samples};
use crate::profile::{Summary, SymbolId, Tally};

impl Samples {
    /// The summary that belongs to the counts.
    pub fn summary(&self) -> Summary {
        let mut tally = Tally::default();
        if !self.traits.contexts {
            self.functions.values().for_each(|body| note(&mut tally, body));
            return tally.summary();
        }
        let mut merged: BTreeMap<SymbolId, Body> = BTreeMap::new();
        for (&context, body) in &self.functions {
            merged.entry(self.contexts.function(context)).or_default().add(body);
        }
        merged.values().for_each(|body| note(&mut tally, body));
        tally.summary()
    }
}

fn note(tally: &mut Tally, body: &Body) {
    tally.add_function(body.head);
    body.for_each_body(&mut |body| {
        body.records.values().for_each(|record| tally.add_count(record.count));
    });
}
