//! Conditions of clang's programs (MC/DC): equal to those of `llvm-cov` for LLVM 18 and newer, over two runs.

use std::collections::BTreeMap;
use std::path::Path;

use countersink::convert::llvm::coverage::coverage;
use countersink::counters::{Function, Profile};
use countersink::formats::coverage_mapping::{Mapping, Sections};
use countersink::formats::profraw::names::Names;
use object::{Object, ObjectSection};

use crate::harness::{Workshop, have, skip, succeed};
use crate::llvm::{Llvm, all};

/// The first LLVM that observes conditions.
const SINCE: u32 = 18;

const PROGRAMS: [&[&str]; 2] = [&["conditions.c"], &["conditions.cc", "conditions_second.cc"]];
const FLAGS: [&str; 4] =
    ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc", "-w"];

/// By file, line and number of conditions: which conditions are shown.
type Conditions = BTreeMap<(String, u64, usize), Vec<bool>>;

fn name(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// What `llvm-cov` has. Instances of a template, and uses of a macro, are at one place, and are one here.
fn of_llvm_cov(json: &serde_json::Value) -> Conditions {
    let mut places = BTreeMap::<(String, u64, u64, usize), Vec<bool>>::new();
    for file in json["data"][0]["files"].as_array().unwrap() {
        let name = name(file["filename"].as_str().unwrap());
        for record in file["mcdc_records"].as_array().unwrap() {
            let number = |place: usize| record[place].as_u64().unwrap();
            let fields = record.as_array().unwrap().iter();
            let is_list = |field: &&serde_json::Value| field.is_array();
            let conditions = fields.filter(is_list).find_map(|list| {
                list.as_array()
                    .unwrap()
                    .iter()
                    .map(|shown| shown.as_bool())
                    .collect::<Option<Vec<bool>>>()
            });
            let conditions = conditions.unwrap();
            let place = (name.clone(), number(0), number(1), conditions.len());
            let known = places.entry(place).or_insert_with(|| vec![false; conditions.len()]);
            known.iter_mut().zip(conditions).for_each(|(known, shown)| *known |= shown);
        }
    }
    let mut all = Conditions::new();
    for ((name, line, _, size), shown) in places {
        all.entry((name, line, size)).or_default().extend(shown);
    }
    all
}

fn of_tracefile(text: &str) -> Conditions {
    let mut all = Conditions::new();
    let mut path = String::new();
    for line in text.lines() {
        if let Some(source) = line.strip_prefix("SF:") {
            path = name(source);
        }
        let Some(fields) = line.strip_prefix("MCDC:") else { continue };
        let fields: Vec<&str> = fields.split(',').collect();
        let number = |place: usize| fields[place].parse::<u64>().unwrap();
        let shown = all.entry((path.clone(), number(0), number(1) as usize)).or_default();
        match fields[2] {
            "t" => shown.push(number(3) > 0),
            _ => assert_eq!(*shown.last().unwrap(), number(3) > 0),
        }
    }
    all
}

fn found() -> Vec<Llvm> {
    let is_it = |llvm: &Llvm| llvm.major >= SINCE && have(&format!("llvm-cov-{}", llvm.major));
    all().into_iter().filter(is_it).collect()
}

/// Links and runs a program, and compares what it shows of its conditions.
#[track_caller]
fn assert_same(shop: &Workshop, llvm: Llvm, objects: &[String], about: &str) {
    llvm.link_both(shop, objects, &FLAGS[..1]);
    for run in ["1", "2"] {
        let profile = format!("run{run}.profraw");
        succeed(shop.command(shop.path("stock")).arg(run).env("LLVM_PROFILE_FILE", profile));
        let ours = "ours.csraw";
        succeed(shop.command(shop.path("ours")).arg(run).env("COUNTERSINK_FILE", ours));
    }
    let merge = ["merge", "-o", "merged.profdata", "run1.profraw", "run2.profraw"];
    assert!(llvm.profdata(shop, &merge).status.success());
    let mut cov = shop.command(format!("llvm-cov-{}", llvm.major));
    let json = succeed(cov.args(["export", "-instr-profile=merged.profdata", "stock"]));
    let expected = of_llvm_cov(&serde_json::from_slice(&json).unwrap());
    assert!(expected.values().flatten().filter(|shown| **shown).count() > 5, "{about}");
    let report = shop.tool_output(&["convert", "--to", "lcov", "ours.csraw"]);
    let ours = of_tracefile(str::from_utf8(&report).unwrap());
    assert_eq!(ours, expected, "{about}");
    let binary = ["--binary", "stock"];
    let words = [&["convert", "--to", "lcov", "merged.profdata"][..], &binary].concat();
    assert_eq!(shop.tool_output(&words), report, "{about}");
}

/// Decisions of up to ten conditions, as chance nests and negates them, and calls with values of chance.
fn by_chance(seed: u32) -> String {
    let mut state = seed;
    let mut below = move |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % most
    };
    fn nested(leaves: u32, next: &mut u32, below: &mut dyn FnMut(u32) -> u32) -> String {
        if leaves == 1 {
            *next += 1;
            return format!("v[{}]", *next - 1);
        }
        let first = 1 + below(leaves - 1);
        let (left, right) = (nested(first, next, below), nested(leaves - first, next, below));
        let operator = ["&&", "||"][below(2) as usize];
        let not = if below(6) == 0 { "!" } else { "" };
        format!("{not}({left} {operator} {right})")
    }
    let (mut text, mut calls) = (String::new(), String::new());
    for function in 0..60 {
        let conditions = 2 + below(9);
        let decision = nested(conditions, &mut 0, &mut below);
        text += &format!(
            "static int f{function}(const int *v) {{\n    if ({decision})\n        return 1;\n    return 0;\n}}\n"
        );
        for _ in 0..below(12) {
            let values: Vec<String> = (0..conditions).map(|_| below(2).to_string()).collect();
            calls += &format!("    s += f{function}((const int[]){{{}}});\n", values.join(", "));
        }
    }
    format!(
        "{text}int main(int argc, char **argv)\n{{\n    int s = 0;\n{calls}    return argc > 1 ? argv[1][0] == s : 0;\n}}\n"
    )
}

