//! The formats for viewers and linkers. lld, `callgrind_annotate` and Go's pprof read ours, and tests of the fields
//! check the others.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use countersink::formats::afdo_v4::decode::decode;
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::frame_names::as_it_is;
use countersink::formats::{callgrind, collapsed, pprof, speedscope};
use countersink::profile::{Body, Function, Position, Profile, Record};
use serde_json::Value;

use crate::harness::{PROFILE, Workshop, have, skip, succeed};

/// A folder with a program's dump.
fn counted() -> Workshop {
    let shop = Workshop::new();
    shop.write("prog.c", include_str!("../../examples/quickstart.c"));
    shop.gcc(&[&PROFILE[..], &["-c", "prog.c", "-o", "prog.o"]].concat());
    shop.link(&["prog.o"], "prog", &[]);
    shop.run("prog", &["key", "20"]);
    shop
}

fn converted(shop: &Workshop, to: &str) -> Vec<u8> {
    shop.tool_output(&["convert", "prog.csraw", "--to", to])
}

fn profile(shop: &Workshop) -> Profile {
    decode(&converted(shop, "v4")).unwrap().profile
}

fn total(profile: &Profile) -> u128 {
    profile.functions.values().map(|function| function.body.total()).sum()
}

/// A profile whose names have each character with a meaning in some format.
fn odd() -> Profile {
    let mut profile = Profile::default();
    let symbols = &mut profile.symbols;
    let file = symbols.file(b"/src/a b;\n<i>.c");
    let outer = symbols.symbol(b"<b>;x\ny \"z\" 7", Some(file));
    let inner = symbols.symbol(b"(1) inner", None);
    let other = symbols.symbol("\u{e9}\u{2028}\x1b[31m".as_bytes(), Some(file));
    let one = |count| Record { count: Some(count), ..Record::default() };
    let mut inlined = Body::default();
    inlined.positions.insert(Position::line(1), one(5));
    let mut body = Body::default();
    body.positions.insert(Position::line(2), one(7));
    let targets = [(other, 3)].into_iter().collect();
    let call =
        Record { targets, inlined: [(inner, inlined)].into_iter().collect(), ..Record::default() };
    body.positions.insert(Position { line: 4, discriminator: 2 }, call);
    profile.functions.insert(outer, Function { head_count: 1, timestamp: 0, body });
    profile
}

/// The output of callgrind_annotate: the total, and the executions by function.
fn annotated(shop: &Workshop, file: &str) -> Option<(u64, BTreeMap<String, u64>)> {
    // callgrind_annotate has no --version, but comes with valgrind.
    if !have("valgrind") {
        return None;
    }
    let output =
        succeed(shop.command("callgrind_annotate").args(["--threshold=100", "--auto=no", file]));
    let (mut total, mut functions) = (0, BTreeMap::new());
    for line in String::from_utf8(output).unwrap().lines() {
        let number = |text: &str| text.replace(',', "").parse::<u64>();
        let Some((count, rest)) = line.trim_start().split_once(" (") else { continue };
        let (Ok(count), Some((_, name))) = (number(count), rest.split_once("%)  ")) else {
            continue;
        };
        match name {
            "PROGRAM TOTALS" => total = count,
            name => _ = functions.insert(name.to_owned(), count),
        }
    }
    Some((total, functions))
}

#[test]
fn callgrind_annotate_finds_the_same_sums() {
    let shop = counted();
    shop.write("out.callgrind", converted(&shop, "callgrind"));
    let profile = profile(&shop);
    let Some((all, functions)) = annotated(&shop, "out.callgrind") else { return };
    assert_eq!(u128::from(all), total(&profile));
    for (&symbol, function) in &profile.functions {
        let name = String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap();
        let sum: u64 = functions
            .iter()
            .filter(|(known, _)| known.rsplit(':').next().unwrap().split(' ').next() == Some(&name))
            .map(|(_, count)| count)
            .sum();
        assert_eq!(u128::from(sum), function.body.total(), "{name}: {functions:?}");
    }
    // Lines are lines of the source, and indirect calls are calls.
    let text = String::from_utf8(shop.read("out.callgrind")).unwrap();
    assert!(text.contains("\ncfn=") && text.contains("\ncalls="), "{text}");
    let output = succeed(shop.command("callgrind_annotate").args(["--auto=yes", "out.callgrind"]));
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("return") && output.contains("prog.c"), "{output}");
}

#[test]
fn callgrind_annotate_reads_odd_names() {
    let shop = Workshop::new();
    let bytes = callgrind::encode::encode(&odd(), &as_it_is).unwrap();
    shop.write("out.callgrind", bytes);
    let Some((all, functions)) = annotated(&shop, "out.callgrind") else { return };
    assert_eq!((all, functions.len()), (12, 2), "{functions:?}");
    assert!(functions.keys().any(|name| name.contains("<b>;x\\x0ay \"z\" 7")), "{functions:?}");
}

