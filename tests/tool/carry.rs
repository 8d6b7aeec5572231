//! Old profiles on new sources: the counts stand where a new training run puts them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use countersink::formats::afdo_v4::decode::decode;

use crate::harness::Workshop;

/// The functions around a count with their lines, the outermost first, and the count's.
type Place = Vec<(String, i64)>;

/// Builds `FOLDER/prog` with instrumentation and runs it: `FOLDER/prog.v4` is the profile. The sources are as old as
/// the program, or older.
fn build(shop: &Workshop, folder: &str, text: &str) {
    let name = |file: &str| format!("{folder}/{file}");
    shop.write(&name("prog.c"), text);
    let object = shop.compile(&name("prog.c"), &[]);
    shop.link(&[&object], &name("prog"), &[]);
    let mut command = shop.command(shop.path(name("prog")));
    let output = command.args(["name", "2"]).env("COUNTERSINK_FILE", name("prog.csraw")).output();
    assert!(output.as_ref().unwrap().status.success(), "{output:?}");
    shop.tool_output(&["convert", &name("prog.csraw"), "--to", "v4", "-o", &name("prog.v4")]);
}

/// The quickstart's source.
fn quickstart() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart.c");
    fs::read_to_string(path).unwrap()
}

/// The source with these edits.
fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(quickstart(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    })
}

const COMMENT: (&str, &str) = (
    "        if (!less(&moved",
    "        /* The larger\n         * of both\n         * children. */\n        if (!less(&moved",
);
const RENAMED: (&str, &str) = ("by_key", "by_number");
/// The body of the loop goes to a function of its own.
const SPLIT: [(&str, &str); 2] = [
    (
        "static void generate(",
        "static __attribute__((noinline)) void fill(struct record *records, unsigned seed, int i)
{
        seed = seed * 1664525 + 1013904223;
        records[i].key = seed >> 7;
        records[i].age = seed >> 24;
        for (size_t c = 0; c < sizeof records[i].name; c++)
            records[i].name[c] = 'a' + (seed >> (3 * c + 8)) % 16;
}

static void generate(",
    ),
    (
        "    for (int i = 0; i < RECORDS; i++) {
        seed = seed * 1664525 + 1013904223;
        records[i].key = seed >> 7;
        records[i].age = seed >> 24;
        for (size_t c = 0; c < sizeof records[i].name; c++)
            records[i].name[c] = 'a' + (seed >> (3 * c + 8)) % 16;
    }
",
        "    for (int i = 0; i < RECORDS; i++)
        fill(records, seed + i, i);
",
    ),
];

/// The counts above 0 of a profile by place.
fn counts(shop: &Workshop, profile: &str) -> BTreeMap<Place, u64> {
    let profile = decode(&shop.read(profile)).unwrap().profile;
    let name = |symbol| String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap();
    let mut counts = BTreeMap::new();
    profile.for_each_stack(&mut |frames, record| {
        let place = frames.iter().map(|frame| (name(frame.symbol), frame.position.signed_line()));
        if let Some(count @ 1..) = record.count {
            *counts.entry(place.collect()).or_default() += count;
        }
    });
    counts
}

/// The share of the counts of a new training run that a profile has at the same places.
fn right(shop: &Workshop, profile: &str) -> f64 {
    let (found, truth) = (counts(shop, profile), counts(shop, "new/prog.v4"));
    let all: u64 = truth.values().sum();
    let right = truth.iter().filter(|(place, count)| found.get(*place) == Some(count));
    right.map(|(_, count)| count).sum::<u64>() as f64 / all as f64
}

