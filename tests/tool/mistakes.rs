//! Mistakes that users make: the tool says in one line what it got, and what it needs instead.

use std::fs;

use crate::complaints::{errors, ran, tool_fails};
use crate::harness::{Workshop, have, succeed};

#[test]
fn a_file_of_another_kind() {
    let shop = ran();
    let dump = "PROGRAM.csraw where it was started";
    let source = ["hello.c: 0x0: ", "found text, \"/* A program small enough for \"", dump];
    tool_fails(&shop, &["convert", "hello.c", "--to=v4"], &source);
    tool_fails(
        &shop,
        &["show", "ours"],
        &["ours: 0x0: ", "found a program, library or object", dump],
    );
    tool_fails(&shop, &["check", "hello.o"], &["hello.o: 0x0: ", "found a program"]);
    shop.write("perf.data", "PERFILE2\0\0\0\0");
    tool_fails(&shop, &["convert", "perf.data", "--to=v4"], &["samples of perf", "create_gcov"]);
    let notes = ["hello.gcno: expected a profile", "`convert` makes profiles of raw dumps"];
    tool_fails(&shop, &["convert", "hello.gcno", "--to=v4"], &notes);
    shop.write("bytes", [1, 2, 3]);
    tool_fails(&shop, &["convert", "bytes", "--to=v4"], &["found 01 02 03"]);
}

#[test]
fn a_source_that_the_profile_does_not_have() {
    let shop = ran();
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "ours.gcov"]);
    shop.tool_output(&["convert", "ours.csraw", "--to", "v2", "-o", "ours.afdo"]);
    for file in ["ours.csraw", "ours.gcov"] {
        let there_is = ["no function of main.c in the profile", "there is ", "/hello.c"];
        tool_fails(&shop, &["show", file, "--source", "main.c"], &there_is);
        let advice = ["no function work in the profile", "--top"];
        tool_fails(&shop, &["show", file, "--function", "work"], &advice);
        let both = ["show", file, "--source", "hello.c", "--function", "work"];
        tool_fails(&shop, &both, &["hello.c has no function work"]);
    }
    let without = ["no function of hello.c", "known without their files"];
    tool_fails(&shop, &["show", "ours.afdo", "--source", "hello.c"], &without);
}

/// A program that has run, has been compiled again, and has run.
fn rebuilt() -> Workshop {
    let shop = ran();
    shop.write("old", shop.read("ours"));
    let object = shop.compile("hello.c", &["-DAGAIN", "-O1"]);
    shop.link(&[&object], "ours", &[]);
    shop
}

#[test]
fn notes_of_another_compilation() {
    let shop = rebuilt();
    let advice = ["1 object with the notes of another compilation", "--notes", "--build PROGRAM"];
    tool_fails(&shop, &["convert", "ours.csraw", "--to=v4"], &advice);
    fs::remove_file(shop.path("hello.gcno")).unwrap();
    tool_fails(
        &shop,
        &["convert", "ours.csraw", "--to=v4"],
        &["1 object without notes", "-ftest-coverage"],
    );
}

