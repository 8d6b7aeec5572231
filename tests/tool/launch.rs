//! `countersink launch` before the compiler: what it adds, what it passes on, and how it ends.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::thread;

use crate::harness::{Workshop, have, succeed};

/// A program of two sources that ran, its profile `prog.v4`, and a source that is not in it.
fn trained() -> Workshop {
    let shop = Workshop::new();
    shop.write("add.h", "static inline int add(int a, int b)\n{\n    return a > 9 ? a + b : a;\n}\nint work(int);\n");
    shop.write(
        "main.c",
        "#include \"add.h\"\nint main(void)\n{\n    return add(work(1000), 1) == 1;\n}\n",
    );
    let work = "#include \"add.h\"\nint work(int n)\n{\n    int sum = 0;\n    for (int i = 0; i < n; i++)\n        \
                if (i % 3)\n            sum = add(sum, i);\n        else\n            sum ^= i;\n    return sum;\n}\n";
    shop.write("work.c", work);
    shop.write("other.c", "int other(int x)\n{\n    return x ? 3 : 4;\n}\n");
    let objects = ["main.c", "work.c"].map(|source| shop.compile(source, &[]));
    shop.link(&[&objects[0], &objects[1]], "ours", &[]);
    shop.run("ours", &[]);
    shop.tool_output(&["convert", "ours.csraw", "--to", "v4", "--for-gcc", "gcc", "-o", "prog.v4"]);
    shop
}

/// The launcher with its profile, and a command behind it.
fn launcher(shop: &Workshop, command: &[&str]) -> Command {
    let mut launcher = shop.command(env!("CARGO_BIN_EXE_countersink"));
    launcher.args(["launch", "--profile", "prog.v4", "--parts", "parts", "--"]).args(command);
    launcher
}

fn launch(shop: &Workshop, command: &[&str]) -> Output {
    launcher(shop, command).output().unwrap()
}

