//! The sum of many dumps. No count depends on the order of the dumps, as long as no site has more than [`MOST_VALUES`]
//! values. [`Dump::merge`] adds two dumps as the runtime does.
//!
//! The runtime adds one run at a time and must drop values as soon as a site is full. A sum keeps all values of a site,
//! up to [`MOST_VALUES`], and drops values once, at its end. A sum of two dumps equals that of the runtime.
//! A sum of more dumps has a smaller error at full sites. A decoder of a table adds to a sum row by row.
//!
//! Four facts depend on the order of the dumps, and a *rank* decides each: the last path of an image, the last live
//! file, the order of a site's values (that of the last dump that has them), and the order of the modules (that in
//! which they first appear).

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;
use core::ops::Range;

use hashbrown::HashMap;

use super::builds::Builds;
use super::{Dump, Module, SiteSpan};
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::{Machine, Sums};
use crate::raw::merge::{Pair, SITE_LIMIT, counter};

/// Most values of a site that a sum keeps. With one more, it drops the half with the smallest counts.
pub const MOST_VALUES: usize = 1 << 16;

/// Most values of a site without an index. A search compares them one after the other.
const MOST_UNINDEXED: usize = 2 * SITE_LIMIT;

/// Each dump has this many ranks of values, one for each place of a site.
const RANKS_OF_A_DUMP: i64 = SITE_LIMIT as i64;

/// The rank of a value at this place of its site in the dump with this number. Larger ranks come first.
pub const fn rank_of_value(number: i64, place: usize) -> i64 {
    number.wrapping_mul(RANKS_OF_A_DUMP).wrapping_add(RANKS_OF_A_DUMP - 1 - place as i64)
}

/// Each dump has this many ranks of modules, one for each place in the dump.
const MODULES_OF_A_DUMP: i64 = 1 << 16;

/// The rank of the module at this place of the dump with this number. Larger ranks come first.
pub const fn rank_of_module(number: i64, place: usize) -> i64 {
    number.wrapping_mul(-MODULES_OF_A_DUMP).wrapping_sub(place as i64)
}

/// A sum of dumps.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    totals: Vec<Total>,
    /// The places of the totals.
    builds: Builds,
    /// The id of the live file that was added last, and its rank.
    last_live: Option<(i64, u64)>,
    dumps: i64,
}

/// A module of a sum.
#[derive(Clone, Debug)]
pub struct Total {
    /// The module with the sums of its plain counters, without sites and values.
    module: Module,
    sites: Vec<SiteSum>,
    rank: i64,
    path_rank: i64,
}

/// A site of a sum.
#[derive(Clone, Debug, Default)]
struct SiteSum {
    total: u64,
    error: u64,
    is_lossy: bool,
    /// The place behind the last added value. Runs are alike, so the next value to add is often there.
    next: u32,
    values: Vec<Ranked>,
    /// The place of each value, if there are more than [`MOST_UNINDEXED`].
    index: Option<Box<HashMap<i64, u32>>>,
}

#[derive(Clone, Copy, Debug)]
struct Ranked {
    pair: Pair,
    rank: i64,
}

/// The place of a counter or a site in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Index of a plain counter, its kind, and the rule that adds it.
    Counter(usize, Kind, Rule),
    /// Index of a site.
    Site(usize),
}

impl Sum {
    /// Adds a dump as the newest one.
    pub fn add(&mut self, dump: Dump) {
        let number = self.dumps;
        self.dumps += 1;
        self.live(dump.last_live, -number);
        for (place, module) in dump.modules.into_iter().enumerate() {
            let rank = rank_of_module(number, place);
            match self.find(&module) {
                Some(place) => self.totals[place].add(module, rank, number),
                None => self.totals.push(Total::of(module, rank, number)),
            }
        }
    }

    /// The machine of its modules; `None` if there are none.
    pub fn machine(&self) -> Option<Machine> {
        self.totals.first().map(|total| total.module.machine)
    }

    /// Adds the id of a dump's last live file; 0 means none.
    pub fn live(&mut self, id: u64, rank: i64) {
        if id != 0 && self.last_live.is_none_or(|(known, _)| known < rank) {
            self.last_live = Some((rank, id));
        }
    }

    /// The place of a module without counts in the sum. Adds the module if it is new.
    pub fn place(&mut self, layout: Module, rank: i64) -> usize {
        let place = match self.find(&layout) {
            Some(place) => {
                self.totals[place].module.learn(&layout);
                place
            }
            None => {
                self.totals.push(Total { path_rank: i64::MIN, ..Total::of(layout, rank, 0) });
                self.totals.len() - 1
            }
        };
        let total = &mut self.totals[place];
        total.rank = total.rank.max(rank);
        place
    }

