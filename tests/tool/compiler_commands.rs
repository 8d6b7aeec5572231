//! Compilers that are named by several words, in each option and variable that names one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::harness::{Workshop, have};

/// A profile in the text form of AutoFDO version 4, and one of LLVM.
const AFDO: &str = "filenames = { \"a.c\" }\n\"main\":0(1:1:0) = { locations = { 1 = 5 } }\n";
const LLVM: &str = ":ir\nmain\n1\n2\n1\n1\n\n";

/// A folder with profiles, a launcher, and another name of gcc, both in a folder with blanks in its name.
fn shop() -> Workshop {
    let shop = Workshop::new();
    shop.write("afdo", AFDO);
    shop.write("llvm", LLVM);
    script(&shop, "my tools/launch it", "exec \"$@\"");
    script(&shop, "my tools/gcc", "exec gcc \"$@\"");
    script(&shop, "clang", "echo 'Debian clang version 14.0.6'");
    shop
}

fn script(shop: &Workshop, name: &str, line: &str) {
    let path = shop.write(name, format!("#!/bin/sh\n{line}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Commands of the same compiler.
fn commands(shop: &Workshop, compiler: &str) -> Vec<String> {
    let launcher = shop.path("my tools/launch it");
    let launcher = launcher.to_str().unwrap();
    vec![
        compiler.to_owned(),
        format!(" {compiler}  -m64 "),
        format!("env A=b {compiler}"),
        format!("{launcher} {compiler} -m64"),
        format!("'{launcher}' {compiler}"),
        format!("\"{launcher}\" '{launcher}' {compiler} -m64"),
        format!("{} {compiler}", launcher.replace(' ', "\\ ")),
        format!("my\\ tools/launch\\ it '{compiler}'"),
        format!("my tools/launch it {compiler}"),
    ]
}

/// The standard output of the tool, for each command in place of the last argument.
#[track_caller]
fn assert_same(shop: &Workshop, commands: &[String], ask: impl Fn(&str) -> Output) {
    let outputs = commands.iter().map(|command| (command, ask(command)));
    let outputs: Vec<_> = outputs.collect();
    for (command, output) in &outputs {
        assert!(output.status.success(), "{command}: {output:?}");
        assert_eq!(output.stdout, outputs[0].1.stdout, "{command}");
    }
    assert!(!outputs[0].1.stdout.is_empty(), "{}", shop.path("").display());
}

#[test]
fn gcc_by_several_words() {
    let shop = shop();
    let mut all = commands(&shop, "gcc");
    let gcc = shop.path("my tools/gcc");
    all.extend([gcc.to_str().unwrap().to_owned(), format!("{} -m64", gcc.display())]);
    if have("ccache") {
        all.extend(["ccache gcc".into(), format!("ccache '{}' -m64", gcc.display())]);
    }
    for arguments in [
        &["flags", "--optimise"][..],
        &["flags", "--cc"],
        &["convert", "afdo", "--for-gcc"],
        &["merge", "afdo", "-o", "-", "--for-gcc"],
    ] {
        assert_same(&shop, &all, |command| shop.tool(&[arguments, &[command]].concat()));
    }
}

#[test]
fn clang_by_several_words() {
    let shop = shop();
    let all = commands(&shop, "./clang");
    let convert = |how: &[&str]| shop.tool(&[&["convert", "llvm", "-o", "-"], how].concat());
    assert_same(&shop, &all, |command| convert(&["--for-llvm", command]));
    let merge = ["profdata", "merge", "llvm", "-o", "-"];
    for variable in ["COUNTERSINK_LLVM", "RUSTC"] {
        assert_same(&shop, &all, |command| {
            let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
            tool.args(merge).env_remove("COUNTERSINK_LLVM").env_remove("RUSTC");
            tool.env(variable, command).output().unwrap()
        });
    }
    assert_same(&shop, &all, |command| shop.tool(&["convert", "afdo", "--for-clang", command]));
}

/// The first word cannot be run, or it runs and is no compiler.
#[test]
fn commands_that_are_none() {
    let shop = shop();
    shop.write("my tools/text", "");
    script(&shop, "launcher", "[ $1 = --version ] && echo 'launcher 4.7'");
    script(&shop, "fails", "echo 'fails: no compiler' >&2; exit 3");
    let options = [
        (&["flags"][..], "--optimise"),
        (&["flags"], "--cc"),
        (&["convert", "afdo"], "--for-gcc"),
        (&["convert", "llvm", "-o", "out"], "--for-llvm"),
        (&["convert", "afdo"], "--for-clang"),
    ];
    for (verb, option) in options {
        for (command, complaint) in [
            ("no-such-compiler -m64", "OPTION no-such-compiler: no such command"),
            ("my tools/text -m64", "OPTION my tools/text: cannot be run: Permission denied"),
            ("'my tools/gcc", "OPTION 'my tools/gcc: a quote is not closed"),
            (" ", "OPTION: expected a compiler"),
            ("./fails gcc", "./fails gcc: "),
            ("./launcher", "./launcher: "),
        ] {
            let output = shop.tool(&[verb, &[option, command]].concat());
            let told = String::from_utf8(output.stderr).unwrap();
            let complaint = format!("countersink: {}", complaint.replace("OPTION", option));
            assert!(told.starts_with(&complaint), "{option} {command}: {told}");
            assert_eq!((told.lines().count(), output.status.code()), (1, Some(2)), "{told}");
        }
    }
    let alone = shop.tool(&["flags", "--optimise", "./launcher"]);
    let told = String::from_utf8(alone.stderr).unwrap();
    let complaint = "expected gcc, found \"launcher 4.7\"; a launcher needs the compiler behind it: \"./launcher gcc\"";
    assert!(told.contains(complaint), "{told}");
}
