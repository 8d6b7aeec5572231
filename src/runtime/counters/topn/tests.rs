//! Sites, by one thread and by several: the bounds of the algorithm, and that nothing is lost.

use core::ptr::null_mut;
use std::collections::BTreeMap;
use std::vec::Vec;

use super::*;

/// Owners of the sites.
fn ours<const N: usize>(_: usize) -> Owner<N, 2> {
    Owner::Here
}

fn another_s<const N: usize>(_: usize) -> Owner<N, 2> {
    Owner::Unknown
}

fn counters() -> Counters {
    let (first, shape) = (AtomicI64::new(0), AtomicI64::new(0));
    Counters { first, shape, head: AtomicPtr::new(null_mut()) }
}

fn site(counters: &Counters) -> LiveSite<'_> {
    LiveSite::of(counters)
}

fn region<const N: usize>() -> Nodes<N, 2> {
    Nodes::new()
}

fn floor(counters: &Counters) -> i64 {
    site(counters).shape().floor()
}

fn length(counters: &Counters) -> usize {
    site(counters).shape().nodes()
}

fn kept(counters: &Counters) -> Vec<(i64, i64)> {
    site(counters).pairs().map(|pair| (pair.value, pair.count)).collect()
}

fn total(counters: &Counters) -> i64 {
    site(counters).total_and_error(site(counters).pairs().map(|pair| pair.count).sum()).0
}

fn count<U: NodeUpdate, const N: usize>(
    counters: &Counters,
    nodes: &Nodes<N, 2>,
    values: impl IntoIterator<Item = i64>,
) {
    values.into_iter().for_each(|value| site(counters).count::<U, N, 2>(value, nodes, ours));
}

#[test]
fn a_new_value_takes_place_and_count_of_the_next_smallest() {
    let (counters, nodes) = (counters(), region::<100>());
    count::<Plain, 100>(&counters, &nodes, (0..64).chain(0..63));
    assert_eq!(floor(&counters), 0);
    count::<Plain, 100>(&counters, &nodes, [100]);
    assert_eq!((kept(&counters)[63], floor(&counters)), ((100, 2), 1));
    count::<Plain, 100>(&counters, &nodes, [101, 102, 101]);
    assert_eq!(kept(&counters)[..3], [(101, 4), (102, 3), (2, 2)]);
    assert_eq!((total(&counters), floor(&counters)), (131, 2));
    assert_eq!(length(&counters), 64);
}

#[test]
fn many_events_at_once() {
    let (one, other, nodes) = (counters(), counters(), region::<200>());
    let events = [(1, 5), (2, 1 << 40), (1, 7), (3, 0), (4, 1)];
    for (value, times) in events {
        site(&one).count_many(value, times, &nodes, ours);
        site(&other).count_many(value, times, &nodes, another_s);
    }
    let expected = vec![(1, 12), (2, 1 << 40), (4, 1)];
    for counters in [&one, &other] {
        assert_eq!((kept(counters), total(counters)), (expected.clone(), 13 + (1 << 40)));
    }
    // A full site gives a place away with its count; events beyond all numbers stay at the largest.
    let counters = counters();
    count::<Plain, 200>(&counters, &nodes, 0..64);
    site(&counters).count_many(100, 10, &nodes, ours);
    assert_eq!((kept(&counters)[0], floor(&counters), total(&counters)), ((100, 11), 1, 74));
    for value in 0..64 {
        (0..2).for_each(|_| site(&counters).count_many(value, u64::MAX, &nodes, ours));
    }
    assert!(total(&counters) > 1 << 60);
    // At a site that counts its total in the first counter, too.
    (0..2).for_each(|_| site(&other).count_many(1, u64::MAX, &nodes, another_s));
    assert!(total(&other) > 1 << 60);
    // Without a node left the site says how many events it has lost.
    let (counters, nodes) = (self::counters(), region::<1>());
    site(&counters).count_many(1, 3, &nodes, ours);
    site(&counters).count_many(2, u64::MAX, &nodes, ours);
    site(&counters).count_many(2, u64::MAX, &nodes, ours);
    assert_eq!(kept(&counters), [(1, 3)]);
    assert!(total(&counters) > 1 << 60);
}