#[test]
fn counts_of_old_builds_are_dropped() {
    let shop = rebuilt();
    let old = shop.read("ours.csraw");
    fs::remove_file(shop.path("ours.csraw")).unwrap();
    shop.run("ours", &[]);
    let new = shop.read("ours.csraw");
    shop.write("ours.csraw", old);
    shop.run("ours", &[]);
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4"]);
    assert!(output.status.success(), "{output:?}");
    assert!(errors(&output).contains("--build PROGRAM"), "{output:?}");

    let output = shop.tool(&["merge", "ours.csraw", "--build", "ours", "-o", "new.csraw"]);
    let told = "/ours: the counts of another build are left out: ";
    assert!(output.status.success() && errors(&output).contains(told), "{output:?}");
    assert_eq!(errors(&output).lines().count(), 1);
    assert_eq!(shop.read("new.csraw"), new);
    let both = ["merge", "ours.csraw", "--build", "ours", "--build", "old", "-o", "both.csraw"];
    shop.tool_output(&both);
    assert_eq!(shop.read("both.csraw"), shop.read("ours.csraw"));

    // What other programs counted stays.
    shop.link(&["hello.o"], "another", &[]);
    shop.run("another", &[]);
    let merge = |output| ["merge", "another.csraw", "ours.csraw", "--build", "ours", "-o", output];
    shop.tool_output(&merge("kept.csraw"));
    let beside = ["merge", "another.csraw", "new.csraw", "-o", "beside.csraw"];
    shop.tool_output(&beside);
    assert_eq!(shop.read("kept.csraw"), shop.read("beside.csraw"));

    let merge = |build| ["merge", "new.csraw", "--build", build, "-o", "x"];
    tool_fails(&shop, &merge("old"), &["old: the binary has been rebuilt", "build-id", "expected"]);
    let without = "-Wl,--build-id=none";
    shop.link(&["hello.o"], "without", &[without]);
    tool_fails(
        &shop,
        &merge("without"),
        &["without: the binary has been rebuilt", "build-id none, expected"],
    );
    shop.run("without", &[]);
    let merge = ["merge", "without.csraw", "--build", "without", "-o", "x"];
    tool_fails(&shop, &merge, &["without: has no build-id"]);
    shop.tool_output(&["convert", "new.csraw", "--to=v4", "-o", "new.gcov"]);
    let merge = ["merge", "new.gcov", "--build", "ours", "-o", "x"];
    tool_fails(&shop, &merge, &["new.gcov: --build: a profile does not tell builds apart"]);
}

/// The program that ran is elsewhere, and so are its objects.
#[test]
fn a_program_that_has_moved() {
    let shop = ran();
    fs::rename(shop.path("ours"), shop.path("moved")).unwrap();
    fs::remove_file(shop.path("hello.o")).unwrap();
    let convert = |options: &[&str]| {
        let output = shop.tool(&[&["convert", "ours.csraw", "--to=v4-text"], options].concat());
        assert!(output.status.success(), "{output:?}");
        errors(&output)
    };
    let told = convert(&[]);
    assert!(told.contains("/ours: No such file"), "{told}");
    assert!(told.contains("; name the program that ran with --binary\n"), "{told}");
    assert!(!convert(&["--binary", "moved"]).contains("--binary"));
}

/// clang has its own formats, and numbers of versions that look like gcc's.
#[test]
fn clang_in_place_of_gcc() {
    let shop = ran();
    for clang in ["clang-13", "clang-22"].into_iter().filter(|clang| have(clang)) {
        let convert = ["convert", "ours.csraw", "--for-gcc", clang];
        let formats = ["expected gcc, found", "clang version", "--to profdata", "--for-clang"];
        tool_fails(&shop, &convert, &formats);
    }
}

/// A program without an operating system that does not call its constructors.
#[test]
fn a_dump_without_objects() {
    let shop = Workshop::new();
    shop.write(
        "none.c",
        "#include <stdio.h>\n#include \"countersink.h\"\n\
         static int sink(void *file, const void *bytes, size_t length)\n\
         { return fwrite(bytes, 1, length, file) != length; }\n\
         int main(void)\n\
         { FILE *file = fopen(\"none.csraw\", \"wb\"); return countersink_write(sink, file) || fclose(file); }\n",
    );
    shop.gcc(&["-I.", "none.c", "-o", "none", "-L.", "-lcountersink_rt_bare"]);
    shop.run("none", &[]);
    let advice = [
        "nothing could be converted",
        "no object has registered",
        "constructors",
        "countersink_register",
    ];
    tool_fails(&shop, &["convert", "none.csraw", "--to=v4"], &advice);
    let shown = String::from_utf8(shop.tool_output(&["show", "none.csraw"])).unwrap();
    assert!(shown.starts_with("no modules: no object has registered"), "{shown}");
}

