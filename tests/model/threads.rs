//! Two or three threads at the counters, in every order that a processor may bring their accesses into, with
//! up to two preemptions. Nothing is lost, nothing is counted twice, and no node stands in two places.

use std::ptr::null_mut;
use std::sync::Arc;

use loom::thread;
use model::raw::merge::SITE_LIMIT;
use model::raw::site::SUMMED;
use model::runtime::atomic::{AtomicI64, AtomicPtr, Ordering, start};
use model::runtime::counters::lanes::Lanes;
use model::runtime::counters::nodes::Nodes;
use model::runtime::counters::topn::{Counters, LiveSite, Owner};
use model::runtime::counters::{Atomic, values};

/// Owners of the sites.
fn ours<const N: usize>(_: usize) -> Owner<N, 2> {
    Owner::Here
}

fn another_s<const N: usize>(_: usize) -> Owner<N, 2> {
    Owner::Unknown
}

/// The second event goes over the edge of 32 bits.
const EDGE: i64 = 0xffff_fffe;

/// A region for nodes and indexes, and two sites.
struct Memory<const N: usize> {
    nodes: Nodes<N, 2>,
    sites: [Counters; 2],
}

/// What a reader finds in a site.
#[derive(Debug)]
struct Found {
    total: i64,
    error: i64,
    pairs: Vec<(i64, i64)>,
}

impl<const N: usize> Memory<N> {
    fn new() -> Arc<Self> {
        let zero = || AtomicI64::new(0);
        let site = || Counters { first: zero(), shape: zero(), head: AtomicPtr::new(null_mut()) };
        let memory = Arc::new(Self { nodes: Nodes::new(), sites: [site(), site()] });
        // SAFETY: nodes, indexes, their numbers, and counters are nothing but atomics.
        unsafe { start(&*memory) };
        memory
    }

    fn count(&self, site: usize, values: &[i64]) {
        for &value in values {
            LiveSite::of(&self.sites[site]).count::<Atomic, _, _>(value, &self.nodes, ours);
        }
    }

    /// Counts one event for each value, each in a thread of its own.
    fn begin(self: &Arc<Self>, values: &[i64]) -> Vec<thread::JoinHandle<()>> {
        let begin = |&value: &i64| {
            let memory = self.clone();
            thread::spawn(move || memory.count(0, &[value]))
        };
        values.iter().map(begin).collect()
    }

    fn find(&self, site: usize) -> Found {
        let site = LiveSite::of(&self.sites[site]);
        let pairs: Vec<(i64, i64)> = site.pairs().map(|pair| (pair.value, pair.count)).collect();
        let (total, error) = site.total_and_error(pairs.iter().map(|(_, count)| count).sum());
        Found { total, error, pairs }
    }
}

impl Found {
    fn count_of(&self, value: i64) -> i64 {
        self.pairs.iter().find(|(found, _)| *found == value).map_or(0, |(_, count)| *count)
    }

    /// Every count is right to within the error, given all events.
    fn assert_bounded(&self, events: &[i64]) {
        assert_eq!(self.total, events.len() as i64, "{self:?}");
        assert!(self.pairs.len() <= SITE_LIMIT, "{self:?}");
        let distinct = |(place, (value, _)): (usize, &(i64, i64))| {
            self.pairs[..place].iter().all(|(before, _)| before != value)
        };
        assert!(self.pairs.iter().enumerate().all(distinct), "{self:?}");
        for value in events {
            let truth = events.iter().filter(|event| *event == value).count() as i64;
            let wrong = (self.count_of(*value) - truth).abs();
            assert!(wrong <= self.error, "{value} was seen {truth} times: {self:?}");
        }
    }
}

