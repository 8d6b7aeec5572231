//! The tool as users meet it: the promises of the help texts, pipes, exit statuses, and whether its parts
//! agree with each other and with the runtime.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

use countersink::raw::layout::{MAX_SECTION, SectionKind};
use countersink::raw::reader::Reader;
use countersink::raw::writer::Writer;
use serde_json::Value;

use crate::harness::{Workshop, succeed};
use crate::programs::FIXED_ADDRESSES;

/// A program that has run once, and its dump prog.csraw.
fn ran() -> Workshop {
    let shop = Workshop::new();
    fs::copy(shop.program("interface.c"), shop.path("prog.c")).unwrap();
    shop.compile("prog.c", &[]);
    shop.link(&["prog.o"], "prog", &["-pthread"]);
    shop.run("prog", &["flushes"]);
    shop
}

/// Runs a script with the tool on its path.
fn shell(shop: &Workshop, script: &str) -> Vec<u8> {
    let tool = std::path::Path::new(env!("CARGO_BIN_EXE_countersink")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let mut shell = shop.command("sh");
    shell.env("PATH", path).env("XDG_CACHE_HOME", shop.path("cache"));
    succeed(shell.args(["-e", "-c", script]))
}

fn text(shop: &Workshop, arguments: &[&str]) -> String {
    String::from_utf8(shop.tool_output(arguments)).unwrap()
}

fn json(shop: &Workshop, arguments: &[&str]) -> Value {
    serde_json::from_slice(&shop.tool_output(arguments)).unwrap()
}

/// The indented lines below `title`.
fn example(help: &str, title: &str) -> String {
    let after = help.split_once(title).unwrap_or_else(|| panic!("no {title} in {help}")).1;
    let lines: Vec<&str> =
        after.lines().skip(1).take_while(|line| line.starts_with("  ")).collect();
    assert!(lines.len() >= 2, "{help}");
    lines.join("\n")
}

#[test]
fn the_examples_of_the_help_texts_work() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(int argc, char **argv) { return argc > 9; }\n");
    shell(&shop, &example(&text(&shop, &["--help"]), "A session:"));
    let prepare = "cp prog.csraw run1.csraw; cp prog.csraw run2.csraw; cp prog.csraw day.csraw\n\
                   cp prog.csraw night.csraw\n\
                   for time in prog day night; do countersink convert prog.csraw -o $time.gcov; done\n\
                   printf ':ir\\nmain\\n1\\n1\\n5\\n\\n' > prog.proftext\n\
                   countersink convert prog.proftext --to profraw -o prog.profraw\n\
                   for time in prog day night\n\
                   do countersink convert prog.proftext --to profdata -o $time.profdata; done\n\
                   mkdir -p prof; cp prog.csraw prof; git init --quiet; git add prog.c\n\
                   git -c user.name=u -c user.email=u@localhost commit --quiet --allow-empty -m of\n";
    let mut commands = crate::harness::commands(&shop);
    // Its example needs a board. `tests/runtime/bare.rs` runs such a session.
    commands.retain(|command| command != "extract");
    // Another compilation's notes would not fit the dump of the session.
    commands.sort_by_key(|command| command == "install");
    for command in &commands {
        let example = example(&text(&shop, &[command, "--help"]), "Example:");
        let is_broken = |line: &str| line.len() > 80;
        assert!(!example.lines().any(is_broken), "a terminal of 80 columns breaks {example}");
        let example = example.replace("/opt", ".").replace("/tmp/", "./").replace("less", "cat");
        let possible = match &**command {
            "install" => crate::harness::have("pkg-config"),
            "tests" => crate::harness::have("git"),
            _ => true,
        };
        if !possible {
            continue;
        }
        // The program of the session has one line, and nothing changes.
        let example = example.replace("prog.c:33", "prog.c:1").replace("HEAD", "HEAD || true");
        shell(&shop, &format!("{prepare}{example}"));
    }
}

