//! Functions that compilers make out of the code of others: bodies of parallel regions, coroutines, Ada's tasks and
//! protected operations. And functions within others. Each owns the lines whose code it has: readers look for their
//! counts there.

use countersink::formats::afdo_v4::decode::decode;
use countersink::profile::{Position, Profile};

use crate::compilers::Compiler;
use crate::harness::{Workshop, gcc_major, have, skip, succeed};

/// A program, and the flags that it needs.
struct Program {
    source: &'static str,
    flags: &'static [&'static str],
    libraries: &'static [&'static str],
}

const REGIONS: Program =
    Program { source: "regions.c", flags: &["-fopenmp"], libraries: &["-fopenmp"] };
const NESTED: Program = Program { source: "nested.c", flags: &[], libraries: &[] };
const COROUTINE: Program = Program {
    source: "coroutine.cc",
    flags: &["-std=c++20", "-fcoroutines"],
    libraries: &["-lstdc++"],
};

/// The arguments of the counted run and of the measured one.
const TRAINED: [&str; 1] = ["20"];
const MEASURED: [&str; 1] = ["50"];

/// Counters for several threads.
const INSTRUMENT: [&str; 4] =
    ["-g", "-fprofile-generate", "-ftest-coverage", "-fprofile-update=atomic"];

/// The line of the first text like this.
fn line_of(shop: &Workshop, source: &str, text: &str) -> u32 {
    let source = String::from_utf8(shop.read(source)).unwrap();
    let place = source.lines().position(|line| line.contains(text));
    place.unwrap_or_else(|| panic!("no {text}")) as u32 + 1
}

/// The greatest count of a function's own line.
fn count(profile: &Profile, function: &str, line: u32) -> Option<u64> {
    let is_it = |symbol| profile.symbols.name(symbol) == function.as_bytes();
    let body = &profile.functions.iter().find(|(symbol, _)| is_it(**symbol))?.1.body;
    let at = |position: &Position| position.line == line;
    body.positions.iter().filter(|(position, _)| at(position)).filter_map(|(_, r)| r.count).max()
}

/// Runs a program that this gcc has instrumented.
fn train(compiler: &Compiler, shop: &Workshop, program: &Program) {
    shop.program(program.source);
    let instrument = [&["-O2"], &INSTRUMENT[..], program.flags].concat();
    let object = compiler.object(shop, program.source, &instrument);
    shop.link(&[&object], "ours", program.libraries);
    shop.run("ours", &TRAINED);
}

/// Each function has the counts of its own lines, at their distance from where it starts.
#[test]
fn the_function_that_owns_the_code_owns_the_lines() {
    for compiler in crate::compilers::all().iter().filter(|compiler| compiler.major() >= 11) {
        let major = compiler.major();
        // The region gets 200 elements in each of 20 calls. The second one starts anew.
        let first = ("#pragma omp", "work._omp_fn.0", "s = mix(s, k + i);", 20 * 200 * 16);
        let second = ("total += table[3];", "work._omp_fn.1", "total ^= table[i", 20 * 50);
        let actor = if major >= 15 { "P14_Z3genjj" } else { "PZ3genjjE14_Z3genjj" };
        let actor = format!("_Z3gen{actor}.Frame.actor");
        let resumed = ("Gen gen(", &*actor, "a ^= table", 20 * 200 * 16);
        let inner = ("unsigned step(", "step.0", "a ^= table", 20 * 200 * 16);
        for (program, expected) in
            [(REGIONS, &[first, second][..]), (NESTED, &[inner]), (COROUTINE, &[resumed])]
        {
            if program.source.ends_with(".cc") && !compiler.has_cxx() {
                continue;
            }
            let shop = Workshop::new();
            train(compiler, &shop, &program);
            let profile =
                decode(&shop.tool_output(&["convert", "ours.csraw", "--to=v4"])).unwrap().profile;
            for &(start, function, hot, executions) in expected {
                let [start, hot] = [start, hot].map(|text| line_of(&shop, program.source, text));
                // The second pragma follows that line.
                let start = if function.ends_with("fn.1") { start + 1 } else { start };
                let found = count(&profile, function, hot - start);
                assert_eq!(found, Some(executions), "gcc {major}: {function}, line {hot}");
            }
        }
    }
}

/// Without the program the notes tell the lines.
#[test]
fn notes_tell_the_lines() {
    let shop = Workshop::new();
    let all = crate::compilers::all();
    let compiler = all.iter().find(|compiler| compiler.major() == gcc_major()).unwrap();
    train(compiler, &shop, &REGIONS);
    std::fs::remove_file(shop.path("ours")).unwrap();
    let profile = decode(&shop.tool_output(&["convert", "ours.csraw", "--to=v4"])).unwrap().profile;
    let [start, hot] =
        ["#pragma omp", "s = mix(s, k + i);"].map(|text| line_of(&shop, "regions.c", text));
    assert_eq!(count(&profile, "work._omp_fn.0", hot - start), Some(20 * 200 * 16));
    let counted = |name: &str| {
        profile.functions.iter().find(|(s, _)| profile.symbols.name(**s) == name.as_bytes())
    };
    // The function around calls it, and does nothing else.
    assert!(counted("work").unwrap().1.body.total() < 20 * 20);
}

