//! Many runs of one file make one module: whatever the address space, the order of loading and the other images do, no
//! run sets the dump aside, and the counts equal those of separate dumps.
//!
//! Here a few cells of a matrix. The whole, for all compilers on the path or those that `COUNTERSINK_MATRIX` names,
//! separated by spaces, prints a table and takes half an hour:
//!
//! ```sh
//! COUNTERSINK_MATRIX="clang++-22 g++-12" cargo test --test runtime -- --ignored whole_matrix_by_hand --nocapture
//! ```

use std::fs;
use std::process::Command;

use countersink::raw::dump::{Dump, Module, Values};
use countersink::raw::kind::Rule;
use countersink::raw::merge::Pair;

use crate::harness::{Workshop, say_skipped, succeed};

/// Programs of one file.
const SINGLE: [&str; 4] =
    ["standard_streams", "standard_words", "standard_threads", "standard_exceptions"];
/// The program with two libraries of its own, and another one with the same libraries.
const PLUGINS: &str = "standard_plugins";
const OTHER: &str = "standard_plugins_other";
const LIBRARIES: [&str; 2] = ["standard_sorter", "standard_counter"];

const GENERATE: &str = "-fprofile-generate";
const FRONT_END: &str = "-fprofile-instr-generate";

/// A way to build.
#[derive(Clone, Copy, Debug)]
struct Cell<'c> {
    compiler: &'c str,
    instrument: &'c str,
    level: &'c str,
    pie: bool,
    live: bool,
}

impl Cell<'_> {
    fn flags(&self) -> Vec<&str> {
        let mut flags = vec!["-std=c++17", "-w", "-pthread", "-fdata-sections", self.level];
        flags.push(self.instrument);
        flags
    }

    fn link(&self, shop: &Workshop) -> Vec<String> {
        let words: &[&str] = if self.live { &["flags", "--live"] } else { &["flags"] };
        let flags = String::from_utf8(shop.tool_output(words)).unwrap();
        flags.split_whitespace().map(str::to_owned).chain(["-ldl".to_owned()]).collect()
    }

    /// Compiles a source, unless it was compiled for another link.
    fn object(&self, shop: &Workshop, source: &str, position: &str) -> String {
        let object = format!("{source}{position}.o");
        if !shop.path(&object).exists() {
            let source = shop.program(&format!("{source}.cc"));
            let mut command = shop.command(self.compiler);
            let words = [position, "-c", source.to_str().unwrap(), "-o", &object];
            succeed(command.args(self.flags()).args(words));
        }
        object
    }

    fn build_from(&self, shop: &Workshop, source: &str, position: &str, words: &[&str]) {
        let object = self.object(shop, source, position);
        let mut command = shop.command(self.compiler);
        command.args(self.flags()).args([object.as_str()]).args(words).args(self.link(shop));
        succeed(&mut command);
    }

    /// Builds a program and its libraries.
    fn build(&self, shop: &Workshop, program: &str) {
        let (position, pie) = if self.pie { ("-fPIE", "-pie") } else { ("-fno-pie", "-no-pie") };
        if program != PLUGINS {
            return self.build_from(shop, program, position, &[pie, "-o", program]);
        }
        shop.program("standard_plugins.h");
        for library in LIBRARIES {
            let file = format!("lib{library}.so");
            self.build_from(shop, library, "-fPIC", &["-shared", "-o", &file]);
        }
        for program in [PLUGINS, OTHER] {
            let words = [pie, "./libstandard_sorter.so", "-o", program];
            self.build_from(shop, program, position, &words);
        }
    }
}

