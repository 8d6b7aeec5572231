//! How much faster Lua and SQLite become with a version 2 profile of countersink, beside
//! `-fprofile-use` with libgcov's counts of the same run.
//!
//! `cargo bench --bench speedup [-- REPETITIONS]`. The builds run in turn, so that what else the
//! machine does falls on all alike; times are medians.

#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "../tests/programs/mod.rs"]
mod programs;

use std::time::{Duration, Instant};

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

const SUBJECTS: [Subject; 2] = [
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
];

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
        self.compile(&shop, "plain", &[]);
        self.compile(&shop, "gcda", &["-fprofile-use", "-Wno-missing-profile"]);
        self.compile(&shop, "afdo", &["-fauto-profile=prog.afdo"]);

        *arguments.last_mut().unwrap() = self.size;
        let [plain, gcda, afdo] =
            medians(&shop, ["plain", "gcda", "afdo"], &arguments, repetitions);
        let gain = |time: Duration| plain.as_secs_f64() / time.as_secs_f64() - 1.0;
        let line = |what: &str, time: Duration| {
            println!("  {what:40} {:.3} s  {:+5.1} %", time.as_secs_f64(), 100.0 * gain(time));
        };
        println!("{}, run with {arguments:?}, median of {repetitions}", self.name);
        line("-O2", plain);
        line("-O2 -fprofile-use, libgcov", gcda);
        line("-O2 -fauto-profile, countersink", afdo);
        let share = 100.0 * gain(afdo) / gain(gcda);
        println!("  countersink reaches {share:.0} % of the gain of -fprofile-use\n");
    }

    /// One run with each runtime, for the same counts on both sides.
    fn train(&self, shop: &Workshop, built: &Built, arguments: &[&str]) {
        let objects: Vec<&str> = built.objects.iter().map(String::as_str).collect();
        shop.link_stock(&objects, "stock", &["-lm"]);
        shop.run("stock", arguments);
        shop.link(&objects, "ours", &["-lm"]);
        shop.run("ours", arguments);
        let version = String::from_utf8(succeed(shop.command("gcc").arg("-dumpversion"))).unwrap();
        let convert = ["convert", "ours.csraw", "--to", "v2", "-o", "prog.afdo", "--for-gcc"];
        shop.tool_output(&[&convert[..], &[version.trim()]].concat());
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
