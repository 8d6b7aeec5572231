//! Line coverage equals that of the compilers' own tools: the bytes of `llvm-cov export`, and the records of gcov and
//! lcov. Readers of both formats accept our files.

use std::process::Command;

use countersink::convert::llvm::coverage::coverage;
use countersink::counters::{Function, Profile};
use countersink::formats::coverage_mapping::check::{Defect, Finding};
use countersink::formats::coverage_mapping::{Mapping, Sections};
use countersink::formats::profraw::names::Names;
use countersink::formats::proftext::decode::decode;
use countersink::formats::proftext::encode::encode;
use object::{Object, ObjectSection};

use crate::harness::{Workshop, corpus, have, python_with, say_skipped, succeed};
use crate::llvm::{Llvm, all, of_rustc};
use crate::tracefile::{Tracefile, assert_same_lines};

const FRONT_END: [&str; 2] = ["-fprofile-instr-generate", "-fcoverage-mapping"];
const SINGLE_BYTE: [&str; 2] = ["-mllvm", "-enable-single-byte-coverage=true"];

/// Ways to compile for coverage: the first LLVM that has it, and its flags.
const WAYS: [(u32, &[&str]); 5] = [
    (13, &["-O0"]),
    (13, &["-O2", "-g"]),
    (14, &["-O1", "-fprofile-update=atomic"]),
    (19, &["-O1", "-fcoverage-mcdc"]),
    (19, &["-O1", SINGLE_BYTE[0], SINGLE_BYTE[1]]),
];

const CXX: [&str; 2] = ["coverage_lines.cc", "coverage_second.cc"];

fn with_cov(found: impl IntoIterator<Item = Llvm>) -> Vec<Llvm> {
    found.into_iter().filter(|llvm| have(&format!("llvm-cov-{}", llvm.major))).collect()
}

impl Llvm {
    /// The report of `llvm-cov` for programs of the folder and a profile.
    fn lcov(self, shop: &Workshop, programs: &[&str], profile: &str) -> String {
        let merged = self.profdata(shop, &["merge", "-sparse", "-o", "merged.profdata", profile]);
        assert!(merged.status.success(), "{merged:?}");
        self.export(shop, programs, "merged.profdata")
    }

    fn export(self, shop: &Workshop, programs: &[&str], profile: &str) -> String {
        let mut cov = shop.command(format!("llvm-cov-{}", self.major));
        cov.args(["export", "--format=lcov", &format!("-instr-profile={profile}"), programs[0]]);
        programs[1..].iter().for_each(|program| _ = cov.args(["-object", program]));
        String::from_utf8(succeed(&mut cov)).unwrap()
    }
}

/// The report of the tool for inputs, without conditions: `llvm-cov` writes none into tracefiles. `mcdc` compares
/// these.
#[track_caller]
fn ours(shop: &Workshop, words: &[&str]) -> String {
    let words = [&["convert", "--to", "lcov"], words].concat();
    let report = String::from_utf8(shop.tool_output(&words)).unwrap();
    let others = report.split_inclusive('\n').filter(|line| !line.starts_with("MC"));
    others.collect()
}

#[track_caller]
fn assert_same_text(ours: &str, expected: &str, about: &str) {
    let mut lines = ours.lines().zip(expected.lines()).enumerate();
    let differing = lines.find(|(_, (ours, expected))| ours != expected);
    assert!(ours == expected, "{about}: ours and expected: {differing:?}\n{ours}");
}

