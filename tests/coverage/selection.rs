//! Which files, lines and branches line coverage is about: options, the project's folder, markers in the sources.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use crate::harness::{Workshop, have, succeed};
use crate::tracefile::{Tracefile, assert_same_lines};

/// Markers that lcov 1.16 knows.
const MARKED: &str = r#"
int one_line(int n) { /* LCOV_EXCL_LINE */
    return n ? 1 : 2;
}
int branches(int n) {
    if (n > 3) // LCOV_EXCL_BR_LINE
        return 5;
    // LCOV_EXCL_START
    if (n > 6)
        return 7;
    // LCOV_EXCL_STOP
    // LCOV_EXCL_BR_START
    if (n > 8)
        return 7;
    // LCOV_EXCL_BR_STOP
    if (n > 9)
        return 8; // XLCOV_EXCL_LINE LCOV_EXCL_
    return 6;
}
// LCOV_EXCL_START
int region(int n) {
    return n ? 1 : 2;
}
// LCOV_EXCL_STOP
int begins(int n) { /* LCOV_EXCL_START */
    if (n)
        return 3; /* LCOV_EXCL_STOP */
    return 4;
}
int main(int argc, char **argv) {
    return one_line(argc) + branches(argc) + region(argc) + begins(argc) > 100;
}
"#;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Compiles a source for coverage with libgcov, and runs the program.
fn counted(shop: &Workshop, source: &str, contents: &str) {
    shop.write(source, contents);
    let driver = if source.ends_with(".c") { "gcc" } else { "g++" };
    succeed(shop.command(driver).args(["--coverage", source, "-o", "program"]));
    succeed(&mut shop.command(shop.path("program")));
}

/// The report of all `.gcda` files of the folder.
fn ours(shop: &Workshop, options: &[&str]) -> Tracefile {
    let words = [&["convert", ".", "--to", "lcov"], options].concat();
    Tracefile::of(&text(shop.tool_output(&words)))
}

/// The names of its files.
fn names(report: &Tracefile) -> BTreeSet<&str> {
    report.files.keys().map(|path| path.rsplit('/').next().unwrap()).collect()
}

fn said(output: &Output) -> String {
    text(output.stderr.clone())
}

#[test]
fn markers_mean_what_lcov_says() {
    if !have("lcov") {
        return;
    }
    let shop = Workshop::new();
    counted(&shop, "marked.c", MARKED);
    let capture = ["--capture", "--quiet", "--directory", ".", "--output-file", "lcov.info"];
    succeed(shop.command("lcov").args(capture).args(["--rc", "lcov_branch_coverage=1"]));
    let expected = Tracefile::of(&text(shop.read("lcov.info")));
    let found = ours(&shop, &[]);
    assert_same_lines(&found, &expected, "markers");
    assert_eq!(found.lines_missed(), expected.lines_missed());
    let whole = MARKED.replace("LCOV_EXCL", "NONE");
    shop.write("marked.c", whole);
    assert!(ours(&shop, &[]).lines().len() > expected.lines().len());
}

/// gcov says which branches exceptions take.
#[test]
fn branches_of_exceptions() {
    let shop = Workshop::new();
    let marker = "// GCOV_EXCL_EXCEPTION_BR_START\n";
    let source = r#"
#include <stdexcept>
#include <string>
#include <vector>
static int big(int n) { if (n > 100) throw std::runtime_error("big"); return n; }
struct Last { ~Last() { big(1); } };
int all(int n) {
    std::string a("abc"), b("d");
    Last last;
    std::vector<int> v(n);
    for (int i = 0; i < n; ++i)
        v[i] = big(i);
    try { big(n * 60); } catch (std::exception &e) { v[0] = *e.what(); }
    return v.size() + a.size() + b.size();
}
int main() { return all(2) > 100; }
"#;
    counted(&shop, "throws.cc", &format!("{marker}{source}"));
    let json = succeed(shop.command("gcov").args(["-b", "-j", "-t", "program-throws.gcda"]));
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let files = json["files"].as_array().unwrap();
    let own = files.iter().find(|file| file["file"] == "throws.cc").unwrap();
    let (mut expected, mut exceptions) = (BTreeSet::new(), 0);
    for line in own["lines"].as_array().unwrap() {
        let number = line["line_number"].as_u64().unwrap() as u32;
        for (place, branch) in (0..).zip(line["branches"].as_array().unwrap()) {
            match branch["throw"].as_bool().unwrap() {
                true => exceptions += 1,
                false => _ = expected.insert((number, 0, place)),
            }
        }
    }
    assert!(exceptions > 4, "{exceptions}");
    let report = ours(&shop, &["--include", "throws.cc"]);
    let found: BTreeSet<_> =
        report.files.values().next().unwrap().branches.keys().copied().collect();
    assert_eq!(found, expected);
}