    /// The place of a module's build. If there is none, the module is to come last.
    fn find(&mut self, module: &Module) -> Option<usize> {
        let Self { totals, builds, .. } = self;
        builds.place_or(module, totals.len(), |place| &totals[place].module)
    }

    /// Drops modules. Calls `is_wanted` once for each module, in the order of their places.
    pub fn retain(&mut self, mut is_wanted: impl FnMut() -> bool) {
        self.totals.retain(|_| is_wanted());
        self.builds = Builds::default();
        for (place, total) in self.totals.iter().enumerate() {
            self.builds.place_or(&total.module, place, |place| &self.totals[place].module);
        }
    }

    /// A module of the sum.
    pub fn module(&mut self, place: usize) -> Option<&mut Total> {
        self.totals.get_mut(place)
    }

    /// The sum as a dump.
    pub fn finish(mut self) -> Dump {
        self.totals.sort_by_key(|total| Reverse(total.rank));
        Dump {
            modules: self.totals.into_iter().map(Total::finish).collect(),
            last_live: self.last_live.map_or(0, |(_, id)| id),
            ..Dump::default()
        }
    }
}

impl Total {
    fn of(mut module: Module, rank: i64, number: i64) -> Self {
        let sites = module.sites.len();
        let mut total = Self {
            sites: vec![SiteSum::default(); sites],
            rank,
            path_rank: number,
            module: Module::default_of(&module),
        };
        total.add_sites(&module, number);
        (module.sites, module.pairs) = (Vec::new(), Vec::new());
        total.module = module;
        total
    }

    fn add(&mut self, newer: Module, rank: i64, number: i64) {
        self.rank(rank);
        self.module.learn(&newer);
        self.add_sites(&newer, number);
        self.module.sums = self.module.sums.plus(newer.sums);
        self.module.for_each_run(|rule, place, sum| {
            let newer = newer.counters.get(place).unwrap_or_default();
            sum.iter_mut().zip(newer).for_each(|(sum, &newer)| *sum = counter(rule, newer, *sum));
        });
        self.path(newer.path, number);
    }

    fn add_sites(&mut self, newer: &Module, number: i64) {
        for (sum, span) in self.sites.iter_mut().zip(&newer.sites) {
            sum.total = sum.total.saturating_add(span.total.unsigned_abs());
            sum.error = sum.error.saturating_add(span.error as u64);
            sum.is_lossy |= span.total < 0;
            let pairs = newer.pairs.get(span.pairs.clone()).unwrap_or_default();
            for (place, &pair) in pairs.iter().enumerate() {
                sum.add(pair, rank_of_value(number, place));
            }
        }
    }

    /// Adds a rank of the module. The largest rank decides its place in the dump.
    pub fn rank(&mut self, rank: i64) {
        self.rank = self.rank.max(rank);
    }

    /// Adds a path of the image. The path with the largest rank stays.
    pub fn path(&mut self, path: Vec<u8>, rank: i64) {
        if rank >= self.path_rank {
            (self.module.path, self.path_rank) = (path, rank);
        }
    }

    /// Adds the sums of a module's runs.
    pub fn sums(&mut self, sums: Sums) {
        self.module.sums = self.module.sums.plus(sums);
    }

    /// The place of a counter or site, by the number of its function, its kind, and its index among those of this kind.
    pub fn find(&self, function: usize, kind: Kind, index: usize) -> Option<Place> {
        let function = self.module.functions.get(function)?;
        let (mut counters, mut sites) = (function.counters, function.sites);
        for (found, rule, number) in function.kinds(&self.module.numbers) {
            let (next, number) = match rule {
                Rule::TopN => (&mut sites, number),
                _ => (&mut counters, rule.words(number)),
            };
            if found == kind {
                let place = *next + index;
                let place = match rule {
                    Rule::TopN => Place::Site(place),
                    _ => Place::Counter(place, kind, rule),
                };
                return (index < number).then_some(place);
            }
            *next += number;
        }
        None
    }

    /// Adds a plain counter.
    pub fn counter(&mut self, place: usize, rule: Rule, count: i64) {
        if let Some(sum) = self.module.counters.get_mut(place) {
            *sum = counter(rule, count, *sum);
        }
    }