/// The newest `llvm-cov` reads programs of all versions. Each version agrees with it, except for branches.
#[test]
#[ignore = "slow"]
fn programs_of_clang() {
    let found = with_cov(all());
    let Some(&newest) = found.last() else { return };
    for &llvm in &found {
        let shop = Workshop::new();
        for name in ["coverage_lines.h", CXX[0], CXX[1], "coverage_macros.c"] {
            shop.program(name);
        }
        for (since, flags) in WAYS.into_iter().filter(|&(since, _)| llvm.major >= since) {
            let is_single_byte = flags.contains(&SINGLE_BYTE[1]);
            let flags = [&FRONT_END, flags].concat();
            for sources in [&CXX[..], &["coverage_macros.c"]] {
                let about = format!("LLVM {}, since {since}, {flags:?}, {sources:?}", llvm.major);
                let objects: Vec<String> =
                    sources.iter().map(|source| llvm.object(&shop, source, &flags)).collect();
                llvm.link_both(&shop, &objects, &[FRONT_END[0]]);
                let _ = std::fs::remove_file(shop.path("ours.csraw"));
                succeed(shop.command(shop.path("stock")).env("LLVM_PROFILE_FILE", "stock.profraw"));
                succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
                let own = llvm.lcov(&shop, &["stock"], "stock.profraw");
                let expected = newest.export(&shop, &["stock"], "merged.profdata");
                assert!(expected.len() > 300, "{about}: {expected}");
                let binary = ["--binary", "stock"];
                for input in ["stock.profraw", "merged.profdata"] {
                    let ours = ours(&shop, &[&[input][..], &binary].concat());
                    assert_same_text(&ours, &expected, &format!("{input}, {about}"));
                }
                // The dump names its program.
                assert_same_text(&ours(&shop, &["ours.csraw"]), &expected, &about);
                // LLVM 19 writes 1 in place of the sum of several instances.
                if !is_single_byte {
                    let others = |text: &str| -> Vec<String> {
                        let lines = text.lines().filter(|line| !line.starts_with("BR"));
                        lines.map(str::to_owned).collect()
                    };
                    assert_eq!(others(&own), others(&expected), "{about}");
                }
            }
        }
    }
}

/// Programs with a `main` each, and a program that was built again.
#[test]
fn several_programs_of_clang() {
    let Some(llvm) = with_cov(all()).pop() else { return };
    let shop = Workshop::new();
    let build = |program: &str, source: &str, text: &str| {
        shop.write(source, text);
        let flags = [&FRONT_END[..], &["-O0", source, "-o", program]].concat();
        llvm.clang(&shop, &[&flags[..], &["-L.", "-lcountersink_rt"]].concat());
        let dump = format!("{program}.csraw");
        succeed(shop.command(shop.path(program)).env("COUNTERSINK_FILE", dump));
    };
    for folder in ["a", "b"] {
        std::fs::create_dir(shop.path(folder)).unwrap();
    }
    build("first", "a/first.c", "int main(void) { return 0; }\n");
    let with_branch = "int main(int n, char **v) {\n  return n > 1 ? v[0][0] : 0;\n}\n";
    build("second", "b/second.c", with_branch);
    let with_call = "\nint other(void) { return 0; }\nint main(void) {\n  return other();\n}\n";
    build("third", "b/first.c", with_call);
    let dumps = ["first.csraw", "second.csraw", "third.csraw"];
    // With the sum of all profiles, llvm-cov gives each `main` the counts of all: only the names and hashes are
    // compared.
    let mut expected = String::new();
    for (dump, program) in dumps.iter().zip(["first", "second", "third"]) {
        let profile = format!("{program}.profdata");
        let version = llvm.major.to_string();
        let to = ["--to", "profdata", "--for-llvm", &version, "-o", &profile];
        shop.tool_output(&[&["convert", dump], &to[..]].concat());
        let own = llvm.export(&shop, &[program], &profile);
        assert_same_text(&ours(&shop, &[dump]), &own, program);
        expected += &own;
    }
    let sections = |text: &str| {
        let mut sections: Vec<String> = text.split("end_of_record\n").map(str::to_owned).collect();
        sections.sort();
        sections.concat()
    };
    let all = ours(&shop, &dumps);
    assert_same_text(&sections(&all), &sections(&expected), "three programs");

    // The first program does not use a function of the header, the second does.
    shop.write("a/shared.h", "inline int shared(int n) {\n  return n + 1;\n}\n");
    build("unused", "a/unused.cc", "#include \"shared.h\"\nint main() { return 0; }\n");
    build("used", "a/used.cc", "#include \"shared.h\"\nint main() {\n  return shared(-1);\n}\n");
    let words = ["convert", "--to", "lcov", "unused.csraw", "used.csraw"];
    let output = shop.tool(&words);
    let shared = Tracefile::of(&String::from_utf8(output.stdout).unwrap());
    let header = shop.path("a/shared.h").to_str().unwrap().to_owned();
    assert_eq!(shared.files[&header].functions["_Z6sharedi"].1, 1, "{shared:?}");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("left out"));

    // Two folders become one: the counts of their files are added.
    let [a, b] = ["a", "b"].map(|folder| format!("{}=/src", shop.path(folder).display()));
    let moved = ["--path-map", &a, "--path-map", &b];
    let both = Tracefile::of(&ours(&shop, &[&dumps[..], &moved].concat()));
    let functions = &both.files["/src/first.c"].functions;
    assert!(functions.contains_key("_Z5otherv") && functions["main"].1 == 2, "{both:?}");

    // The counts of an older build do not belong to the lines of the newer one.
    build("second", "b/second.c", "\n\nint main(void) {\n  return 0;\n}\n");
    let output = shop.tool(&["convert", "--to", "lcov", "second.csraw"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("the counts of this program are left out"), "{errors}");
    let now = Tracefile::of(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(now.lines(), [1, 1, 1], "{now:?}");
}

/// An object of another build is left out, so a gate passes. `--strict` asks for all.
#[test]
fn what_is_left_out_fails_a_strict_conversion() {
    let shop = Workshop::new();
    for name in ["one", "two"] {
        let main = if name == "one" {
            "int two(void);\nint main(void) { return two(); }\n"
        } else {
            "int two(void) { return 0; }\n"
        };
        shop.write(&format!("{name}.c"), main);
        shop.gcc(&["--coverage", "-c", &format!("{name}.c")]);
    }
    shop.gcc(&["--coverage", "one.o", "two.o", "-o", "program"]);
    shop.run("program", &[]);
    let strict =
        ["convert", ".", "--to=lcov", "--strict", "--fail-under-line=90", "--source-root=."];
    assert_eq!(shop.tool(&strict).status.code(), Some(0));
    shop.write("two.c", "\nint two(void) { return 1; }\nint three(void) { return 3; }\n");
    shop.gcc(&["--coverage", "-c", "two.c"]);
    let output = shop.tool(&strict);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("not everything is in the coverage; --strict asks for all"), "{told}");
    let lenient =
        shop.tool(&["convert", ".", "--to=lcov", "--fail-under-line=90", "--source-root=."]);
    assert_eq!(lenient.status.code(), Some(0));
}

