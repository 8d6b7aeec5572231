//! Mistakes that users make: the tool says in one line what it was given, and what to give instead.

mod complaints;
mod harness;

use complaints::{ran, tool_fails};

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
