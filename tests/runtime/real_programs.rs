//! Lua and SQLite, linked with libgcov and with countersink, run on the same input and give the same counts.
//!
//! Objects are compiled once and linked twice, so that stamps and paths are equal. They run at fixed
//! addresses (`tests/programs/fixed_memory.c`), because some counters count addresses.

use std::fs;

use crate::harness::{Workshop, assert_same_files, have};
use crate::programs::{Built, lua, sqlite};

fn program(build: impl Fn(&Workshop) -> Option<Built>) -> Option<(Workshop, Built)> {
    let shop = Workshop::new();
    let built = build(&shop)?;
    built.link_both(&shop);
    Some((shop, built))
}

/// Runs one of the two under the same program name, so that the stacks start alike.
fn run(shop: &Workshop, which: &str, arguments: &[&str]) -> String {
    let _ = fs::remove_file(shop.path("prog"));
    fs::hard_link(shop.path(which), shop.path("prog")).unwrap();
    let mut command = shop.command(shop.path("prog"));
    command.env_clear().env("COUNTERSINK_FILE", "dump.csraw");
    if which == "ours" {
        command.env("MALLOC_IS_SEALED", "1");
    }
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{which}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// One run: byte for byte what libgcov writes, as far as it keeps all values.
fn check_one_run(shop: &Workshop, built: &Built) {
    let stock_output = run(shop, "stock", &built.arguments());
    let stock = shop.take_gcda();
    // Objects that consist of tables have no counters.
    assert!(!stock.is_empty() && stock.len() + 2 >= built.objects.len(), "{}", stock.len());
    assert_eq!(run(shop, "ours", &built.arguments()), stock_output);
    assert_same_files(&shop.converted_gcda("dump.csraw"), &stock);
    fs::remove_file(shop.path("dump.csraw")).unwrap();
}

/// Several runs into one file. This compares more than the decoded counters: the order of values is kept,
/// too.
fn check_merged_runs(shop: &Workshop, built: &Built) {
    for which in ["stock", "ours"] {
        for size in ["1", "2", "3"] {
            let mut arguments = built.arguments();
            *arguments.last_mut().unwrap() = size;
            run(shop, which, &arguments);
        }
    }
    let stock = shop.take_gcda();
    assert_same_files(&shop.converted_gcda("dump.csraw"), &stock);
    fs::remove_file(shop.path("dump.csraw")).unwrap();
}

/// gcc's own tools print the same for the converted files as for libgcov's, except for values of sites.
fn check_gcov(shop: &Workshop, built: &Built) {
    if !have("gcov") || !have("gcov-dump") {
        return;
    }
    let printed = || {
        let mut gcov = shop.command("gcov");
        let mut printed =
            crate::harness::succeed(gcov.args(["-b", "-c", "-t"]).args(&built.objects));
        let data = shop.files("gcda");
        let dumped = crate::harness::succeed(shop.command("gcov-dump").arg("-l").args(&data));
        let mut of_sites = false;
        for line in String::from_utf8(dumped).unwrap().lines() {
            if line.contains("COUNTERS") || line.contains("FUNCTION") {
                of_sites = line.contains("topn") || line.contains("indirect_call");
            }
            printed.extend(line.bytes().filter(|_| !of_sites));
        }
        printed
    };
    run(shop, "stock", &built.arguments());
    let stock = printed();
    shop.take_gcda();
    run(shop, "ours", &built.arguments());
    shop.tool_output(&["convert", "--to", "gcda", "dump.csraw"]);
    assert!(printed() == stock, "gcov or gcov-dump print something else");
}

fn counts_are_libgcov_s(build: impl Fn(&Workshop) -> Option<Built>) {
    let Some((shop, built)) = program(build) else { return };
    check_one_run(&shop, &built);
    check_merged_runs(&shop, &built);
    check_gcov(&shop, &built);
}

/// The number of cores changes neither the conversion nor its messages.
#[test]
#[ignore = "slow"]
fn one_core_or_several() {
    let Some((shop, built)) = program(lua) else { return };
    run(&shop, "ours", &built.arguments());
    let convert = |format: &str, jobs: &str| {
        let output = shop.tool(&["convert", "dump.csraw", "-v", "--to", format, "-j", jobs]);
        assert!(output.status.success(), "{format}, {jobs}: {output:?}");
        (output.stdout, output.stderr)
    };
    for (format, jobs) in [("v4", "2"), ("v4-text", "5"), ("json", "5")] {
        let alone = convert(format, "1");
        assert!(convert(format, jobs) == alone, "{format}: {jobs} cores make a difference");
    }
    let data = |jobs| (convert("gcda", jobs), shop.take_gcda());
    assert!(data("1") == data("3"), "gcda");
}

#[test]
fn lua_counts() {
    counts_are_libgcov_s(lua);
}

#[test]
fn sqlite_counts() {
    counts_are_libgcov_s(sqlite);
}