/// LLVM counts a line once for each function that has it. So do we, of several programs, and beside markers.
#[test]
fn totals_of_lines_with_two_functions() {
    const HEADER: &str = "#include <algorithm>
inline int odd(int *from, int *to) { return std::count_if(from, to, [](int n) { return n & 1; }); }
inline int never(int n) { auto twice = [](int n) { return n ? n + n : 0; }; return twice(n); }
inline int both(int n) { return n > 2 && [n] { return n > 7; }(); }
";
    let Some(llvm) = with_cov(all()).pop() else { return };
    let totals = |text: &str| -> Vec<String> {
        let is_total = |line: &&str| {
            ["LF", "LH", "FNF", "FNH", "BRF", "BRH"]
                .iter()
                .any(|f| line.strip_prefix(f).is_some_and(|rest| rest.starts_with(':')))
        };
        text.lines().filter(is_total).map(str::to_owned).collect()
    };
    let mut without_markers = Vec::new();
    for header in [HEADER, &HEADER.replace("hm>\n", "hm> // LCOV_EXCL_BR_LINE\n")] {
        let shop = Workshop::new();
        shop.write("shared.h", header);
        let programs = ["first", "second"];
        for (program, call) in programs.iter().zip(["odd(v, v + 3)", "both(9) + both(c)"]) {
            let text = format!(
                "int main(int c, char **) {{ int v[] = {{1, c, 3}}; return {call} == 99; }}\n"
            );
            shop.write(&format!("{program}.cc"), format!("#include \"shared.h\"\n{text}"));
            let source = format!("{program}.cc");
            let flags = [&FRONT_END[..], &["-O0", "-std=c++17", &source, "-o", program]].concat();
            llvm.clang(&shop, &[&flags[..], &["-L.", "-lcountersink_rt"]].concat());
            let dump = format!("{program}.csraw");
            succeed(shop.command(shop.path(program)).env("COUNTERSINK_FILE", dump));
        }
        let dumps = ["first.csraw", "second.csraw"];
        let version = llvm.major.to_string();
        let to = ["--to", "profdata", "--for-llvm", &version, "-o", "all.profdata"];
        shop.tool_output(&[&["convert"], &dumps[..], &to].concat());
        let found = totals(&ours(&shop, &dumps));
        assert_eq!(found.len(), 18, "{found:?}");
        assert_eq!(found, totals(&llvm.export(&shop, &programs, "all.profdata")));
        without_markers.push(found);
    }
    assert_eq!(without_markers[0], without_markers[1]);
}