/// The bounds that Space-Saving promises, for values of many distributions.
#[test]
fn no_count_is_too_small_nor_too_large_by_more_than_the_floor() {
    let distributions: [fn(i64) -> i64; 5] = [
        |i| i % 65,
        |i| i * 7919 % 200,
        |i| (i * i + i / 7) % 1000,
        |i| 1000 / (1 + i * 7919 % 1000),
        |i| if i < 9000 { i } else { i % 50 },
    ];
    for (number, value) in distributions.into_iter().enumerate() {
        let (plain, atomic) = (counters(), counters());
        let (nodes, more) = (region::<100>(), region::<100>());
        count::<Plain, 100>(&plain, &nodes, (0..20_000).map(value));
        count::<Atomic, 100>(&atomic, &more, (0..20_000).map(value));
        assert_eq!(kept(&plain), kept(&atomic), "distribution {number}");
        let floor = floor(&plain);
        assert!(floor <= 20_000 / 64, "distribution {number}: {floor}");
        let mut truth = BTreeMap::new();
        (0..20_000).for_each(|i| *truth.entry(value(i)).or_insert(0) += 1);
        let kept: BTreeMap<_, _> = kept(&plain).into_iter().collect();
        assert_eq!((kept.len(), kept.values().sum::<i64>()), (truth.len().min(64), 20_000));
        for (value, truth) in truth {
            let most = kept.get(&value).map_or(truth..=floor, |&count| count - floor..=count);
            assert!(most.contains(&truth), "distribution {number}: {value}, {truth} times");
        }
    }
}

#[test]
fn a_full_region_drops_and_counts() {
    let (counters, nodes) = (counters(), region::<2>());
    count::<Plain, 2>(&counters, &nodes, 0..5);
    assert_eq!(kept(&counters), [(0, 1), (1, 1)]);
    assert_eq!((total(&counters), nodes.dropped()), (5, 3));
}

#[test]
fn sites_of_others_are_counted_as_libgcov_does() {
    let (counters, nodes) = (counters(), region::<100>());
    for value in (0..80).chain(0..10) {
        site(&counters).count::<Atomic, 100, 2>(value, &nodes, another_s);
    }
    assert_eq!(counters.first.load(Ordering::Relaxed), 90);
    assert_eq!((total(&counters), kept(&counters)[20]), (90, (4, 2)));
    counters.first.store(-5, Ordering::Relaxed);
    count::<Plain, 100>(&counters, &nodes, [0]);
    assert_eq!(total(&counters), -5);
}

/// With more full sites than indexes, sites without an index keep what they have.
#[test]
fn a_full_site_without_an_index_says_what_it_lost() {
    let (sites, nodes) = ([counters(), counters(), counters()], region::<300>());
    sites.iter().for_each(|counters| count::<Plain, 300>(counters, &nodes, (0..70).chain(0..5)));
    assert_eq!((kept(&sites[1])[0], total(&sites[1])), ((64, 2), 75));
    assert_eq!((kept(&sites[2])[0], total(&sites[2])), ((0, 2), 75));
    assert_eq!(kept(&sites[2]).iter().map(|(_, count)| count).sum::<i64>(), 69);
}

#[test]
fn a_reset_site_starts_anew_in_its_old_nodes() {
    let (counters, nodes) = (counters(), region::<64>());
    count::<Plain, 64>(&counters, &nodes, 0..70);
    site(&counters).reset();
    nodes.reset_indexes();
    assert_eq!((kept(&counters), total(&counters)), (Vec::new(), 0));
    count::<Plain, 64>(&counters, &nodes, [7, 100, 3, 100]);
    assert_eq!(kept(&counters), [(7, 1), (100, 2), (3, 1)]);
    assert_eq!((length(&counters), total(&counters)), (3, 4));
    site(&counters).reset();
    nodes.reset_indexes();
    count::<Atomic, 64>(&counters, &nodes, 100..165);
    let expected = [(164, 2)].into_iter().chain((101..164).map(|value| (value, 1)));
    assert!(kept(&counters).into_iter().eq(expected));
    assert_eq!((length(&counters), nodes.dropped()), (64, 0));
}