    /// Adds events of a site. `is_lossy`: whether a merge lost values.
    pub fn events(&mut self, site: usize, number: u64, is_lossy: bool) {
        if let Some(sum) = self.sites.get_mut(site) {
            sum.total = sum.total.saturating_add(number);
            sum.is_lossy |= is_lossy;
        }
    }

    /// Adds the error of a site.
    pub fn error(&mut self, site: usize, error: u64) {
        if let Some(sum) = self.sites.get_mut(site) {
            sum.error = sum.error.saturating_add(error);
        }
    }

    /// Adds a value of a site.
    pub fn value(&mut self, site: usize, pair: Pair, rank: i64) {
        if let Some(sum) = self.sites.get_mut(site) {
            sum.add(pair, rank);
        }
    }

    /// Number of plain counters.
    pub const fn counters(&self) -> usize {
        self.module.counters.len()
    }

    /// Whether clang or rustc instrumented the module, not gcc.
    pub fn is_llvm(&self) -> bool {
        self.module.is_llvm()
    }

    fn finish(self) -> Module {
        let Self { mut module, sites, .. } = self;
        let mut pairs = Vec::new();
        module.sites = sites.into_iter().map(|site| site.finish(&mut pairs)).collect();
        module.pairs = pairs;
        module
    }
}

impl SiteSum {
    fn add(&mut self, pair: Pair, rank: i64) {
        let place = self.place(pair.value);
        if let Some(known) = self.values.get_mut(place) {
            known.pair.count = known.pair.count.saturating_add(pair.count);
            known.rank = known.rank.max(rank);
        } else {
            self.values.push(Ranked { pair, rank });
            if let Some(index) = &mut self.index {
                index.insert(pair.value, place as u32);
            } else if self.values.len() > MOST_UNINDEXED {
                self.reindex();
            }
        }
        self.next = place as u32 + 1;
        if self.values.len() > MOST_VALUES {
            self.shrink();
        }
    }

    /// The place of a value, or the place behind the last one.
    fn place(&self, value: i64) -> usize {
        let next = self.next as usize;
        if self.values.get(next).is_some_and(|known| known.pair.value == value) {
            return next;
        }
        let known = match &self.index {
            Some(index) => index.get(&value).map(|&place| place as usize),
            None => self.values.iter().position(|known| known.pair.value == value),
        };
        known.unwrap_or(self.values.len())
    }

    fn reindex(&mut self) {
        let places = self.values.iter().zip(0..);
        self.index =
            Some(Box::new(places.map(|(known, place)| (known.pair.value, place)).collect()));
    }

    /// Drops the half of the values with the smaller counts.
    fn shrink(&mut self) {
        self.values.sort_unstable_by_key(|known| (Reverse(known.pair.count), Reverse(known.rank)));
        let lost = self.values.get(MOST_VALUES / 2).map_or(0, |known| known.pair.count);
        self.values.truncate(MOST_VALUES / 2);
        self.error = self.error.saturating_add(lost as u64);
        self.is_lossy = true;
        self.reindex();
    }

    /// Ends the sum of a site by the rule of [`crate::raw::merge::Merge::finish`]: a value beyond the limit replaces
    /// the value with the smallest count, if that count is smaller.
    fn finish(mut self, pairs: &mut Vec<Pair>) -> SiteSpan {
        self.values.sort_unstable_by_key(|known| (Reverse(known.rank), known.pair.value));
        let start = pairs.len();
        let kept: Range<usize> = start..start + self.values.len().min(SITE_LIMIT);
        pairs.extend(self.values.iter().take(SITE_LIMIT).map(|known| known.pair));
        let mut largest_lost = 0;
        for mut dropped in self.values.iter().skip(SITE_LIMIT).map(|known| known.pair) {
            self.is_lossy = true;
            let smallest = pairs[kept.clone()].iter_mut().min_by_key(|pair| pair.count);
            if let Some(smallest) = smallest.filter(|smallest| smallest.count < dropped.count) {
                mem::swap(smallest, &mut dropped);
            }
            largest_lost = dropped.count.max(largest_lost);
        }
        let [mut error, total] =
            [self.error, self.total].map(|sum| i64::try_from(sum).unwrap_or(i64::MAX));
        if self.values.len() > SITE_LIMIT {
            error = error.saturating_add(largest_lost).min(total);
        }
        let total = if self.is_lossy { -total } else { total };
        SiteSpan { total, error, pairs: kept }
    }
}