/// The three test programs of a crate, each alone and all together.
#[test]
#[ignore = "slow"]
fn a_crate_of_rust() {
    let Some(llvm) = of_rustc().filter(|llvm| have(&format!("llvm-cov-{}", llvm.major))) else {
        return;
    };
    let Some(semver) = corpus("semver") else { return };
    let shop = Workshop::new();
    let rustc = |words: &[&str]| {
        let mut rustc = shop.command("rustc");
        rustc.args(["--edition=2021", "-Cinstrument-coverage", "--cap-lints=allow"]);
        succeed(rustc.args(["--cfg", "feature=\"std\"", "-L."]).args(words));
    };
    let source = |name: &str| semver.join(name).to_str().unwrap().to_owned();
    rustc(&["--crate-type=lib", "--crate-name=semver", &source("src/lib.rs")]);
    let tests = ["test_version", "test_version_req", "test_identifier"];
    for test in tests {
        let of_test = source(&format!("tests/{test}.rs"));
        rustc(&["--test", "--extern=semver=libsemver.rlib", &of_test, "-o", test]);
        let profile = format!("{test}.profraw");
        succeed(shop.command(shop.path(test)).env("LLVM_PROFILE_FILE", &profile));
        let expected = llvm.lcov(&shop, &[test], &profile);
        assert!(expected.contains("src/parse.rs\n"), "{expected}");
        assert_same_text(&ours(&shop, &[&profile, "--binary", test]), &expected, test);
    }
    let profiles = tests.map(|test| format!("{test}.profraw"));
    let profiles: Vec<&str> = profiles.iter().map(String::as_str).collect();
    let merged = [&["merge", "-o", "all.profdata"], &profiles[..]].concat();
    assert!(llvm.profdata(&shop, &merged).status.success());
    let expected = llvm.export(&shop, &tests, "all.profdata");
    let binaries = tests.map(|test| ["--binary", test]).concat();
    assert_same_text(&ours(&shop, &[&profiles[..], &binaries].concat()), &expected, "all tests");
}

/// A library that is in two test programs, once compiled with its own tests: its functions count once.
#[test]
fn a_library_of_several_test_programs() {
    let Some(llvm) = of_rustc().filter(|llvm| have(&format!("llvm-cov-{}", llvm.major))) else {
        return;
    };
    let shop = Workshop::new();
    shop.write(
        "shared.rs",
        "pub fn largest<T: PartialOrd + Copy>(all: &[T]) -> Option<T> {
    let mut found = *all.first()?;
    for &one in all {
        if one > found {
            found = one;
        }
    }
    Some(found)
}

pub fn never() -> u32 {
    7
}

#[test]
fn of_numbers() {
    assert_eq!(largest(&[1, 3, 2]), Some(3));
}
",
    );
    shop.write(
        "letters.rs",
        "#[test]\nfn of_letters() {\n    assert_eq!(shared::largest(&['a', 'b']), Some('b'));\n}\n",
    );
    let flags = String::from_utf8(shop.tool_output(&["flags", "--rustc"])).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let rustc = |words: &[&str]| {
        let mut rustc = shop.command("rustc");
        succeed(rustc.args(["--edition=2021", "-Cinstrument-coverage", "-L."]).args(words));
    };
    rustc(&["--crate-type=lib", "shared.rs"]);
    let tests = ["shared", "letters"];
    for test in tests {
        let compile = ["--test", "--extern=shared=libshared.rlib", &format!("{test}.rs")];
        rustc(&[&compile[..], &["-o", test]].concat());
        rustc(&[&compile[..], &["-o", &format!("{test}-ours")], &flags].concat());
        let profile = format!("{test}.profraw");
        succeed(shop.command(shop.path(test)).env("LLVM_PROFILE_FILE", &profile));
        let dump = format!("dumps/{test}.csraw");
        let mut run = shop.command(shop.path(format!("{test}-ours")));
        succeed(run.env("COUNTERSINK_FILE", &dump));
    }
    let merge = ["merge", "-o", "all.profdata", "shared.profraw", "letters.profraw"];
    assert!(llvm.profdata(&shop, &merge).status.success());
    let of_shared = |report: &str| -> Vec<String> {
        let mut records = report.split("end_of_record\n");
        let record = records.find(|record| record.contains("/shared.rs\n")).unwrap();
        let wanted =
            |line: &&str| ["DA:", "FNF:", "FNH:"].iter().any(|kind| line.starts_with(kind));
        record.lines().filter(wanted).map(str::to_owned).collect()
    };
    let expected = of_shared(&llvm.export(&shop, &tests, "all.profdata"));
    assert!(expected.contains(&"FNF:3".to_owned()), "{expected:?}");
    assert_eq!(of_shared(&ours(&shop, &["dumps"])), expected);
}

