//! What a change does to coverage: Markdown and annotations for pull requests.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use crate::harness::{Workshop, have, succeed};

const BEFORE: &str = "\
int used(int n)
{
    if (n > 100)
        return 7;
    return n;
}

int unused(int n)
{
    return n + 1;
}

int sometimes(int n)
{
    int m = n;
    m += 3;
    return m;
}
";

/// Two lines more at the top, so that the numbers move; lines that do not run; and `sometimes` is not called any more.
const AFTER: &str = "\
/* A head. */

int used(int n)
{
    if (n > 100)
        return 7;
    if (n > 50) {
        n += 2;

        n += 3;
    }
    return n;
}

int unused(int n)
{
    return n + 2;
}

int sometimes(int n)
{
    int m = n;
    m += 3;
    return m;
}
";

fn main_with(calls: &str) -> String {
    format!(
        "int used(int), sometimes(int), more(int);\nint main(void)\n{{\n    return {calls} > 100;\n}}\n"
    )
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

fn said(output: &Output) -> &str {
    text(&output.stderr)
}

fn git(shop: &Workshop, words: &[&str]) -> String {
    let identity = ["-c", "user.name=u", "-c", "user.email=u@localhost"];
    text(&succeed(shop.command("git").args(identity).args(words))).to_owned()
}

/// Compiles these sources of the folder for coverage, and runs the program.
fn count(shop: &Workshop, sources: &[&str]) {
    for old in fs::read_dir(shop.path(".")).unwrap() {
        let old = old.unwrap().path();
        if old.extension().is_some_and(|end| end == "gcda" || end == "gcno") {
            fs::remove_file(old).unwrap();
        }
    }
    succeed(shop.command("gcc").args(["--coverage", "-o", "program"]).args(sources));
    succeed(&mut shop.command(shop.path("program")));
}

/// A repository whose commit has a tracefile, and then a change.
fn changed() -> Workshop {
    let shop = Workshop::new();
    shop.write("src/code.c", BEFORE);
    shop.write("src/same.c", "int same(int n)\n{\n    return n;\n}\n");
    shop.write("src/main.c", main_with("used(1) + sometimes(2)"));
    git(&shop, &["init", "--quiet"]);
    // Settings that change what a diff looks like.
    for (name, setting) in [
        ("diff.interHunkContext", "9"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.relative", "true"),
        ("color.ui", "always"),
    ] {
        git(&shop, &["config", name, setting]);
    }
    git(&shop, &["add", "src"]);
    git(&shop, &["commit", "--quiet", "-m", "first"]);
    count(&shop, &["src/code.c", "src/same.c", "src/main.c"]);
    shop.tool_output(&["convert", ".", "--to", "lcov", "-o", "base.info"]);
    shop.write("src/code.c", AFTER);
    shop.write("src/main.c", main_with("used(1) + more(2)"));
    shop.write(
        "src/more.c",
        "int more(int n)\n{\n    if (n > 9)\n        return 3;\n    return n;\n}\n",
    );
    shop.write("src/never.c", "int never(int n)\n{\n    return n;\n}\n");
    git(&shop, &["add", "-N", "src"]);
    count(&shop, &["src/code.c", "src/same.c", "src/main.c", "src/more.c"]);
    shop
}

fn review(shop: &Workshop, to: &str, options: &[&str]) -> String {
    text(&shop.tool_output(&[&["convert", ".", "--to", to], options].concat())).to_owned()
}

#[test]
fn a_table_for_the_pull_request() {
    if !have("git") {
        return;
    }
    let shop = changed();
    let found =
        review(&shop, "coverage-markdown", &["--against", "base.info", "--changed", "HEAD"]);
    let expected = "\
### Coverage

| | lines | branches | functions |
|---|---:|---:|---:|
| 4 files | 42.9 % (-21.4) of 21 | 50.0 % of 6 | 50.0 % (-10.0) of 6 |

#### Changed lines

5 of 9 changed lines with code were executed, 55.6 %.

| file | executed | not executed |
|---|---:|---|
| `src/code.c` | 1 of 4 | 8-10, 17 |
| `src/more.c` | 3 of 4 | 4 |
| `src/main.c` | 1 of 1 |  |

Changed sources without coverage: `src/never.c`.

#### No longer executed

| file | lines |
|---|---|
| `src/code.c` | 20-24 |

#### Files with other totals

| | lines | branches | functions |
|---|---:|---:|---:|
| `src/code.c` | 30.8 % (-39.2) of 13 | 50.0 % of 4 | 33.3 % (-33.3) of 3 |
| `src/more.c`, new | 75.0 % of 4 | 50.0 % of 2 | 100.0 % of 1 |
";
    assert_eq!(found, expected);
}

/// git says which lines changed, and gcov which did not run.
#[test]
fn annotations_are_of_changed_lines_that_gcov_marks() {
    if !have("git") {
        return;
    }
    let shop = changed();
    let mut expected = BTreeSet::new();
    for name in ["code", "main", "more", "same"] {
        let path = format!("src/{name}.c");
        let is_new: Vec<bool> = match name {
            "more" => vec![true; 9],
            _ => {
                let blame = git(&shop, &["blame", "-s", &path]);
                blame.lines().map(|line| line.starts_with("00000000")).collect()
            }
        };
        let gcov = succeed(shop.command("gcov").args(["-t", &format!("program-{name}.gcda")]));
        for line in text(&gcov).lines() {
            let fields: Vec<&str> = line.splitn(3, ':').map(str::trim).collect();
            let number: usize = fields[1].parse().unwrap();
            if fields[0] == "#####" && is_new[number - 1] {
                expected.insert((path.clone(), number));
            }
        }
    }
    assert!(expected.len() > 3);
    let found = review(&shop, "coverage-github", &["--changed", "HEAD"]);
    let mut annotated = BTreeSet::new();
    for line in found.lines() {
        let value = |name: &str| {
            let rest = line.split_once(&format!("{name}=")).unwrap().1;
            rest.split([',', ':']).next().unwrap().to_owned()
        };
        let number = |name| value(name).parse::<usize>().unwrap();
        annotated.extend((number("line")..=number("endLine")).map(|line| (value("file"), line)));
    }
    // The blank line in the run has no code.
    assert!(annotated.remove(&("src/code.c".to_owned(), 9)));
    assert_eq!(annotated, expected);
    let lost = "::warning file=src/code.c,line=20,endLine=24,title=No longer covered::\
                Lines 20 to 24 are not executed any more\n";
    let words = ["--changed", "HEAD", "--against", "base.info"];
    let found = review(&shop, "coverage-github", &words);
    assert!(found.starts_with(lost), "{found}");
    // From any folder, paths begin at the top.
    let mut below = std::process::Command::new(env!("CARGO_BIN_EXE_countersink"));
    below.current_dir(shop.path("src")).args(["convert", "..", "--to", "coverage-github"]);
    let words = ["--changed", "HEAD", "--against", "../base.info"];
    assert_eq!(text(&succeed(below.args(words))), found);
}

/// A renamed file is compared with what it was, whatever the names in the tracefile begin with.
#[test]
fn a_renamed_file() {
    if !have("git") {
        return;
    }
    let shop = changed();
    let base = text(&shop.read("base.info")).to_owned();
    let here = format!("{}/", shop.path(".").canonicalize().unwrap().display());
    fs::create_dir(shop.path("lib")).unwrap();
    for (name, new) in [("code.c", "lib/renamed.c"), ("same.c", "lib/kept.c")] {
        fs::rename(shop.path(format!("src/{name}")), shop.path(new)).unwrap();
    }
    git(&shop, &["add", "-N", "lib"]);
    count(&shop, &["lib/renamed.c", "lib/kept.c", "src/main.c", "src/more.c"]);
    for start in [&*here, "", "./", "src/.././"] {
        shop.write("base.info", base.replace(&here, start));
        let found =
            review(&shop, "coverage-markdown", &["--against", "base.info", "--changed", "HEAD"]);
        assert!(found.contains("| `lib/renamed.c` | 1 of 4 | 8-10, 17 |"), "{found}");
        assert!(found.contains("| `lib/renamed.c` | 20-24 |"), "{found}");
        assert!(!found.contains("kept.c") && !found.contains("gone"), "{found}");
    }
}

/// Without git, lines are compared by number where the same lines have code.
#[test]
fn a_base_without_a_commit() {
    let shop = changed();
    let output =
        shop.tool(&["convert", ".", "--to", "coverage-markdown", "--against", "base.info"]);
    assert!(said(&output).contains("other lines have code in 1 file"), "{}", said(&output));
    let found = text(&output.stdout);
    assert!(found.contains(
        "#### Not executed in new files\n\n| file | lines |\n|---|---|\n| `src/more.c` | 4 |\n"
    ));
    assert!(!found.contains("No longer executed"), "{found}");
    // The base is of the same sources, and its paths are those of another place.
    let now = shop.tool_output(&["convert", ".", "--to", "lcov"]);
    let ran = text(&now).replace("DA:24,0", "DA:24,9").replace(",0\n", ",5\n");
    let here = shop.path(".").canonicalize().unwrap();
    shop.write("elsewhere.info", ran.replace(here.to_str().unwrap(), "/elsewhere"));
    let moved = format!("/elsewhere={}", here.display());
    let options = ["--against", "elsewhere.info", "--path-map", &moved];
    let found = review(&shop, "coverage-markdown", &options);
    assert!(found.contains("#### No longer executed"), "{found}");
    assert!(found.contains("| `src/code.c` | 6, 8-10, 15-24 |"), "{found}");
    let output =
        shop.tool(&["convert", ".", "--to", "coverage-markdown", "--against", "elsewhere.info"]);
    assert!(said(&output).contains("none of its files is among those"), "{}", said(&output));
    // A file that is no longer there.
    let gone = text(&now).replace("same.c", "gone.c");
    shop.write("gone.info", gone);
    let found = review(&shop, "coverage-markdown", &["--against", "gone.info"]);
    assert!(
        found.contains("| `src/gone.c`, gone | was 0.0 % of 2 | - | was 0.0 % of 1 |"),
        "{found}"
    );
}

#[test]
fn the_least_covered_first() {
    let shop = changed();
    let found = review(&shop, "coverage-markdown", &[]);
    let files = found.split_once("#### Files\n").unwrap().1;
    let rows = files.lines().filter(|line| line.starts_with("| `"));
    let names: Vec<&str> = rows.map(|line| line.split('`').nth(1).unwrap()).collect();
    assert_eq!(names, ["src/same.c", "src/code.c", "src/more.c", "src/main.c"]);
    let found = review(&shop, "coverage-markdown", &["--exclude", "*/same.c"]);
    assert!(!found.contains("same.c"), "{found}");
}

/// lcov's own file is a base, too.
#[test]
fn a_base_of_lcov() {
    if !have("lcov") {
        return;
    }
    let shop = changed();
    let capture = ["--capture", "--quiet", "--directory", ".", "--output-file", "lcov.info"];
    succeed(shop.command("lcov").args(capture).args(["--rc", "lcov_branch_coverage=1"]));
    let found = review(&shop, "coverage-markdown", &["--against", "lcov.info"]);
    let expected = "\
### Coverage

| | lines | branches | functions |
|---|---:|---:|---:|
| 4 files | 42.9 % of 21 | 50.0 % of 6 | 50.0 % of 6 |
";
    assert_eq!(found, expected);
}

#[test]
fn limits_and_mistakes() {
    if !have("git") {
        return;
    }
    let shop = changed();
    let convert = |options: &[&str]| shop.tool(&[&["convert", "."], options].concat());
    let github = |options: &[&str]| convert(&[&["--to", "coverage-github"], options].concat());
    for (least, status) in [("55", 0), ("56", 1)] {
        let output = github(&["--changed", "HEAD", "--fail-under-changed", least]);
        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
    }
    let output = github(&["--changed", "HEAD", "--fail-under-changed", "56"]);
    let what = "5 of 9, 55.55 %, were executed; --fail-under-changed asks for 56 %";
    assert!(said(&output).contains(what), "{}", said(&output));
    assert_eq!(github(&["--fail-under-line", "90"]).status.code(), Some(1));
    shop.write("broken.info", "SF:a.c\nDA:1,2\nDA:x\n");
    for (options, what) in [
        (&["--to", "coverage-github", "--against", "base"][..], "base: No such file"),
        (
            &["--to", "coverage-github", "--against", "broken.info"],
            "broken.info: line 3 is none of a",
        ),
        (
            &["--to", "coverage-github", "--against", "src/code.c"],
            "src/code.c: line 1 is none of a",
        ),
        (&["--to", "coverage-github", "--changed", "no-such"], "--changed: git: "),
        (&["--to", "coverage-github", "--changed=-x"], "--changed: expected a commit"),
        (&["--to", "coverage-github", "--fail-under-changed", "7"], "--changed <COMMIT>"),
    ] {
        let output = convert(options);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(said(&output).contains(what), "{options:?}: {}", said(&output));
        assert!(output.stdout.is_empty());
    }
}
