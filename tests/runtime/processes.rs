//! Processes made in any way: nothing is lost, nothing counted twice.

use std::process::Command;
use std::time::{Duration, Instant};

use countersink::convert::gcov::names::ident;
use countersink::raw::dump::Dump;
use countersink::raw::gcov::Kind;

use crate::harness::Workshop;

/// unseen.c in a mode in which gcc rewrites no call.
fn program() -> Workshop {
    let shop = Workshop::new();
    shop.program("unseen.c");
    let object = shop.compile("unseen.c", &["-std=c11", "-pthread"]);
    let printed = String::from_utf8(shop.tool_output(&["flags", "--wrap-exit"])).unwrap();
    let link: Vec<&str> = printed.split_whitespace().collect();
    shop.link(&[&object], "ours", &["-pthread"]);
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "wrapped", "-pthread"], &link[..]].concat());
    shop
}

/// Runs and rounds of work in a dump.
fn work_in(shop: &Workshop, dump: &str) -> (u64, i64) {
    let dump = Dump::parse(&shop.read(dump)).unwrap();
    let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
    let mut functions = module.functions(&module.objects[0]);
    let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
    let rounds = work.counters(Kind::ARCS).iter().copied().max().unwrap();
    (module.sums.runs, rounds)
}

#[track_caller]
fn assert_all_counted(program_name: &str, arguments: &[&str], runs: u64) {
    let shop = program();
    let expected: i64 = shop.run(program_name, arguments).trim().parse().unwrap();
    let dump = format!("{program_name}.csraw");
    // Processes that a program leaves behind may take longer than the program.
    let start = Instant::now();
    while work_in(&shop, &dump) != (runs, expected) && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(work_in(&shop, &dump), (runs, expected), "{arguments:?}");
    assert_eq!(shop.files("part"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn forks_that_gcc_does_not_see() {
    assert_all_counted("ours", &["fork"], 3);
    assert_all_counted("ours", &["double fork"], 3);
}

#[test]
fn processes_that_libraries_make() {
    assert_all_counted("ours", &["children of others"], 1);
}

#[test]
fn forks_beside_threads() {
    assert_all_counted("ours", &["threads"], 51);
}

/// The parent leaves by an `_exit` inside libc.
#[test]
fn daemons() {
    assert_all_counted("wrapped", &["daemon"], 2);
}

#[test]
fn execs_that_gcc_does_not_see() {
    for call in ["execl", "execle", "execlp", "execv", "execve", "execvpe", "fexecve"] {
        assert_all_counted("wrapped", &[call, "exec"], 1);
    }
}

/// Many processes end at the same time, into one file.
#[test]
fn many_at_once() {
    let shop = program();
    let start = || {
        let mut command = Command::new(shop.path("ours"));
        command.arg("children of others").current_dir(shop.path(""));
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..100).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(work_in(&shop, "ours.csraw"), (100, 100 * 1010));
    assert_eq!(shop.files("part"), Vec::<std::path::PathBuf>::new());
}

/// What the runtime is not told of by the C library, it hears from calls of `clone` and `syscall`.
#[test]
fn children_of_clone_and_of_system_calls() {
    let shop = Workshop::new();
    shop.program("cloned.c");
    let object = shop.compile("cloned.c", &["-std=gnu11", "-fdata-sections"]);
    for options in [&["--wrap-exit"][..], &["--wrap-exit", "--live"]] {
        let printed = [&["flags"], options].concat();
        let printed = String::from_utf8(shop.tool_output(&printed)).unwrap();
        let link: Vec<&str> = printed.split_whitespace().collect();
        shop.gcc(&[&["-fprofile-generate", &object, "-o", "wrapped"], &link[..]].concat());
        let expected: i64 = shop.run("wrapped", &[]).trim().parse().unwrap();
        // The live file of a process that became another program waits for whoever comes next, if nobody is left.
        shop.tool_output(&["fold", "wrapped.csraw"]);
        assert_eq!(work_in(&shop, "wrapped.csraw"), (8, expected), "{options:?}");
        std::fs::remove_file(shop.path("wrapped.csraw")).unwrap();
    }
}

/// Without that, one line says whose counts are left out. Live counters are the parent's.
#[test]
fn children_that_nobody_announced() {
    if cfg!(not(target_arch = "x86_64")) {
        return crate::harness::say_skipped("not every machine has the call");
    }
    let shop = Workshop::new();
    shop.program("cloned.c");
    let object = shop.compile("cloned.c", &["-std=gnu11", "-fdata-sections"]);
    for (options, rounds, lines) in [(&[][..], 100, 1), (&["--live"], 103, 0)] {
        let printed = [&["flags"], options].concat();
        let printed = String::from_utf8(shop.tool_output(&printed)).unwrap();
        let link: Vec<&str> = printed.split_whitespace().collect();
        shop.gcc(&[&["-fprofile-generate", &object, "-o", "ours"], &link[..]].concat());
        let output = shop.output("ours", &["fork"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success());
        assert_eq!(
            (work_in(&shop, "ours.csraw"), told.lines().count()),
            ((1, rounds), lines),
            "{told}"
        );
        assert!(
            lines == 0 || told.contains("its counts are not kept without `flags --wrap-exit`"),
            "{told}"
        );
        std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}