/// The path of pprof, if there is one: `pprof`, `go tool pprof`, or `COUNTERSINK_PPROF`.
fn pprof_command() -> Option<Vec<String>> {
    let named = std::env::var("COUNTERSINK_PPROF").ok().map(|path| vec![path]);
    let usual = [vec!["pprof".to_owned()], ["go", "tool", "pprof"].map(str::to_owned).to_vec()];
    let mut all = named.into_iter().chain(usual);
    let found = all.find(|words| {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("-help").output().is_ok_and(|output| {
            let text = [output.stdout, output.stderr].concat();
            String::from_utf8_lossy(&text).contains("-sample_index")
        })
    });
    if found.is_none() {
        skip("pprof of Go is not installed");
    }
    found
}

fn pprof_output(shop: &Workshop, arguments: &[&str]) -> Option<String> {
    let words = pprof_command()?;
    let mut command = shop.command(&words[0]);
    command.args(&words[1..]).env("PPROF_TMPDIR", shop.path("pprof"));
    Some(String::from_utf8(succeed(command.args(arguments))).unwrap())
}

#[test]
fn pprof_finds_the_same_sums() {
    let shop = counted();
    shop.write("prog.pb.gz", converted(&shop, "pprof"));
    let all = total(&profile(&shop));
    let arguments = ["-top", "-nodefraction=0", "-nodecount=1000", "prog.pb.gz"];
    let Some(top) = pprof_output(&shop, &arguments) else { return };
    assert!(top.contains(&format!("100% of {all} total")), "{all}\n{top}");
    let id = object::read::File::parse(&*shop.read("prog")).map(|file| {
        let id = object::Object::build_id(&file).unwrap().unwrap_or_default();
        id.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    });
    assert!(top.contains(&id.unwrap()) && top.contains("Type: executions"), "{top}");
    let calls = ["-top", "-sample_index=calls", "-nodefraction=0", "prog.pb.gz"];
    let calls = pprof_output(&shop, &calls).unwrap();
    assert!(calls.contains("by_key"), "{calls}");
    let listed = pprof_output(&shop, &["-list=main", "prog.pb.gz"]).unwrap();
    assert!(listed.contains("int main"), "{listed}");
}

#[test]
fn pprof_reads_odd_names() {
    let shop = Workshop::new();
    shop.write("odd.pb.gz", pprof::encode::encode(&odd(), &[], &as_it_is).unwrap());
    let arguments = ["-top", "-nodefraction=0", "odd.pb.gz"];
    let Some(top) = pprof_output(&shop, &arguments) else { return };
    assert!(top.contains("100% of 12 total") && top.contains("(1) inner (inline)"), "{top}");
    // pprof leaves out text in angle brackets, which it takes for arguments of templates.
    assert!(top.contains(";x\\x0ay \"z\" 7"), "{top}");
}