/// All files are checked, and the worst one decides.
#[test]
fn one_bad_file_among_many() {
    let shop = ran();
    let dump = shop.read("ours.csraw");
    shop.write("cut.csraw", &dump[..dump.len() / 2]);
    for (files, status, found, said) in [
        (
            &["ours.csraw", "hello.c", "cut.csraw"][..],
            2,
            1,
            &["hello.c: 0x0: expected a raw dump"][..],
        ),
        (&["nowhere", "cut.csraw", "hello.o"], 2, 1, &["nowhere: No such", "hello.o: 0x0: "]),
        (&["ours.csraw", "cut.csraw"], 1, 1, &[]),
        (&["ours.csraw", "hello.gcno"], 0, 0, &[]),
    ] {
        let output = shop.tool(&[&["check"], files].concat());
        assert_eq!(output.status.code(), Some(status), "{files:?}");
        let lines = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(lines.matches("cut.csraw: 0x").count(), found, "{lines}");
        let errors = errors(&output);
        assert_eq!(errors.lines().count(), said.len(), "{errors}");
        for (line, said) in errors.lines().zip(said) {
            assert!(line.starts_with(&format!("countersink: {said}")), "{errors}");
        }
    }
}

/// As long as the first byte is there, the kind can be guessed.
#[test]
fn files_cut_below_their_magic() {
    let shop = ran();
    for to in ["v4", "v2"] {
        shop.tool_output(&["convert", "ours.csraw", "--to", to, "-o", to]);
    }
    shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
    for file in ["ours.csraw", "v4", "v2", "hello.gcda", "hello.gcno"] {
        for length in 1..=12 {
            shop.write("cut", &shop.read(file)[..length]);
            let output = shop.tool(&["check", "cut"]);
            let found = String::from_utf8(output.stdout.clone()).unwrap();
            assert_eq!(output.status.code(), Some(1), "{file} {length}: {output:?}");
            assert!(found.contains(" cut short: expected "), "{file} {length}: {found}");
            if file != "hello.gcno" && (file != "hello.gcda" || length < 8) {
                tool_fails(
                    &shop,
                    &["convert", "cut", "--to=v4", "-o", "x"],
                    &["cut: 0x", " cut short: "],
                );
            }
        }
    }
    shop.write("text", "filena");
    assert_eq!(shop.tool(&["check", "text"]).status.code(), Some(1));
}

#[test]
fn versions_of_autofdo_that_are_not_known() {
    let shop = Workshop::new();
    let unknown = |version: u32| {
        let read = "which this release does not read (1 to 4 and 0x3430372a)";
        format!("odd: 0x4: an AutoFDO profile of version {version}, {read}")
    };
    for version in [0, 5, 6, 300] {
        for start in [
            [*b"adcg", u32::to_le_bytes(version)],
            [*b"gcda", u32::to_be_bytes(version)],
            [*b"gcov", u32::to_be_bytes(version)],
        ] {
            shop.write("odd", [start.as_flattened(), &[0; 32]].concat());
            for command in [&["check", "odd"][..], &["convert", "odd", "--to=v4"], &["show", "odd"]]
            {
                tool_fails(&shop, command, &[&unknown(version)]);
            }
        }
    }
    shop.write("odd", b"adcg\x04\0\0\0\0\0\0\0");
    tool_fails(&shop, &["check", "odd"], &["version 4 with the magic of the versions before it"]);
    // Version words of compilers are no versions of AutoFDO.
    shop.write("odd", b"adcg*39A\0\0\0\0");
    tool_fails(
        &shop,
        &["convert", "odd", "--to=v4"],
        &["odd: 0x4: expected a file of gcc 10 to 17, found gcc 9.3"],
    );
}

#[test]
fn options_without_a_value_are_named() {
    let shop = ran();
    for (arguments, option) in [
        (&["merge", "--weight", "3=", "-o", "x"][..], "'--weight <W=FILE>': expected W=FILE"),
        (&["convert", "ours.csraw", "--for-gcc", ""], "'--for-gcc <VERSION|COMMAND>'"),
    ] {
        let output = shop.tool(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(errors(&output).lines().next().unwrap().contains(option), "{output:?}");
    }
}

#[test]
fn standard_input_given_twice() {
    let shop = Workshop::new();
    for command in
        [&["merge", "-", "--weight=2=-", "-o", "x"][..], &["diff", "-", "-"], &["check", "-", "-"]]
    {
        tool_fails(&shop, command, &["standard input: given twice"]);
    }
    tool_fails(&shop, &["convert", "-", "-"], &["standard input: given twice"]);
}

#[test]
fn output_into_a_file_as_if_it_were_a_folder() {
    let shop = ran();
    for command in [&["merge", "ours.csraw"][..], &["convert", "ours.csraw"]] {
        let output = shop.tool(&[command, &["-o", "hello.c/x"]].concat());
        let errors = errors(&output);
        let last = errors.lines().last().unwrap();
        assert_eq!(last, "countersink: hello.c/x: Not a directory (os error 20)");
    }
}

/// As in `merge` and `rewrite`. Converting a dump this way would cost the dump.
#[test]
fn profiles_are_converted_in_their_place() {
    let shop = ran();
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "one"]);
    shop.tool_output(&["convert", "one", "--to=v3", "-o", "expected"]);
    shop.tool_output(&["convert", "one", "--to=v3", "-o", "./one"]);
    assert!(shop.read("one") == shop.read("expected"));
    let refused = ["./ours.csraw: is an input, too, and a raw dump"];
    tool_fails(&shop, &["convert", "one", "--to=v4", "ours.csraw", "-o", "./ours.csraw"], &refused);
}