fn end(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Halves double the number of accesses. With two preemptions, or two events of each of two threads at an empty
/// site, a test would take hours.
fn check(threads: impl Fn() + Send + Sync + 'static) {
    check_with(if cfg!(feature = "halves") { 1 } else { 2 }, threads);
}

/// As many events of a thread as there is time for.
fn few(events: &[i64; 2]) -> &[i64] {
    if cfg!(feature = "halves") { &events[..1] } else { events }
}

fn check_with(preemptions: usize, threads: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 20_000;
    model.check(threads);
}

/// The first events of a site, all at the same time.
#[test]
fn new_values() {
    check(|| {
        let memory = Memory::<4>::new();
        let threads = [&[1, 2], &[2, 1]].map(|values| {
            let memory = memory.clone();
            thread::spawn(move || memory.count(0, few(values)))
        });
        end(threads);
        let found = memory.find(0);
        found.assert_bounded(&[few(&[1, 2]), few(&[2, 1])].concat());
        assert_eq!(found.error, 0, "{found:?}");
    });
}

/// Two sites take nodes from one region. It has enough for one of them.
#[test]
fn nodes_of_one_region() {
    check(|| {
        let memory = Memory::<3>::new();
        let threads = [0, 1].map(|site| {
            let memory = memory.clone();
            thread::spawn(move || memory.count(site, &[1, 2]))
        });
        end(threads);
        let found = [0, 1].map(|site| memory.find(site));
        found.iter().for_each(|found| found.assert_bounded(&[1, 2]));
        assert_eq!(found[0].pairs.len() + found[1].pairs.len(), 3, "{found:?}");
        assert_eq!((memory.nodes.dropped(), found[0].error + found[1].error), (1, 1), "{found:?}");
    });
}

/// Values of a full site are replaced while they are counted.
#[test]
fn replacement() {
    check(|| {
        let memory = Memory::<4>::new();
        memory.count(0, &[1, 2, 2]);
        let threads = memory.begin(&[3, 1]);
        end(threads);
        memory.find(0).assert_bounded(&[1, 2, 2, 3, 1]);
    });
}

/// Two new values want the same place.
#[test]
fn replacements() {
    check(|| {
        let memory = Memory::<4>::new();
        memory.count(0, &[1, 2, 2]);
        let threads = memory.begin(&[3, 4]);
        end(threads);
        memory.find(0).assert_bounded(&[1, 2, 2, 3, 4]);
    });
}

/// A reader finds only what was counted, and events that are on their way.
#[test]
fn reading() {
    check(|| {
        let memory = Memory::<4>::new();
        memory.count(0, &[1, 2, 2]);
        let threads = memory.begin(few(&[3, 1]));
        let Found { pairs, .. } = memory.find(0);
        assert!(pairs.iter().all(|(_, count)| (1..=4).contains(count)), "{pairs:?}");
        end(threads);
        memory.find(0).assert_bounded(&[&[1, 2, 2], few(&[3, 1])].concat());
    });
}

/// Events after a reset are counted, whatever was on its way during the reset.
#[test]
fn reset() {
    check_with(1, || {
        let memory = Memory::<4>::new();
        memory.count(0, if cfg!(feature = "halves") { &[1] } else { &[1, 2, 2] });
        let counting = {
            let memory = memory.clone();
            thread::spawn(move || memory.count(0, &[3]))
        };
        LiveSite::of(&memory.sites[0]).reset();
        memory.nodes.reset_indexes();
        counting.join().unwrap();
        let before = memory.find(0);
        assert!((0..=1).contains(&before.total), "{before:?}");
        memory.count(0, &[5]);
        let after = memory.find(0);
        assert_eq!(after.total, before.total + 1, "{before:?} {after:?}");
        assert!(after.count_of(5) > 0 || after.error > 0, "{before:?} {after:?}");
    });
}

/// Two images count at a site of one of them, each with nodes of its own.
#[test]
fn a_site_of_another_image() {
    check(|| {
        let (owner, other) = (Memory::<4>::new(), Memory::<4>::new());
        let counting = {
            let (owner, other) = (owner.clone(), other.clone());
            thread::spawn(move || {
                for &value in few(&[1, 2]) {
                    let site = LiveSite::of(&owner.sites[0]);
                    site.count::<Atomic, _, _>(value, &other.nodes, another_s);
                }
            })
        };
        owner.count(0, few(&[2, 1]));
        counting.join().unwrap();
        let found = owner.find(0);
        found.assert_bounded(&[few(&[1, 2]), few(&[2, 1])].concat());
        let summed = owner.sites[0].first.load(Ordering::Relaxed) >= SUMMED;
        assert!(summed || found.error == 0, "{found:?}");
        drop(other);
    });
}

/// Threads of one lane count two values that have one cell, and a third one with a cell for itself.
#[test]
fn lanes() {
    /// Values 1 and 9 have one place.
    struct Shared(Arc<Memory<4>>, Lanes<8>);
    impl Shared {
        fn count(&self, value: i64) {
            let site = LiveSite::of(&self.0.sites[0]);
            if !site.has_lanes() || !self.1.has_counted::<Atomic>(0, site, value) {
                self.0.count(0, &[value]);
            }
        }
    }
    for values in [[1, 9], [1, 1], [1, 2]] {
        check(move || {
            let shared = Arc::new(Shared(Memory::new(), Lanes::new()));
            // SAFETY: cells and what is common to all threads are nothing but atomics.
            unsafe { start(&shared.1) };
            shared.count(values[0]);
            let threads = values.map(|value| {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.1.watch(value as usize, LiveSite::of(&shared.0.sites[0]));
                    shared.count(value);
                })
            });
            end(threads);
            shared.count(values[1]);
            let Found { total, pairs: mut found, .. } = shared.0.find(0);
            let in_lanes = shared.1.pairs(LiveSite::of(&shared.0.sites[0]));
            found.extend(in_lanes.map(|pair| (pair.value, pair.count)));
            let count = |value| {
                found.iter().filter(|(of, _)| *of == value).map(|(_, count)| count).sum::<i64>()
            };
            let expected = if values[0] == values[1] { [4, 4] } else { [2, 2] };
            assert_eq!(values.map(count), expected, "{found:?}");
            assert!((1..=4).contains(&total), "{total} {found:?}");
        });
    }
}

/// Counters that threads just add to, also over the edge of 32 bits.
#[test]
fn sums() {
    check(|| {
        let counters = Arc::new([const { AtomicI64::new(EDGE) }; 2]);
        // SAFETY: atomics.
        unsafe { start(&*counters) };
        let threads = [3, 4].map(|value| {
            let counters = counters.clone();
            thread::spawn(move || values::average::<Atomic>(&counters, value))
        });
        end(threads);
        assert_eq!(
            counters.each_ref().map(|counter| counter.load(Ordering::Relaxed)),
            [EDGE + 7, EDGE + 2]
        );
    });
}
