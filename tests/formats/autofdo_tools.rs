//! What `dump_gcov` and `llvm-profdata` print of our files is what the profile holds.

use std::fmt::Write;
use std::process::Command;

use countersink::formats::afdo_v1_v3::decode::decode;
use countersink::profile::{Body, Position, Profile, Record, SymbolId};

use crate::harness::{Workshop, skip, succeed};
use crate::programs::lua;

/// A profile with everything: targets, functions inlined into each other, discriminators, lines
/// before the declaration.
const EVERYTHING: &str = r#"filenames = { "a.c", "a.h" }
"main":0(3:1:0) = {
  locations = { 2 = 0, 3 = 4, 3.1 = 1000, 4 = 5000000000, 65535 = 3 },
  callsites = { 4 -> { 1 = 700, 2 = 300 } },
  inlined = {
    5 = "inner":1(4) = {
      locations = { 1 = 42 },
      inlined = {
        2.7 = "innermost":1(5) = {
          locations = { 1 = 1 },
          callsites = { 1 -> { 1 = 7, 2 = 8 } }
        }
      }
    },
    6 = "inner":1(4) = { locations = { 1 = 0 } }
  }
}
"cb1":0(1:7:0) = { locations = { 0 = 1 } }
"cb2":0(2:9:0) = { locations = { 0 = 1 } }
"#;

/// Neither tool answers to `--version`.
fn is_installed(program: &str) -> bool {
    let is = Command::new(program).arg("--help").output().is_ok();
    if !is {
        skip(&format!("{program} is not installed"));
    }
    is
}

/// Files in a version of the format, one for each profile that we have.
fn files(shop: &Workshop, version: &str) -> Vec<String> {
    shop.write("everything.txt", EVERYTHING);
    shop.tool_output(&["convert", "everything.txt", "--to", version, "-o", "everything"]);
    let mut files = vec!["everything".into()];
    if let Some(built) = lua(shop) {
        built.link(shop);
        shop.run("ours", &built.arguments());
        shop.tool_output(&["convert", "ours.csraw", "--to", version, "-o", "lua"]);
        files.push("lua".into());
    }
    files
}

/// The blocks of a text that begin with an unindented line, sorted.
fn blocks(text: &str, starts: &str) -> Vec<String> {
    let mut blocks = Vec::<String>::new();
    for line in text.lines() {
        if line.starts_with(starts) && !line.starts_with([' ', '}', 'S', 'N']) {
            blocks.push(String::new());
        }
        blocks.last_mut().unwrap().push_str(&(sorted(line) + "\n"));
    }
    blocks.sort();
    blocks
}

/// A line with its targets in bytewise order.
fn sorted(line: &str) -> String {
    let targets = |word: &&str| word.contains(':') && !word.ends_with(':');
    let indent = line.len() - line.trim_start().len();
    let mut targets: Vec<&str> = line.split_whitespace().filter(targets).collect();
    targets.sort_unstable();
    let others = line.split_whitespace().filter(|word| !targets.contains(word));
    let words: Vec<&str> = others.chain(targets.iter().copied()).collect();
    " ".repeat(indent) + &words.join(" ")
}

#[track_caller]
fn assert_same_blocks(theirs: &[String], ours: &[String]) {
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(ours) {
        assert_eq!(theirs, ours);
    }
}

fn name(profile: &Profile, symbol: SymbolId) -> String {
    String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap()
}

fn targets(profile: &Profile, record: &Record) -> String {
    let targets = record.targets.iter();
    targets.map(|(&target, calls)| format!(" {}:{calls}", name(profile, target))).collect()
}

/// As `dump_gcov` prints a body.
fn dumped(profile: &Profile, body: &Body, indent: usize, text: &mut String) {
    let put = |text: &mut String, line: String| {
        let _ = writeln!(text, "{:indent$}{line}", "");
    };
    for (position, record) in &body.positions {
        if let Some(count) = record.count {
            put(text, format!("{}: {count}{}", position.line, targets(profile, record)));
        }
    }
    for (position, record) in &body.positions {
        for (&callee, inner) in &record.inlined {
            let (name, total) = (name(profile, callee), inner.total());
            put(text, format!("{}: {name} total:{total}", position.line));
            dumped(profile, inner, indent + 2, text);
        }
    }
}

#[test]
fn dump_gcov() {
    if !is_installed("dump_gcov") {
        return;
    }
    let shop = Workshop::new();
    for file in files(&shop, "v1") {
        let mut dump = shop.command("dump_gcov");
        let theirs = succeed(dump.args(["--gcov_version=1", &file]));
        let profile = decode(&shop.read(&file)).unwrap().profile;
        let mut ours = String::new();
        for (&symbol, function) in &profile.functions {
            let (name, total) = (name(&profile, symbol), function.body.total());
            if total == 0 {
                continue; // It does not print lines that were not executed.
            }
            let _ = writeln!(ours, "{name} total:{total} head:{}", function.head_count);
            dumped(&profile, &function.body, 2, &mut ours);
        }
        assert_same_blocks(&blocks(&String::from_utf8(theirs).unwrap(), ""), &blocks(&ours, ""));
    }
}

/// As `llvm-profdata` prints a body.
fn shown(profile: &Profile, body: &Body, indent: usize, text: &mut String) {
    let put = |text: &mut String, more: usize, line: String| {
        let _ = writeln!(text, "{:width$}{line}", "", width = indent + more);
    };
    put(text, 0, "Samples collected in the function's body {".into());
    for (position, record) in &body.positions {
        let Some(count) = record.count else { continue };
        let calls = match record.targets.is_empty() {
            true => String::new(),
            false => format!(", calls:{}", targets(profile, record)),
        };
        put(text, 2, format!("{}: {count}{calls}", place(position)));
    }
    put(text, 0, "}".into());
    if !body.positions.values().any(|record| !record.inlined.is_empty()) {
        return put(text, 0, "No inlined callsites in this function".into());
    }
    put(text, 0, "Samples collected in inlined callsites {".into());
    for (position, record) in &body.positions {
        for (&callee, inner) in &record.inlined {
            let (name, total, lines) = (name(profile, callee), inner.total(), counts(inner));
            let head = format!("inlined callee: {name}: {total}, 0, {lines} sampled lines");
            put(text, 2, format!("{}: {head}", place(position)));
            shown(profile, inner, indent + 4, text);
        }
    }
    put(text, 0, "}".into());
}

fn place(position: &Position) -> String {
    match position.discriminator {
        0 => position.line.to_string(),
        discriminator => format!("{}.{discriminator}", position.line),
    }
}

fn counts(body: &Body) -> usize {
    body.positions.values().filter(|record| record.count.is_some()).count()
}

#[test]
fn llvm_profdata() {
    if !is_installed("llvm-profdata") {
        return;
    }
    let shop = Workshop::new();
    for file in files(&shop, "v407") {
        let mut show = shop.command("llvm-profdata");
        let theirs = succeed(show.args(["show", "--sample", &file]));
        let profile = decode(&shop.read(&file)).unwrap().profile;
        let mut ours = String::new();
        for (&symbol, function) in &profile.functions {
            let (name, body) = (name(&profile, symbol), &function.body);
            let (total, head, lines) = (body.total(), function.head_count, counts(body));
            let _ = writeln!(ours, "Function: {name}: {total}, {head}, {lines} sampled lines");
            shown(&profile, body, 0, &mut ours);
        }
        let theirs = blocks(&String::from_utf8(theirs).unwrap(), "Function");
        assert_same_blocks(&theirs, &blocks(&ours, "Function"));
    }
}