/// Counts in four threads and gives what was kept.
fn in_threads(counters: &Counters, value: fn(i64) -> i64) -> BTreeMap<i64, i64> {
    let nodes = region::<200>();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| count::<Atomic, 200>(counters, &nodes, (0..20_000).map(value)));
        }
    });
    let kept = kept(counters);
    let values: BTreeMap<_, _> = kept.iter().copied().collect();
    assert_eq!(values.len(), kept.len(), "a value has two nodes");
    values
}

#[test]
fn threads_lose_nothing_while_there_is_room() {
    let counters = counters();
    let kept = in_threads(&counters, |i| i % 63);
    assert_eq!(kept.len(), 63);
    assert_eq!(kept.values().sum::<i64>(), 80_000);
    assert_eq!(total(&counters), 80_000);
}

#[test]
fn threads_in_a_full_site_never_count_too_much() {
    let counters = counters();
    let kept = in_threads(&counters, |i| i * 7 % 128);
    assert_eq!((kept.len(), length(&counters)), (64, 64));
    assert!(kept.values().sum::<i64>() <= 80_000);
    assert_eq!(total(&counters), 80_000);
}

/// The index leads to all values and to nothing else, however many took each other's places.
#[test]
fn the_index_has_what_the_list_has() {
    let (counters, nodes) = (counters(), region::<100>());
    let mut number = 1_u64;
    let values = (0..20_000).map(|_| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        16 * (number >> 57) as i64
    });
    count::<Plain, 100>(&counters, &nodes, values);
    let first = follow(&counters.head).unwrap();
    let index = nodes.index(site(&counters).shape().index(), first).unwrap();
    for node in site(&counters).nodes() {
        let value = node.value.load(Ordering::Relaxed);
        let found = nodes.look_up(index, value).unwrap();
        assert!(core::ptr::eq(found, node), "{value}");
    }
    assert_eq!(index.used(), 64);
}

#[test]
fn nodes_in_memory_that_the_program_gives() {
    let (counters, nodes) = (counters(), Nodes::<0, 0>::new());
    let ours = |_: usize| Owner::<0, 0>::Here;
    let count = |values: &[i64]| {
        for &value in values {
            site(&counters).count::<Plain, 0, 0>(value, &nodes, ours);
        }
    };
    count(&[1, 2]);
    assert_eq!((kept(&counters), nodes.dropped(), total(&counters)), (vec![], 2, 2));
    let memory = std::boxed::Box::leak(std::boxed::Box::new([0u64; 6]));
    let place: *mut u8 = memory.as_mut_ptr().cast();
    // SAFETY: all zero, for ever, and nothing else uses it.
    assert!(unsafe { nodes.give(place, size_of_val(memory)) } && nodes.is_given());
    count(&[3, 4, 5, 3]);
    assert_eq!(kept(&counters), [(3, 2), (4, 1)]);
    assert_eq!((nodes.dropped(), total(&counters)), (3, 6));
    // SAFETY: refused.
    assert!(!unsafe { nodes.give(place, 24) });
}

/// Each of some threads gets nodes behind each other, and no node goes to two of them.
#[test]
fn threads_reserve_nodes() {
    let nodes = region::<2048>();
    let take = || -> Vec<usize> {
        let taken = (0..1000).filter_map(|value| nodes.take(value));
        taken
            .filter_map(|node| nodes.at(core::ptr::from_ref(node).addr()))
            .map(|(n, _)| n)
            .collect()
    };
    let mut taken: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(take));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // On a busy machine one thread may come when the others have taken all nodes.
    let most = taken.iter().max_by_key(|taken| taken.len()).unwrap();
    assert!(cfg!(feature = "live") || most[..32].is_sorted_by(|one, next| one + 1 == *next));
    let mut all: Vec<usize> = taken.drain(..).flatten().collect();
    let found = all.len();
    assert_eq!(found as u64 + nodes.dropped(), 3000);
    assert!(found > 2048 - 16 * 32, "{found}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), found);
}