/// What a mispredicted branch costs, in instructions.
const MISPREDICTION: u64 = 20;

/// Instructions of the measured run, and what its mispredicted branches cost: gcc replaces branches by instructions.
fn cost(shop: &Workshop, program: &str) -> u64 {
    let mut valgrind = shop.command("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes"]);
    valgrind.arg("--cachegrind-out-file=/dev/null");
    valgrind.env("OMP_NUM_THREADS", "1").arg(shop.path(program)).args(MEASURED);
    let output = valgrind.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    let number = |name: &str| {
        let line = errors.lines().find_map(|line| line.split_once(name)).unwrap().1;
        let number = line.trim_start().split(' ').next().unwrap().replace(',', "");
        number.parse::<u64>().unwrap_or_else(|_| panic!("{errors}"))
    };
    number("refs:") + MISPREDICTION * number("Mispredicts:")
}

/// With the profile a program costs less than without, and little more than with `-fprofile-use`.
fn assert_worth(what: &str, [plain, ours, used]: [u64; 3]) {
    eprintln!("{what}: costs {plain}, {ours} with the profile, {used} with -fprofile-use");
    assert!(ours <= plain, "{what}: {ours}, {plain} without a profile");
    assert!(ours * 10 <= used * 11, "{what}: {ours}, {used} with -fprofile-use");
}

#[test]
#[ignore = "slow"]
fn profiles_make_them_fast() {
    if !have("valgrind") {
        return;
    }
    // gcc 13 and 14 read profiles as 15 does.
    let all = crate::compilers::all();
    for compiler in all.iter().filter(|compiler| matches!(compiler.major(), 11 | 12 | 15..)) {
        let major = compiler.major().to_string();
        for program in [REGIONS, NESTED, COROUTINE] {
            if program.source.ends_with(".cc") && !compiler.has_cxx() {
                continue;
            }
            let shop = Workshop::new();
            train(compiler, &shop, &program);
            shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &major, "-o", "prog.afdo"]);
            shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
            let helps =
                String::from_utf8(shop.tool_output(&["flags", "--optimise", &major])).unwrap();
            let helps: Vec<&str> = helps.split_whitespace().collect();
            let ours = [&["-fauto-profile=prog.afdo"][..], &helps].concat();
            let measured = [&[][..], &ours, &["-fprofile-use"]].map(|profile| {
                let flags = [&["-O2"], profile, program.flags].concat();
                let object = compiler.object(&shop, program.source, &flags);
                shop.gcc(&[&[&object, "-o", "fast"], program.libraries].concat());
                cost(&shop, "fast")
            });
            assert_worth(&format!("gcc {major}, {}", program.source), measured);
        }
    }
}

/// Builds a program of Ada with these flags.
fn build_ada(shop: &Workshop, program: &str, flags: &[&str], link: &[&str]) {
    shop.gcc(&[&["-c", "-O2", "tasks.adb"], flags].concat());
    succeed(shop.command("gnatbind").arg("tasks.ali"));
    succeed(shop.command("gnatlink").args(["tasks.ali", "-o", program]).args(link));
}

#[test]
fn tasks_and_protected_operations_of_ada() {
    if !have("valgrind") || !have("gnatbind") || !have("gnatlink") {
        return;
    }
    let shop = Workshop::new();
    let major = gcc_major().to_string();
    shop.program("tasks.adb");
    if !shop.command("gcc").args(["-c", "tasks.adb"]).output().unwrap().status.success() {
        return skip(&format!("gcc {major} without Ada"));
    }
    build_ada(&shop, "plain", &[], &[]);
    build_ada(&shop, "ours", &INSTRUMENT, &["-fprofile-generate", "-L.", "-lcountersink_rt"]);
    shop.run("ours", &TRAINED);
    let profile = decode(&shop.tool_output(&["convert", "ours.csraw", "--to=v4"])).unwrap().profile;
    let at = |text| line_of(&shop, "tasks.adb", text);
    let (worker, add) =
        (at("task body Worker"), at("procedure Add (X : Unsigned_32; M : Integer) is"));
    // Two tasks go round 2000 times each. One round in 64 adds, and that goes round 20 times.
    let rounds = count(&profile, "tasks__workerTB.3", at("16#ffff#") - worker);
    assert_eq!(rounds, Some(2 * 2000 * 16));
    let added = count(&profile, "tasks__counter__addN.5", at("if (S and 1)") - add);
    assert_eq!(added, Some(2 * (2000 / 64) * 20));
    shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &major, "-o", "tasks.afdo"]);
    shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
    let helps = String::from_utf8(shop.tool_output(&["flags", "--optimise", &major])).unwrap();
    let profiled =
        [&["-fauto-profile=tasks.afdo"], &helps.split_whitespace().collect::<Vec<_>>()[..]]
            .concat();
    build_ada(&shop, "fast", &profiled, &[]);
    build_ada(&shop, "used", &["-fprofile-use"], &[]);
    let measured = ["plain", "fast", "used"].map(|program| cost(&shop, program));
    assert_worth("Ada", measured);
}