/// The arguments that the compiler gets.
fn arguments(shop: &Workshop, command: &[&str]) -> Vec<String> {
    if !shop.path("show/gcc").exists() {
        // Prints its arguments where it does not have to answer.
        let script = "#!/bin/sh\ncase \" $* \" in *' -E '*|' --version '|' -dumpversion '|*' --print'*) exec gcc \"$@\";; esac\n\
                      printf '%s\\n' \"$@\"\n";
        let path = shop.write("show/gcc", script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = launch(shop, &[&["show/gcc"], command].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The part that a compilation gets, if it gets one.
fn part(shop: &Workshop, command: &[&str]) -> Option<String> {
    let all = arguments(shop, command);
    assert_eq!(all[..command.len()], *command);
    let part = all.iter().find_map(|argument| argument.strip_prefix("-fauto-profile="))?;
    let machine = if all.iter().any(|argument| argument == "-mavx") { " -mavx" } else { "" };
    let gcc = format!("gcc{machine}");
    let helps = String::from_utf8(shop.tool_output(&["flags", "--optimise", &gcc])).unwrap();
    assert_eq!(all[command.len() + 1..].join(" "), helps.trim());
    assert!(part.starts_with(shop.path("parts").to_str().unwrap()), "{part}");
    Some(part.to_owned())
}

fn names(shop: &Workshop, extension: &str) -> BTreeSet<String> {
    let files = shop.files(extension).into_iter();
    files
        .map(|path| path.to_str().unwrap().to_owned())
        .filter(|name| name.starts_with("parts/"))
        .collect()
}

#[test]
fn the_object_is_that_of_the_whole_profile() {
    let shop = trained();
    shop.tool_output(&["convert", "ours.csraw", "--for-gcc", "gcc", "-o", "prog.afdo"]);
    let helps = String::from_utf8(shop.tool_output(&["flags", "--optimise", "gcc"])).unwrap();
    for source in ["main.c", "work.c"] {
        succeed(&mut launcher(&shop, &["gcc", "-O2", "-c", source, "-o", "part.o"]));
        let whole = ["-O2", "-fauto-profile=prog.afdo", "-c", source, "-o", "whole.o"];
        shop.gcc(&[&whole[..], &helps.split_whitespace().collect::<Vec<_>>()].concat());
        assert!(shop.read("part.o") == shop.read("whole.o"), "{source}");
        let nicely = ["nice", "-n", "1", "gcc", "-O2", "-c", source, "-o", "nicely.o"];
        succeed(&mut launcher(&shop, &nicely));
        assert!(shop.read("nicely.o") == shop.read("whole.o"), "{source}");
    }
    let plain = |command: &[&str]| {
        succeed(&mut launcher(&shop, &[&["gcc"], command, &["-o", "ours.o"]].concat()));
        shop.gcc(&[command, &["-o", "plain.o"]].concat());
        assert!(shop.read("ours.o") == shop.read("plain.o"), "{command:?}");
    };
    plain(&["-O2", "-c", "other.c"]);
    plain(&["-c", "work.c"]);
    assert_eq!(names(&shop, "afdo").len(), 2);
}

/// gcc writes rules of make where this variable says. They are those of the compilation alone.
#[test]
fn rules_of_make_are_the_compiler_s() {
    let shop = trained();
    for source in ["work.c", "other.c"] {
        let command = ["gcc", "-O2", "-c", source, "-o", "x.o"];
        succeed(launcher(&shop, &command).env("DEPENDENCIES_OUTPUT", "ours.d"));
        succeed(shop.command("gcc").args(&command[1..]).env("DEPENDENCIES_OUTPUT", "plain.d"));
    }
    assert_eq!(shop.read("ours.d"), shop.read("plain.d"));
}

#[test]
fn what_gets_a_profile() {
    let shop = trained();
    let work = part(&shop, &["-O2", "-c", "work.c"]).expect("a part");
    assert_eq!(part(&shop, &["-O2", "-S", "work.c", "-o", "x.s"]), Some(work.clone()));
    assert_eq!(
        part(&shop, &["-O3", "-DX=1", "-MD", "-MF", "x.d", "-c", "./work.c"]),
        Some(work.clone())
    );
    assert_eq!(part(&shop, &["-O2", "-x", "c", "-c", "work.c"]), Some(work.clone()));
    if cfg!(target_arch = "x86_64") {
        assert_eq!(part(&shop, &["-O2", "-mavx", "-c", "work.c"]), Some(work.clone()));
    }
    assert!(!shop.path("x.d").exists(), "written by the preprocessor");
    shop.write("words", "-O2 '-DY=\"a b\"'\n-c work.c");
    assert_eq!(part(&shop, &["@words"]), Some(work.clone()));
    succeed(shop.command("gcc").args(["-O2", "-E", "work.c", "-o", "work.i"]));
    assert_eq!(part(&shop, &["-O2", "-c", "work.i"]), Some(work.clone()));
    let both = part(&shop, &["-O2", "main.c", "work.c", "other.c", "-o", "prog"]).expect("a part");
    assert_ne!(both, work);
    for command in [
        &["-O2", "-c", "other.c"][..],
        &["-O2", "-c", "work.s"],
        &["-O2", "main.o", "work.o", "-o", "prog"],
        &["-O2", "-fprofile-generate", "-c", "work.c"],
        &["-O2", "-fprofile-use", "-c", "work.c"],
        &["-c", "work.c"],
        &["-O2", "-fsyntax-only", "work.c"],
    ] {
        assert_eq!(part(&shop, command), None, "{command:?}");
    }
}

#[test]
fn everything_else_is_the_compiler_s() {
    let shop = trained();
    shop.gcc(&["-O2", "-S", "work.c", "-o", "assembler.s"]);
    shop.write("broken.c", "int f(void) { return x; }\n");
    shop.write("words", "-O2 -E work.c");
    for command in [
        &["gcc", "-O2", "-E", "work.c"][..],
        &["gcc", "@words"],
        &["gcc", "-O2", "-MM", "work.c"],
        &["gcc", "-O2", "-c", "broken.c"],
        &["gcc", "-O2", "-c", "none.c"],
        &["gcc", "-O2", "-c", "assembler.s", "-o", "assembler.o"],
        &["gcc", "ours.o", "-o", "x"],
        &["gcc", "--version"],
        &["gcc"],
        &["sh", "-c", "exit 7"],
    ] {
        let expected = shop.command(command[0]).args(&command[1..]).output().unwrap();
        let found = launch(&shop, command);
        assert_eq!(found.status.code(), expected.status.code(), "{command:?}: {found:?}");
        assert_eq!(found.stdout, expected.stdout, "{command:?}");
        // Temporary files have other names.
        let errors = |output: &Output| String::from_utf8_lossy(&output.stderr).lines().count();
        assert_eq!(errors(&found), errors(&expected), "{command:?}: {found:?}");
    }
    // Standard input reaches the compiler.
    let mut compiler = launcher(&shop, &["gcc", "-O2", "-x", "c", "-", "-c", "-o", "input.o"]);
    succeed(compiler.stdin(fs::File::open(shop.path("work.c")).unwrap()));
    let link = ["gcc", "-O2", "main.c", "work.c", "-o", "linked"];
    succeed(&mut launcher(&shop, &link));
    shop.run("linked", &[]);
}

/// The tool is replaced by the compiler: there is no other process between it and who waits.
#[test]
fn signals_and_processes() {
    let shop = trained();
    let output = launch(&shop, &["sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.signal(), Some(15), "{output:?}");
    let mut shell = launcher(&shop, &["sh", "-c", "echo $$"]);
    let child = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), id.to_string());
}

#[test]
fn bad_input() {
    let shop = trained();
    let fails = |arguments: &[&str], why: &str| {
        let output = shop.tool(&[&["launch"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(why), "{arguments:?}: {errors}");
    };
    let work = ["gcc", "-O2", "-c", "work.c"];
    fails(&["--profile", "prog.v4"], "required");
    fails(&["--profile", "prog.v4", "--"], "required");
    fails(&["--profile", "prog.v4", "--", "ccache"], "expected a compiler behind the launchers");
    fails(
        &["--profile", "prog.v4", "--", "./no-gcc", "-O2", "-c", "work.c"],
        "./no-gcc: no such command",
    );
    fails(&["--profile", "prog.v4", "--", "./no-gcc", "main.o"], "./no-gcc: no such command");
    fails(&[&["--profile", "none.v4", "--"], &work[..]].concat(), "none.v4: No such file");
    fails(&[&["--profile", "work.c", "--"], &work[..]].concat(), "work.c: 0x0: expected version 4");
    let whole = shop.read("prog.v4");
    shop.write("cut.v4", &whole[..whole.len() - 9]);
    fails(&[&["--profile", "cut.v4", "--"], &work[..]].concat(), "cut.v4: 0x");
    fails(
        &[&["--profile", "prog.v4", "--for-gcc", "9", "--"], &work[..]].concat(),
        "not those of gcc 9",
    );
    fails(
        &[&["--profile", "prog.v4", "--parts", "work.c/parts", "--"], &work[..]].concat(),
        "work.c/parts",
    );
    assert!(!shop.path("work.o.d").exists());
}

/// ccache takes the part into account: the object of a source changes only if its own counts do.
#[test]
fn ccache_sees_changes_of_counts() {
    if !have("ccache") {
        return;
    }
    let shop = trained();
    let build = || {
        for source in ["main.c", "work.c", "other.c"] {
            let mut compile = launcher(&shop, &["ccache", "gcc", "-O2", "-c", source, "-o", "x.o"]);
            succeed(compile.env("CCACHE_DIR", shop.path("ccache")));
        }
    };
    let hits = || {
        let mut ccache = shop.command("ccache");
        let printed = succeed(ccache.arg("--print-stats").env("CCACHE_DIR", shop.path("ccache")));
        let printed = String::from_utf8(printed).unwrap();
        let number = |name: &str| -> u32 {
            let lines = printed.lines().filter_map(|line| line.split_once('\t'));
            lines.filter(|(found, _)| *found == name).map(|(_, n)| n.parse::<u32>().unwrap()).sum()
        };
        (number("direct_cache_hit") + number("preprocessed_cache_hit"), number("cache_miss"))
    };
    build();
    assert_eq!(hits(), (0, 3));
    build();
    assert_eq!(hits(), (3, 3));
    // A count of work.c alone.
    shop.tool_output(&["convert", "prog.v4", "--to", "v4-text", "-o", "prog.txt"]);
    let text = String::from_utf8(shop.read("prog.txt")).unwrap();
    let (head, function) = text.split_at(text.find("\"work\":").unwrap());
    let changed = function.replacen(" = 333", " = 334", 1).replacen(" = 334", " = 335", 1);
    assert_ne!(changed, function);
    shop.write("prog.txt", format!("{head}{changed}"));
    shop.tool_output(&["convert", "prog.txt", "--to", "v4", "-o", "prog.v4"]);
    build();
    assert_eq!(hits(), (5, 4));
}

#[test]
fn many_at_once() {
    let shop = trained();
    shop.gcc(&["-O2", "-c", "work.c"]);
    thread::scope(|scope| {
        for thread in 0..8 {
            let shop = &shop;
            scope.spawn(move || {
                for number in 0..8 {
                    let object = format!("{thread}.{number}.o");
                    let source = if number % 2 == 0 { "work.c" } else { "main.c" };
                    succeed(&mut launcher(shop, &["gcc", "-O2", "-c", source, "-o", &object]));
                }
            });
        }
    });
    let expected = [shop.read("0.0.o"), shop.read("0.1.o")];
    for thread in 0..8 {
        for number in 0..8 {
            assert!(shop.read(format!("{thread}.{number}.o")) == expected[number % 2]);
        }
    }
    assert_eq!(names(&shop, "afdo").len(), 2);
    assert_eq!(names(&shop, "catalogue").len(), 1);
    let files = fs::read_dir(shop.path("parts")).unwrap().count();
    assert_eq!(files, 4, "and a lock, but nothing half written");
}