/// Runs a program this many times into one dump, and as often into one dump each. The sums must be equal.
fn assert_runs_add_up(shop: &Workshop, program: &str, runs: u64, about: &str) {
    let mut separate = Vec::new();
    for run in 0..runs {
        let other = program == PLUGINS && run % 4 == 3;
        let run_into = |dump: &str| {
            let mut command = shop.command(shop.path(if other { OTHER } else { program }));
            let output = command.arg(run.to_string()).env("COUNTERSINK_FILE", dump).output();
            let output = output.unwrap();
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && complaints.is_empty(), "{about}: {output:?}");
        };
        run_into("together.csraw");
        let before = shop.files("one").len();
        run_into("%p.one");
        assert_eq!(shop.files("one").len(), before + 1, "{about}");
    }
    separate.extend(shop.files("one").iter().map(|path| path.to_str().unwrap().to_owned()));
    let dumps: Vec<&str> = separate.iter().map(String::as_str).collect();
    shop.tool_output(&[&["merge"][..], &dumps, &["-o", "sum.csraw"]].concat());
    let [together, sum] =
        ["together.csraw", "sum.csraw"].map(|dump| Dump::parse(&shop.read(dump)).unwrap());
    let modules = if program == PLUGINS { 4 } else { 1 };
    for dump in [&together, &sum] {
        assert_eq!(dump.modules.len(), modules, "{about}");
        for module in &dump.modules {
            let path = String::from_utf8_lossy(&module.path);
            let others = if program == PLUGINS { runs / 4 } else { 0 };
            let expected = match &*path {
                path if path.ends_with(OTHER) => others,
                path if path.ends_with(program) => runs - others,
                _ => runs,
            };
            assert_eq!(module.sums.runs, expected, "{about}: {path}");
        }
    }
    for module in &together.modules {
        let other = sum.modules.iter().find(|other| other.is_same_build(module)).unwrap();
        assert_eq!(counts(module), counts(other), "{about}");
        assert!(counts(module).iter().any(|(counters, _)| counters.iter().any(|&n| n > 0)));
    }
    shop.tool_output(&["check", "together.csraw"]);
    let left: Vec<String> = fs::read_dir(shop.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| [".aside-", ".part", ".live."].iter().any(|part| name.contains(part)))
        .collect();
    assert!(left.is_empty(), "{about}: {left:?}");
    for dump in dumps.iter().copied().chain(["together.csraw", "sum.csraw"]) {
        fs::remove_file(shop.path(dump)).unwrap();
    }
}

/// The plain counters of each function, and the sites: events, error, and the values in the order of their numbers.
type Counts = (Vec<i64>, Vec<(i64, i64, Vec<(i64, i64)>)>);

fn counts(module: &Module) -> Vec<Counts> {
    let functions = module.objects.iter().flat_map(|object| module.functions(object));
    let counts = functions.map(|function| {
        let (mut counters, mut sites) = (Vec::new(), Vec::new());
        for (kind, values) in function.kinds() {
            match values {
                // gcc's bits of the addresses that memory functions get: each run has its own stack.
                Values::Counters(_) if function.rules().rule(kind) == Some(Rule::Ior) => {}
                Values::Counters(values) => counters.extend(values),
                Values::Sites(found) => sites.extend(found.map(|site| {
                    let pairs = site.pairs.iter().map(|&Pair { value, count }| (value, count));
                    let mut pairs: Vec<_> = pairs.collect();
                    pairs.sort_unstable();
                    (site.total, site.error, pairs)
                })),
            }
        }
        (counters, sites)
    });
    counts.collect()
}

fn has(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A few cells, three or four runs each.
#[test]
#[ignore = "slow"]
fn runs_of_one_file_are_one_module() {
    let newest = (19..=23).rev().map(|major| format!("clang++-{major}")).find(|clang| has(clang));
    let newest = newest.as_deref().unwrap_or("clang++-22");
    let cell =
        |compiler, instrument, level, pie, live| Cell { compiler, instrument, level, pie, live };
    for (cell, program) in [
        (cell("g++", GENERATE, "-O2", true, false), PLUGINS),
        (cell("clang++-13", GENERATE, "-O1", true, false), PLUGINS),
        (cell(newest, GENERATE, "-O2", true, false), PLUGINS),
        (cell(newest, GENERATE, "-O2", true, true), PLUGINS),
        (cell(newest, GENERATE, "-O1", false, false), "standard_streams"),
        (cell(newest, FRONT_END, "-O0", true, false), "standard_threads"),
    ] {
        if !has(cell.compiler) {
            crate::harness::skip(&format!("{} is not installed", cell.compiler));
            continue;
        }
        let shop = Workshop::new();
        cell.build(&shop, program);
        assert_runs_add_up(&shop, program, 4, &format!("{program}: {cell:?}"));
    }
}

#[test]
#[ignore = "takes half an hour"]
fn whole_matrix_by_hand() {
    let known = ["clang++-13", "clang++-19", "clang++-22", "clang++-23", "g++-12"];
    let named = std::env::var("COUNTERSINK_MATRIX").unwrap_or_else(|_| known.join(" "));
    for compiler in named.split_whitespace() {
        if !has(compiler) {
            say_skipped(&format!("{compiler} is not installed"));
            continue;
        }
        let ways: &[&str] =
            if compiler.starts_with("clang") { &[GENERATE, FRONT_END] } else { &[GENERATE] };
        for &instrument in ways {
            for level in ["-O0", "-O1", "-O2", "-O3"] {
                for program in SINGLE.into_iter().chain([PLUGINS]) {
                    let shop = Workshop::new();
                    for (pie, live) in [(true, false), (true, true), (false, false), (false, true)]
                    {
                        let cell = Cell { compiler, instrument, level, pie, live };
                        cell.build(&shop, program);
                        assert_runs_add_up(&shop, program, 20, &format!("{program}: {cell:?}"));
                    }
                    println!("{compiler} {instrument} {level} {program}: 4 times 20 runs");
                }
            }
        }
    }
}