/// Compiles sources for coverage, runs the program with our runtime, and compares the report of its dump with lcov's
/// report of `.gcda` files with the same counts.
fn assert_same_as_lcov(shop: &Workshop, gcc: &str, flags: &[&str], sources: &[&str], run: &[&str]) {
    let [c, cxx, gcov] = ["gcc", "g++", "gcov"].map(|tool| format!("{tool}{gcc}"));
    let mut objects = Vec::new();
    for source in sources {
        let object = format!("{}.o", source.split('.').next().unwrap());
        let driver = if source.ends_with(".c") { &c } else { &cxx };
        succeed(shop.command(driver).args(["--coverage", "-c", source, "-o", &object]).args(flags));
        objects.push(object);
    }
    let link = ["-o", "ours", "-L.", "-lcountersink_rt", "-lstdc++", "-lm"];
    succeed(shop.command(&c).args(&objects).args(link));
    let _ = std::fs::remove_file(shop.path("ours.csraw"));
    succeed(shop.command(shop.path("ours")).args(run).env("COUNTERSINK_FILE", "ours.csraw"));
    shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
    let capture = ["--capture", "--quiet", "--directory", ".", "--gcov-tool", &gcov];
    let branches = ["--rc", "lcov_branch_coverage=1", "--output-file", "lcov.info"];
    succeed(shop.command("lcov").args(capture).args(branches));
    let expected = Tracefile::of(&String::from_utf8(shop.read("lcov.info")).unwrap());
    let found = Tracefile::of(&ours(shop, &["ours.csraw"]));
    assert_same_lines(&found, &expected, &format!("{gcov}, {flags:?}, {sources:?}"));
    for file in shop.files("gcda").into_iter().chain(shop.files("gcno")) {
        std::fs::remove_file(shop.path(file)).unwrap();
    }
}

/// The versions of gcc on the path that have their gcov.
fn versions() -> impl Iterator<Item = &'static str> {
    ["-11", "-12", "-13", "-14", "-15", "-16"].into_iter().filter(|version| {
        let runs =
            |tool: &str| Command::new(format!("{tool}{version}")).arg("--version").output().is_ok();
        let has = ["gcc", "g++", "gcov"].into_iter().all(runs);
        if !has {
            say_skipped(&format!("gcc{version}, g++{version} and gcov{version} are not installed"));
        }
        has
    })
}

#[test]
#[ignore = "slow"]
fn programs_of_gcc() {
    if !have("lcov") {
        return;
    }
    for gcc in versions() {
        let shop = Workshop::new();
        let library = "coverage_library.cc";
        let [macros, loops] = ["coverage_macros.c", "coverage_loops.c"];
        for name in ["coverage_lines.h", CXX[0], CXX[1], macros, loops, library] {
            shop.program(name);
        }
        for flags in [&["-O0"][..], &["-O2"], &["-O1", "-fprofile-update=atomic"]] {
            for sources in [&CXX[..], &[macros], &[loops]] {
                assert_same_as_lcov(&shop, gcc, flags, sources, &[]);
            }
        }
        assert_same_as_lcov(&shop, gcc, &["-O0"], &[library], &[]);
    }
}

