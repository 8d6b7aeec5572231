//! `countersink.h` from C and C++: the promise of each function.

use std::collections::BTreeMap;
use std::fs;

use countersink::convert::gcov::names::ident;
use countersink::raw::dump::Dump;
use countersink::raw::gcov::Kind;

use crate::harness::{Workshop, have, succeed};

/// A program made of interface.c.
fn program(flags: &[&str]) -> Workshop {
    let shop = Workshop::new();
    shop.program("interface.c");
    let object = shop.compile("interface.c", flags);
    shop.link(&[&object], "ours", &["-pthread"]);
    shop
}

/// What a dump says about the function `work`.
#[derive(Debug, PartialEq, Eq)]
struct Work {
    /// Runs of the module.
    runs: u64,
    /// The largest arc counter: how often the loop went round.
    rounds: i64,
    /// Events of the call site, and by callee.
    calls: i64,
    callees: BTreeMap<i64, i64>,
}

fn work_in(shop: &Workshop, dump: &str) -> Work {
    let dump = Dump::parse(&shop.read(dump)).unwrap();
    let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
    let mut functions = module.functions(&module.objects[0]);
    let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
    let site = work.sites(Kind::INDIRECT_CALL).next().unwrap();
    Work {
        runs: module.sums.runs,
        rounds: work.counters(Kind::ARCS).iter().copied().max().unwrap(),
        calls: site.total,
        callees: site.pairs.iter().map(|pair| (pair.value, pair.count)).collect(),
    }
}

/// What calls of `work` with these arguments count.
fn expected(runs: u64, arguments: &[i64]) -> Work {
    let rounds = arguments.iter().sum();
    let thrice = arguments.iter().map(|n| (n + 3) / 4).sum();
    let callees = BTreeMap::from([(0, rounds - thrice), (1, thrice)]);
    Work { runs, rounds, calls: rounds, callees }
}

/// The callees are static, so their idents depend on the folder. Only the counts are compared.
#[track_caller]
fn assert_counts(found: Work, expected: Work) {
    let counts = |work: &Work| {
        let mut counts: Vec<i64> = work.callees.values().copied().collect();
        counts.sort_unstable();
        (work.runs, work.rounds, work.calls, counts)
    };
    assert_eq!(counts(&found), counts(&expected));
}

#[test]
fn flush_writes_what_is_new_and_counting_goes_on() {
    let shop = program(&[]);
    shop.run("ours", &["flushes"]);
    assert_counts(work_in(&shop, "ours.csraw"), expected(1, &[10, 20, 40]));
    shop.run("ours", &["flushes"]);
    assert_counts(work_in(&shop, "ours.csraw"), expected(2, &[10, 20, 40, 10, 20, 40]));
}

#[test]
fn reset_forgets_what_is_new() {
    let shop = program(&[]);
    shop.run("ours", &["resets"]);
    assert_counts(work_in(&shop, "ours.csraw"), expected(1, &[20, 80]));
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    assert_eq!(dump.modules[0].sums.sum_max, 20 + 80);
}

#[test]
fn set_file_chooses_where() {
    let shop = program(&[]);
    let output = shop.output("ours", &["files"]);
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("countersink: /proc/nowhere/x: not written: "), "{errors}");
    assert_counts(work_in(&shop, "sub/dir/ours.first"), expected(1, &[10, 5]));
    let names = fs::read_dir(shop.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let second = names.map(|name| name.into_string().unwrap()).find(|n| n.starts_with("second."));
    let second = work_in(&shop, &second.unwrap());
    assert_eq!((second.runs, second.rounds), (0, 20));
    // What could not be written is written at the end, where the program started, not where it is.
    let last = work_in(&shop, "ours.csraw");
    assert_eq!((last.runs, last.rounds), (0, 40));
}

#[test]
fn hooks_for_processes_made_otherwise() {
    for how in ["clones", "raw-fork", "hooks"] {
        let shop = program(&[]);
        shop.run("ours", &[how]);
        assert_counts(work_in(&shop, "ours.csraw"), expected(2, &[10, 40, 20]));
    }
}

#[test]
fn hooks_for_execs_made_otherwise() {
    let shop = program(&[]);
    shop.run("ours", &["raw-exec"]);
    assert_counts(work_in(&shop, "ours.csraw"), expected(1, &[10, 20]));
}

#[test]
fn flush_from_a_signal_handler_at_any_moment() {
    let shop = program(&[]);
    shop.run("ours", &["signals"]);
    let work = work_in(&shop, "ours.csraw");
    assert_eq!((work.runs, work.rounds, work.calls), (1, 20_000, 20_000));
    assert_eq!(work.callees.values().sum::<i64>(), 20_000);
    assert_eq!(shop.files("part"), Vec::<std::path::PathBuf>::new());
}

/// 4 threads with 50 flushes each, while the main thread forks 20 children.
#[test]
fn flush_from_threads_while_others_fork() {
    let shop = program(&["-fprofile-update=atomic"]);
    shop.run("ours", &["threads"]);
    let work = work_in(&shop, "ours.csraw");
    let rounds = 4 * 50 * 20 + 20 * 10;
    assert_eq!((work.runs, work.rounds), (21, rounds));
    assert_eq!((work.calls, work.callees.values().sum::<i64>()), (rounds, rounds));
}

#[test]
fn cplusplus() {
    if !have("g++") {
        return;
    }
    let shop = Workshop::new();
    shop.program("interface.cc");
    let mut gxx = shop.command("g++");
    gxx.args(crate::harness::PROFILE).args(["-I.", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    succeed(gxx.args(["interface.cc", "-o", "ours", "-L.", "-lcountersink_rt"]));
    shop.run("ours", &[]);
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let module = &dump.modules[0];
    let mut functions = module.functions(&module.objects[0]);
    let work = functions.find(|function| function.ident() == ident(b"_Z4worki")).unwrap();
    let rounds = work.counters(Kind::ARCS).iter().copied().max();
    // Two objects of the class, and main.
    assert_eq!((module.sums.runs, rounds), (1, Some(2 * (1 + 2 + 4) + 8 + 16)));
}

#[test]
fn the_header_is_c89_and_cplusplus98() {
    let shop = Workshop::new();
    shop.write("c.c", "#include \"countersink.h\"\nint (*flush)(void) = countersink_flush;\n");
    let strict = ["-I.", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "c.c"];
    shop.gcc(&[&["-std=c89"], &strict[..]].concat());
    shop.gcc(&[&["-x", "c++", "-std=c++98"], &strict[..]].concat());
}
