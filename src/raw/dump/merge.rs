//! Adds dumps.

use alloc::vec::Vec;

use super::{Dump, Module, SiteSpan, SiteView, Sites};
use crate::raw::gcov::Rule;
use crate::raw::merge::{Site, counter};

impl Dump {
    /// Folds `newer` in, as a program that wrote it into this file would have: modules of the same
    /// build are added, others stand beside.
    pub fn merge(&mut self, newer: Self) {
        if self.last_live == 0 {
            self.last_live = newer.last_live;
        }
        for module in newer.modules {
            match self.modules.iter_mut().find(|old| old.record.identity == module.record.identity)
            {
                Some(old) => *old = module.merged_with(old),
                None => self.modules.push(module),
            }
        }
    }

    /// Multiplies all counts by `weight`, as if every run had happened that often.
    pub fn scale(&mut self, weight: u32) {
        self.modules.iter_mut().for_each(|module| module.scale(i64::from(weight)));
    }
}

impl Module {
    fn merged_with(mut self, older: &Self) -> Self {
        self.record.sums = self.record.sums.plus(older.record.sums);
        let rules = self.rules_of_counters();
        let counters = self.counters.iter_mut().zip(&older.counters);
        for ((newer, older), rule) in counters.zip(rules) {
            *newer = counter(rule, *newer, *older);
        }
        let mut older = older.all_sites();
        self.rewrite_sites(|site| {
            let mut merged = site.to_site();
            if let Some(older) = older.next() {
                let mut merge = merged.merge(older.total);
                older.pairs.iter().for_each(|&pair| merge.pair(pair));
                merge.finish();
            }
            merged
        });
        self
    }

    fn scale(&mut self, weight: i64) {
        let sums = &mut self.record.sums;
        for sum in [&mut sums.runs, &mut sums.sum_max, &mut sums.dropped] {
            *sum = sum.saturating_mul(weight as u64);
        }
        let rules = self.rules_of_counters();
        for (value, _) in self.counters.iter_mut().zip(rules).filter(|(_, r)| *r == Rule::Add) {
            *value = value.saturating_mul(weight);
        }
        self.sites.iter_mut().for_each(|site| site.total = site.total.saturating_mul(weight));
        self.pairs.iter_mut().for_each(|pair| pair.count = pair.count.saturating_mul(weight));
    }

    /// The merge rule of each word of `counters`.
    fn rules_of_counters(&self) -> Vec<Rule> {
        let mut rules = Vec::with_capacity(self.counters.len());
        for function in &self.functions {
            for (kind, rule) in function.rules.iter().filter(|&(_, rule)| rule != Rule::TopN) {
                let count = function.counts[usize::from(kind.0)] as usize;
                rules.resize(rules.len() + count, rule);
            }
        }
        rules
    }

    fn all_sites(&self) -> Sites<'_> {
        Sites { spans: self.sites.iter(), pairs: &self.pairs }
    }

    fn rewrite_sites(&mut self, mut rewrite: impl FnMut(SiteView<'_>) -> Site) {
        let mut pairs = Vec::with_capacity(self.pairs.len());
        let mut spans = Vec::with_capacity(self.sites.len());
        for site in self.all_sites() {
            let site = rewrite(site);
            let first = pairs.len();
            pairs.extend_from_slice(&site.pairs);
            spans.push(SiteSpan { total: site.total, pairs: first..pairs.len() });
        }
        self.sites = spans;
        self.pairs = pairs;
    }
}
