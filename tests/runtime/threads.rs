//! Threads that count at the same time. With atomic updates everything is exact. Without them the only harm
//! is lost increments.

use std::collections::BTreeSet;

use countersink::convert::gcov::names::ident;
use countersink::raw::dump::Dump;
use countersink::raw::gcov::Kind;

use crate::harness::Workshop;

const ROUNDS: i64 = 4 * 100 * 1000;

/// What a dump says about `call`: rounds; and for each of its sites the total, the error and the values.
type Call = (i64, Vec<(i64, i64, Vec<(i64, i64)>)>);

fn call_after(flags: &[&str], targets: &str) -> Call {
    let shop = Workshop::new();
    shop.program("threads.c");
    let object = shop.compile("threads.c", flags);
    shop.link(&[&object], "ours", &["-pthread"]);
    shop.run("ours", &[targets]);
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let module = &dump.modules[0];
    assert_eq!(module.sums.dropped, 0);
    let mut functions = module.functions(&module.objects[0]);
    let call = functions.find(|function| function.ident() == ident(b"call")).unwrap();
    let rounds = call.counters(Kind::ARCS).iter().copied().max().unwrap();
    let sites = call.sites(Kind::INDIRECT_CALL).chain(call.sites(Kind::TOPN));
    let sites = sites.map(|site| {
        let pairs = site.pairs.iter().map(|pair| (pair.value, pair.count));
        (site.total, site.error, pairs.collect())
    });
    (rounds, sites.collect())
}

fn assert_no_value_twice(values: &[(i64, i64)]) {
    let distinct: BTreeSet<i64> = values.iter().map(|(value, _)| *value).collect();
    assert_eq!(distinct.len(), values.len(), "{values:?}");
}

#[test]
fn atomic_updates_are_exact() {
    for _ in 0..5 {
        let (rounds, sites) = call_after(&["-fprofile-update=atomic"], "20");
        assert_eq!((rounds, sites.len()), (ROUNDS, 3));
        for (total, error, values) in sites {
            assert_no_value_twice(&values);
            assert_eq!((total, error), (ROUNDS, 0));
            assert_eq!(values.iter().map(|(_, count)| count).sum::<i64>(), total, "{values:?}");
        }
    }
}

/// More values than a site holds, all of `call`'s targets equally often. What the values lack is in the
/// total, and with atomic updates no count is wrong by more than the error.
#[test]
fn full_sites_stay_sound() {
    for flags in [&["-fprofile-update=atomic"][..], &["-fprofile-update=single"]] {
        for (number, (total, error, values)) in call_after(flags, "100").1.into_iter().enumerate() {
            assert_no_value_twice(&values);
            assert!(values.len() <= 64 && values.iter().all(|(_, count)| *count > 0));
            let kept: i64 = values.iter().map(|(_, count)| count).sum();
            assert!(total <= ROUNDS && kept <= ROUNDS, "{total} {values:?}");
            if flags[0].ends_with("single") {
                continue;
            }
            assert!(total == ROUNDS && kept <= total, "{total} {values:?}");
            let wrong = values.iter().map(|(_, count)| (count - ROUNDS / 100).abs()).max();
            let bounded = wrong.is_some_and(|wrong| wrong <= error);
            assert!(number > 0 || values.len() == 64 && bounded, "{error} {values:?}");
        }
    }
}

#[test]
fn plain_updates_only_lose() {
    let (rounds, sites) = call_after(&["-fprofile-update=single"], "20");
    assert!((1..=ROUNDS).contains(&rounds), "{rounds}");
    for (total, _, values) in sites {
        assert_no_value_twice(&values);
        assert!((1..=ROUNDS).contains(&total));
        assert!(values.len() <= 20 && values.iter().map(|(_, c)| c).sum::<i64>() <= ROUNDS);
    }
}