/// What the tool says about a carried profile.
fn carry(shop: &Workshop, arguments: &[&str]) -> String {
    let output = shop.tool(&[&["carry"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

const SIDES: [&str; 4] = ["--from", "old/prog", "--to", "new/prog"];

#[test]
fn counts_stand_where_a_new_training_run_puts_them() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    build(&shop, "new", &edited(&[COMMENT, RENAMED]));
    let old = right(&shop, "old/prog.v4");
    let said = carry(&shop, &[&["old/prog.v4", "-o", "with.v4"], &SIDES[..]].concat());
    assert!(said.contains("carried 100.00 %") && said.contains("0.00 % left out"), "{said}");
    assert_eq!(counts(&shop, "with.v4"), counts(&shop, "new/prog.v4"), "{said}");
    // The old sources are gone: calls and the pattern of lines with code are left.
    fs::rename(shop.path("old/prog.c"), shop.path("old/kept.c")).unwrap();
    let said = carry(&shop, &[&["old/prog.v4", "-o", "without.v4"], &SIDES[..]].concat());
    let by_code = right(&shop, "without.v4");
    assert!(by_code > 0.99, "{by_code}: {said}");
    // So is the old program.
    let said = carry(&shop, &["old/prog.v4", "--to", "new/prog", "-o", "alone.v4"]);
    let alone = right(&shop, "alone.v4");
    assert!(old < 0.9 && alone > old, "{old}, {alone}: {said}");
    // The sources lie elsewhere now.
    fs::create_dir(shop.path("tree")).unwrap();
    fs::rename(shop.path("old/kept.c"), shop.path("tree/prog.c")).unwrap();
    let sources = ["--from-sources", "tree", "--to-sources", "new", "-o", "tree.v4"];
    carry(&shop, &[&["old/prog.v4"], &SIDES[..], &sources].concat());
    assert_eq!(shop.read("tree.v4"), shop.read("with.v4"));
}

/// A source that was changed after the build of the old program is not the old one.
#[test]
fn sources_that_are_newer_than_their_program_are_not_read() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    build(&shop, "new", &edited(&[COMMENT]));
    shop.write("old/prog.c", edited(&[COMMENT]));
    carry(&shop, &[&["old/prog.v4", "-o", "carried.v4"], &SIDES[..]].concat());
    assert!(right(&shop, "carried.v4") > 0.99);
}

#[test]
fn lines_go_to_the_function_that_was_split_off() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    build(&shop, "new", &edited(&SPLIT));
    let said = carry(&shop, &[&["old/prog.v4", "-o", "carried.v4"], &SIDES[..]].concat());
    let counts = counts(&shop, "carried.v4");
    let place = vec![("fill".to_owned(), 6)];
    assert_eq!(counts.get(&place).copied(), Some(2 * 20000 * 8), "{counts:?} {said}");
}

#[test]
fn the_same_program_leaves_every_byte() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    let formats = [
        "v4",
        "v4-compact",
        "v4-text",
        "v3",
        "v2",
        "v1",
        "llvm-sample",
        "llvm-sample-binary",
        "llvm-sample-text",
    ];
    for format in formats {
        shop.tool_output(&["convert", "old/prog.csraw", "--to", format, "-o", "profile"]);
        let sides = ["--from", "old/prog", "--to", "old/prog", "-o", "carried"];
        let said = carry(&shop, &[&["profile"], &sides[..]].concat());
        assert!(shop.read("carried") == shop.read("profile"), "{format}: {said}");
        assert!(said.contains("100.00 % exact"), "{format}: {said}");
    }
}

/// All formats say the same.
#[test]
fn formats_are_carried_alike() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    build(&shop, "new", &edited(&[COMMENT, RENAMED]));
    carry(&shop, &[&["old/prog.v4", "-o", "carried.v4"], &SIDES[..]].concat());
    for format in ["v4-compact", "v4-text", "v3", "v2", "v1", "llvm-sample", "llvm-sample-text"] {
        let convert = |input: &str, output: &str| {
            shop.tool_output(&["convert", input, "--to", format, "-o", output]);
        };
        convert("old/prog.v4", "old.profile");
        convert("carried.v4", "expected");
        carry(&shop, &[&["old.profile", "-o", "carried"], &SIDES[..]].concat());
        assert!(shop.read("carried") == shop.read("expected"), "{format}");
    }
    // A context is a chain of calls.
    let split = |input: &str, output: &str| {
        shop.tool_output(&["rewrite", input, "--contexts", "split", "-o", output]);
    };
    shop.tool_output(&["convert", "old/prog.v4", "--to", "llvm-sample-text", "-o", "nested"]);
    split("nested", "contexts");
    carry(&shop, &[&["contexts", "-o", "carried.contexts"], &SIDES[..]].concat());
    carry(&shop, &[&["nested", "-o", "carried.nested"], &SIDES[..]].concat());
    split("carried.nested", "expected");
    let text = |name: &str| String::from_utf8(shop.read(name)).unwrap();
    assert_eq!(text("carried.contexts"), text("expected"));
}

