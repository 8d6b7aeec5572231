//! Programs that count themselves: whatever the rules make of a line that one block alone has, its count is the true
//! one.
//!
//! The programs are made up, see `self_counting`. Debug builds of the tool also check each conversion, see
//! `countersink::placement::checker`.

use std::collections::BTreeMap;

use countersink::formats::{afdo_v1_v3, afdo_v4};
use countersink::profile::{Body, Profile};

use crate::harness::Workshop;
use crate::self_counting::{Kind, Program, program};

/// A function, and a line from its start.
type At = (String, u32);

/// The counts of each line.
type Counts = BTreeMap<At, Vec<u64>>;

/// The counts that a profile has for each line of a function, by function and line.
fn counts(profile: &Profile) -> Counts {
    let own = |body: &Body| -> Vec<(u32, u64)> {
        let all = body.positions.iter();
        all.filter_map(|(at, record)| Some((at.line, record.count?))).collect()
    };
    let mut found = Counts::new();
    for (&symbol, function) in &profile.functions {
        let name = String::from_utf8_lossy(profile.symbols.name(symbol)).into_owned();
        for (line, count) in own(&function.body) {
            found.entry((name.clone(), line)).or_default().push(count);
        }
    }
    found
}

/// The profile of the workshop's dump, as a reader is given it.
fn profile(shop: &Workshop, reader: &[&str]) -> Profile {
    let chosen = if reader.is_empty() { &["--to=v4"] } else { reader };
    let bytes = shop.tool_output(&[&["convert", "ours.csraw"], chosen].concat());
    match reader {
        [] => afdo_v4::decode::decode(&bytes).unwrap().profile,
        _ => afdo_v1_v3::decode::decode(&bytes).unwrap().profile,
    }
}

#[test]
fn lines_of_one_block_have_the_true_count() {
    for (seed, level) in (1..).zip(["-O2", "-O2", "-O1", "-O3", "-Os"]) {
        let program = program(seed, Kind::Plain);
        let shop = Workshop::new();
        shop.write("made.c", &program.text);
        let object = shop.compile("made.c", &[level, "-DCOUNTING"]);
        shop.link(&[&object], "ours", &[]);
        let truth: Vec<u64> =
            shop.run("ours", &[]).lines().map(|line| line.parse().unwrap()).collect();
        let exact = counts(&profile(&shop, &[]));
        let (mut single, mut ran) = (0, 0);
        for (at, &expected) in program.counters.iter().zip(&truth) {
            let at = (at.function.clone(), at.line);
            ran += usize::from(expected > 0);
            // What can never be executed may have no block.
            let Some(found) = exact.get(&at) else {
                assert_eq!(expected, 0, "seed {seed}: {at:?} has no count");
                continue;
            };
            // The compiler may have made several blocks of a line.
            let [found] = found[..] else { continue };
            assert_eq!(found, expected, "seed {seed}: {at:?}");
            single += 1;
        }
        println!("{level}: {} counters, {single} of one block, {ran} executed", truth.len());
        assert!(4 * single > 3 * truth.len() && 2 * ran > truth.len(), "seed {seed}");
        // Without bodies at hot calls, which would take half of some counts.
        for reader in ["12", "15", "16"] {
            let given = counts(&profile(&shop, &["--for-gcc", reader, "--inline", "nested"]));
            for (at, expected, found) in both(&program, &truth, &exact, &given) {
                let is_raised = expected == 0 && found == 1;
                let what = format!("seed {seed}, gcc {reader}: {at:?}");
                assert!(found == expected || is_raised, "{what}: {found}, not {expected}");
            }
        }
    }
}

/// The counters of lines that have one block, and one count for a reader: place, true count, and the reader's.
fn both<'c>(
    program: &'c Program,
    truth: &'c [u64],
    exact: &'c Counts,
    given: &'c Counts,
) -> impl Iterator<Item = (At, u64, u64)> + 'c {
    let only = |counts: &Counts, at: &At| match counts.get(at).map(Vec::as_slice) {
        Some(&[only]) => Some(only),
        _ => None,
    };
    program.counters.iter().zip(truth).filter_map(move |(at, &expected)| {
        let at = (at.function.clone(), at.line);
        only(exact, &at)?;
        Some((at.clone(), expected, only(given, &at)?))
    })
}
