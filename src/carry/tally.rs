//! How much was carried, and what was left out.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::profile::SymbolId;

/// What became of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It stands where it stood: at the same distance in a function of the same name, and so do all calls around it.
    Exact,
    /// Its line, or that of a call around it, has another distance now.
    Shifted,
    /// It is in a function that has another name or was split off, or in a copy inlined there.
    Renamed,
    /// It was left out.
    Dropped,
}

/// Why counts were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The new program has no such function, and none like it.
    Gone,
    /// Lines are gone. The number is the first of them.
    NoLine(i64),
    /// A function that was inlined here is gone.
    NoCallee(SymbolId),
}

/// What a function lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The function in the old profile.
    pub function: SymbolId,
    /// The executions that were left out.
    pub dropped: u128,
    /// All of its executions, inlined copies of it included.
    pub all: u128,
    /// Why, the heaviest reason first, with its executions.
    pub reasons: Vec<(Why, u128)>,
}

/// How much was carried, in executions. An execution has one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    classes: [u128; 4],
    functions: BTreeMap<SymbolId, OfFunction>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OfFunction {
    all: u128,
    reasons: BTreeMap<Why, u128>,
}

impl Tally {
    /// The executions of a class.
    pub const fn of(&self, class: Class) -> u128 {
        self.classes[class as usize]
    }

    /// All executions of the old profile.
    pub fn all(&self) -> u128 {
        self.classes.iter().sum()
    }

    /// The share of executions that was carried, from 0 to 1. Nothing is carried as a whole.
    pub fn carried(&self) -> f64 {
        let all = self.all();
        if all == 0 { 1.0 } else { (all - self.of(Class::Dropped)) as f64 / all as f64 }
    }

    /// Whether all counts stand where they stood.
    pub fn is_unchanged(&self) -> bool {
        self.of(Class::Exact) == self.all()
            && self.functions.values().all(|of| of.reasons.is_empty())
    }

    /// The functions with losses, the heaviest first.
    pub fn losses(&self) -> Vec<Loss> {
        let losses = self.functions.iter().filter(|(_, of)| !of.reasons.is_empty());
        let loss = |(&function, of): (&SymbolId, &OfFunction)| {
            let mut reasons: Vec<(Why, u128)> = of.reasons.iter().map(|(&w, &n)| (w, n)).collect();
            reasons.sort_by_key(|&(_, number)| core::cmp::Reverse(number));
            let dropped = reasons.iter().map(|&(_, number)| number).sum();
            Loss { function, dropped, all: of.all, reasons }
        };
        let mut losses: Vec<Loss> = losses.map(loss).collect();
        losses.sort_by_key(|loss| core::cmp::Reverse(loss.dropped));
        losses
    }

    /// Notes the executions of a function.
    pub(super) fn add(&mut self, function: SymbolId, executions: u128, class: Class) {
        self.classes[class as usize] += executions;
        self.functions.entry(function).or_default().all += executions;
    }

    /// Notes executions of a function that are left out.
    pub(super) fn drop(&mut self, function: SymbolId, executions: u128, why: Why) {
        self.add(function, executions, Class::Dropped);
        let of = self.functions.entry(function).or_default();
        // Lines that are gone are one reason, with the first of them.
        let known = of.reasons.keys().find(|known| {
            matches!((known, why), (Why::NoLine(_), Why::NoLine(_))) || **known == why
        });
        let why = known.copied().unwrap_or(why);
        *of.reasons.entry(why).or_default() += executions;
    }
}