#[test]
fn dumps_on_both_sides() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    build(&shop, "new", &edited(&[COMMENT]));
    let from = ["--from", "old/prog.csraw", "--to", "new/prog"];
    carry(&shop, &[&["old/prog.v4", "-o", "carried.v4"], &from[..]].concat());
    carry(&shop, &[&["old/prog.v4", "-o", "expected.v4"], &SIDES[..]].concat());
    assert_eq!(shop.read("carried.v4"), shop.read("expected.v4"));
    let gcc = ["--for-gcc", "12", "-o", "carried.afdo"];
    carry(&shop, &[&["old/prog.csraw"], &from[..], &gcc].concat());
    assert!(!shop.read("carried.afdo").is_empty());
    // Another build at the recorded path.
    fs::copy(shop.path("new/prog"), shop.path("old/prog")).unwrap();
    let output = shop.tool(&[&["carry", "old/prog.v4", "-o", "x"], &from[..]].concat());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("another build"), "{errors}");
}

#[test]
fn mistakes() {
    let shop = Workshop::new();
    build(&shop, "old", &quickstart());
    build(&shop, "new", &edited(&[RENAMED]));
    shop.write(
        "other.c",
        "int other(int n) { return n * 3; }\nint entry(void) { return other(4); }\n",
    );
    shop.gcc(&["-O2", "-g", "-shared", "-fPIC", "other.c", "-o", "other.so"]);
    shop.gcc(&["-O2", "-s", "new/prog.c", "-o", "stripped"]);
    let profile = shop.read("old/prog.v4");
    shop.write("cut.v4", &profile[..profile.len() / 2]);
    let program = shop.read("old/prog");
    shop.write("cut", &program[..program.len() / 2]);
    for (arguments, expected) in [
        ("old/prog.v4 --to other.so -o x", "nothing can be carried"),
        ("old/prog.v4 --from other.so --to new/prog -o x", "no function of the profile"),
        ("old/prog.v4 --from old/prog --to stripped -o x", "no debug information"),
        ("old/prog.v4 --from cut --to new/prog -o x", "cut:"),
        ("cut.v4 --from old/prog --to new/prog -o x", "cut.v4: 0x"),
        ("old/prog.v4 --from old/prog --to new/prog -o old/prog.v4", "is an input, too"),
        ("old/prog.v4 --from old/prog --to new/prog -o new/../old/prog", "is an input, too"),
        ("old/prog.v4 --from nothing --to new/prog -o x", "nothing: "),
        ("new/prog --to new/prog -o x", "new/prog: "),
        ("old/prog.v4 --to old/prog.v4 -o x", "expected a program"),
    ] {
        let words: Vec<&str> = ["carry"].into_iter().chain(arguments.split(' ')).collect();
        let output = shop.tool(&words);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(errors.contains(expected) && errors.lines().count() == 1, "{arguments}: {errors}");
        assert!(!shop.path("x").exists());
    }
    assert_eq!(shop.read("old/prog.v4"), profile);
    let gate = ["carry", "old/prog.v4", "--to", "new/prog", "-o", "x", "--fail-under", "100"];
    let status = shop.tool(&gate).status.code();
    assert!(status == Some(0) || status == Some(1), "{status:?}");
    assert!(shop.path("x").exists());
}