/// A project in a git checkout, with a header that is gone and one outside.
fn project() -> Workshop {
    let shop = Workshop::new();
    fs::create_dir_all(shop.path("project/.git")).unwrap();
    fs::create_dir_all(shop.path("project/src/third_party")).unwrap();
    fs::create_dir_all(shop.path("outside")).unwrap();
    shop.write(
        "project/src/third_party/theirs.h",
        "static inline int theirs(int n) { return n; }\n",
    );
    shop.write("outside/foreign.h", "static inline int foreign(int n) { return n; }\n");
    let main = "#include \"third_party/theirs.h\"\n#include \"../../outside/foreign.h\"\n\
                int main(void) {\n    int n = theirs(1) + foreign(2);\n#line 7 \"gone.y\"\n    return n > 3;\n}\n";
    shop.write("project/src/main.c", main);
    let gcc = ["--coverage", "src/main.c", "-o", "program"];
    succeed(Command::new("gcc").current_dir(shop.path("project")).args(gcc));
    succeed(Command::new(shop.path("project/program")).current_dir(shop.path("project")));
    shop
}

/// What the tool reports of the project, from a folder of it.
fn of_project(shop: &Workshop, options: &[&str]) -> (Tracefile, Output) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersink"));
    command
        .current_dir(shop.path("project/src"))
        .env("HOME", shop.path("home"))
        .env_remove("CARGO_HOME");
    let output = command.args(["convert", "..", "--to", "lcov"]).args(options).output().unwrap();
    (Tracefile::of(&text(output.stdout.clone())), output)
}

#[test]
fn files_of_the_project() {
    let shop = project();
    let (report, output) = of_project(&shop, &[]);
    assert_eq!(names(&report), BTreeSet::from(["main.c", "theirs.h"]));
    let outside = format!(
        "left out: 1 file outside {}; --source-root / shows all",
        shop.path("project").display()
    );
    assert!(said(&output).contains(&outside), "{}", said(&output));
    assert!(said(&output).contains("left out: 1 file that is missing: "), "{}", said(&output));
    let (report, output) = of_project(&shop, &["--source-root", "/"]);
    assert_eq!(names(&report), BTreeSet::from(["foreign.h", "main.c", "theirs.h"]));
    assert!(!said(&output).contains("outside"), "{}", said(&output));
    let (report, _) = of_project(&shop, &["--source-root", "../../outside"]);
    assert_eq!(names(&report), BTreeSet::from(["foreign.h"]));
    // No file of this checkout has counts, so it is not the project.
    fs::create_dir_all(shop.path("project/src/.git")).unwrap();
    fs::rename(shop.path("project/src/main.c"), shop.path("outside/main.c")).unwrap();
    fs::rename(shop.path("project/src/third_party"), shop.path("outside/third_party")).unwrap();
    let moved = |name| {
        format!(
            "{}={}",
            shop.path("project/src").join(name).display(),
            shop.path("outside").join(name).display()
        )
    };
    let moves = ["main.c", "third_party"].map(moved);
    let (report, _) = of_project(&shop, &["--path-map", &moves[0], "--path-map", &moves[1]]);
    assert_eq!(names(&report).len(), 3);
}

