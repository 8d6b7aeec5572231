//! Functions, inlined copies and loops on one line, for compilers that take one count for all blocks of a line.
//!
//! Whatever ran has a count in the profile, and programs with it execute no more instructions than without.

use countersink::formats::afdo_v1_v3::decode::decode;
use countersink::formats::afdo_v4;
use countersink::profile::{Body, Profile};

use crate::compilers::Compiler;
use crate::harness::{Workshop, have};

/// The first compiler that tells blocks of a line apart.
const FIRST_WITH_DISCRIMINATORS: u32 = 13;

/// A workshop with the program's dump in it.
fn counted() -> Workshop {
    let shop = Workshop::new();
    shop.program("one_line.c");
    let object = shop.compile("one_line.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &["100"]);
    shop
}

/// The functions and inlined bodies of a profile with their largest counts, by the calls that lead there.
fn largest_counts(profile: &Profile) -> Vec<(String, u64)> {
    fn add(profile: &Profile, body: &Body, name: &str, found: &mut Vec<(String, u64)>) {
        let counts = body.positions.values().filter_map(|record| record.count);
        found.push((name.into(), counts.max().unwrap_or(0)));
        for (position, record) in &body.positions {
            for (&callee, body) in &record.inlined {
                let callee = String::from_utf8_lossy(profile.symbols.name(callee));
                add(profile, body, &format!("{name}:{}:{callee}", position.line), found);
            }
        }
    }
    let mut found = Vec::new();
    for (&symbol, function) in &profile.functions {
        let name = String::from_utf8_lossy(profile.symbols.name(symbol));
        add(profile, &function.body, &name, &mut found);
    }
    found.sort();
    found
}

/// A reader without discriminators gets a count for each function and each inlined body that ran, and it is no smaller
/// than a quarter of the largest one: the hot loop is the function.
#[test]
fn whatever_ran_has_a_count() {
    let shop = counted();
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "exact.gcov"]);
    let exact = largest_counts(&afdo_v4::decode::decode(&shop.read("exact.gcov")).unwrap().profile);
    assert!(exact.iter().any(|(name, _)| name == "around:2:copied"), "{exact:?}");
    for gcc in ["10", "11", "12"] {
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", gcc, "-o", "prog.afdo"]);
        let told = largest_counts(&decode(&shop.read("prog.afdo")).unwrap().profile);
        for (name, largest) in &exact {
            let found = told.iter().find(|(other, _)| other == name);
            let count = found.map_or(0, |&(_, count)| count);
            assert!(count >= largest / 4, "gcc {gcc}: {name} has {count} of {largest}\n{told:?}");
        }
    }
}

/// With the profile the program executes no more instructions than without, and at most a tenth more than with all
/// counters.
#[test]
fn gcc_makes_fast_code() {
    if !have("valgrind") {
        return;
    }
    let shop = counted();
    shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
    let old =
        crate::compilers::all().into_iter().filter(|gcc| gcc.major() < FIRST_WITH_DISCRIMINATORS);
    for compiler in old {
        let gcc = compiler.major().to_string();
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &gcc, "-o", "prog.afdo"]);
        let flags = String::from_utf8(shop.tool_output(&["flags", "--optimise", &gcc])).unwrap();
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let plain = instructions(&shop, &compiler, &[]);
        let ours =
            instructions(&shop, &compiler, &[&["-fauto-profile=prog.afdo"], &flags[..]].concat());
        assert!(ours <= plain, "gcc {gcc}: {ours} instructions, {plain} without a profile");
        if compiler.major() == crate::harness::gcc_major() {
            let with_counters = instructions(&shop, &compiler, &["-fprofile-use"]);
            eprintln!("gcc {gcc}: {plain}, {with_counters} with counters, {ours} with the profile");
            assert!(10 * ours <= 11 * with_counters, "{ours}, {with_counters} with counters");
        }
    }
}

/// Instructions of a run of the program, compiled with these flags.
fn instructions(shop: &Workshop, compiler: &Compiler, flags: &[&str]) -> u64 {
    compiler.assembler_code(shop, "one_line.c", "one_line.s", &[&["-O2"], flags].concat());
    shop.gcc(&["one_line.s", "-o", "program"]);
    let mut valgrind = shop.command("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = valgrind.arg(shop.path("program")).arg("200").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    let line = errors.lines().find_map(|line| line.split_once("Collected :"));
    line.unwrap_or_else(|| panic!("{errors}")).1.trim().parse().unwrap()
}
