//! The profiles of Lua and SQLite, compared with what gcc's own tools say about the same runs.
//!
//! The reference is made here by the plainest possible means, from what `gcov-dump` prints of gcc's notes and
//! of libgcov's `.gcda` files. It is itself checked against `gcov`'s JSON.
//!
//! The rule: a position of a function, or of a body inlined in it, was executed as often as some block of the
//! function that has its line. A block counts once, however many lines it has. So no count is a sum, and none
//! is made up. And the profile must have what gcov knows about lines: nearly all of gcov's executions are
//! found, each line's at most once.

use std::collections::{BTreeMap, BTreeSet};

use countersink::formats::afdo_v4::decode::decode;
use countersink::formats::afdo_v4_text;
use countersink::formats::gcno::Notes;
use countersink::profile::{Profile, SymbolId};

use crate::harness::{Workshop, have, succeed};
use crate::programs::{Built, REPEATABLE, compile_lua, lua, sqlite};
use crate::reference::{
    Function, Lines, Starts, base, counts, functions, lines_of_gcov, name, starts,
};

/// What the profile should say about a function itself: entries and time.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    entries: u64,
    time: u64,
}

/// By file and name.
type Functions = BTreeMap<(String, String), Expected>;

fn expected(all: &[Function]) -> Functions {
    let mut expected = Functions::new();
    for function in all {
        let entry = expected.entry((function.source.clone(), function.name.clone())).or_default();
        entry.entries += function.entries(false) as u64;
        if entry.time == 0 || (function.time != 0 && function.time < entry.time) {
            entry.time = function.time;
        }
    }
    expected
}

/// The reference agrees with what `gcov --json-format` says about the same files.
fn check_against_gcov(shop: &Workshop, built: &Built, all: &[Function]) {
    let mut gcov = shop.command("gcov");
    let printed = succeed(gcov.args(["--json-format", "--stdout"]).args(&built.objects));
    let mut blocks = BTreeMap::<(&str, u32), Vec<i64>>::new();
    for function in all {
        for (block, file, line) in &function.lines {
            blocks.entry((file, *line)).or_default().push(function.block_counts[*block]);
        }
    }
    let mut checked = (0, 0);
    for object in String::from_utf8(printed).unwrap().lines() {
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        for file in object["files"].as_array().unwrap() {
            let source = file["file"].as_str().unwrap();
            for found in file["functions"].as_array().unwrap() {
                let named = |f: &&Function| found["name"] == f.name && f.source == source;
                let function = all.iter().find(named).unwrap();
                // gcov counts the fake entries, too.
                assert_eq!(found["execution_count"], function.entries(true), "{}", function.name);
                // It leaves out the entry and the last block, where the exit was in old releases.
                let blocks = &function.block_counts;
                let executed = blocks[1..blocks.len() - 1].iter().filter(|&&n| n > 0).count();
                assert_eq!(found["blocks_executed"], executed, "{}", function.name);
                checked.0 += 1;
            }
            for line in file["lines"].as_array().unwrap() {
                // If only one block has a line, the line was executed as often as the block.
                let number = line["line_number"].as_u64().unwrap() as u32;
                if let Some([count]) = blocks.get(&(source, number)).map(Vec::as_slice) {
                    assert_eq!(line["count"], *count, "{source}:{number}");
                    checked.1 += 1;
                }
            }
        }
    }
    assert!(checked.0 > 500 && checked.1 > 1000, "{checked:?}");
}

/// Everything that the profile says about functions of the notes is true.
fn check_profile(profile: &Profile, all: &[Function], starts: &Starts) {
    let expected = expected(all);
    let mut found = Functions::new();
    for (&symbol, function) in &profile.functions {
        let entry = Expected { entries: function.head_count, time: function.timestamp };
        found.insert(key(profile, symbol), entry);
    }
    for (key, expected) in &expected {
        assert_eq!(found[key], *expected, "{key:?}");
    }
    // The others exist only inlined.
    let others = found.iter().filter(|(key, _)| !expected.contains_key(*key));
    others.for_each(|(key, function)| assert_eq!(function.entries, 0, "{key:?}"));
    check_counts(profile, all, starts);
    check_summary(profile);
}

/// The file and the name of a function.
fn key(profile: &Profile, symbol: SymbolId) -> (String, String) {
    let path = String::from_utf8(profile.symbols.declared_in(symbol).unwrap().to_vec()).unwrap();
    (base(&path), name(profile, symbol))
}

/// Where a function starts: according to the notes, or else to the debug information.
fn starts_of(
    profile: &Profile,
    symbol: SymbolId,
    all: &[Function],
    starts: &Starts,
) -> BTreeSet<u32> {
    let (source, function) = key(profile, symbol);
    match all.iter().find(|noted| noted.name == function && noted.source == source) {
        Some(noted) => [noted.start].into(),
        None => starts[&function].clone(),
    }
}