/// Stacks and counts, split as readers of collapsed stacks split lines: at the last blank, then at semicolons.
fn stacks(text: &[u8]) -> BTreeMap<Vec<String>, u64> {
    let text = std::str::from_utf8(text).unwrap();
    let line = |line: &str| {
        let (names, count) = line.rsplit_once(' ').unwrap();
        (names.split(';').map(str::to_owned).collect(), count.parse().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn stacks_have_all_executions() {
    let shop = counted();
    let profile = profile(&shop);
    let stacks = stacks(&converted(&shop, "collapsed"));
    assert_eq!(stacks.values().map(|&count| u128::from(count)).sum::<u128>(), total(&profile));
    assert!(stacks.keys().any(|stack| stack.len() > 1), "{stacks:?}");
    let odd = collapsed::encode::encode(&odd(), &as_it_is).unwrap();
    let outer = "<b>:x\\x0ay \"z\" 7".to_owned();
    let inner = vec![outer.clone(), "(1) inner".to_owned()];
    assert_eq!(self::stacks(&odd), BTreeMap::from([(vec![outer], 7), (inner, 5)]));
}

/// speedscope's fields have the same stacks as the collapsed ones.
#[test]
fn speedscope_has_the_same_stacks() {
    let shop = counted();
    let text = converted(&shop, "speedscope");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/speedscope/file-format-schema.json");
    crate::schema::validate(&shop, &text, &schema);
    let json: Value = serde_json::from_slice(&text).unwrap();
    let frames = json["shared"]["frames"].as_array().unwrap();
    let profile = &json["profiles"][0];
    assert_eq!((&profile["type"], &profile["unit"]), (&"sampled".into(), &"none".into()));
    let samples = profile["samples"].as_array().unwrap();
    let weights = profile["weights"].as_array().unwrap();
    assert_eq!(samples.len(), weights.len());
    let name = |frame: &Value| {
        frames[frame.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned()
    };
    let stack = |sample: &Value| sample.as_array().unwrap().iter().map(name).collect();
    let found: BTreeMap<Vec<String>, u64> =
        samples.iter().map(stack).zip(weights.iter().map(|w| w.as_u64().unwrap())).collect();
    assert_eq!(found, stacks(&converted(&shop, "collapsed")));
    let sum: u64 = found.values().sum();
    assert_eq!((&profile["startValue"], profile["endValue"].as_u64()), (&0.into(), Some(sum)));
    let odd = speedscope::encode::encode(&odd(), "t", &as_it_is).unwrap();
    let odd: Value = serde_json::from_slice(&odd).unwrap();
    assert_eq!(odd["shared"]["frames"][0]["name"], "<b>;x\\x0ay \"z\" 7");
}

#[test]
fn profiles_without_counts_are_files_without_samples() {
    let shop = Workshop::new();
    let empty = encode(&Profile::default(), Encoding::Normal).unwrap();
    shop.write("empty.gcov", empty);
    assert_eq!(shop.tool_output(&["convert", "empty.gcov", "--to", "collapsed"]), b"");
    let json = shop.tool_output(&["convert", "empty.gcov", "--to", "speedscope"]);
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["profiles"][0]["samples"], Value::Array(vec![]));
    let text = shop.tool_output(&["convert", "empty.gcov", "--to", "callgrind"]);
    assert!(String::from_utf8(text).unwrap().ends_with("summary: 0\n"));
    shop.tool_output(&["convert", "empty.gcov", "--to", "pprof", "-o", "empty.pb.gz"]);
    assert!(shop.read("empty.pb.gz").starts_with(&[0x1f, 0x8b, 8]));
}

#[test]
fn outputs_that_cannot_be_written_and_inputs_without_positions() {
    let shop = Workshop::new();
    shop.write("empty.gcov", encode(&Profile::default(), Encoding::Normal).unwrap());
    shop.write("prog.proftext", "main\n1\n1\n3\n");
    for to in ["pprof", "callgrind", "speedscope", "collapsed"] {
        let output = shop.tool(&["convert", "empty.gcov", "--to", to, "-o", "/dev/full"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        // An empty output succeeds even on a full device.
        let is_empty = to == "collapsed";
        assert_eq!(output.status.code(), Some(if is_empty { 0 } else { 2 }), "{to}: {errors}");
        assert!(is_empty || errors.contains("No space left"), "{to}: {errors}");
        let output = shop.tool(&["convert", "prog.proftext", "--to", to]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{to}: {errors}");
        assert!(
            errors.contains("the program's coverage mapping has the places of its counters"),
            "{errors}"
        );
    }
}

/// lld places functions in the order in which they were first called.
#[test]
fn order_of_first_calls() {
    let shop = Workshop::new();
    let functions: String = (1..=6)
        .map(|n| {
            format!("__attribute__((noinline)) static int f{n}(int x) {{ return x * {n}; }}\n")
        })
        .collect();
    let calls = "f5(c) + f2(c) + (c > 1 ? f6(c) : f4(c)) + (c > 9 ? f3(c) : 0)";
    let main =
        format!("int main(int c, char **v) {{ int s = f1(c); return v && s + {calls} == 0; }}\n");
    shop.write("order.c", format!("{functions}{main}"));
    let counting = ["-O1", "-ftest-coverage", "-c", "order.c", "-o"];
    shop.gcc(&[&counting[..], &["counted.o", "-fprofile-generate"]].concat());
    shop.link(&["counted.o"], "prog", &[]);
    shop.run("prog", &[]);
    let order = String::from_utf8(converted(&shop, "symbol-order")).unwrap();
    let mut names: Vec<&str> = order.lines().collect();
    assert_eq!(names.remove(0), "main", "{order}");
    // C leaves the order of calls in a sum open; whoever is called has a time, and nobody else.
    let of_dump = names.clone();
    names.sort_unstable();
    assert_eq!(names, ["f1", "f2", "f4", "f5"]);
    shop.gcc(&[&counting[..], &["arcs.o", "-fprofile-arcs"]].concat());
    shop.link(&["arcs.o"], "arcs", &[]);
    shop.run("arcs", &[]);
    let output = shop.tool(&["convert", "arcs.csraw", "--to", "symbol-order"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("no function has a time of its first call"), "{told}");
    if !have("ld.lld-22") || !have("clang-22") {
        return;
    }
    shop.write("order.txt", &order);
    shop.gcc(&["-O1", "-ffunction-sections", "-c", "order.c", "-o", "final.o"]);
    let link =
        ["--ld-path=ld.lld-22", "-Wl,--symbol-ordering-file=order.txt", "final.o", "-o", "final"];
    succeed(shop.command("clang-22").args(link));
    let nm = String::from_utf8(succeed(shop.command("nm").args(["-n", "final"]))).unwrap();
    let placed = nm.lines().filter_map(|line| line.rsplit(' ').next());
    let placed: Vec<&str> = placed.filter(|name| of_dump.contains(name)).collect();
    assert_eq!(placed, of_dump);
}
