//! `countersink tests`: which tests execute a line or a change.

use std::fs;
use std::process::{Command, Output};

use crate::harness::{Workshop, have, succeed};
use crate::tracefile::{Tracefile, assert_same_lines};

const SOURCE: &str = "\
#include <string.h>

int parse(int n)
{
    return n + 1;
}

int print(int n)
{
    if (n > 100)
        return 7;
    return n;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], \"parse\"))
        return parse(argc) == 0;
    return print(argc) == 0;
}
";

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// A repository with a program, and dumps of two tests.
fn tested() -> Workshop {
    let shop = Workshop::new();
    shop.write("src/prog.c", SOURCE);
    shop.write("README", "about\n");
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=u", "-c", "user.email=u@localhost"];
        succeed(shop.command("git").args(identity).args(words));
    };
    git(&["init", "--quiet"]);
    git(&["add", "src", "README"]);
    git(&["commit", "--quiet", "-m", "first"]);
    shop.gcc(&["--coverage", "-c", "src/prog.c", "-o", "prog.o"]);
    shop.link(&["prog.o"], "prog", &[]);
    for test in ["parse", "print"] {
        let dump = shop.path(format!("prof/{test}.csraw"));
        fs::create_dir_all(dump.parent().unwrap()).unwrap();
        succeed(shop.command(shop.path("prog")).arg(test).env("COUNTERSINK_FILE", dump));
    }
    shop
}

/// The tests that the tool prints, and its status.
fn tests(shop: &Workshop, options: &[&str]) -> (String, Option<i32>) {
    let output = shop.tool(&[&["tests", "prof"], options].concat());
    (text(&output.stdout).to_owned(), output.status.code())
}

fn names(names: &[&str]) -> (String, Option<i32>) {
    let text = names.iter().flat_map(|name| [name, "\n"]).collect();
    (text, Some(if names.is_empty() { 1 } else { 0 }))
}

#[test]
fn tests_of_a_line() {
    if !have("git") {
        return;
    }
    let shop = tested();
    let line = |line: &str| tests(&shop, &["--line", line]);
    assert_eq!(line("prog.c:5"), names(&["parse"]));
    assert_eq!(line("src/prog.c:10"), names(&["print"]));
    assert_eq!(line("prog.c:17"), names(&["parse", "print"]));
    // Not executed, no code, no such file.
    for (nothing, why) in [
        ("prog.c:11", "prog.c:11: no test executes the line"),
        ("prog.c:2", "prog.c:2: no code begins in the line"),
        ("prog.c:999", "prog.c:999: no code begins in the line"),
        ("og.c:5", "og.c: no test has counts of such a file"),
        ("other.c:5", "other.c: no test has counts of such a file"),
    ] {
        assert_eq!(line(nothing), names(&[]), "{nothing}");
        let told = shop.tool(&["tests", "prof", "--line", nothing]).stderr;
        assert!(text(&told).contains(why), "{}", text(&told));
    }
    let (table, _) = tests(&shop, &[]);
    let expected = "lines  only here  test\n    5          3  parse\n    6          4  print\n2 tests executed 9 lines\n";
    assert_eq!(table, expected);
}

#[test]
fn tests_of_a_change() {
    if !have("git") {
        return;
    }
    let shop = tested();
    let changed = |old: &str, new: &str| {
        assert!(SOURCE.contains(old));
        shop.write("src/prog.c", SOURCE.replace(old, new));
        tests(&shop, &["--changed", "HEAD"])
    };
    assert_eq!(changed("n + 1", "n + 2"), names(&["parse"]));
    assert_eq!(changed("return n;", "return n - 1;"), names(&["print"]));
    assert_eq!(
        changed("    return n + 1;\n", "    n *= 3;\n    return n + 1;\n"),
        names(&["parse"])
    );
    assert_eq!(changed("    if (n > 100)\n        return 7;\n", ""), names(&["print"]));
    assert_eq!(changed("argc > 1 &&", "argc > 2 ||"), names(&["parse", "print"]));
    assert_eq!(changed("        return 7;\n", "        return 8;\n"), names(&[]));
    // From another folder, and with a changed file of which there are no counts.
    shop.write("README", "more\n");
    shop.write("src/prog.c", SOURCE.replace("n + 1", "n"));
    let mut tool = Command::new(env!("CARGO_BIN_EXE_countersink"));
    tool.current_dir(shop.path("src")).args(["tests", "../prof", "--changed", "HEAD"]);
    let Output { stdout, stderr, .. } = tool.output().unwrap();
    assert_eq!(text(&stdout), "parse\n");
    assert!(text(&stderr).contains("README: no test has counts of this changed file"));
}