/// The content of names does nothing to a terminal.
#[test]
fn control_characters_in_names() {
    let shop = Workshop::new();
    let profile = "filenames = { \"\x1b[3mfile.c\" }\nsymbol_names = { 2 = \"t\x07\":0 }\n\
        \"f\x1b[2J\u{9b}\":0(1:1:0) = { locations = { 1 = 1 }, callsites = { 1 -> { 2 = 1 } }, \
        inlined = { 2 = \"g\x08\":0(3) = { locations = { 1 = 5 } } } }\n";
    shop.write("ra\x1bw", profile);
    shop.tool_output(&["convert", "ra\x1bw", "--to=v4", "-o", "binary"]);
    for arguments in [
        &["show", "ra\x1bw"][..],
        &["show", "ra\x1bw", "--source", "file.c"],
        &["show", "binary", "--source", "\x1b[3mfile.c"],
        &["show", "binary", "--source", "\x1b[3mfile.c", "--demangle"],
        &["show", "binary", "--function", "f\x1b"],
        &["check", "ra\x1bw"],
        &["diff", "binary", "ra\x1bw", "--demangle"],
        &["convert", "no\x1bwhere", "--to=v4"],
    ] {
        let output = shop.tool(arguments);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(!said.contains(|letter: char| letter.is_control() && letter != '\n'), "{said:?}");
        assert!(said.contains(r"\x1b"), "{arguments:?}: {said}");
    }
    let shown = shop.tool_output(&["show", "binary", "--source", "\x1b[3mfile.c"]);
    assert_eq!(
        String::from_utf8(shown).unwrap(),
        "f\\x1b[2J\\u{9b} (\\x1b[3mfile.c)  head 1, total 6\n  1: 1  t\\x07 1\n  \
         2: inlined g\\x08 (\\x1b[3mfile.c)\n    1: 5\n"
    );
    // Programs get them unchanged.
    let back = shop.tool_output(&["convert", "binary", "--to=v4-text"]);
    assert!(String::from_utf8(back).unwrap().contains("\"f\x1b[2J\u{9b}\""));
    let json = shop.tool_output(&["show", "binary", "--json"]);
    assert!(String::from_utf8(json).unwrap().contains(r"f\u001b[2J"));
}

/// A function that is only inlined has no counts of its own, and a program without debug information shows
/// no inlined functions at all.
#[test]
fn functions_that_are_only_inlined() {
    let shop = Workshop::new();
    let source = "__attribute__((always_inline)) static inline int inner(int n)\n\
                  {\n    return n > 1 ? n * n : 3;\n}\n\
                  __attribute__((noipa)) int outer(int n)\n{\n    return inner(n);\n}\n\
                  int main(void) { return outer(1) == 0; }\n";
    shop.write("t.c", source);
    let object = shop.compile("t.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "x"]);
    let told = "no function inner in the profile; it is only inlined, in outer";
    tool_fails(&shop, &["show", "x", "--function", "inner"], &[told]);

    fs::remove_file(shop.path("ours.csraw")).unwrap();
    fs::remove_file(shop.path("t.o")).unwrap();
    succeed(shop.command("strip").args(["--strip-debug", "ours"]));
    shop.run("ours", &[]);
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x"]);
    assert!(output.status.success() && errors(&output).contains("compile with -g"), "{output:?}");
}