#[test]
fn decisions_by_chance() {
    for llvm in found() {
        for seed in 1..=4 {
            let shop = Workshop::new();
            shop.write("chance.c", by_chance(seed));
            let object = llvm.object(&shop, "chance.c", &[&FLAGS[..], &["-O0"]].concat());
            assert_same(&shop, llvm, &[object], &format!("LLVM {}, seed {seed}", llvm.major));
        }
    }
}

/// A damaged mapping is refused, or gives other decisions: nothing panics, and nothing takes long.
#[test]
#[ignore = "slow"]
fn damaged_decisions() {
    let Some(llvm) = found().pop() else { return };
    let shop = Workshop::new();
    for name in ["conditions.cc", "conditions_second.cc", "conditions.h"] {
        shop.program(name);
    }
    let flags = [&FLAGS[..], &["-O0", "-std=c++17"]].concat();
    let objects = ["conditions.cc", "conditions_second.cc"];
    let objects: Vec<String> =
        objects.iter().map(|source| llvm.object(&shop, source, &flags)).collect();
    llvm.link_both(&shop, &objects, &FLAGS[..1]);
    let bytes = shop.read("stock");
    let file = object::File::parse(&*bytes).unwrap();
    let section = |name| file.section_by_name(name).unwrap().data().unwrap();
    let [files, functions] = ["__llvm_covmap", "__llvm_covfun"].map(section);
    let names = [Names::read(section("__llvm_prf_names")).unwrap()];
    let decoded = |functions: &[u8]| {
        Mapping::decode(&Sections { names: &[files], functions: &[functions], big_endian: false })
    };
    let whole = decoded(functions).unwrap();
    let counted = whole.functions.iter().map(|function| Function {
        name: names[0].get(function.name_ref).unwrap().to_vec(),
        hash: function.hash,
        counters: vec![1; 64],
        bitmap: vec![0xff; 64],
        ..Function::default()
    });
    let profile = Profile { functions: counted.collect(), ..Profile::default() };
    let conditions = |mapping: &Mapping| -> Option<usize> {
        let files = coverage(mapping, &names, &profile).ok()?.coverage.files;
        let decisions = files.values().flat_map(|file| file.decisions.values());
        Some(decisions.map(|decision| decision.conditions.len()).sum())
    };
    assert!(conditions(&whole).unwrap() > 20);
    let mut others = 0;
    for bit in (0..functions.len() * 8).step_by(3) {
        let mut changed = functions.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        let found = decoded(&changed).ok().and_then(|mapping| conditions(&mapping));
        others += usize::from(found != conditions(&whole));
    }
    assert!(others > 100, "{others}");
}

/// An object of clang 18, and what `llvm-cov` 18 shows of its program after two runs. It was made in `/golden/llvm-18`
/// with the compiler of `tests/compilers/clang-18`:
///
/// ```text
/// clang-18 -O0 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -c conditions.c
/// strip --strip-unneeded conditions.o
/// ```
#[test]
fn conditions_of_clang_18() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return skip("the golden object is for x86-64");
    }
    let shop = Workshop::new();
    let object = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/llvm-18/conditions.o");
    let words = ["-o", "program", "-u", "__llvm_profile_runtime", "-L.", "-lcountersink_rt"];
    succeed(shop.command("gcc").arg(object).args(words));
    for run in ["1", "2"] {
        let dump = "program.csraw";
        succeed(shop.command(shop.path("program")).arg(run).env("COUNTERSINK_FILE", dump));
    }
    let report = shop.tool_output(&["convert", "--to", "lcov", "program.csraw"]);
    let (no, yes) = (false, true);
    let expected: [(u64, &[bool]); 6] = [
        (3, &[yes, yes]),
        (5, &[no, yes]),
        (6, &[no, yes, no, no, no, yes]),
        (8, &[no, no]),
        (12, &[yes, yes]),
        (13, &[no, no, no]),
    ];
    let expected = expected
        .map(|(line, shown)| (("conditions.c".to_owned(), line, shown.len()), shown.to_vec()));
    assert_eq!(of_tracefile(str::from_utf8(&report).unwrap()), Conditions::from(expected));
}

#[test]
fn equal_to_those_of_llvm_cov() {
    for llvm in found() {
        for sources in PROGRAMS {
            for level in ["-O0", "-O1"] {
                let about = format!("LLVM {}, {sources:?}, {level}", llvm.major);
                let shop = Workshop::new();
                sources.iter().chain(&["conditions.h"]).for_each(|name| _ = shop.program(name));
                let flags = [&FLAGS[..], &[level, "-std=c++17"]].concat();
                let flags = if sources.len() == 1 { &flags[..5] } else { &flags[..] };
                let objects: Vec<String> =
                    sources.iter().map(|source| llvm.object(&shop, source, flags)).collect();
                assert_same(&shop, llvm, &objects, &about);
            }
        }
        eprintln!("the same as llvm-cov {}", llvm.major);
    }
}