/// Each count is that of a block of the function. The block has a line at this distance from the declaration
/// of the function whose body holds the count. Or it is that of the ways into a loop, which are as many as the
/// executions of the loop's first block less those of its last.
fn check_counts(profile: &Profile, all: &[Function], starts: &Starts) {
    let mut functions = BTreeMap::<(&str, &str), Vec<&Function>>::new();
    for function in all {
        functions.entry((&function.source, &function.name)).or_default().push(function);
    }
    let (mut own, mut nested, mut removed, mut ways) = (0, 0, 0, 0);
    for found in counts(profile) {
        let (source, tree) = key(profile, found.tree);
        let Some(functions) = functions.get(&(source.as_str(), tree.as_str())) else { continue };
        let [function] = functions[..] else { continue };
        let starts = starts_of(profile, found.symbol, all, starts);
        let is_there = |line: u32| {
            starts.iter().any(|start| line.wrapping_sub(*start) & 0xffff == found.position.line)
        };
        let lines = function.lines.iter().filter(|(_, _, line)| is_there(*line));
        let blocks: BTreeSet<u64> =
            lines.map(|(block, ..)| function.block_counts[*block] as u64).collect();
        let symbol = name(profile, found.symbol);
        // Code that gcc removed before it laid the counters out has no block, but debug information names it.
        if blocks.is_empty() {
            removed += 1;
            continue;
        }
        let is_way = |last: &u64| found.count > 0 && blocks.contains(&(last + found.count));
        if !blocks.contains(&found.count) && blocks.iter().any(is_way) {
            ways += 1;
            continue;
        }
        assert!(blocks.contains(&found.count), "{tree}, {symbol}: {found:?}, blocks {blocks:?}");
        *(if found.symbol == found.tree { &mut own } else { &mut nested }) += 1;
    }
    assert!(own > 1000 && nested > 100, "{own} {nested}");
    assert!(removed < own / 4, "{own} {removed}");
    assert!(ways < own / 20, "{own} {ways}");
}

/// The share of gcov's executions of all lines that is found, in thousandths. For each line it counts all its
/// positions together, but no more than gcov does.
fn found_by_gcov(
    shop: &Workshop,
    objects: &[String],
    profile: &Profile,
    all: &[Function],
    starts: &Starts,
) -> u64 {
    let gcov = lines_of_gcov(shop, objects);
    let mut of_file = BTreeMap::<&str, BTreeSet<u32>>::new();
    for (file, line) in gcov.keys() {
        of_file.entry(file).or_default().insert(*line);
    }
    let mut ours = Lines::new();
    for found in counts(profile) {
        let (source, _) = key(profile, found.symbol);
        for start in starts_of(profile, found.symbol, all, starts) {
            let line = start + found.position.line;
            *ours.entry((source.clone(), line)).or_default() += found.count;
        }
    }
    let all: u64 = gcov.values().sum();
    let found: u64 =
        gcov.iter().map(|(line, &count)| count.min(ours.get(line).copied().unwrap_or(0))).sum();
    found * 1000 / all
}

/// The summary, made by sorting all counts.
fn check_summary(profile: &Profile) {
    let mut counts: Vec<u64> = counts(profile).into_iter().map(|found| found.count).collect();
    counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let summary = profile.summary();
    assert_eq!(summary.total_count, counts.iter().sum::<u64>());
    assert_eq!(summary.max_count, counts[0]);
    assert_eq!(summary.counts, counts.len() as u64);
    assert_eq!(summary.functions, profile.functions.len() as u64);
    let entries = profile.functions.values().map(|function| function.head_count);
    assert_eq!(summary.max_function_count, entries.max().unwrap());
    for cutoff in &summary.cutoffs {
        let wanted = u128::from(summary.total_count) * u128::from(cutoff.share) / 1_000_000;
        let mut sum = 0;
        let needed = counts.iter().position(|&count| {
            sum += u128::from(count);
            sum >= wanted
        });
        let least = counts[needed.unwrap()];
        let at_least = counts.iter().filter(|&&count| count >= least).count();
        assert_eq!((cutoff.min_count, cutoff.counts), (least, at_least as u64), "{cutoff:?}");
    }
}

fn profile_is_what_gcov_says(build: impl Fn(&Workshop) -> Option<Built>) {
    if !have("gcov") || !have("gcov-dump") || !have("readelf") {
        return;
    }
    let shop = Workshop::new();
    let Some(built) = build(&shop) else { return };
    built.link_both(&shop);
    let stock = shop.run("stock", &built.arguments());
    assert_eq!(shop.run("ours", &built.arguments()), stock);

    let all: Vec<Function> = built
        .objects
        .iter()
        .filter(|object| shop.path(object.replace(".o", ".gcda")).exists())
        .flat_map(|object| functions(&shop, object))
        .collect();
    check_against_gcov(&shop, &built, &all);
    let starts = starts(&shop, "ours");

    for (format, extension) in [("v4", "gcov"), ("v4-compact", "gcovc")] {
        let file = format!("profile.{extension}");
        shop.tool_output(&["convert", "ours.csraw", "--to", format, "-o", &file]);
        let decoded = decode(&shop.read(&file)).unwrap();
        assert!(decoded.findings.is_empty());
        assert_eq!(decoded.summary, decoded.profile.summary());
        check_profile(&decoded.profile, &all, &starts);
        let share = found_by_gcov(&shop, &built.objects, &decoded.profile, &all, &starts);
        assert!(share >= 990, "{share}");
    }
    let text = shop.tool_output(&["convert", "ours.csraw", "--to", "v4-text"]);
    check_profile(&afdo_v4_text::decode::decode(&text).unwrap().profile, &all, &starts);
}

