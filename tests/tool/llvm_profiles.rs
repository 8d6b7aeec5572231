//! LLVM's profiles in the commands: convert, merge, show, diff, check, and what they cannot do with them.

use serde_json::Value;

use crate::harness::Workshop;

/// An entry, a function that is called through a pointer, and one that never runs.
const DAY: &str = "\
# IR level Instrumentation Flag
:ir
a.c;called
# Func Hash:
11
# Num Counters:
1
# Counter Values:
40

main
# Func Hash:
12
# Num Counters:
3
# Counter Values:
10
90
0
# Num Value Kinds:
2
# ValueKind = IPVK_IndirectCallTarget:
0
# NumValueSites:
1
2
a.c;called:40
** External Symbol **:5
# ValueKind = IPVK_MemOPSize:
1
# NumValueSites:
1
1
64:7

never
# Func Hash:
13
# Num Counters:
1
# Counter Values:
0

";

const NIGHT: &str = "\
:ir
main
12
3
1
2
3
2
0
1
1
a.c;called:2
1
1
1
64:1

only_at_night
14
1
3

";

fn shop() -> Workshop {
    let shop = Workshop::new();
    shop.write("day", DAY);
    shop.write("night", NIGHT);
    shop
}

fn text(shop: &Workshop, arguments: &[&str]) -> String {
    String::from_utf8(shop.tool_output(arguments)).unwrap()
}

/// What the tool complains about; it ends with status 2.
#[track_caller]
fn refused(shop: &Workshop, arguments: &[&str]) -> String {
    let output = shop.tool(arguments);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    complaint
}

/// The text comes back from every version of every format.
#[test]
fn all_formats_become_each_other() {
    let shop = shop();
    for (llvm, raw, indexed) in
        [("13", 7, 7), ("16", 8, 9), ("18.1.8", 9, 11), ("22", 10, 13), ("23", 11, 14)]
    {
        shop.tool_output(&[
            "convert",
            "day",
            "--to",
            "profdata",
            "--for-llvm",
            llvm,
            "-o",
            "indexed",
        ]);
        shop.tool_output(&[
            "convert",
            "indexed",
            "--to",
            "profraw",
            "--for-llvm",
            llvm,
            "-o",
            "raw",
        ]);
        assert_eq!((shop.read("indexed")[8], shop.read("raw")[8]), (indexed, raw), "LLVM {llvm}");
        for file in ["indexed", "raw"] {
            assert_eq!(text(&shop, &["check", file]), "", "LLVM {llvm}");
            assert_eq!(text(&shop, &["convert", file, "--to", "proftext"]), DAY, "LLVM {llvm}");
        }
    }
    let mixed = ["convert", "raw", "indexed", "day", "--to", "proftext"];
    assert!(
        text(&shop, &mixed)
            .contains("main\n# Func Hash:\n12\n# Num Counters:\n3\n# Counter Values:\n30\n270\n")
    );
}

#[test]
fn merge_adds_and_leaves_out() {
    let shop = shop();
    shop.tool_output(&["merge", "day", "--weight", "3=night", "-o", "sum"]);
    let sum = String::from_utf8(shop.read("sum")).unwrap();
    assert!(
        sum.contains("main\n# Func Hash:\n12\n# Num Counters:\n3\n# Counter Values:\n13\n96\n9\n"),
        "{sum}"
    );
    assert!(sum.contains("a.c;called:46\n** External Symbol **:5\n"), "{sum}");
    assert!(sum.contains("64:10\n") && sum.contains("only_at_night\n") && sum.contains("never\n"));
    // The sum of anything but texts is indexed.
    shop.tool_output(&["convert", "day", "--to", "profraw", "-o", "raw"]);
    shop.tool_output(&["merge", "raw", "night", "--sparse", "-o", "sum.profdata"]);
    assert_eq!(shop.read("sum.profdata")[..8], *b"\xfflprofi\x81");
    let sparse = text(&shop, &["convert", "sum.profdata", "--to", "proftext"]);
    assert!(!sparse.contains("never") && sparse.contains("only_at_night"), "{sparse}");
    // One input may be standard input, even the first one.
    let script = "\"$0\" merge - night --to proftext -o - < day";
    let mut shell = shop.command("sh");
    let piped =
        crate::harness::succeed(shell.args(["-c", script, env!("CARGO_BIN_EXE_countersink")]));
    assert!(String::from_utf8(piped).unwrap().contains("\n11\n92\n3\n"));
}