impl Module {
    /// The module without counts, runs and path: the part that all dumps of a build share.
    pub fn layout(&self) -> Self {
        let mut layout = Self::default_of(self);
        layout.functions.clone_from(&self.functions);
        layout.objects.clone_from(&self.objects);
        layout.llvm.clone_from(&self.llvm);
        layout.numbers.clone_from(&self.numbers);
        layout.counters = vec![0; self.counters.len()];
        layout.sites = vec![SiteSpan { total: 0, error: 0, pairs: 0..0 }; self.sites.len()];
        layout
    }

    /// A module with the same identity, and nothing else.
    const fn default_of(other: &Self) -> Self {
        Self {
            record: other.record,
            machine: other.machine,
            sums: Sums { runs: 0, sum_max: 0, dropped: 0 },
            path: Vec::new(),
            objects: Vec::new(),
            functions: Vec::new(),
            llvm: Vec::new(),
            numbers: Vec::new(),
            counters: Vec::new(),
            sites: Vec::new(),
            pairs: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::merge::Site;

    /// Pseudo-random numbers.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((self.0 >> 33) % limit) as i64
        }

        fn site(&mut self) -> Site {
            let mut site = Site::new(0, self.below(3));
            for _ in 0..self.below(SITE_LIMIT as u64 + 1) {
                let pair = Pair { value: self.below(150), count: 1 + self.below(20) };
                site.total += pair.count;
                if !site.add_to_known(pair) {
                    site.pairs.push(pair).unwrap();
                }
            }
            if self.below(5) == 0 {
                site.total = -site.total;
            }
            site
        }
    }

    fn add(sum: &mut SiteSum, site: &Site, number: i64) {
        sum.total = sum.total.wrapping_add(site.total.unsigned_abs());
        sum.error += site.error as u64;
        sum.is_lossy |= site.total < 0;
        for (place, &pair) in site.pairs.iter().enumerate() {
            sum.add(pair, rank_of_value(number, place));
        }
    }

    fn finished(sum: SiteSum) -> (i64, i64, Vec<Pair>) {
        let mut pairs = Vec::new();
        let span = sum.finish(&mut pairs);
        (span.total, span.error, pairs)
    }

    #[test]
    fn two_sites_are_added_as_the_runtime_does() {
        let mut numbers = Numbers(1);
        for _ in 0..2000 {
            let (older, mut newer) = (numbers.site(), numbers.site());
            let mut sum = SiteSum::default();
            add(&mut sum, &older, 0);
            add(&mut sum, &newer, 1);
            let mut merge = newer.merge(older.total, older.error);
            older.pairs.iter().for_each(|&pair| merge.pair(pair));
            merge.finish();
            let expected = (newer.total, newer.error, newer.pairs.to_vec());
            assert_eq!(finished(sum), expected);
        }
    }

    #[test]
    fn the_order_of_addition_does_not_matter() {
        let mut numbers = Numbers(7);
        for _ in 0..50 {
            let sites: Vec<Site> = (0..20).map(|_| numbers.site()).collect();
            let sum_of = |order: &[usize]| {
                let mut sum = SiteSum::default();
                order.iter().for_each(|&number| add(&mut sum, &sites[number], number as i64));
                finished(sum)
            };
            let mut order: Vec<usize> = (0..sites.len()).collect();
            let expected = sum_of(&order);
            order.reverse();
            assert_eq!(sum_of(&order), expected);
            order.rotate_left(7);
            assert_eq!(sum_of(&order), expected);
        }
    }

    /// No count differs from the true one by more than the error, whatever values are dropped.
    #[test]
    fn the_error_bounds_all_counts() {
        let mut numbers = Numbers(3);
        let (mut sum, mut truth) = (SiteSum::default(), HashMap::<i64, i64>::new());
        for number in 0..2000 {
            let mut site = Site::new(0, 0);
            for _ in 0..SITE_LIMIT {
                let pair = Pair { value: numbers.below(200_000), count: 1 + numbers.below(9) };
                *truth.entry(pair.value).or_default() += pair.count;
                site.total += pair.count;
                if !site.add_to_known(pair) {
                    site.pairs.push(pair).unwrap();
                }
            }
            add(&mut sum, &site, number);
        }
        let (total, error, pairs) = finished(sum);
        assert_eq!(total, -truth.values().sum::<i64>());
        for (value, truth) in truth {
            let kept = pairs.iter().find(|pair| pair.value == value).map_or(0, |pair| pair.count);
            assert!((kept - truth).abs() <= error, "{value}: {kept}, not {truth}, error {error}");
        }
    }
}
