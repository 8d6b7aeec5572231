//! Adds dumps.

use alloc::vec::Vec;
use core::ops::Range;

use super::builds::Builds;
use super::{Dump, Module, SiteSpan};
use crate::raw::kind::Rule;
use crate::raw::llvm::FunctionRecord;
use crate::raw::merge::{Site, counter};

impl Dump {
    /// Folds `newer` in, as if its program had written into this file: modules of the same build are added,
    /// others stand beside.
    pub fn merge(&mut self, newer: Self) {
        if self.last_live == 0 {
            self.last_live = newer.last_live;
        }
        let (mut builds, modules) = (Builds::default(), &mut self.modules);
        for (place, module) in modules.iter().enumerate() {
            builds.place_or(module, place, |place| &modules[place]);
        }
        for module in newer.modules {
            match builds.place_or(&module, modules.len(), |place| &modules[place]) {
                Some(place) => modules[place] = module.merged_with(&modules[place]),
                None => modules.push(module),
            }
        }
    }

    /// Multiplies all counts by `weight`, as if every run had happened that many times.
    pub fn scale(&mut self, weight: u32) {
        if weight == 1 {
            return;
        }
        self.modules.iter_mut().for_each(|module| module.scale(i64::from(weight)));
    }
}

impl Module {
    /// Whether the counts have the same places. Equal identities say so, unless somebody told a linker which
    /// build-id to give.
    pub fn is_same_build(&self, other: &Self) -> bool {
        self.record.identity == other.record.identity
            && (&self.functions, &self.numbers) == (&other.functions, &other.numbers)
            && self.llvm.len() == other.llvm.len()
            && self.llvm.iter().zip(&other.llvm).all(|(one, other)| one.is_same(other))
    }

    /// Takes over what another run of the same build knows of the places of functions. Says whether that is anything
    /// new.
    pub fn learn(&mut self, other: &Self) -> bool {
        let mut is_news = false;
        for (record, other) in self.llvm.iter_mut().zip(&other.llvm) {
            let before = record.offset;
            record.offset = FunctionRecord::known_offset(before, other.offset);
            is_news |= record.offset != before;
        }
        is_news
    }

    /// Forgets the places of functions. What is left of a layout is identity.
    pub fn forget_places(&mut self) {
        self.llvm.iter_mut().for_each(|record| record.offset = 0);
    }

    fn merged_with(mut self, older: &Self) -> Self {
        self.sums = self.sums.plus(older.sums);
        self.learn(older);
        self.for_each_run(|rule, place, newer| {
            let older = older.counters.get(place).unwrap_or_default();
            newer.iter_mut().zip(older).for_each(|(n, &older)| *n = counter(rule, *n, older));
        });
        self.merge_sites(older);
        self
    }

    fn merge_sites(&mut self, older: &Self) {
        let mut pairs = Vec::with_capacity(self.pairs.len().max(older.pairs.len()));
        let mut merged = Site::default();
        for (span, older_span) in self.sites.iter_mut().zip(&older.sites) {
            let newer = self.pairs.get(span.pairs.clone()).unwrap_or_default();
            let older = older.pairs.get(older_span.pairs.clone()).unwrap_or_default();
            (merged.total, merged.error) = (span.total, span.error);
            merged.pairs.clear();
            let _ = merged.pairs.extend_from_slice(newer);
            let mut merge = merged.merge(older_span.total, older_span.error);
            older.iter().for_each(|&pair| merge.pair(pair));
            merge.finish();
            let first = pairs.len();
            pairs.extend_from_slice(&merged.pairs);
            let Site { total, error, .. } = merged;
            *span = SiteSpan { total, error, pairs: first..pairs.len() };
        }
        self.pairs = pairs;
    }

    fn scale(&mut self, weight: i64) {
        let sums = &mut self.sums;
        for sum in [&mut sums.runs, &mut sums.sum_max, &mut sums.dropped] {
            *sum = sum.saturating_mul(weight as u64);
        }
        self.for_each_run(|rule, _, counters| {
            let times = |value: i64| match rule {
                Rule::Add => value.saturating_mul(weight),
                Rule::Saturate => (value as u64).saturating_mul(weight as u64) as i64,
                _ => value,
            };
            counters.iter_mut().for_each(|value| *value = times(*value));
        });
        for site in &mut self.sites {
            site.total = site.total.saturating_mul(weight);
            site.error = site.error.saturating_mul(weight);
        }
        self.pairs.iter_mut().for_each(|pair| pair.count = pair.count.saturating_mul(weight));
    }

    /// Visits the plain counters of each kind of each function, with their rule and place.
    pub(super) fn for_each_run(&mut self, mut visit: impl FnMut(Rule, Range<usize>, &mut [i64])) {
        let mut end = 0;
        for function in &self.functions {
            for (_, rule, number) in function.kinds(&self.numbers) {
                if rule == Rule::TopN {
                    continue;
                }
                let start = end;
                end += rule.words(number);
                visit(rule, start..end, self.counters.get_mut(start..end).unwrap_or_default());
            }
        }
    }
}