#[test]
fn globs() {
    let shop = project();
    let tracefile =
        |options: &[&str]| of_project(&shop, &[&["--source-root", "/"], options].concat());
    let cases: [(&[&str], &[&str]); 9] = [
        (&["--exclude", "third_party"], &["foreign.h", "main.c"]),
        (&["--exclude", "*/third_party/*"], &["foreign.h", "main.c"]),
        (&["--exclude", "*.h"], &["main.c"]),
        (&["--include", "*.h"], &["foreign.h", "theirs.h"]),
        (&["--include", "*.h", "--exclude", "third_party/theirs.?"], &["foreign.h"]),
        (&["--include", "**/outside/**"], &["foreign.h"]),
        (&["--include", "*.c", "--include", "*/theirs.h"], &["main.c", "theirs.h"]),
        (&["--exclude", "arty"], &["foreign.h", "main.c", "theirs.h"]),
        (&["--exclude", "[m]ain.c"], &["foreign.h", "theirs.h"]),
    ];
    for (options, expected) in cases {
        let (report, output) = tracefile(options);
        assert_eq!(
            names(&report),
            expected.iter().copied().collect(),
            "{options:?}: {}",
            said(&output)
        );
    }
    // Also below the checkout, wherever the command runs.
    let (report, _) = of_project(&shop, &["--exclude", "src/third_party"]);
    assert_eq!(names(&report), BTreeSet::from(["main.c"]));
    let (_, output) = tracefile(&["--include", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no coverage is left of 4 files"), "{}", said(&output));
    let (_, output) = tracefile(&["--include", "["]);
    assert!(said(&output).contains("--include <GLOB>"), "{}", said(&output));
    let (_, output) = of_project(&shop, &["--source-root", "nowhere"]);
    assert!(said(&output).contains("nowhere: no such folder"), "{}", said(&output));
}

/// genhtml ends at the first source that is not there.
#[test]
fn genhtml_finds_all_sources() {
    if !have("genhtml") {
        return;
    }
    let shop = project();
    let (_, output) = of_project(&shop, &["-o", "report.info"]);
    assert!(output.status.success(), "{output:?}");
    let html = ["--quiet", "--output-directory", "html", "report.info"];
    succeed(Command::new("genhtml").current_dir(shop.path("project/src")).args(html));
    // Where no source is there, the report is about all.
    fs::rename(shop.path("project/src"), shop.path("project/moved")).unwrap();
    fs::rename(shop.path("outside"), shop.path("moved")).unwrap();
    let output = shop.tool(&["convert", "project", "--to", "lcov"]);
    assert_eq!(names(&Tracefile::of(&text(output.stdout))).len(), 4);
}

#[test]
fn limits() {
    let shop = Workshop::new();
    counted(&shop, "marked.c", MARKED);
    let convert = |options: &[&str]| {
        shop.tool(&[&["convert", ".", "--to", "lcov", "-o", "a.info"], options].concat())
    };
    for (option, fails) in [("line", "90"), ("branch", "60"), ("function", "100")] {
        let option = format!("--fail-under-{option}");
        let output = convert(&[&option, "10"]);
        assert_eq!(output.status.code(), Some(0), "{option}: {}", said(&output));
        let output = convert(&[&option, fails]);
        let is_whole = option.ends_with("function");
        assert_eq!(
            output.status.code(),
            Some(if is_whole { 0 } else { 1 }),
            "{option}: {}",
            said(&output)
        );
        let asks = format!("were executed; {option} asks for {fails} %");
        assert_eq!(said(&output).contains(&asks), !is_whole, "{}", said(&output));
    }
    let output = shop.tool(&["convert", ".", "--to", "v4", "--fail-under-line", "3"]);
    assert!(said(&output).contains("--fail-under-line is for"), "{}", said(&output));
}

/// The fields of the documented schema and no others, with the counts of the tracefile.
#[test]
fn coverage_as_json() {
    let shop = Workshop::new();
    counted(
        &shop,
        "throws.cc",
        "#include <vector>\nint main() {\n    std::vector<int> v(3);\n    return v.at(1) ? 1 : v[0];\n}\n",
    );
    let options = ["--include", "throws.cc"];
    let json =
        shop.tool_output(&[&["convert", ".", "--to", "coverage-json"], &options[..]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&json), ["files", "format", "totals", "version"]);
    assert_eq!(keys(&json["totals"]), ["branches", "conditions", "functions", "lines", "paths"]);
    let [file] = &json["files"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(keys(file), ["branches", "decisions", "functions", "lines", "path", "totals"]);
    assert_eq!(file["totals"], json["totals"]);
    let expected = ours(&shop, &options);
    let (path, expected) = expected.files.iter().next().unwrap();
    assert_eq!(file["path"], **path);
    let list = |name: &str| file[name].as_array().unwrap().iter();
    let number = |value: &serde_json::Value, key: &str| value[key].as_u64().unwrap();
    let lines = list("lines").map(|line| (number(line, "line") as u32, number(line, "count")));
    assert_eq!(lines.collect::<std::collections::BTreeMap<_, _>>(), expected.lines);
    for function in list("functions") {
        assert_eq!(keys(function), ["count", "end", "line", "name"]);
        let found = (number(function, "line") as u32, number(function, "count"));
        assert_eq!(expected.functions[function["name"].as_str().unwrap()], found);
    }
    let branches: Vec<Option<u64>> =
        list("branches").map(|branch| branch["count"].as_u64()).collect();
    assert_eq!(branches, expected.branches.values().copied().collect::<Vec<_>>());
    assert!(list("branches").any(|branch| branch["is_exception"] == true), "{json}");
}

/// lcov and gcovr read lines of any length, and warn of a start without a stop.
#[test]
fn markers_in_long_lines_and_without_an_end() {
    let shop = Workshop::new();
    let blanks = " ".repeat(5000);
    let text = format!(
        "int one(void) {{ return 1; }} //{blanks}LCOV_EXCL_LINE\nint main(void) {{ return one() > 1; }}\n"
    );
    counted(&shop, "long.c", &format!("{text}// LCOV_EXCL_BR_START\n"));
    let output = shop.tool(&["convert", ".", "--to", "lcov"]);
    let report = Tracefile::of(&text_of(&output));
    assert_eq!(report.files.values().next().unwrap().lines.keys().collect::<Vec<_>>(), [&2]);
    assert!(said(&output).contains("long.c:3: no STOP follows this START"), "{}", said(&output));
}

fn text_of(output: &Output) -> String {
    text(output.stdout.clone())
}

/// The recorded paths lead through a link, and the options do not, or the other way round.
#[test]
fn folders_with_two_names() {
    let shop = project();
    std::os::unix::fs::symlink("project", shop.path("link")).unwrap();
    let gcc = ["--coverage", "-o", "program"];
    let source = shop.path("link/src/main.c");
    let in_link = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(shop.path("link")).env("PWD", shop.path("link"));
        command
    };
    for old in ["program-main.gcda", "program-main.gcno"] {
        let _ = fs::remove_file(shop.path("project").join(old));
    }
    succeed(in_link("gcc").args(gcc).arg(&source));
    succeed(&mut in_link("./program"));
    let (report, output) = of_project(&shop, &["--exclude", "third_party"]);
    assert_eq!(names(&report), BTreeSet::from(["main.c"]), "{}", said(&output));
    let (report, output) = of_project(&shop, &["--source-root", "third_party"]);
    assert_eq!(names(&report), BTreeSet::from(["theirs.h"]), "{}", said(&output));
    let (report, output) = of_project(&shop, &["--include", "src/main.c"]);
    assert_eq!(names(&report), BTreeSet::from(["main.c"]), "{}", said(&output));
}

/// Nothing says anything of a source that a report would lose, so the tool does.
#[test]
fn sources_that_changed_or_cannot_be_read() {
    let shop = Workshop::new();
    counted(&shop, "one.c", "int main(void) { return 0; }\n");
    shop.write("two.h", "inline int two(int n) { return n ? 2 : 3; } // LCOV_EXCL_LINE\n");
    counted(
        &shop,
        "two.c",
        "#include \"two.h\"\nint main(int c, char **v) { return two(c) != 2 || !v; }\nint two(int);\n",
    );
    let report = ["convert", ".", "--to=lcov", "--source-root=."];
    assert!(!said(&shop.tool(&report)).contains("changed after"));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
    fs::File::open(shop.path("one.c")).unwrap().set_modified(later).unwrap();
    let told = said(&shop.tool(&report));
    assert!(told.contains("1 source changed after the counts were written"), "{told}");
    fs::remove_file(shop.path("two.h")).unwrap();
    fs::create_dir(shop.path("two.h")).unwrap();
    let told = said(&shop.tool(&report));
    assert!(
        told.contains("two.h: not a regular file; what its markers exclude is not known"),
        "{told}"
    );
}

#[test]
fn folders_as_a_shell_writes_them() {
    let shop = Workshop::new();
    fs::create_dir(shop.path("third")).unwrap();
    counted(&shop, "third/x.c", "int main(void) { return 0; }\n");
    counted(&shop, "own.c", "int main(void) { return 0; }\n");
    for folder in ["third", "third/", "./third", "./third/"] {
        let report = ours(&shop, &["--exclude", folder]);
        assert!(names(&report).iter().all(|name| name.ends_with("own.c")), "{folder}: {report:?}");
    }
}

/// Sources, the base of a comparison, and inputs stay what they are.
#[test]
fn outputs_replace_nothing_that_is_not_made_again() {
    let shop = Workshop::new();
    counted(&shop, "own.c", "int main(void) { return 0; }\n");
    let convert = ["convert", "own.gcda", "--source-root=."];
    let convert_to = |words: &[&str]| shop.tool(&[&convert[..], words].concat());
    shop.write("own.gcda", fs::read(shop.path("program-own.gcda")).unwrap());
    fs::copy(shop.path("program-own.gcno"), shop.path("own.gcno")).unwrap();
    assert!(convert_to(&["--to=lcov", "-o", "base.info"]).status.success());
    for (words, why) in [
        (&["--to=lcov", "-o", "own.c"][..], "is a source file by its name"),
        (
            &["--to=coverage-markdown", "--against=base.info", "-o", "base.info"],
            "the base of --against",
        ),
    ] {
        let output = convert_to(words);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(why), "{}", said(&output));
    }
    for file in ["own.gcda", "own.gcno"] {
        let before = shop.read(file);
        let output = shop.tool(&["tests", "own.gcda", "--tracefile", file]);
        assert!(said(&output).contains("is an input, too"), "{}", said(&output));
        assert!(output.status.code() == Some(2) && shop.read(file) == before);
    }
    let twice = convert_to(&["own.gcda", "--to=lcov"]);
    assert!(said(&twice).contains("own.gcda: given twice; counted once"), "{}", said(&twice));
    assert!(text(twice.stdout).contains("FNDA:1,main"));
}

/// A wrong checksum, a path that leads out, and a few bytes that stand for gigabytes.
#[test]
fn archives_that_are_not_what_they_seem() {
    let shop = Workshop::new();
    counted(&shop, "own.c", "int main(void) { return 0; }\n");
    let script = "tar czf good.tar.gz *.gcda *.gcno
        cp good.tar.gz spoilt.tar.gz
        printf '\\001\\002' | dd of=spoilt.tar.gz bs=1 conv=notrunc status=none \\
            seek=$(($(stat -c %s good.tar.gz) - 8))
        mkdir below; tar cf out.tar -P --transform 's,^,../,' *.gcda
        truncate -s 3G large.gcda; tar cSf large.tar large.gcda *own.gcda *own.gcno; rm large.gcda";
    succeed(shop.command("sh").args(["-c", script]));
    for (archive, what) in [
        ("spoilt.tar.gz", "the archive is damaged, so its counts may be wrong"),
        ("out.tar", "a path out of the archive; left out"),
        ("large.tar", "large.gcda: more than 1 GiB; left out"),
    ] {
        let output = shop.tool(&["convert", archive, "--to=lcov"]);
        assert!(said(&output).contains(what), "{archive}: {}", said(&output));
        assert_eq!(output.status.success(), archive != "out.tar");
    }
    let good = shop.tool(&["convert", "good.tar.gz", "--to=lcov"]);
    assert!(!said(&good).contains("damaged"), "{}", said(&good));
}
