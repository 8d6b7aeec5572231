//! Small programs, linked with libgcov and with countersink, give the same `.gcda` files byte for byte, as
//! far as libgcov keeps all values.

use std::path::PathBuf;
use std::process::Output;

use countersink::convert::gcov::names::ident;
use countersink::formats::gcda::decode::Data;

use crate::harness::{Workshop, assert_same_files};
use crate::programs::FIXED_ADDRESSES;

/// A program linked with both runtimes.
struct Pair {
    shop: Workshop,
}

type Files = Vec<(PathBuf, Vec<u8>)>;

impl Pair {
    fn new(sources: &[&str], flags: &[&str]) -> Self {
        let shop = Workshop::new();
        let objects: Vec<String> = sources
            .iter()
            .filter(|source| {
                shop.program(source);
                !source.ends_with(".h")
            })
            .map(|source| shop.compile(source, &[&["-fno-pie"], flags].concat()))
            .collect();
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let cpp = sources.iter().any(|source| source.ends_with(".cc"));
        let flags = [&FIXED_ADDRESSES[..], if cpp { &["-lstdc++"] } else { &[] }].concat();
        shop.link_stock(&objects, "stock", &flags);
        shop.link(&objects, "ours", &flags);
        Self { shop }
    }

    fn run(&self, which: &str, arguments: &[&str]) -> Output {
        let mut command = self.shop.command(self.shop.path(which));
        command.env("COUNTERSINK_FILE", "dump.csraw").args(arguments).output().unwrap()
    }

    /// The files that each leaves behind after the same runs.
    fn files(&self, runs: &[&[&str]]) -> (Files, Files) {
        for arguments in runs {
            let (stock, ours) = (self.run("stock", arguments), self.run("ours", arguments));
            assert_eq!(ours, stock, "{arguments:?}");
        }
        let stock = self.shop.take_gcda();
        let ours = self.shop.converted_gcda("dump.csraw");
        std::fs::remove_file(self.shop.path("dump.csraw")).unwrap();
        (ours, stock)
    }

    #[track_caller]
    fn assert_same(&self, runs: &[&[&str]]) {
        let (ours, stock) = self.files(runs);
        assert!(!stock.is_empty());
        assert_same_files(&ours, &stock);
    }
}

#[test]
fn every_kind_of_counter() {
    for flags in [
        &[][..],
        &["-fprofile-update=atomic"],
        &["-O0"],
        &["-Os"],
        &["-O3", "-fno-early-inlining"],
        &["-pthread"],
    ] {
        Pair::new(&["everything.c"], flags).assert_same(&[&["500"]]);
    }
}

#[test]
fn coverage_only() {
    for flags in
        [&["-fno-profile-generate", "--coverage"], &["-fno-profile-generate", "-fprofile-arcs"]]
    {
        Pair::new(&["everything.c"], flags).assert_same(&[&["100"], &["50"]]);
    }
}

#[test]
fn full_sites_over_many_runs() {
    let runs: [&[&str]; 6] = [&["500"], &["3"], &["77"], &["1"], &["900"], &["500"]];
    Pair::new(&["everything.c"], &[]).assert_same(&runs);
}

#[test]
fn dumps_and_resets() {
    for sequence in
        ["", "w", "wd", "wdw", "wdd", "wdrw", "wdwrw", "wrw", "dw", "wdrwdrw", "rdw", "wwdrwwwr"]
    {
        eprintln!("sequence {sequence}");
        Pair::new(&["sequence.c"], &[]).assert_same(&[&[sequence]]);
    }
    Pair::new(&["sequence.c"], &[]).assert_same(&[&["wdrw"], &["wwww"], &["wdw"]]);
}

#[test]
fn forks() {
    Pair::new(&["processes.c"], &[]).assert_same(&[&["fork"]]);
    Pair::new(&["processes.c"], &[]).assert_same(&[&["fork"], &["fork"], &["none"]]);
}

const EXECS: [&str; 6] = ["execl", "execlp", "execle", "execv", "execvp", "execve"];

#[test]
fn execs() {
    for how in EXECS {
        let pair = Pair::new(&["processes.c"], &[]);
        pair.assert_same(&[&["exec", how]]);
        // libgcov also counts a forked child that execs as a run.
        pair.assert_same(&[&["exec", how], &["fork-exec", how]]);
    }
}

#[test]
fn execs_that_fail() {
    for how in EXECS {
        Pair::new(&["processes.c"], &[]).assert_same(&[&["fail", how]]);
    }
}

/// libgcov loses what the parent counts after its vforked child has called exec.
#[test]
fn an_exec_in_a_vforked_child_costs_the_parent_nothing() {
    for how in EXECS {
        let pair = Pair::new(&["processes.c"], &[]);
        let (ours, stock) = pair.files(&[&["vfork", how]]);
        assert_ne!(ours, stock);
        let counts = |arguments: &[&str]| {
            let (ours, _) = pair.files(&[arguments]);
            let data = Data::decode(&ours[0].1).unwrap();
            let mut functions = data.functions.into_iter().flatten();
            let work = functions.find(|function| function.ident == ident(b"work")).unwrap();
            (data.summary, work.counters)
        };
        // In both cases the parent works before and after, and the child not at all.
        assert_eq!(counts(&["vfork", how]), counts(&["late", how]));
    }
}

#[test]
fn everything_up_to_the_last_destructor() {
    let pair = Pair::new(&["endings.c"], &["-O0"]);
    pair.assert_same(&[&[], &["e"], &["e", "1"]]);
}

#[test]
fn cplusplus() {
    let pair = Pair::new(&["shapes.h", "classes.cc", "shapes.cc"], &["-std=gnu++17"]);
    pair.assert_same(&[&[], &["x"]]);
}

#[test]
fn streams_without_files() {
    let pair = Pair::new(&["stream.c"], &["-fprofile-info-section=infos"]);
    for which in ["stock", "ours"] {
        assert!(pair.run(which, &[&format!("{which}.out")]).status.success());
    }
    assert_eq!(pair.shop.read("ours.out"), pair.shop.read("stock.out"));
    assert!(pair.shop.read("ours.out").len() > 200);
}