#[test]
fn lua() {
    if !have("lcov") {
        return;
    }
    for gcc in versions() {
        let shop = Workshop::new();
        let Some(sources) = crate::programs::lua_sources(&shop) else { return };
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let flags = ["-O1", "-w", "-std=gnu99", "-DLUA_USE_POSIX"];
        assert_same_as_lcov(&shop, gcc, &flags, &sources, &["benchmark.lua", "1"]);
    }
}

/// A program of clang for the tests below, its profile, and whether there is a clang.
fn program(shop: &Workshop, flags: &[&str]) -> Option<Llvm> {
    let llvm = all().pop()?;
    ["coverage_lines.h", CXX[0], CXX[1]].iter().for_each(|name| _ = shop.program(name));
    let words = [&FRONT_END, flags, &CXX, &["-w", "-o", "program"]].concat();
    llvm.clang(shop, &words);
    llvm.run(shop, "program", "program.profraw");
    Some(llvm)
}

#[test]
fn genhtml_and_readers_of_cobertura() {
    let shop = Workshop::new();
    if program(&shop, &[]).is_none() {
        return;
    }
    let convert = ["convert", "program.profraw", "--binary", "program", "--to"];
    shop.tool_output(&[&convert[..], &["lcov", "-o", "a.info"]].concat());
    if have("genhtml") {
        let flags = ["--rc", "genhtml_branch_coverage=1", "--output-directory", "html", "a.info"];
        let said = String::from_utf8(succeed(shop.command("genhtml").args(flags))).unwrap();
        let info = Tracefile::of(&String::from_utf8(shop.read("a.info")).unwrap());
        let lines = info.lines();
        let wanted =
            format!("({} of {} lines)", lines.iter().filter(|n| **n > 0).count(), lines.len());
        assert!(said.contains(&wanted), "{wanted}\n{said}");
    }
    shop.tool_output(&[&convert[..], &["cobertura", "-o", "a.xml"]].concat());
    if have("xmllint") {
        // xmllint reads the name as a URL and refuses blanks, which the path of the checkout may have.
        shop.write("cobertura.dtd", include_bytes!("../tracefile/cobertura.dtd"));
        let flags = ["--noout", "--nonet", "--dtdvalid", "cobertura.dtd", "a.xml"];
        succeed(shop.command("xmllint").args(flags));
    }
    if let Some(python) = python_with("pycobertura") {
        let run = ["-c", "from pycobertura.cli import pycobertura; pycobertura()"];
        let show = ["show", "--format", "json", "a.xml"];
        let said = succeed(shop.command(python).args(run).args(show));
        let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
        let info = Tracefile::of(&String::from_utf8(shop.read("a.info")).unwrap());
        assert_eq!(said["total"]["Stmts"], info.lines().len(), "{said}");
        assert_eq!(said["total"]["Miss"], info.lines_missed(), "{said}");
    }
}

/// gcc optimises with the counts of clang's instrumentation. With debug information, lines count from the declaration.
#[test]
fn counts_of_clang_for_gcc() {
    let shop = Workshop::new();
    if program(&shop, &["-g"]).is_none() {
        return;
    }
    let convert = ["convert", "program.profraw", "--binary", "program"];
    let text = shop.tool_output(&[&convert[..], &["--to", "v4-text"]].concat());
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\"_ZL4worki\""), "{text}");
    shop.tool_output(&[&convert[..], &["--for-gcc", "gcc", "-o", "program.afdo"]].concat());
    let flags = ["-O2", "-fauto-profile=program.afdo", "-c", CXX[0], "-o", "optimised.o"];
    let optimised = shop.command("g++").args(flags).output().unwrap();
    assert!(optimised.status.success() && optimised.stderr.is_empty(), "{optimised:?}");
}

const GCC_PART: &str = "\
int two(int);
int main(void) {
    int s = 0;
    for (int i = 0; i < 5; i++) s += two(i);
    return s == 3;
}
";
const CLANG_PART: &str = "\
int two(int x)
{
    return x > 2 ? x : 0;
}
";

