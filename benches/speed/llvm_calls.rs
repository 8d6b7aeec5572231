//! The cost of a profiled indirect call, and of a copy with a profiled size, in a program of clang, in nanoseconds
//! of processor time, the call or copy itself included.

use std::fs;
use std::path::Path;

use crate::calls::compare;
use crate::harness::Workshop;
use crate::llvm::Llvm;
use crate::table::{Row, Table};

struct Case {
    program: &'static str,
    figure: &'static str,
    values: &'static str,
    threads: &'static str,
    target: f64,
}

const fn call(
    figure: &'static str,
    values: &'static str,
    threads: &'static str,
    target: f64,
) -> Case {
    Case { program: "calls", figure, values, threads, target }
}

const fn copy(figure: &'static str, values: &'static str, target: f64) -> Case {
    Case { program: "llvm_copies", figure, values, threads: "1", target }
}

const CASES: [Case; 9] = [
    call("indirect call, 1 target (ns)", "1", "1", 1.0),
    call("indirect call, 8 targets in turn (ns)", "8", "1", 1.0),
    call("indirect call, 32 targets in turn (ns)", "32", "1", 0.5),
    call("indirect call, 64 targets in turn (ns)", "64", "1", 0.5),
    call("indirect call, 128 targets in turn (ns)", "128", "1", 1.0),
    call("indirect call, 1 target, 2 threads (ns)", "1", "2", 0.7),
    call("indirect call, 32 targets, 2 threads (ns)", "32", "2", 0.7),
    copy("copy, 1 size (ns)", "1", 1.0),
    copy("copy, 16 sizes in turn (ns)", "16", 1.0),
];

pub fn measure(llvm: Llvm, repetitions: usize, table: &mut Table) {
    let shop = Workshop::new();
    for program in ["calls", "llvm_copies"] {
        let source = format!("{program}.c");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/speed").join(&source);
        fs::copy(path, shop.path(&source)).unwrap();
        let object = llvm.object(&shop, &source, &["-O2", "-fprofile-generate", "-fno-pie"]);
        llvm.link_both(&shop, &[object], &["-fprofile-generate", "-no-pie", "-pthread"]);
        for runtime in ["ours", "stock"] {
            fs::rename(shop.path(runtime), shop.path(format!("{program}-{runtime}"))).unwrap();
        }
    }
    for Case { program, figure, values, threads, target } in CASES {
        let programs = ["ours", "stock"].map(|runtime| format!("{program}-{runtime}"));
        let [ours, theirs] = compare(&shop, &programs, [values, threads], repetitions);
        let figure = format!("clang {}: {figure}", llvm.major);
        table.row(Row { figure: &figure, ours, theirs, target });
    }
}
