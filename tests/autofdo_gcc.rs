//! gcc takes the version 2 profiles of Lua and SQLite, and annotates blocks with their counts.

mod harness;
mod programs;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersink::formats::afdo_v1_v3::decode::decode;
use harness::{Workshop, gcc_for_version_2, have};
use programs::{Built, compile_lua, compile_sqlite, lua_sources, sqlite_sources};

/// Counts of quality "auto FDO" in the dump of a compilation, by function.
fn annotated(dump: &str) -> BTreeMap<String, BTreeSet<u64>> {
    let mut counts = BTreeMap::<String, BTreeSet<u64>>::new();
    let (mut function, mut before) = (String::new(), "");
    for line in dump.lines() {
        if line == "{" {
            // The line before it is the declaration: `int *name (int x)`.
            let name = before.split(" (").next().unwrap().rsplit(' ').next().unwrap();
            function = name.trim_start_matches('*').to_owned();
        } else if let Some((_, count)) = line.split_once(" count ")
            && let Some((count, _)) = count.split_once(" (auto FDO")
        {
            counts.entry(function.clone()).or_default().insert(count.parse().unwrap());
        }
        before = line;
    }
    counts
}

fn gcc_takes_the_profile(
    build: impl Fn(&Workshop, &[&str]) -> Option<Built>,
    sources: impl Fn(&Workshop) -> Option<Vec<String>>,
    flags: &[&str],
) {
    let Some(gcc) = gcc_for_version_2() else { return };
    let shop = Workshop::new();
    let Some(built) = build(&shop, &[]) else { return };
    let objects: Vec<&str> = built.objects.iter().map(String::as_str).collect();
    shop.link(&objects, "ours", &["-lm"]);
    shop.run("ours", &built.arguments());
    shop.tool_output(&[
        "convert",
        "ours.csraw",
        "--to",
        "v2",
        "--for-gcc",
        &gcc,
        "-o",
        "prog.afdo",
    ]);

    let mut counts = BTreeMap::<String, BTreeSet<u64>>::new();
    for source in sources(&shop).unwrap() {
        let dump = format!("{source}.afdo");
        let dump_flag = format!("-fdump-ipa-afdo-blocks-details={dump}");
        let compile = ["-O2", "-I.", "-fauto-profile=prog.afdo", &dump_flag, "-c", &source];
        shop.gcc(&[&compile[..], &["-o", "again.o"], flags].concat());
        let dump = String::from_utf8_lossy(&shop.read(dump)).into_owned();
        for (function, found) in annotated(&dump) {
            counts.entry(function).or_default().extend(found);
        }
    }

    let profile = decode(&shop.read("prog.afdo")).unwrap().profile;
    let largest = |body: &countersink::profile::Body| {
        body.positions.values().filter_map(|record| record.count).max().unwrap_or(0)
    };
    let mut hottest: Vec<(u64, String)> = profile
        .functions
        .iter()
        // Others exist only inlined, here as in the program that ran.
        .filter(|(_, function)| function.head_count > 0)
        .map(|(&symbol, function)| {
            let name = String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap();
            (largest(&function.body), name)
        })
        .collect();
    hottest.sort_by_key(|(count, _)| Reverse(*count));
    // gcc spreads counts over blocks without lines, and where that contradicts itself changes some.
    let taken = hottest.iter().take(20).filter(|(count, name)| {
        counts.get(name).unwrap_or_else(|| panic!("{name} has no counts")).contains(count)
    });
    assert!(taken.count() >= 17);
    let executed = hottest.iter().filter(|(count, _)| *count > 0).count();
    let with_counts = hottest.iter().filter(|(_, name)| counts.contains_key(name)).count();
    assert!(with_counts * 10 > executed * 9, "{with_counts} of {executed} functions have counts");
}

#[test]
fn lua_with_version_2() {
    gcc_takes_the_profile(compile_lua, lua_sources, &["-std=gnu99", "-DLUA_USE_POSIX"]);
}

#[test]
fn sqlite_with_version_2() {
    let flags =
        ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_ENABLE_MATH_FUNCTIONS"];
    gcc_takes_the_profile(compile_sqlite, sqlite_sources, &flags);
}

/// The end of the chain: compiles sources of a program that has run with its profile; gives what gcc
/// says of its optimisations.
fn optimized(shop: &Workshop, compile: &[&str]) -> String {
    shop.tool_output(&["convert", "ours.csraw", "--to", "v2", "-o", "prog.afdo"]);
    let flags = ["-O2", "-I.", "-fauto-profile=prog.afdo", "-fopt-info-all=opt.txt", "-c"];
    shop.gcc(&[&flags[..], compile, &["-o", "again.o"]].concat());
    String::from_utf8_lossy(&shop.read("opt.txt")).into_owned()
}

#[track_caller]
fn promoted(optimized: &str, target: &str) {
    let end = format!("=> {target} (will resolve by ipa-profile)");
    let calls = optimized.lines().filter(|line| line.contains("Indirect call -> direct call"));
    assert!(calls.clone().any(|line| line.ends_with(&end)), "{:?}", calls.collect::<Vec<_>>());
}

/// A hot target of an indirect call becomes a comparison and a direct call.
#[test]
fn hot_targets_are_promoted() {
    let Some(_) = gcc_for_version_2() else { return };
    let shop = Workshop::new();
    shop.program("promoted.c");
    let object = shop.compile("promoted.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    promoted(&optimized(&shop, &["promoted.c"]), "often");
}

#[test]
fn hot_targets_of_virtual_calls_are_promoted() {
    let Some(_) = gcc_for_version_2().filter(|_| have("g++")) else { return };
    let shop = Workshop::new();
    shop.program("clock.h");
    let objects = ["clock_first.cc", "clock_second.cc"].map(|name| {
        shop.program(name);
        shop.compile(name, &[])
    });
    shop.link(&[&objects[0], &objects[1]], "ours", &["-lstdc++"]);
    shop.run("ours", &[]);
    let optimized = optimized(&shop, &["clock_first.cc"]);
    ["now", "next", "advance"].iter().for_each(|target| promoted(&optimized, target));
}

#[test]
fn a_hot_target_of_lua_is_promoted() {
    let Some(_) = gcc_for_version_2() else { return };
    let shop = Workshop::new();
    let Some(built) = compile_lua(&shop, &[]) else { return };
    let objects: Vec<&str> = built.objects.iter().map(String::as_str).collect();
    shop.link(&objects, "ours", &["-lm"]);
    shop.run("ours", &built.arguments());
    // luaD_rawrunprotected runs coroutines more often than anything else.
    let optimized = optimized(&shop, &["-std=gnu99", "-DLUA_USE_POSIX", "ldo.c"]);
    promoted(&optimized, "resume");
}