/// One program of two compilers has one report and one profile. clang's function is declared a line above its brace.
#[test]
fn programs_of_several_compilers() {
    let Some(llvm) = all().pop() else { return };
    let shop = Workshop::new();
    shop.write("gcc.c", GCC_PART);
    shop.write("clang.c", CLANG_PART);
    shop.gcc(&["--coverage", "-g", "-c", "gcc.c"]);
    llvm.object(&shop, "clang.c", &[&FRONT_END[..], &["-g"]].concat());
    let link = ["gcc.o", "clang.o", FRONT_END[0], "-o", "ours", "-L.", "-lcountersink_rt"];
    llvm.clang(&shop, &link);
    succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
    let found = Tracefile::of(&ours(&shop, &["ours.csraw"]));
    let lines = |name: &str| {
        let file = &found.files[shop.path(name).to_str().unwrap()];
        file.lines.iter().map(|(&line, &count)| (line, count)).collect::<Vec<_>>()
    };
    assert_eq!(lines("gcc.c"), [(2, 1), (3, 1), (4, 6), (5, 1)]);
    assert_eq!(lines("clang.c"), [(2, 5), (3, 5), (4, 5)]);
    let text = shop.tool_output(&["convert", "ours.csraw", "--to", "v4-text"]);
    let text = String::from_utf8(text).unwrap();
    let two = text.split_once("\"two\":").unwrap().1;
    let two: Vec<&str> = two.lines().map(str::trim).collect();
    assert_eq!(two[2..5], ["1 = 5,", "2 = 5,", "3 = 5"], "{text}");
    assert!(text.contains("\"main\":"), "{text}");
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let shop = Workshop::new();
    let Some(llvm) = program(&shop, &[]) else { return };
    shop.write("other.c", "int main(void) { for (int i = 0; i < 3; i++) ; return 0; }");
    llvm.clang(&shop, &[&FRONT_END[..], &["-w", "other.c", "-o", "other"]].concat());
    llvm.clang(&shop, &["-w", "other.c", "-o", "plain"]);
    shop.write("text", "Not a program but a text.");
    for (binary, message) in [
        ("other", "no coverage: 1 function counted by another build of the program"),
        ("plain", "plain: no coverage mapping; clang writes it with -fcoverage-mapping"),
        ("text", "text: Unknown file magic"),
        ("missing", "missing: No such file"),
    ] {
        let convert = ["convert", "program.profraw", "--to", "lcov", "--binary", binary];
        let output = shop.tool(&convert);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message) && said.lines().count() == 1, "{said}");
    }
}

/// Every prefix, every flipped bit and another version gives coverage or a defect, without a panic.
#[test]
#[ignore = "slow"]
fn damaged_mappings() {
    let shop = Workshop::new();
    let Some(_) = program(&shop, &[]) else { return };
    let bytes = shop.read("program");
    let file = object::File::parse(&*bytes).unwrap();
    let section = |name| file.section_by_name(name).unwrap().data().unwrap();
    let [names, functions] = ["__llvm_covmap", "__llvm_covfun"].map(section);
    let known = [Names::read(section("__llvm_prf_names")).unwrap()];
    let read = |names: &[u8], functions: &[u8]| -> Result<Mapping, Finding> {
        let sections = Sections { names: &[names], functions: &[functions], big_endian: false };
        let mapping = Mapping::decode(&sections)?;
        let _ = coverage(&mapping, &known, &Profile::default());
        Ok(mapping)
    };
    let whole = read(names, functions).unwrap();
    assert!(whole.functions.len() > 5 && whole.files.len() > 1);
    for length in 0..functions.len() {
        if let Ok(mapping) = read(names, &functions[..length]) {
            assert!(
                mapping.functions.len() < whole.functions.len()
                    || functions[length..].iter().all(|&b| b == 0)
            );
        }
    }
    for length in 0..names.len() {
        let is_padding = names[length..].iter().all(|&byte| byte == 0);
        assert!(is_padding || read(&names[..length], functions).is_err(), "{length}");
    }
    for (section, is_names) in [(names, true), (functions, false)] {
        for place in 0..section.len() * 8 {
            let mut changed = section.to_vec();
            changed[place / 8] ^= 1 << (place % 8);
            let _ = if is_names { read(&changed, functions) } else { read(names, &changed) };
        }
    }
    for version in [0u8, 2, 7, 200] {
        let mut changed = names.to_vec();
        changed[12] = version;
        let found = read(&changed, functions).unwrap_err();
        assert_eq!(found.defect, Defect::Version(u32::from(version) + 1));
    }
}

