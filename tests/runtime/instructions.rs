//! Fixed budgets of instructions for the most frequent work of a program, counted by valgrind. Unlike times
//! they do not depend on the machine's load. If you make it faster, lower the budget.

use std::fmt::Write;

use crate::harness::{Workshop, have, succeed};

/// Instructions of a whole run.
fn instructions(shop: &Workshop, program: &str, arguments: &[&str]) -> u64 {
    let mut valgrind = shop.command("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = valgrind.arg(shop.path(program)).args(arguments).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    let line = errors.lines().find_map(|line| line.split_once("Collected :"));
    line.unwrap_or_else(|| panic!("{errors}")).1.trim().parse().unwrap()
}

/// The cost of a call through a pointer, with all of its instrumentation and this many targets in turn.
fn of_a_call(shop: &Workshop, program: &str, targets: &str) -> u64 {
    let [few, many] =
        ["20000", "120000"].map(|calls| instructions(shop, program, &[targets, calls, "1"]));
    (many - few) / 100_000
}

#[test]
#[ignore = "slow"]
fn calls() {
    if !have("valgrind") {
        return;
    }
    let shop = Workshop::new();
    shop.write("calls.c", include_bytes!("../../benches/speed/calls.c"));
    for (variant, flags) in [("plain", &[][..]), ("atomic", &["-fprofile-update=atomic"])] {
        let object = shop.compile("calls.c", &[flags, &["-fno-pie"]].concat());
        shop.link(&[&object], variant, &["-no-pie", "-pthread"]);
    }
    for (variant, targets, budget) in [
        ("plain", "1", 64),
        ("plain", "8", 86),
        ("plain", "32", 103),
        ("plain", "64", 108),
        ("plain", "128", 440),
        ("atomic", "1", 75),
        ("atomic", "32", 115),
        ("atomic", "128", 460),
    ] {
        let found = of_a_call(&shop, variant, targets);
        eprintln!("{variant}, {targets} targets: {found} instructions, budget {budget}");
        assert!(found <= budget, "{variant}, {targets} targets: {found}, more than {budget}");
    }
}

/// Calls in a program of clang. With few targets they are no dearer than with LLVM's own runtime.
#[test]
#[ignore = "slow"]
fn calls_of_clang() {
    let Some(llvm) = crate::llvm::all().pop().filter(|_| have("valgrind")) else { return };
    let shop = Workshop::new();
    shop.write("calls.c", include_bytes!("../../benches/speed/calls.c"));
    let flags = ["-O2", "-fprofile-generate", "-fno-pie"];
    let object = llvm.object(&shop, "calls.c", &flags);
    shop.library();
    llvm.link_both(&shop, &[object], &["-fprofile-generate", "-no-pie", "-pthread"]);
    for (targets, budget) in [("1", 51), ("8", 76), ("32", 103), ("64", 115), ("128", 528)] {
        let [ours, theirs] = ["ours", "stock"].map(|program| of_a_call(&shop, program, targets));
        eprintln!("{targets} targets: {ours} instructions, budget {budget}, LLVM's own: {theirs}");
        assert!(ours <= budget, "{targets} targets: {ours}, more than {budget}");
        assert!(
            ours <= theirs || targets == "128",
            "{targets} targets: {ours}, LLVM's own {theirs}"
        );
    }
}

/// The cost of two functions in a run, most of it in the flush at its end. One function has a division, the
/// other a call through a pointer.
#[test]
#[ignore = "slow"]
fn flushes() {
    if !have("valgrind") {
        return;
    }
    let shop = Workshop::new();
    let [few, many] = [200, 1200].map(|functions: u64| {
        let name = format!("functions{functions}");
        let mut text = String::new();
        for function in 0..functions {
            writeln!(
                text,
                "int f{function}(int n) {{ return n > 1 ? {function} / n : n; }}\n\
                 int g{function}(int (*f)(int), int n) {{ return f(n); }}"
            )
            .unwrap();
        }
        text += "int main(int argc, char **argv) { int sum = (int)(long)argv;\n";
        for function in 0..functions {
            writeln!(text, "sum += g{function}(f{function}, argc + 2);").unwrap();
        }
        text += "return sum == 42; }\n";
        shop.write(&format!("{name}.c"), text);
        let object = shop.compile(&format!("{name}.c"), &["-O0", "-fdata-sections"]);
        shop.link(&[&object], &name, &[]);
        let live = format!("live{functions}");
        let flags = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
        let flags = flags.split_whitespace();
        shop.gcc(
            &[&["-fprofile-generate", &object, "-o", &live], &flags.collect::<Vec<_>>()[..]]
                .concat(),
        );
        [of_a_run(&shop, &name), of_a_run(&shop, &name), of_a_run(&shop, &live)]
    });
    for (what, place, budget) in [("first", 0, 1910), ("merging", 1, 2880), ("live", 2, 5310)] {
        let found = (many[place] - few[place]) / 1000;
        eprintln!("{what} run, two functions: {found} instructions, budget {budget}");
        assert!(found <= budget, "{what} run: {found}, more than {budget}");
    }
}

/// The conversion of a function with twice as many inlined copies costs twice as much, not four times.
#[test]
#[ignore = "slow"]
fn conversions() {
    if !have("valgrind") {
        return;
    }
    let shop = Workshop::new();
    let [few, many] = [800, 1600].map(|copies: u64| {
        let name = format!("copies{copies}");
        let mut text = String::from(
            "volatile int s;\n\
             static inline __attribute__((always_inline)) void g(int x) { if (s == x) s += x; }\n\
             int main(void) {\n",
        );
        (0..copies).for_each(|copy| writeln!(text, "g({copy});").unwrap());
        shop.write(&format!("{name}.c"), text + "return 0; }\n");
        let object = shop.compile(&format!("{name}.c"), &["-O2", "-g", "-ftest-coverage"]);
        shop.link(&[&object], &name, &[]);
        shop.run(&name, &[]);
        let dump = format!("{name}.csraw");
        let arguments = ["-j", "1", "convert", &dump, "--to", "v4", "-o", "out.gcov"];
        instructions(&shop, env!("CARGO_BIN_EXE_countersink"), &arguments)
    });
    let ratio = many as f64 / few as f64;
    eprintln!(
        "copies of a function: {few} instructions for 800, {many} for 1600, ratio {ratio:.2}"
    );
    assert!(ratio < 2.2, "copies of a function: {few} instructions for 800, {many} for 1600");
}

/// Instructions of a program from its start to its end.
fn of_a_run(shop: &Workshop, program: &str) -> u64 {
    let dump = format!("{program}.csraw");
    let mut valgrind = shop.command("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = valgrind.arg(shop.path(program)).env("COUNTERSINK_FILE", &dump).output().unwrap();
    succeed(shop.command("test").args(["-s", &dump]));
    let errors = String::from_utf8(output.stderr).unwrap();
    let line = errors.lines().find_map(|line| line.split_once("Collected :"));
    line.unwrap_or_else(|| panic!("{errors}")).1.trim().parse().unwrap()
}
