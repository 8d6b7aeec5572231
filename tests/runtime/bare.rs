//! Programs without an operating system: what their archive writes, and how little it needs.

use std::process::Command;

use crate::harness::{Workshop, assert_same_files, have, number_behind, succeed};
use crate::programs::FIXED_ADDRESSES;

/// everything.c as program_main, with a main that is not instrumented.
fn program(flags: &[&str], main_flags: &[&str]) -> Workshop {
    let shop = Workshop::new();
    shop.program("everything.c");
    shop.program("bare.c");
    let object =
        shop.compile("everything.c", &[&["-fno-pie", "-Dmain=program_main"], flags].concat());
    for (name, flag) in [("stock", "-DSTOCK"), ("ours", "-DOURS")] {
        let main = format!("{name}.o");
        let warnings = ["-Wall", "-Wextra", "-Werror"];
        let compile = ["-O2", "-fno-pie", "-I.", flag, "-c", "bare.c", "-o", &main];
        shop.gcc(&[&compile[..], &warnings, main_flags].concat());
    }
    // The program comes first, so that its data lie at the same place in both.
    shop.link_stock(&[&object, "stock.o"], "stock", &FIXED_ADDRESSES);
    let bare = ["-L.", "-lcountersink_rt_bare"];
    let link = ["-fprofile-generate", &object, "ours.o", "-o", "ours"];
    shop.gcc(&[&link[..], &bare, &FIXED_ADDRESSES].concat());
    shop
}

/// Leaves out the record of runs and maximum. A stream has none, and that is the only difference.
fn counts_of_libgcov(flags: &[&str]) {
    let shop = program(flags, &[]);
    shop.run("stock", &["500"]);
    let stock = shop.take_gcda();
    shop.run("ours", &["500"]);
    assert_same_files(&shop.converted_gcda("bare.csraw"), &stock);
}

#[test]
fn the_counts_are_libgcov_s() {
    for flags in [&[][..], &["-fprofile-update=atomic"], &["-O0"]] {
        counts_of_libgcov(flags);
    }
}

/// Objects in a section that constructors do not register.
#[test]
fn objects_of_a_section() {
    let with = program(&["-fprofile-info-section=infos"], &["-DSECTION"]);
    let without = program(&[], &[]);
    let show = |shop: &Workshop| {
        shop.run("ours", &["500"]);
        let shown = shop.tool_output(&["show", "bare.csraw"]);
        let shown = String::from_utf8(shown).unwrap();
        let counts = shown.lines().filter(|line| !line.contains("signature"));
        counts.collect::<Vec<_>>().join("\n")
    };
    let shown = show(&with);
    assert!(shown.contains("1 object"), "{shown}");
    assert_eq!(shown, show(&without));
}

/// What the program measures by painting its stack, without the sink's own use.
#[test]
fn a_dump_takes_little_stack() {
    for flags in [&[][..], &["-fprofile-update=atomic"]] {
        let printed = program(flags, &[]).run("ours", &["500"]);
        let measured = |what| number_behind(what, &printed);
        assert!((200..=528).contains(&measured("write")), "{printed}");
        assert!((200..=1024).contains(&measured("text")), "{printed}");
    }
}

#[test]
fn a_reset_forgets_everything() {
    let shop = program(&[], &[]);
    shop.run("ours", &["500"]);
    let shown = shop.tool_output(&["show", "reset.csraw"]);
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("sum of largest arc counters 0"), "{shown}");
}

/// A log with two dumps among other lines, one with a line missing.
#[test]
fn dumps_in_a_log() {
    let shop = program(&[], &[]);
    shop.run("ours", &["500"]);
    let text = String::from_utf8(shop.read("bare.log")).unwrap();
    let noisy: String = text.lines().map(|line| format!("[ 12.5] {line}\r\nnoise\n")).collect();
    shop.write("one.log", &noisy);
    let output = shop.tool(&["extract", "one.log"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(shop.read("one.csraw"), shop.read("bare.csraw"));
    // A log from a pipe has no name to call a dump after.
    let filter = |log: &str| {
        let log = std::fs::File::open(shop.path(log)).unwrap();
        let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
        tool.args(["extract", "-"]).stdin(log).output().unwrap()
    };
    assert_eq!(filter("one.log").stdout, shop.read("bare.csraw"));

    let cut: String =
        text.lines().filter(|line| !line.contains(":00000060:")).collect::<Vec<_>>().join("\n");
    shop.write("three.log", [noisy.as_str(), &cut, "\n", &text].concat());
    let output = shop.tool(&["extract", "three.log", "-o", "x.csraw"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("bytes 0x60 to 0x90 of the dump are missing"), "{told}");
    for name in ["x.1.csraw", "x.2.csraw"] {
        assert_eq!(shop.read(name), shop.read("bare.csraw"));
    }
    let told = String::from_utf8(filter("three.log").stderr).unwrap();
    assert!(told.contains("2 dumps for one output; choose their names with -o FILE"), "{told}");
    let output = shop.tool(&["extract", "everything.c"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");

    // A log that has the name of its dump stays.
    shop.write("log.csraw", &text);
    let output = shop.tool(&["extract", "log.csraw"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("would replace the log"));
    assert_eq!(shop.read("log.csraw"), text.as_bytes());
}

/// Interrupts come at any moment. Nothing may lie below the stack pointer, and what they call must not change
/// registers that they do not save.
#[test]
fn interrupts_can_count() {
    if !have("objdump") {
        return;
    }
    let shop = Workshop::new();
    let disassembled = succeed(shop.command("objdump").args(["-d", "libcountersink_rt_bare.a"]));
    let disassembled = String::from_utf8(disassembled).unwrap();
    let mut function = "";
    for line in disassembled.lines() {
        if let Some((_, name)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
            function = name;
        }
        let counts = function.starts_with("__gcov_") && function.contains("profiler")
            || function.contains("topn");
        assert!(!counts || !line.contains("%xmm"), "{function} {line}");
        let memory = line.split("\t").nth(2).unwrap_or_default();
        assert!(!memory.contains("-0x") || !memory.contains("(%rsp)"), "{function} {line}");
    }
    assert!(disassembled.contains("countersink_topn"));
}

/// A freestanding image under QEMU. Its output over the serial line becomes a profile of version 4.
#[test]
fn an_image_without_an_operating_system() {
    if !cfg!(target_arch = "x86_64") || !have("qemu-system-x86_64") {
        return;
    }
    let shop = Workshop::new();
    let mut example = Command::new(env!("CARGO"));
    example.current_dir(env!("CARGO_MANIFEST_DIR"));
    example.args(["run", "--locked", "--example", "bare"]);
    // With other features cargo would compile the tool anew.
    if cfg!(feature = "parquet") {
        example.args(["--features", "parquet"]);
    }
    succeed(example.arg("--").arg(shop.path("")));
    let text = String::from_utf8(shop.read("image.txt")).unwrap();
    for line in ["\"program\":0(", "= 1001", "4.3 -> {", "= 900", "= 100"] {
        assert!(text.contains(line), "{line} not in {text}");
    }
}