#[test]
fn merge_says_what_does_not_fit() {
    let shop = shop();
    shop.write("other", ":ir\nmain\n12\n1\n5\n\n");
    let output = shop.tool(&["merge", "day", "other", "-o", "sum"]);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        complaint,
        "countersink: other: main: expected 3 counters, found 1; the counts are left out\n"
    );
    shop.write("front-end", "main\n12\n1\n5\n\n");
    let complaint = refused(&shop, &["merge", "day", "front-end", "-o", "sum"]);
    assert!(
        complaint.contains("front-end: expected counters placed by the optimiser"),
        "{complaint}"
    );
}

#[test]
fn show_lists_hot_functions_first() {
    let shop = shop();
    assert_eq!(
        text(&shop, &["show", "day", "--function", "main"]),
        "main  entry 10, largest 90, total 100\n  hash 0x000000000000000c\n  counters 10 90 0\n  \
         calls 0: a.c;called 40, unknown 5\n  sizes 0: 64 7\n"
    );
    let shown = text(&shop, &["show", "day", "--top", "2"]);
    let end = " share  total  entries  largest  function\n\
               71.43 %    100       10       90  main\n\
               28.57 %     40       40       40  a.c;called\n";
    assert!(shown.starts_with("text profile, counted in the optimiser (IR)\ntotal count 140, "));
    assert!(shown.ends_with(end), "{shown}");
    assert!(
        text(&shop, &["show", "day", "--function", "called"]).starts_with("a.c;called  entry 40")
    );
    assert!(!text(&shop, &["show", "day", "--summary"]).contains("main"));
    assert!(refused(&shop, &["show", "day", "--function", "mian"]).contains("near it: main"));
    let json: Value =
        serde_json::from_slice(&shop.tool_output(&["show", "day", "--json"])).unwrap();
    assert_eq!(json["format"], "countersink-functions");
    let main = &json["functions"][0];
    assert_eq!(main["name"], "main");
    assert_eq!(main["counters"], serde_json::json!([10, 90, 0]));
    assert_eq!(main["calls"][0][1], serde_json::json!({ "name": null, "count": 5 }));
    assert_eq!(main["sizes"][0][0], serde_json::json!({ "size": 64, "count": 7 }));
}

