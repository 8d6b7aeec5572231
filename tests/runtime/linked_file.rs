//! The file that a program is linked with: `countersink flags --file`.

use std::fs;
use std::path::PathBuf;

use countersink::raw::dump::Dump;

use crate::harness::{PROFILE, Workshop, assert_same_files, succeed};

/// What the tool prints for these options, as words of a command line.
fn flags(shop: &Workshop, options: &[&str]) -> Vec<String> {
    let printed = shop.tool_output(&[&["flags"], options].concat());
    String::from_utf8(printed).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// Links with the flags for a file. They are given twice, as build systems may do.
fn link(shop: &Workshop, file: &str, objects: &[&str], program: &str, options: &[&str]) {
    let flags = flags(shop, &["--file", file]);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let words = [&["-fprofile-generate"], options, objects, &["-o", program]].concat();
    shop.gcc(&[&words[..], &flags, &flags].concat());
}

/// Paths of the modules in a dump, without directories, each with its runs.
fn modules(shop: &Workshop, dump: &str) -> Vec<(String, u64)> {
    let dump = Dump::parse(&shop.read(dump)).unwrap();
    let mut modules: Vec<_> = dump
        .modules
        .iter()
        .map(|module| {
            let path = String::from_utf8_lossy(&module.path).into_owned();
            (path.rsplit('/').next().unwrap().to_owned(), module.sums.runs)
        })
        .collect();
    modules.sort();
    modules
}

/// A child with an empty environment, in another directory. Its counts are in the file, as with libgcov,
/// however the program was linked.
#[test]
fn a_child_without_an_environment() {
    let shop = Workshop::new();
    shop.program("elsewhere.c");
    fs::create_dir(shop.path("elsewhere")).unwrap();
    let own = shop.path("all/%e%%.csraw");
    let ways: [(&[&str], &[&str]); 5] = [
        (&[], &[]),
        (&["-fno-pie"], &["-no-pie"]),
        (&[], &["-static"]),
        (&["-fpie"], &["-static-pie"]),
        (&["-flto", "-fdata-sections"], &["-flto", "-O2", "-Wl,--gc-sections"]),
    ];
    for (compile, options) in ways {
        let object = shop.compile("elsewhere.c", compile);
        shop.link_stock(&[&object], "stock", options);
        link(&shop, own.to_str().unwrap(), &[&object], "ours", options);
        let directory = shop.path("elsewhere");
        let arguments = [directory.to_str().unwrap()];
        let absolute = |program: &str| {
            succeed(
                shop.command(shop.path(program)).args(arguments).env_remove("COUNTERSINK_FILE"),
            );
        };
        absolute("stock");
        let stock = shop.take_gcda();
        absolute("ours");
        assert_eq!(modules(&shop, "all/ours%.csraw"), [("ours".to_owned(), 3)], "{options:?}");
        assert_same_files(&shop.converted_gcda("all/ours%.csraw"), &stock);
        assert_eq!(shop.files("csraw").len(), 1, "{:?}", shop.files("csraw"));
        fs::remove_dir_all(shop.path("all")).unwrap();
    }
}

/// The user's choice takes precedence over the linker's. An empty choice counts as none.
#[test]
fn the_environment_comes_first() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    link(&shop, "linked/%e.csraw", &[&object], "ours", &[]);
    for (environment, file) in
        [("users.csraw", "users.csraw"), ("", "linked/ours.csraw"), ("/dev/null", "")]
    {
        succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", environment));
        let found = shop.files("csraw");
        let expected = Some(PathBuf::from(file)).filter(|_| !file.is_empty());
        assert_eq!(found, Vec::from_iter(expected));
        found.iter().for_each(|file| fs::remove_file(shop.path(file)).unwrap());
    }
}

/// A program's libraries write to its file, even those with a file of their own. If the program has none, a
/// library that it opens writes to the library's.
#[test]
fn programs_and_libraries() {
    let shop = Workshop::new();
    for name in ["library.c", "uses_library.c"] {
        shop.program(name);
    }
    let inner = shop.compile("library.c", &["-fPIC"]);
    let one = |name: &str| (name.to_owned(), 1);
    for opened in [false, true] {
        let outer = shop.compile("uses_library.c", if opened { &["-DOPENED"] } else { &[] });
        let objects: &[&str] = if opened { &[&outer] } else { &[&outer, "library.so"] };
        let plain = flags(&shop, &[]);
        let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
        for library_has in [false, true] {
            let shared = ["-shared", "-fprofile-generate", &inner, "-o", "library.so"];
            shop.gcc(&[&shared[..], &plain].concat());
            if library_has {
                link(&shop, "library.csraw", &[&inner], "library.so", &["-shared"]);
            }
            link(&shop, "program.csraw", objects, "ours", &["-Wl,-rpath,."]);
            shop.run("ours", &[]);
            assert_eq!(modules(&shop, "program.csraw"), [one("library.so"), one("ours")]);
            assert_eq!(shop.files("csraw").len(), 1);
            fs::remove_file(shop.path("program.csraw")).unwrap();
        }
        let program = ["-fprofile-generate", "-Wl,-rpath,.", "-o", "ours"];
        shop.gcc(&[&program[..], objects, &plain].concat());
        shop.run("ours", &[]);
        let files = shop.files("csraw");
        let library = modules(&shop, "library.csraw");
        if opened {
            assert_eq!(library, [one("library.so")]);
            assert_eq!(modules(&shop, "ours.csraw"), [one("ours")]);
        } else {
            assert_eq!(library, [one("library.so"), one("ours")]);
        }
        files.iter().for_each(|file| fs::remove_file(shop.path(file)).unwrap());
    }
}

/// The name is not on the command line, so a shell or linker misreads none of its characters.
#[test]
fn odd_characters() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    let name = "a 'b' \"c\" $d,e;f\\g*\u{e9}\n(h).csraw";
    link(&shop, name, &[&object], "ours", &[]);
    shop.run("ours", &[]);
    assert_eq!(shop.files("csraw"), [PathBuf::from(name)]);
    // Names of other files, in the same folder.
    link(&shop, "other.csraw", &[&object], "other", &[]);
    shop.run("other", &[]);
    shop.run("ours", &[]);
    assert_eq!(modules(&shop, name), [("ours".to_owned(), 2)]);
}

/// The compiler does not complain about the flags where it does not link.
#[test]
fn no_warning_where_nothing_is_linked() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let flags = flags(&shop, &["--file", "x"]);
    let mut gcc = shop.command("gcc");
    gcc.args(PROFILE).args(["-Werror", "-c", "hello.c"]).args(flags);
    let output = gcc.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn names_that_cannot_be() {
    let shop = Workshop::new();
    let long = "x".repeat(4096);
    for (name, said) in [
        ("", "--file: an empty name; without the option it is %e.csraw"),
        ("a%", "a%: behind % stands none of e, p, h, m and %"),
        ("/x/%q.csraw", "/x/%q.csraw: behind % stands none of e, p, h, m and %"),
        (&long, "--file: longer than any path of the system"),
    ] {
        let output = shop.tool(&["flags", "--file", name]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stdout.starts_with(b"countersink-flags-failed:"), "{name}");
        assert_eq!(told, format!("countersink: {said}\n"));
    }
    let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
    tool.args(["flags", "--dir", "a,b", "--file", "x"]);
    let output = tool.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("has a comma, at which the compiler divides"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}
