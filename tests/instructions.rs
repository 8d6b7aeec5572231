//! Fixed budgets of instructions for what a program does most, counted by valgrind: unlike times they
//! do not depend on the machine's load. Who makes it faster lowers the budget.

mod harness;

use std::fmt::Write;

use harness::{Workshop, have, succeed};

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

/// What a call through a pointer costs, all of its instrumentation included, with so many targets in
/// turn.
fn of_a_call(shop: &Workshop, program: &str, targets: &str) -> u64 {
    let [few, many] =
        ["20000", "120000"].map(|calls| instructions(shop, program, &[targets, calls, "1"]));
    (many - few) / 100_000
}

#[test]
fn calls() {
    if !have("valgrind") {
        return;
    }
    let shop = Workshop::new();
    shop.write("calls.c", include_bytes!("../benches/speed/calls.c"));
    for (variant, flags) in [("plain", &[][..]), ("atomic", &["-fprofile-update=atomic"])] {
        let object = shop.compile("calls.c", &[flags, &["-fno-pie"]].concat());
        shop.link(&[&object], variant, &["-no-pie", "-pthread"]);
    }
    for (variant, targets, budget) in [
        ("plain", "1", 64),
        ("plain", "32", 103),
        ("plain", "64", 108),
        ("plain", "128", 620),
        ("atomic", "1", 75),
        ("atomic", "32", 115),
        ("atomic", "128", 640),
    ] {
        let found = of_a_call(&shop, variant, targets);
        eprintln!("{variant}, {targets} targets: {found} instructions, budget {budget}");
        assert!(found <= budget, "{variant}, {targets} targets: {found}, more than {budget}");
    }
}

/// What two functions of a program cost in a run, most of it in the flush at its end: one has a
/// division, the other a call through a pointer.
#[test]
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
        let object = shop.compile(&format!("{name}.c"), &["-O0"]);
        shop.link(&[&object], &name, &[]);
        let dump = format!("COUNTERSINK_FILE={name}.csraw");
        let run = || {
            let mut valgrind = shop.command("env");
            valgrind.args([
                &*dump,
                "valgrind",
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
            ]);
            let output = valgrind.arg(shop.path(&name)).output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            let line = errors.lines().find_map(|line| line.split_once("Collected :"));
            line.unwrap_or_else(|| panic!("{errors}")).1.trim().parse::<u64>().unwrap()
        };
        let runs = [run(), run()];
        succeed(shop.command("test").args(["-s", &format!("{name}.csraw")]));
        runs
    });
    for (what, few, many, budget) in
        [("first", few[0], many[0], 1950), ("merging", few[1], many[1], 2810)]
    {
        let found = (many - few) / 1000;
        eprintln!("{what} run, two functions: {found} instructions, budget {budget}");
        assert!(found <= budget, "{what} run: {found}, more than {budget}");
    }
}