/// Folders of libgcov's files are tests, too.
#[test]
fn tests_with_libgcov() {
    let shop = Workshop::new();
    shop.write("prog.c", SOURCE);
    succeed(shop.command("gcc").args(["--coverage", "prog.c", "-o", "prog"]));
    for test in ["parse", "print"] {
        let mut run = shop.command(shop.path("prog"));
        succeed(run.arg(test).env("GCOV_PREFIX", shop.path(test)));
    }
    let shown = shop.tool_output(&["tests", "parse", "print", "--line", "prog.c:5"]);
    assert_eq!(text(&shown), "parse\n");
}

#[test]
fn what_is_wrong_is_said() {
    let shop = Workshop::new();
    let complaint = |words: &[&str], status: i32, expected: &str| {
        let output = shop.tool(&[&["tests"], words].concat());
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert!(text(&output.stderr).contains(expected), "{words:?}: {output:?}");
    };
    complaint(&["nowhere"], 2, "nowhere: No such file");
    shop.write("prof/bad.csraw", "no dump");
    complaint(&["prof/bad.csraw"], 2, "prof/bad.csraw: 0x0: ");
    complaint(&["prof", "--line", "prog.c"], 2, "expected FILE:LINE");
    complaint(&["prof", "--inline", "flat"], 2, "--inline is about profiles, not about tests");
    if !have("git") {
        return;
    }
    complaint(&["prof", "--changed", "HEAD"], 2, "--changed: git: ");
    complaint(&["prof", "--changed=-x"], 2, "expected a commit, found \"-x\"");
    let shop = tested();
    shop.write("prof/bad.csraw", &shop.read("prof/parse.csraw")[..100]);
    let output = shop.tool(&["tests", "prof", "--line", "prog.c:5"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), "parse\n"));
    assert!(text(&output.stderr).contains("prof/bad.csraw: 0x"), "{output:?}");
    assert!(text(&output.stderr).contains("the test is left out"), "{output:?}");
}

/// lcov's own tools tell the tests apart, and their sum is that of all dumps.
#[test]
fn a_tracefile_with_names_of_tests() {
    if !have("git") {
        return;
    }
    let shop = tested();
    shop.write("src/prog.c", SOURCE.replace("return 7;", "return 7; // LCOV_EXCL_LINE"));
    shop.tool_output(&["tests", "prof", "--tracefile", "tests.info"]);
    let found = String::from_utf8(shop.read("tests.info")).unwrap();
    let names: Vec<&str> = found.lines().filter_map(|line| line.strip_prefix("TN:")).collect();
    assert_eq!(names, ["parse", "print"]);
    let all = shop.tool_output(&["convert", "prof", "--to", "lcov"]);
    let all = Tracefile::of(text(&all));
    assert_same_lines(&Tracefile::of(&found), &all, "the sum of tests");
    assert!(!all.files.values().next().unwrap().lines.contains_key(&11));
    let output = shop.tool(&["tests", "prof", "--include", "x"]);
    assert!(text(&output.stderr).contains("--include is for --tracefile"), "{output:?}");
    let output = shop.tool(&["tests", "prof", "--tracefile", "x.info", "--include", "x"]);
    assert!(text(&output.stderr).contains("no coverage is left"), "{output:?}");
    if have("genhtml") {
        let html = ["--quiet", "--show-details", "--output-directory", "html", "tests.info"];
        succeed(shop.command("genhtml").args(html));
        let pages = succeed(shop.command("grep").args(["-rl", ">print<", "html"]));
        assert!(!pages.is_empty());
    }
}

/// Two folders may have tests of one name.
#[test]
fn tests_of_one_name_in_two_folders() {
    let shop = tested();
    let dump = shop.files("csraw").remove(0);
    for folder in ["x", "y"] {
        std::fs::create_dir(shop.path(folder)).unwrap();
        std::fs::copy(shop.path(&dump), shop.path(folder).join("same.csraw")).unwrap();
    }
    let table = shop.tool_output(&["tests", "x", "y"]);
    let names: Vec<&str> =
        text(&table).lines().filter_map(|line| line.rsplit(' ').next()).collect();
    assert!(names.contains(&"same") && names.contains(&"y/same"), "{names:?}");
}
