//! The cost of a profiled indirect call, in nanoseconds of processor time, the call itself included.
//!
//! For the atomic variant the plainly instrumented object is made to call the atomic profiler. With
//! `-fprofile-update=atomic` most of the time would go into the arcs, and these the compiler's own code
//! counts.

use std::fs;
use std::path::Path;

use crate::harness::{Workshop, succeed};
use crate::table::{Row, Table, medians};

const CALLS: &str = "3000000";

struct Case {
    figure: &'static str,
    atomic: bool,
    targets: &'static str,
    threads: &'static str,
    target: f64,
}

const fn case(
    figure: &'static str,
    atomic: bool,
    targets: &'static str,
    threads: &'static str,
    target: f64,
) -> Case {
    Case { figure, atomic, targets, threads, target }
}

const CASES: [Case; 8] = [
    case("indirect call, 1 target (ns)", false, "1", "1", 1.0),
    case("indirect call, 32 targets in turn (ns)", false, "32", "1", 0.4),
    case("indirect call, 64 targets in turn (ns)", false, "64", "1", 0.35),
    case("indirect call, 128 targets in turn (ns)", false, "128", "1", 1.0),
    case("indirect call, atomic, 1 target (ns)", true, "1", "1", 0.7),
    case("indirect call, atomic, 32 targets in turn (ns)", true, "32", "1", 0.7),
    case("indirect call, atomic, 1 target, 2 threads (ns)", true, "1", "2", 0.7),
    case("indirect call, atomic, 32 targets, 2 threads (ns)", true, "32", "2", 0.7),
];

pub fn measure(repetitions: usize, table: &mut Table) {
    let shop = Workshop::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/speed/calls.c");
    fs::copy(source, shop.path("calls.c")).unwrap();
    let object = shop.compile("calls.c", &["-fno-pie"]);
    let profiler = "__gcov_indirect_call_profiler_v4";
    let atomic = format!("{profiler}={profiler}_atomic");
    let mut objcopy = shop.command("objcopy");
    succeed(objcopy.args(["--redefine-sym", &atomic, &object, "atomic.o"]));
    for (name, object) in [("plain", &*object), ("atomic", "atomic.o")] {
        shop.link_stock(&[object], &format!("{name}-theirs"), &["-no-pie", "-pthread"]);
        shop.link(&[object], &format!("{name}-ours"), &["-no-pie", "-pthread"]);
    }
    for Case { figure, atomic, targets, threads, target } in CASES {
        let kind = if atomic { "atomic" } else { "plain" };
        let programs = [format!("{kind}-ours"), format!("{kind}-theirs")];
        let [ours, theirs] = compare(&shop, &programs, [targets, threads], repetitions);
        table.row(Row { figure, ours, theirs, target });
    }
}

/// The cost of an event in two programs, with this many values in turn and this many threads.
pub fn compare(
    shop: &Workshop,
    programs: &[String; 2],
    [values, threads]: [&str; 2],
    repetitions: usize,
) -> [f64; 2] {
    medians(repetitions, |place| {
        let printed = shop.run(&programs[place], &[values, CALLS, threads]);
        printed.trim().parse().unwrap()
    })
}