/// Clang derives the count of the `else` from those of the function and of the `then`. Threads lose some of the
/// function's, and then the difference is below 0.
#[test]
fn counts_that_contradict_each_other() {
    const SOURCE: &str = "static int f(int x) {\n  if (x > 2) {\n    return 1;\n  } else {\n    return 2;\n  }\n}\n\
        static int other(int n) { int s = 0; while (n-- > 0) s += n & 3; return s; }\n\
        int main(void) {\n  int s = other(1000000);\n  for (int i = 0; i < 100004; i++)\n    s += f(i + 3);\n\
        return s == 0;\n}\n";
    let all = all();
    for llvm in all.first().into_iter().chain(all.last().filter(|_| all.len() > 1)) {
        let shop = Workshop::new();
        shop.write("torn.cc", SOURCE);
        let raw = llvm.profile(&shop, "torn.cc", &FRONT_END);
        shop.write("raw", raw);
        let exact = ours(&shop, &["raw", "--binary", "program"]);
        let text = llvm.text(&shop, &shop.read("raw")).unwrap();
        let mut counters = decode(text.as_bytes()).unwrap().profile;
        let is_f = |function: &&mut Function| function.name.ends_with(b"_ZL1fi");
        let f = counters.functions.iter_mut().find(is_f).unwrap();
        assert_eq!(f.counters, [100_004; 2]);
        f.counters[0] = 100_000;
        shop.write("torn", encode(&counters).unwrap());
        let words = ["convert", "torn", "--binary", "program", "--to", "lcov", "-o", "torn.info"];
        let output = shop.tool(&words);
        let told = String::from_utf8(output.stderr).unwrap();
        let what = "_ZL1fi: counters that contradict each other: a count derived from them was below 0 and is 0";
        assert!(told.contains(what), "LLVM {}: {told}", llvm.major);
        let lines = |text: &str, start: &str| {
            text.lines()
                .filter(|line| line.starts_with(start))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let torn = String::from_utf8(shop.read("torn.info")).unwrap();
        assert_eq!(lines(&torn, "DA:")[2..6], lines(&exact, "DA:")[2..6], "LLVM {}", llvm.major);
        assert_eq!(lines(&torn, "DA:")[4..6], ["DA:5,0", "DA:6,0"]);
        shop.tool_output(&[
            "convert",
            "torn",
            "--binary",
            "program",
            "--for-gcc",
            "12",
            "-o",
            "afdo",
        ]);
        let shown = String::from_utf8(shop.tool_output(&["show", "afdo"])).unwrap();
        let hottest = shown.lines().find(|line| line.contains(" %")).unwrap();
        assert!(hottest.ends_with("other(int)") || hottest.ends_with("_ZL5otheri"), "{shown}");
    }
}

/// Behind the block stands a gap with the count 0, up to the next statement.
#[test]
fn the_line_after_a_block_that_may_return() {
    const SOURCE: &str = "static int process(int err) {\n  {\n    if (err) {\n      return 0;\n    }\n    int fd = 1;\n    \
        (void)fd;\n  }\n  int result = 42;\n  (void)result;\n  return 1;\n}\n\
        int main(void) {\n  return process(0) ? 0 : 1;\n}\n";
    for llvm in all() {
        let shop = Workshop::new();
        shop.write("gap.cc", SOURCE);
        let raw = llvm.profile(&shop, "gap.cc", &FRONT_END);
        shop.write("raw", raw);
        let lines = ours(&shop, &["raw", "--binary", "program"]);
        for (line, count) in [(4, 0), (8, 1), (9, 1), (10, 1)] {
            assert!(
                lines.contains(&format!("\nDA:{line},{count}\n")),
                "LLVM {}: {lines}",
                llvm.major
            );
        }
    }
}