#[test]
fn diff_compares_counter_by_counter() {
    let shop = shop();
    assert!(shop.tool(&["diff", "day", "day"]).status.success());
    let output = shop.tool(&["diff", "day", "night"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains("1 function in both, 2 only in the first, 1 only in the second"),
        "{shown}"
    );
    // main has 1, 2 and 3 of 9 counts at night, 10, 90 and 0 of 140 by day.
    let overlap = (10.0 / 140.0 + 2.0 / 9.0) * 100.0;
    assert!(shown.starts_with(&format!("overlap {overlap:.2} % of the counts")), "{shown}");
    shop.write("changed", NIGHT.replace("\n12\n", "\n15\n"));
    let changed = shop.tool(&["diff", "night", "changed"]).stdout;
    assert!(String::from_utf8(changed).unwrap().starts_with("overlap 33.33 % of the counts"));
}

#[test]
fn positions_are_not_there() {
    let shop = shop();
    shop.write("afdo", "filenames = { \"a.c\" }\n\"main\":0(1:1:0) = { locations = { 1 = 10 } }\n");
    let no_places = "day: the optimiser inserted its counters (-fprofile-generate), and these have no places in the source";
    for arguments in [
        &["convert", "day"][..],
        &["convert", "day", "--to", "v2", "-o", "out"],
        &["convert", "day", "--for-gcc", "12", "-o", "out"],
        &["convert", "day", "--to", "lcov", "-o", "out"],
        &["diff", "day", "afdo"],
    ] {
        let complaint = refused(&shop, arguments);
        assert!(complaint.contains(no_places), "{arguments:?}: {complaint}");
    }
    let missing = "expected counts by source position, found a text profile of LLVM (.proftext); the positions of \
                   its counters stand in the program's coverage mapping";
    for arguments in [
        &["merge", "day", "night", "--to", "v4", "-o", "out"][..],
        &["rewrite", "day", "-o", "out"],
    ] {
        let complaint = refused(&shop, arguments);
        assert!(complaint.contains(missing), "{arguments:?}: {complaint}");
    }
    for (arguments, what) in [
        (
            &["convert", "afdo", "--to", "profdata"][..],
            "afdo: expected a profile of LLVM, found an AutoFDO",
        ),
        (
            &["convert", "afdo", "--for-llvm", "16"],
            "afdo: expected a profile of LLVM, found an AutoFDO",
        ),
        (
            &["convert", "day", "--for-llvm", "16", "--for-gcc", "12"],
            "--for-gcc is for profiles by source position, and not for LLVM's profiles by function",
        ),
        (
            &["convert", "day", "--to", "proftext", "--for-llvm", "16"],
            "every LLVM reads the same text",
        ),
        (
            &["convert", "day", "--to", "profdata", "--for-llvm", "99"],
            "--for-llvm: the profiles of LLVM",
        ),
        (
            &["convert", "day", "--to", "profdata", "--for-llvm", "./none"],
            "--for-llvm ./none: no such command",
        ),
        (&["merge", "afdo", "--sparse", "-o", "out"], "--sparse is for LLVM's profiles"),
        (&["show", "day", "--source", "a.c"], "--source: "),
        (&["show", "day", "--sections"], "has no sections"),
    ] {
        let complaint = refused(&shop, arguments);
        assert!(complaint.contains(what), "{arguments:?}: {complaint}");
    }
}

#[test]
fn the_reader_alone_asks_for_an_indexed_profile() {
    let shop = shop();
    shop.tool_output(&["convert", "day", "--to", "profdata", "--for-llvm", "16", "-o", "named"]);
    shop.tool_output(&["convert", "day", "--for-llvm", "16", "-o", "meant"]);
    assert_eq!(shop.read("meant"), shop.read("named"));
    let complaint = refused(&shop, &["convert", "day", "-o", "out"]);
    assert!(complaint.contains("clang and rustc read them as --to profdata"), "{complaint}");
}

/// The sum of all counts is larger than a profile's field for it.
#[test]
fn shares_of_huge_counts() {
    let shop = shop();
    let function = |name| format!("{name}\n1\n2\n{0}\n{0}\n\n", 1u64 << 63);
    shop.write("huge", [":ir\n", &function("one"), &function("two")].concat());
    let shown = String::from_utf8(shop.tool_output(&["show", "huge"])).unwrap();
    assert_eq!(shown.matches("50.00 %  18446744073709551616").count(), 2, "{shown}");
    let text = "filenames = { \"a.c\" }\n";
    let function = |name, id| {
        format!("\"{name}\":0({id}:1:0) = {{ locations = {{ 1 = {0}, 2 = {0} }} }}\n", 1u64 << 63)
    };
    shop.write("afdo", [text, &function("one", 1), &function("two", 2)].concat());
    let shown = String::from_utf8(shop.tool_output(&["show", "afdo"])).unwrap();
    assert_eq!(shown.matches("50.00 %").count(), 2, "{shown}");
}

#[test]
fn check_names_defects_of_all_formats() {
    let shop = shop();
    for (to, length) in [("profdata", 300), ("profraw", 150)] {
        shop.tool_output(&["convert", "day", "--to", to, "--for-llvm", "22", "-o", to]);
        shop.write("cut", &shop.read(to)[..length]);
        let output = shop.tool(&["check", "cut"]);
        assert_eq!(output.status.code(), Some(1), "{to}");
        assert!(output.stdout.starts_with(b"cut: 0x"), "{output:?}");
    }
    shop.write("cut", &DAY[..DAY.find("40").unwrap()]);
    let output = shop.tool(&["check", "cut"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

/// A tool's path stands for the version of its LLVM.
#[test]
fn tools_are_asked_for_their_llvm() {
    let shop = shop();
    for (name, says, version) in [
        ("clang", "Debian clang version 14.0.6\nTarget: x86_64", 7),
        ("profdata", "  LLVM version 16.0.0\n", 9),
        ("rustc", "rustc 1.81.0\nLLVM version: 18.1.7", 11),
    ] {
        shop.write(name, format!("#!/bin/sh\necho '{says}'\n"));
        crate::harness::succeed(shop.command("chmod").args(["+x", name]));
        let path = format!("./{name}");
        shop.tool_output(&["convert", "day", "--to", "profdata", "--for-llvm", &path, "-o", "out"]);
        assert_eq!(shop.read("out")[8], version, "{name}");
    }
    shop.write("apple", "#!/bin/sh\necho 'Apple clang version 15.0.0'\n");
    crate::harness::succeed(shop.command("chmod").args(["+x", "apple"]));
    let complaint =
        refused(&shop, &["convert", "day", "--to", "profdata", "--for-llvm", "./apple"]);
    assert!(complaint.contains("give the version of LLVM"), "{complaint}");
}