#[test]
fn lua_profile() {
    profile_is_what_gcov_says(lua);
}

/// Lua is another large program: `cargo test --test placement -- --ignored sqlite_profile_by_hand`.
#[test]
#[ignore = "a minute"]
fn sqlite_profile_by_hand() {
    profile_is_what_gcov_says(sqlite);
}

/// Counts that a process took with it cost a function no more than their own weight.
#[test]
fn a_function_that_processes_leave_in_the_middle() {
    let shop = Workshop::new();
    shop.program("left.c");
    let object = shop.compile("left.c", &[]);
    shop.link(&[&object], "ours", &[]);
    for argument in ["", "x", "x", "e"] {
        shop.run("ours", &[argument]);
    }
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x.gcov"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("; 1 function left in the middle"), "{told}");
    let profile =
        countersink::formats::afdo_v4::decode::decode(&shop.read("x.gcov")).unwrap().profile;
    let main = profile.functions.iter().find(|(id, _)| profile.symbols.name(**id) == b"main");
    assert_eq!(main.unwrap().1.head_count, 4);
}

/// Executions of the lines of every function, by file and name.
type ByFunction = BTreeMap<(String, String), BTreeMap<u32, u64>>;

/// The counts of a profile. Those of inlined bodies count for their own functions.
fn flattened(profile: &Profile) -> ByFunction {
    let mut lines = ByFunction::new();
    for found in counts(profile) {
        let own = lines.entry(key(profile, found.symbol)).or_default();
        *own.entry(found.position.line).or_default() += found.count;
    }
    lines
}

fn lua_flattened(shop: &Workshop, built: &Built) -> ByFunction {
    built.link(shop);
    shop.run("ours", &built.arguments());
    let file = shop.tool_output(&["convert", "ours.csraw", "--to=v4"]);
    flattened(&decode(&file).unwrap().profile)
}

/// The same program without early inlining has notes and counters for every function.
#[test]
#[ignore = "slow"]
fn functions_that_exist_only_inlined() {
    let (plain, without) = (Workshop::new(), Workshop::new());
    let Some(built) = lua(&plain) else { return };
    let lines = lua_flattened(&plain, &built);
    let flags = [&REPEATABLE[..], &["-fno-early-inlining"]].concat();
    let all = lua_flattened(&without, &compile_lua(&without, &flags).unwrap());
    let notes = plain.files("gcno");
    let noted: BTreeSet<String> = notes
        .iter()
        .flat_map(|path| {
            let bytes = plain.read(path);
            let notes = Notes::decode(&bytes).unwrap();
            let names = notes.functions.iter();
            names.map(|f| String::from_utf8(f.name.to_vec()).unwrap()).collect::<Vec<_>>()
        })
        .collect();
    let (mut executed, mut found, mut same) = (0, 0, 0);
    for (key, expected) in all.iter().filter(|((_, name), _)| !noted.contains(name)) {
        for (line, &count) in expected.iter().filter(|&(_, &count)| count > 0) {
            let ours = lines.get(key).and_then(|lines| lines.get(line));
            executed += 1;
            found += usize::from(ours.is_some());
            same += usize::from(ours == Some(&count));
        }
    }
    eprintln!("{executed} lines executed, {found} found, {same} with the same count");
    assert!(executed > 100 && found * 100 >= executed * 85 && same * 100 >= executed * 65);
}

/// Bodies at calls hold the same as what flat profiles have in the functions themselves.
#[test]
fn flat_profiles_hold_the_same() {
    let shop = Workshop::new();
    let Some(built) = lua(&shop) else { return };
    let nested = lua_flattened(&shop, &built);
    let converted = |arguments: &[&str]| {
        let file = shop.tool_output(&[&["convert", "ours.csraw", "--to=v4"], arguments].concat());
        decode(&file).unwrap().profile
    };
    let bodies = |profile: &Profile| {
        let records =
            profile.functions.values().flat_map(|function| function.body.positions.values());
        records.map(|record| record.inlined.len()).sum::<usize>()
    };
    let flat = converted(&["--inline", "flat"]);
    assert_eq!(bodies(&flat), 0);
    assert!(bodies(&converted(&[])) > 100);
    assert_eq!(flattened(&flat), nested);
}
