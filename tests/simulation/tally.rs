//! Counts, in two measures: how often the paths of the counted functions ran, and what an image's counters hold.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use countersink::raw::dump::{Module, Values};
use countersink::raw::kind::Rule;

pub const FUNCTIONS: usize = 4;
pub const PATHS: usize = 3;

/// How often each path of each counted function ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally(pub [[i64; PATHS]; FUNCTIONS]);

impl Tally {
    /// Some runs of one path.
    pub fn of(function: usize, path: usize, times: i64) -> Self {
        let mut tally = Self::default();
        tally.0[function][path] = times;
        tally
    }

    /// Every path once.
    pub fn all() -> Self {
        Self([[1; PATHS]; FUNCTIONS])
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    pub fn minus(mut self, other: &Self) -> Self {
        for (these, those) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *these -= those;
        }
        self
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (these, those) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *these += those;
        }
    }
}

/// A counter of an image, or the events or a value of one of its sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    function: usize,
    kind: u8,
    index: usize,
    value: Option<i64>,
}

/// The counters of an image that are not 0. The order of first calls is not among them: it is no sum.
pub type Counts = BTreeMap<Place, i64>;

/// The counts of a module of a dump.
pub fn counts_of(module: &Module) -> Counts {
    let mut counts = Counts::new();
    let functions = module.objects.iter().flat_map(|object| module.functions(object));
    for (function, view) in functions.enumerate() {
        for (kind, values) in view.kinds() {
            let place = |index, value| Place { function, kind: kind.0, index, value };
            match values {
                Values::Counters(counters) => {
                    let is_sum =
                        matches!(view.rules().rule(kind), Some(Rule::Add | Rule::Saturate));
                    let counters = counters.iter().enumerate().filter(|_| is_sum);
                    counts.extend(counters.map(|(index, &count)| (place(index, None), count)));
                }
                Values::Sites(sites) => {
                    for (index, site) in sites.enumerate() {
                        counts.insert(place(index, None), site.total);
                        for pair in site.pairs {
                            counts.insert(place(index, Some(pair.value)), pair.count);
                        }
                    }
                }
            }
        }
    }
    counts.retain(|_, count| *count != 0);
    counts
}

/// What one run of each path adds to an image's counts.
#[derive(Clone, Debug, Default)]
pub struct Units {
    pub of: [[Counts; PATHS]; FUNCTIONS],
    /// Values that are not the same in every run: addresses in other images.
    pub unsteady: Vec<Place>,
}

impl Units {
    /// The counts that these runs must have left.
    pub fn counts(&self, tally: &Tally) -> Counts {
        let mut sum = Counts::new();
        for (unit, &times) in self.of.iter().flatten().zip(tally.0.iter().flatten()) {
            for (&place, &count) in unit {
                *sum.entry(place).or_default() += count * times;
            }
        }
        self.steady(sum)
    }

    /// Without what differs from run to run.
    pub fn steady(&self, mut counts: Counts) -> Counts {
        counts.retain(|place, count| *count != 0 && !self.is_unsteady(place));
        counts
    }

    fn is_unsteady(&self, place: &Place) -> bool {
        let same_site =
            |other: &Place| Place { value: None, ..*other } == Place { value: None, ..*place };
        place.value.is_some() && self.unsteady.iter().any(same_site)
    }
}