#[test]
fn exit_statuses() {
    let shop = ran();
    let status = |arguments: &[&str]| shop.tool(arguments).status.code();
    assert_eq!(status(&["--version"]), Some(0));
    assert_eq!(status(&["convert", "--help"]), Some(0));
    assert_eq!(status(&["convert", "--jobs", "0", "prog.csraw"]), Some(2));
    assert_eq!(status(&[]), Some(2));
    assert_eq!(status(&["convert"]), Some(2));
    assert_eq!(status(&["convert", "prog.csraw", "--to", "v9"]), Some(2));
    for to in ["profdata", "v4"] {
        let output = shop.tool(&["merge", "prog.csraw", "--to", to, "-o", "x"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("`convert` makes a profile"), "{errors}");
    }
    assert_eq!(status(&["merge", "prog.csraw", "--weight", "x=y", "-o", "x"]), Some(2));
    assert_eq!(status(&["merge", "-o", "x"]), Some(2));
    assert_eq!(status(&["show", "prog.csraw", "--function", "nobody"]), Some(2));
    assert_eq!(status(&["convert", "prog.csraw", "--to", "v2", "--for-gcc", "16"]), Some(2));
    assert_eq!(status(&["convert", "prog.csraw", "--to", "v4-text", "--for-gcc", "16"]), Some(2));
    let v4 = ["convert", "prog.csraw", "--to", "v4", "--for-gcc", "16", "-o", "prog.v4"];
    assert_eq!(status(&v4), Some(0));
    assert_eq!(status(&["convert", "prog.csraw", "--for-gcc", "9"]), Some(2));
    assert_eq!(status(&["convert", "prog.csraw", "--for-gcc", "./no-such-compiler"]), Some(2));
    assert_eq!(status(&["convert", "prog.csraw", "--for-gcc", "gcc"]), Some(0));
    assert_eq!(status(&["check", "prog.csraw", "prog.c"]), Some(2));
    assert_eq!(status(&["show", "prog.gcno", "--json"]), Some(2));
    assert_eq!(status(&["show", "prog.csraw", "--summary", "--top", "1"]), Some(2));
    assert_eq!(status(&["show", "prog.csraw", "--source", "rog.c"]), Some(2));
    assert_eq!(status(&["show", "prog.csraw", "--source", "prog.c"]), Some(0));
    assert_eq!(status(&["diff", "prog.csraw", "prog.csraw", "--at-least", "NaN"]), Some(2));
    assert_eq!(status(&["diff", "prog.csraw", "prog.csraw", "--at-least", "900"]), Some(2));
    shop.write("bad.csraw", &shop.read("prog.csraw")[..100]);
    assert_eq!(status(&["check", "bad.csraw"]), Some(1));
    assert_eq!(status(&["check", "prog.csraw"]), Some(0));
}

/// Each option of `convert` beside each family of its targets: an option that would change nothing is refused.
#[test]
fn convert_takes_an_option_where_it_changes_something() {
    let shop = Workshop::new();
    let mut targets = vec![
        ("profile", &["--to", "v4-text"][..]),
        ("function", &["--to", "profdata"]),
        ("gcda", &["--to", "gcda"]),
        ("lines", &["--to", "lcov"]),
        ("review", &["--to", "coverage-github"]),
        ("explain", &["--explain", "a.c:1"]),
    ];
    if cfg!(feature = "parquet") {
        targets.push(("table", &["--to", "parquet"]));
    }
    let table = [
        (
            "--for-gcc=12 --for-clang=16 --text-stubs --md5 --compress --split-layout --partial",
            "profile",
        ),
        ("--report=r --fail-under=9 --keep-summary", "profile"),
        ("--strict", "profile lines review"),
        ("--inline=flat", "profile explain"),
        ("--for-llvm=16 --sparse", "function"),
        ("--prefix=p --strip=1", "gcda"),
        ("--include=x --exclude=x --source-root=.", "lines review"),
        ("--fail-under-line=9 --fail-under-branch=9", "lines review"),
        ("--fail-under-function=9 --fail-under-condition=9", "lines review"),
        ("--against=b --changed=HEAD", "review"),
        ("--notes=n", "profile gcda lines review explain"),
        ("--binary=b", "profile function lines review explain"),
        ("--first=1 --below=x", "table"),
    ];
    let mut seen = BTreeSet::new();
    for (options, takers) in table {
        let takes = |family: &str| takers.split(' ').any(|taker| taker == family);
        // The tool has no options for targets that it was built without.
        if !targets.iter().any(|(family, _)| takes(family)) {
            continue;
        }
        for option in options.split(' ') {
            seen.insert(option.split('=').next().unwrap());
            for (family, target) in &targets {
                let output = shop.tool(&[&["convert", "absent", option], *target].concat());
                let said = String::from_utf8(output.stderr).unwrap();
                assert_eq!(
                    said.contains(" and not for "),
                    !takes(family),
                    "{option} {target:?}: {said}"
                );
                assert_eq!(output.status.code(), Some(2));
            }
        }
    }
    // What goes with all, what chooses the target, and what needs another option.
    let others =
        "--output --verbose --path-map --jobs --color --help --to --explain --fail-under-changed";
    let help = text(&shop, &["convert", "--help"]);
    let options =
        help.split("Options:").nth(1).and_then(|after| after.split("Example:").next()).unwrap();
    let heads = options.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let options =
        heads.filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--")));
    for option in options {
        assert!(
            seen.contains(option) || others.split(' ').any(|other| other == option),
            "{option}"
        );
    }
}

#[test]
fn standard_input_and_output() {
    let shop = ran();
    shop.tool_output(&["convert", "prog.csraw", "--to=v4", "-o", "prog.gcov"]);
    let expected = shop.read("prog.gcov");
    assert_eq!(shell(&shop, "countersink convert - --to v4 < prog.csraw"), expected);
    assert_eq!(shell(&shop, "cat prog.csraw | countersink convert - --to v4 -o -"), expected);
    let merged = shell(&shop, "countersink merge - -o - < prog.csraw");
    assert_eq!(merged, shop.read("prog.csraw"));
    let mut check = shop.command(env!("CARGO_BIN_EXE_countersink"));
    check.args(["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut check = check.spawn().unwrap();
    check.stdin.take().unwrap().write_all(&expected[..expected.len() - 1]).unwrap();
    let output = check.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.starts_with(b"standard input: 0x"), "{output:?}");
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let shop = ran();
    for arguments in [
        &["convert", "prog.csraw", "--to", "v4-text"][..],
        &["show", "prog.csraw"],
        &["--help"],
        &["show", "--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
        let status = tool.args(arguments).stdout(writer).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{arguments:?}");
    }
    for arguments in [&["show", "prog.csraw"][..], &["--help"], &["--version"], &["merge", "-h"]] {
        let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = tool.args(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stderr.starts_with(b"countersink: standard output: No space"), "{output:?}");
    }
}

/// `--for-gcc` asks the compiler which version it reads, or decides by the compiler's own version.
#[test]
fn for_gcc_chooses_the_version() {
    let shop = ran();
    let answers = |name: &str, to_version: &str, to_dumpversion: &str| {
        let script = format!(
            "#!/bin/sh\ncase $1 in --print-autofdo-gcov-version) {to_version} ;; *) {to_dumpversion} ;; esac\n"
        );
        shop.write(name, script);
        succeed(shop.command("chmod").args(["+x", name]));
    };
    answers("new-gcc", "echo 3", "exit 1");
    answers("old-gcc", "exit 1", "echo 11.4.0");
    answers("odd-gcc", "echo 5", "echo 18");
    for (choice, version) in [
        ("./new-gcc", 3),
        ("./old-gcc", 1),
        ("10", 1),
        ("12", 2),
        ("12.2", 2),
        ("15", 2),
        ("16.1.0", 3),
        ("17", 3),
    ] {
        let profile = shop.tool_output(&["convert", "prog.csraw", "--for-gcc", choice]);
        assert_eq!(profile[..8], [*b"adcg", [version, 0, 0, 0]].concat(), "{choice}");
    }
    // A command with flags, as build systems have them.
    let own = shop.tool_output(&["convert", "prog.csraw", "--for-gcc", "gcc"]);
    assert_eq!(shop.tool_output(&["convert", "prog.csraw", "--for-gcc", "gcc -m64"]), own);
    let output = shop.tool(&["convert", "prog.csraw", "--for-gcc", "no-gcc -m64"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("--for-gcc no-gcc: no such command\n"), "{errors}");
    let output = shop.tool(&["convert", "prog.csraw", "--for-gcc", "./odd-gcc"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("./odd-gcc: reads version \"5\""), "{errors}");
}

/// Each version of gcc numbers the blocks of a line in its own way.
#[test]
fn counts_for_another_gcc_than_the_one_that_instrumented() {
    let shop = ran();
    let version = String::from_utf8(succeed(shop.command("gcc").arg("-dumpversion"))).unwrap();
    let own = version.split('.').next().unwrap().trim();
    let other = if own == "16" { "15" } else { "16" };
    let complaint = format!("instrumented with gcc {own}, but gcc {other} numbers the blocks");
    for (gcc, is_told) in [(own, false), (other, true)] {
        let output = shop.tool(&["convert", "prog.csraw", "--for-gcc", gcc, "-o", "prog.afdo"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert_eq!(errors.contains(&complaint), is_told, "{errors}");
    }
}

/// The same dumps, added up by the runtime and by the tool.
#[test]
fn merge_does_as_the_runtime() {
    let shop = ran();
    shop.write("first.csraw", shop.read("prog.csraw"));
    fs::remove_file(shop.path("prog.csraw")).unwrap();
    shop.run("prog", &["resets"]);
    shop.write("second.csraw", shop.read("prog.csraw"));
    shop.write("prog.csraw", shop.read("first.csraw"));
    shop.run("prog", &["resets"]);
    let by_runtime = shop.read("prog.csraw");
    assert_eq!(shop.tool_output(&["merge", "first.csraw", "second.csraw", "-o", "-"]), by_runtime);

    shop.run("prog", &["resets"]);
    let thrice = ["merge", "first.csraw", "--weight", "2=second.csraw", "-o", "weighted.csraw"];
    shop.tool_output(&thrice);
    assert_eq!(shop.read("weighted.csraw"), shop.read("prog.csraw"));
}

/// A section may end anywhere: in the head of a function, between a value and its count.
#[test]
fn sections_have_any_length() {
    let shop = Workshop::new();
    shop.program("everything.c");
    shop.compile("everything.c", &["-fno-pie"]);
    shop.link(&["everything.o"], "prog", &FIXED_ADDRESSES);
    shop.run("prog", &["500"]);
    let once = shop.read("prog.csraw");
    shop.run("prog", &["500"]);
    let twice = shop.read("prog.csraw");
    let cut =
        [in_sections_of::<80>(&once), in_sections_of::<88>(&once), in_sections_of::<96>(&once)];
    for cut in cut {
        shop.write("prog.csraw", &cut);
        shop.tool_output(&["merge", "prog.csraw", "-o", "whole.csraw"]);
        assert_eq!(shop.read("whole.csraw"), once);
        shop.run("prog", &["500"]);
        assert_eq!(shop.read("prog.csraw"), twice);
    }
}

/// Nor need a dump arrive in one piece.
#[test]
fn a_dump_through_a_pipe() {
    let shop = ran();
    succeed(shop.command("mkfifo").arg("pipe"));
    let dump = shop.read("prog.csraw");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = File::options().write(true).open(shop.path("pipe")).unwrap();
            dump.chunks(1013).for_each(|chunk| pipe.write_all(chunk).unwrap());
        });
        shop.tool_output(&["merge", "pipe", "-o", "through.csraw"]);
    });
    shop.tool_output(&["merge", "prog.csraw", "-o", "merged.csraw"]);
    assert_eq!(shop.read("through.csraw"), shop.read("merged.csraw"));
}

/// The same dump in sections of at most this size, headers included.
fn in_sections_of<const N: usize>(dump: &[u8]) -> Vec<u8> {
    let (mut read, mut written) = ([0; MAX_SECTION], [0; N]);
    let mut reader = Reader::new(dump, &mut read);
    let mut writer = Writer::new(Vec::new(), &mut written);
    reader.start().unwrap();
    loop {
        let section = reader.next_section().unwrap();
        match section.kind {
            SectionKind::End => return writer.finish().unwrap(),
            kind => writer.put(kind, reader.payload()).unwrap(),
        }
    }
}

#[test]
fn merged_profiles_are_those_of_merged_dumps() {
    let shop = ran();
    shop.tool_output(&["merge", "prog.csraw", "prog.csraw", "-o", "twice.csraw"]);
    for to in ["v4", "v4-compact", "v4-text", "v407", "v3", "v2", "v1"] {
        let convert = |dump, output| {
            shop.tool_output(&["convert", dump, "--to", to, "-o", output]);
        };
        convert("prog.csraw", "once");
        convert("twice.csraw", "twice");
        shop.tool_output(&["merge", "once", "once", "-o", "sum"]);
        shop.tool_output(&["merge", "--weight", "2=once", "-o", "weighted"]);
        assert!(shop.read("sum") == shop.read("weighted"), "{to}");
        // The other versions are for compilers, and have estimates in them.
        if to.starts_with("v4") {
            assert!(shop.read("sum") == shop.read("twice"), "{to}");
        }
    }
}

/// Removes the marks of estimates.
fn forget_estimates(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.remove("is_estimate");
        fields.values_mut().for_each(forget_estimates);
    } else if let Value::Array(values) = value {
        values.iter_mut().for_each(forget_estimates);
    }
}

/// Each encoding holds all that the others hold, and the same profile always gives the same bytes. Versions 1
/// to 3 are for compilers: each gets from a dump what it needs, and no such profile is as exact as the dump.
#[test]
fn encodings_hold_the_same() {
    let shop = ran();
    shop.tool_output(&["convert", "prog.csraw", "--to=v4", "-o", "a.v4"]);
    for (from, to, output) in [
        ("a.v4", "v4-compact", "b.compact"),
        ("b.compact", "v4-text", "c.text"),
        ("c.text", "v4", "d.v4"),
        ("d.v4", "json", "e.json"),
        ("prog.csraw", "json", "f.json"),
    ] {
        shop.tool_output(&["convert", from, "--to", to, "-o", output]);
    }
    assert_eq!(shop.read("a.v4"), shop.read("d.v4"));
    // Only the dump knows which counts are estimates.
    let [of_profile, mut of_dump] =
        ["e.json", "f.json"].map(|file| serde_json::from_slice(&shop.read(file)).unwrap());
    forget_estimates(&mut of_dump);
    assert_eq!(of_profile, of_dump);
    let sizes = ["a.v4", "b.compact"].map(|file| shop.read(file).len());
    assert!(sizes[1] < sizes[0], "{sizes:?}");
    for (file, to) in [("g.v3", "v3"), ("g.v2", "v2"), ("g.v1", "v1"), ("g.v407", "v407")] {
        shop.tool_output(&["convert", "a.v4", "--to", to, "-o", file]);
        let from_dump =
            shop.write("of_dump", shop.tool_output(&["convert", "prog.csraw", "--to", to]));
        for file in [file, "of_dump"] {
            assert!(shop.tool_output(&["convert", file, "--to", to]) == shop.read(file), "{to}");
        }
        if to == "v407" {
            assert!(shop.read(file) == shop.read(from_dump), "{to}");
        }
    }
    for file in ["a.v4", "b.compact", "c.text", "g.v3", "g.v2", "g.v1", "g.v407"] {
        assert_eq!(text(&shop, &["check", file]), "");
    }
}

#[test]
fn show_a_dump() {
    let shop = ran();
    let shown = text(&shop, &["show", "prog.csraw"]);
    assert!(shown.contains("runs 1, sum of") && shown.contains(" object of gcc "), "{shown}");
    let shown = json(&shop, &["show", "prog.csraw", "--json"]);
    assert_eq!((&shown["format"], &shown["version"]), (&"countersink-dump".into(), &1.into()));
    let module = &shown["modules"][0];
    assert_eq!(module["path"], shop.path("prog").canonicalize().unwrap().to_str().unwrap());
    let keys: Vec<&String> = module.as_object().unwrap().keys().collect();
    let help = text(&shop, &["show", "--help"]);
    for key in keys {
        assert!(help.contains(&format!("\"{key}\"")), "{key} is not in the help");
    }
    // The linker makes the build-id.
    let notes = String::from_utf8(succeed(shop.command("readelf").args(["-n", "prog"]))).unwrap();
    assert!(notes.contains(module["build_id"].as_str().unwrap()), "{notes}");
    let sections = text(&shop, &["show", "--sections", "prog.csraw"]);
    for kind in ["MODULE", "STRINGS", "OBJECTS", "FUNCTIONS", "SUMS", "END"] {
        assert!(sections.contains(kind), "{kind} not in {sections}");
    }
}

#[test]
fn show_a_profile() {
    let shop = ran();
    shop.tool_output(&["convert", "prog.csraw", "--to=v4", "-o", "prog.gcov"]);
    let [summary, top, function, source] =
        [&["--summary"][..], &["--top", "2"], &["--function", "work"], &["--source", "/prog.c"]]
            .map(|choice| {
                let [of_profile, of_dump] = ["prog.gcov", "prog.csraw"]
                    .map(|file| text(&shop, &[&["show", file], choice].concat()));
                // Only a dump knows where the source is, and which counts are estimates.
                let counts = of_dump.lines().map(|row| row.split(" | ").next().unwrap().trim_end());
                let counts: String = counts.map(|row| row.replace(": ~", ": ") + "\n").collect();
                assert_eq!(of_profile, counts, "{choice:?}");
                of_profile
            });
    assert!(summary.starts_with("total count "), "{summary}");
    assert!(summary.contains("99.9999 % in "), "{summary}");
    // A line with titles, and two functions.
    let (totals, table) = top.split_once("\n\n").unwrap();
    assert!(summary.starts_with(totals) && !top.contains(" % in "), "{top}");
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(function.starts_with("work ("), "{function}");
    assert!(function.contains("head 3, first "), "{function}");
    // The loop went round 10 + 20 + 40 times.
    assert!(function.lines().any(|line| line.ends_with(": 70") || line.contains(": 70  ")));
    assert!(source.contains(&function), "{source}");
    let sections = text(&shop, &["show", "--sections", "prog.gcov"]);
    for kind in ["string table", "summary", "file names", "symbol names", "symbol info"] {
        assert!(sections.contains(kind), "{kind} not in {sections}");
    }
}

/// The fields of the documented schema and no others, at every level.
#[test]
fn json_has_the_documented_schema() {
    let shop = ran();
    let profile = json(&shop, &["convert", "prog.csraw", "--to", "json"]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&profile), ["files", "format", "functions", "summary", "version"]);
    assert_eq!(
        keys(&profile["summary"]),
        ["counts", "cutoffs", "functions", "max_count", "max_function_count", "total_count"]
    );
    assert_eq!(keys(&profile["summary"]["cutoffs"][0]), ["counts", "min_count", "share"]);
    let functions = profile["functions"].as_array().unwrap();
    for function in functions {
        assert_eq!(keys(function), ["file", "head_count", "locations", "name", "timestamp"]);
        for location in function["locations"].as_array().unwrap() {
            let known = ["count", "discriminator", "inlined", "is_estimate", "line", "targets"];
            assert!(keys(location).iter().all(|key| known.contains(&key.as_str())));
        }
    }
    let targets = functions.iter().flat_map(|function| function["locations"].as_array().unwrap());
    let mut targets = targets.filter_map(|location| location.get("targets"));
    assert_eq!(keys(&targets.next().unwrap()[0]), ["count", "file", "name"]);

    let one = json(&shop, &["show", "prog.csraw", "--function", "work", "--json"]);
    assert_eq!(one["summary"], profile["summary"]);
    assert_eq!(one["functions"].as_array().unwrap().len(), 1);
    let work = functions.iter().find(|function| function["name"] == "work").unwrap();
    assert_eq!(&one["functions"][0], work);
}
