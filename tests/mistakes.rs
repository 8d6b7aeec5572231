//! Mistakes that users make: the tool says in one line what it was given, and what to give instead.

mod complaints;
mod harness;

use std::fs;

use complaints::{errors, ran, tool_fails};
use harness::Workshop;

#[test]
fn a_file_of_another_kind() {
    let shop = ran();
    let dump = "PROGRAM.csraw where it was started";
    let source = ["hello.c: 0x0: ", "found text, \"/* A program small enough for \"", dump];
    tool_fails(&shop, &["convert", "hello.c"], &source);
    tool_fails(
        &shop,
        &["show", "ours"],
        &["ours: 0x0: ", "found a program, library or object", dump],
    );
    tool_fails(&shop, &["check", "hello.o"], &["hello.o: 0x0: ", "found a program"]);
    shop.write("perf.data", "PERFILE2\0\0\0\0");
    tool_fails(&shop, &["convert", "perf.data"], &["samples of perf", "create_gcov"]);
    let notes = ["hello.gcno: expected a profile", "`convert` makes profiles of raw dumps"];
    tool_fails(&shop, &["convert", "hello.gcno"], &notes);
    shop.write("bytes", [1, 2, 3]);
    tool_fails(&shop, &["convert", "bytes"], &["found 01 02 03"]);
}

#[test]
fn a_source_that_the_profile_does_not_have() {
    let shop = ran();
    shop.tool_output(&["convert", "ours.csraw", "-o", "ours.gcov"]);
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
    let advice =
        ["1 objects with the notes of another compilation", "--notes", "merge --build PROGRAM"];
    tool_fails(&shop, &["convert", "ours.csraw"], &advice);
    fs::remove_file(shop.path("hello.gcno")).unwrap();
    tool_fails(&shop, &["convert", "ours.csraw"], &["1 objects without notes", "-ftest-coverage"]);
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
    let output = shop.tool(&["convert", "ours.csraw"]);
    assert!(output.status.success(), "{output:?}");
    assert!(errors(&output).contains("merge --build"), "{output:?}");

    shop.tool_output(&["merge", "ours.csraw", "--build", "ours", "-o", "new.csraw"]);
    assert_eq!(shop.read("new.csraw"), new);
    let both = ["merge", "ours.csraw", "--build", "ours", "--build", "old", "-o", "both.csraw"];
    shop.tool_output(&both);
    assert_eq!(shop.read("both.csraw"), shop.read("ours.csraw"));

    let merge = |build| ["merge", "new.csraw", "--build", build, "-o", "x"];
    tool_fails(&shop, &merge("old"), &["old: build-id: expected", "found"]);
    let without = "-Wl,--build-id=none";
    shop.link(&["hello.o"], "without", &[without]);
    tool_fails(&shop, &merge("without"), &["without: build-id: expected", "found none"]);
    shop.run("without", &[]);
    let merge = ["merge", "without.csraw", "--build", "without", "-o", "x"];
    tool_fails(&shop, &merge, &["without: has no build-id"]);
    shop.tool_output(&["convert", "new.csraw", "-o", "new.gcov"]);
    let merge = ["merge", "new.gcov", "--build", "ours", "-o", "x"];
    tool_fails(&shop, &merge, &["new.gcov: --build: a profile does not tell builds apart"]);
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
    tool_fails(&shop, &["convert", "none.csraw"], &advice);
}
