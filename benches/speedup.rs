//! How much faster programs become with a version 2 profile of countersink, beside `-fprofile-use`
//! with libgcov's counts of the same run; and what targets of indirect calls, and counts in the
//! copies of inlined functions, have to do with it.
//!
//! `cargo bench --bench speedup [-- REPETITIONS]`. The builds run in turn, so that what else the
//! machine does falls on all alike; times are medians.

#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "../tests/programs/mod.rs"]
mod programs;

use std::fs;
use std::time::{Duration, Instant};

use countersink::formats::afdo_v4::decode::decode;
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use harness::{Workshop, succeed};
use programs::{Built, compile_lua, compile_sqlite, lua_sources, sqlite_sources};

/// A program, and how to make it faster.
struct Subject {
    name: &'static str,
    build: fn(&Workshop, &[&str]) -> Option<Built>,
    sources: fn(&Workshop) -> Option<Vec<String>>,
    /// Compilation flags besides -O2.
    flags: &'static [&'static str],
    /// The size of the measured run, in the unit of the training run's.
    size: &'static str,
}

/// Name of the program, flags of its compilation, and what to call it.
const WAYS: [(&str, &[&str], &str); 5] = [
    ("plain", &[], "-O2"),
    ("gcda", &["-fprofile-use", "-Wno-missing-profile"], "-O2 -fprofile-use, libgcov"),
    ("afdo", &["-fauto-profile=flat.afdo"], "-O2 -fauto-profile, countersink"),
    ("untargeted", &["-fauto-profile=untargeted.afdo"], "  without targets of indirect calls"),
    ("nested", &["-fauto-profile=nested.afdo"], "  with --inline nested"),
];

const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "Lua 5.4.9",
        build: compile_lua,
        sources: lua_sources,
        flags: &["-std=gnu99", "-DLUA_USE_POSIX"],
        size: "14",
    },
    Subject {
        name: "SQLite 3.54",
        build: compile_sqlite,
        sources: sqlite_sources,
        flags: &[
            "-DSQLITE_THREADSAFE=0",
            "-DSQLITE_OMIT_LOAD_EXTENSION",
            "-DSQLITE_ENABLE_MATH_FUNCTIONS",
        ],
        size: "80000",
    },
    Subject {
        name: "Heap sort with a comparison function",
        build: |shop, flags| {
            let sources = heap_sort(shop)?;
            let objects = sources.iter().map(|source| shop.compile(source, flags)).collect();
            Some(Built { objects, arguments: vec!["age", "20"] })
        },
        sources: heap_sort,
        flags: &[],
        size: "400",
    },
];

/// The program of the example `quickstart`.
fn heap_sort(shop: &Workshop) -> Option<Vec<String>> {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/quickstart.c");
    fs::copy(example, shop.path("quickstart.c")).unwrap();
    Some(vec!["quickstart.c".into()])
}

fn main() {
    // Cargo adds --bench.
    let repetitions = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(15);
    for subject in &SUBJECTS {
        subject.measure(repetitions);
    }
}

impl Subject {
    fn measure(&self, repetitions: usize) {
        let shop = Workshop::new();
        let Some(built) = (self.build)(&shop, &[]) else { return };
        let mut arguments = built.arguments();
        self.train(&shop, &built, &arguments);
        for (program, flags, _) in WAYS {
            self.compile(&shop, program, flags);
        }

        *arguments.last_mut().unwrap() = self.size;
        let times = medians(&shop, WAYS.map(|(program, ..)| program), &arguments, repetitions);
        let gain = |time: Duration| 100.0 * (times[0].as_secs_f64() / time.as_secs_f64() - 1.0);
        println!("{}, run with {arguments:?}, median of {repetitions}", self.name);
        for ((_, _, what), time) in WAYS.iter().zip(times) {
            println!("  {what:40} {:.3} s  {:+5.1} %", time.as_secs_f64(), gain(time));
        }
        let share = 100.0 * gain(times[2]) / gain(times[1]);
        println!("  countersink reaches {share:.0} % of the gain of -fprofile-use\n");
    }

    /// One run with each runtime, for the same counts on both sides.
    fn train(&self, shop: &Workshop, built: &Built, arguments: &[&str]) {
        let objects: Vec<&str> = built.objects.iter().map(String::as_str).collect();
        shop.link_stock(&objects, "stock", &["-lm"]);
        shop.run("stock", arguments);
        shop.link(&objects, "ours", &["-lm"]);
        shop.run("ours", arguments);
        shop.tool_output(&["convert", "ours.csraw", "-o", "flat.gcov"]);
        shop.tool_output(&["convert", "ours.csraw", "--inline", "nested", "-o", "nested.gcov"]);
        shop.write("untargeted.gcov", without_targets(&shop.read("flat.gcov")));
        let version = String::from_utf8(succeed(shop.command("gcc").arg("-dumpversion"))).unwrap();
        for name in ["flat", "nested", "untargeted"] {
            let (from, to) = (format!("{name}.gcov"), format!("{name}.afdo"));
            let convert = ["convert", &from, "--to", "v2", "-o", &to, "--for-gcc", version.trim()];
            shop.tool_output(&convert);
        }
    }

    fn compile(&self, shop: &Workshop, program: &str, flags: &[&str]) {
        let mut objects = vec![];
        for source in (self.sources)(shop).unwrap() {
            let object = source.replace(".c", ".o");
            shop.gcc(&[&["-O2", "-I.", "-c", &source, "-o", &object], self.flags, flags].concat());
            objects.push(object);
        }
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        shop.gcc(&[&objects[..], &["-lm", "-o", program]].concat());
    }
}

fn without_targets(file: &[u8]) -> Vec<u8> {
    let mut profile = decode(file).unwrap().profile;
    for function in profile.functions.values_mut() {
        function.body.positions.iter_mut().for_each(|(_, record)| record.targets.clear());
    }
    encode(&profile, Encoding::Normal).unwrap()
}

/// Median times of several programs that run in turn.
fn medians<const N: usize>(
    shop: &Workshop,
    programs: [&str; N],
    arguments: &[&str],
    repetitions: usize,
) -> [Duration; N] {
    let mut times = [(); N].map(|()| Vec::with_capacity(repetitions));
    for _ in 0..repetitions {
        for (program, times) in programs.iter().zip(&mut times) {
            let start = Instant::now();
            shop.run(program, arguments);
            times.push(start.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}
