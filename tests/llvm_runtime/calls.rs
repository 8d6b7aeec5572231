//! LLVM's calls for programs, and its names of files: as with LLVM's own runtime.

use countersink::raw::dump::Dump;

use crate::harness::Workshop;
use crate::llvm::{Llvm, all};

const GENERATE: &str = "-fprofile-generate";

/// A folder with the program as `stock` and `ours`.
fn programs(llvm: Llvm, compile: &[&str], link: &[&str]) -> Workshop {
    let shop = Workshop::new();
    shop.program("calls.c");
    let object = llvm.object(&shop, "calls.c", &[&["-O1"], compile].concat());
    llvm.link_both(&shop, &[object], &[compile, link].concat());
    shop
}

/// Runs a program with these variables; gives the files that it writes, and removes them.
fn written(
    shop: &Workshop,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Vec<String> {
    let mut command = shop.command(shop.path(program));
    let output = command.args(arguments).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(program == "stock" || output.stderr.is_empty(), "{output:?}");
    let files = shop.files("profraw");
    let name = |file: &std::path::PathBuf| {
        std::fs::remove_file(shop.path(file)).unwrap();
        file.file_name().unwrap().to_str().unwrap().to_owned()
    };
    files.iter().map(name).collect()
}

/// Many events at once.
#[test]
fn counts_of_a_value() {
    for llvm in all() {
        let shop = programs(llvm, &[GENERATE], &[]);
        llvm.assert_same_counts(&shop, &["times"], "times");
    }
}

/// A program that takes its name back.
#[test]
fn no_file_name() {
    let named = "-fprofile-instr-generate=named.profraw";
    for llvm in all() {
        for compile in [&[GENERATE][..], &["-fprofile-instr-generate"], &[named]] {
            let shop = programs(llvm, compile, &[]);
            for arguments in [&["-"][..], &["x.profraw"], &["x.profraw", "-"], &["-", "x.profraw"]]
            {
                for variable in ["", "variable.profraw"] {
                    // Without its variable LLVM's own runtime makes the first file empty at the start.
                    let variables = [("LLVM_PROFILE_FILE", variable)];
                    let last = match arguments.last() {
                        Some(&"-") => "default.profraw",
                        _ => "x.profraw",
                    };
                    let stock = written(&shop, "stock", arguments, &variables);
                    let about = format!("LLVM {}, {compile:?} {arguments:?}", llvm.major);
                    assert!(stock.iter().any(|file| file == last), "{about}: {stock:?}");
                    assert_eq!(written(&shop, "ours", arguments, &variables), [last], "{about}");
                }
                let ours = [("COUNTERSINK_FILE", "ours.profraw"), ("LLVM_PROFILE_FILE", "x")];
                let expected = match arguments.last() {
                    Some(&"-") => "ours.profraw",
                    _ => "x.profraw",
                };
                assert_eq!(written(&shop, "ours", arguments, &ours), [expected]);
            }
        }
    }
}

/// What programs print on standard error: LLVM's own, and ours.
fn told(shop: &Workshop, arguments: &[&str], name: &str) -> [String; 2] {
    ["stock", "ours"].map(|program| {
        let _ = std::fs::remove_file(shop.path("default.profraw"));
        let mut command = shop.command(shop.path(program));
        command.env("LLVM_PROFILE_FILE", name).env_remove("TMPDIR").args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    })
}

/// After a dump, nothing is written until a reset, and each further call says so.
#[test]
fn dumps_without_a_reset() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.write(
            "dumps.c",
            "#include <stdlib.h>\nint __llvm_profile_dump(void);\nint __llvm_profile_write_file(void);\n\
             void __llvm_profile_reset_counters(void);\nvolatile int steps;\n\
             int main(int argc, char **argv) {\n\
             for (int i = 0; i < atoi(argv[1]); i++) { steps++; if (__llvm_profile_dump()) return 1; }\n\
             if (argc > 2 && __llvm_profile_write_file()) return 2;\n\
             if (argc > 3) __llvm_profile_reset_counters();\n\
             return argc > 3 ? __llvm_profile_dump() : 0; }\n",
        );
        let object = llvm.object(&shop, "dumps.c", &["-O0", "-fprofile-instr-generate"]);
        llvm.link_both(&shop, &[object], &["-fprofile-instr-generate"]);
        for (arguments, calls) in
            [(&["1"][..], 0), (&["3"], 2), (&["2", "write"], 2), (&["2", "write", "reset"], 2)]
        {
            let [stock, ours] = told(&shop, arguments, "x-%m.profraw");
            // At the end of the program, too, LLVM's own says it once more.
            let about = format!("LLVM {}, {arguments:?}: {stock}{ours}", llvm.major);
            assert_eq!(stock.matches("already written").count(), calls + 1, "{about}");
            assert_eq!(ours.matches("not written: dumped before").count(), calls, "{about}");
            assert_eq!(ours.lines().count(), calls, "{about}");
        }
    }
}

/// A letter that stands for nothing: the name is that of LLVM's own runtime, and a line says why.
#[test]
fn letters_that_stand_for_nothing() {
    for llvm in all() {
        let shop = programs(llvm, &[GENERATE], &["-Wl,--build-id=none"]);
        for (name, why) in [("%b.profraw", "no build-id"), ("%tx/y.profraw", "TMPDIR is not set")] {
            let [stock, ours] = told(&shop, &[], name);
            let written = shop.read("default.profraw");
            assert!(Dump::parse(&written).is_ok(), "LLVM {}, {name}", llvm.major);
            let expected = format!("{name}: {why} for this name; the file is default.profraw\n");
            assert!(ours.ends_with(&expected) && ours.lines().count() == 1, "{ours}");
            // Older releases do not know the letter for the build-id.
            assert!(stock.contains("Using the default") || llvm.major < 20, "{stock}");
            std::fs::remove_file(shop.path("default.profraw")).unwrap();
        }
    }
}

/// A name with the letter for counters in the file: without live counters the file is written at the end, whether
/// the counters could move or not.
#[test]
fn names_of_continuous_files() {
    const MOVES: &[&str] = &["-O0", GENERATE, "-mllvm", "-runtime-counter-relocation"];
    for llvm in all() {
        let continuous: &[&str] = &["-fprofile-instr-generate", "-fprofile-continuous"];
        let newer: &[&[&str]] = if llvm.major < 20 { &[] } else { &[continuous] };
        let named: &[&str] = &["-fprofile-instr-generate=a%c.profraw"];
        for &compile in [&[GENERATE][..], named, MOVES].iter().chain(newer) {
            let shop = programs(llvm, compile, &[]);
            for (name, file) in [("a%c.profraw", "a.profraw"), ("%cb.profraw", "b.profraw")] {
                let variables = [("LLVM_PROFILE_FILE", name)];
                let mut command = shop.command(shop.path("ours"));
                let output = command.envs(variables).output().unwrap();
                assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
                let dump = Dump::parse(&shop.read(file)).unwrap();
                assert_eq!((dump.modules.len(), dump.modules[0].sums.runs), (1, 1));
                let files = written(&shop, "ours", &[], &variables);
                assert_eq!(files, [file], "LLVM {}, {compile:?}", llvm.major);
            }
            if compile == named {
                assert_eq!(written(&shop, "ours", &[], &[]), ["a.profraw"]);
            }
        }
    }
}

/// With live counters such a file keeps what a killed program has counted.
#[test]
fn live_continuous_files() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("slots.c");
        let printed = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
        let link: Vec<&str> = printed.split_whitespace().collect();
        let object = llvm.object(&shop, "slots.c", &["-O1", GENERATE]);
        let words = [GENERATE, "-pthread", &object, "-o", "ours"];
        llvm.clang(&shop, &[&words[..], &link].concat());
        for (how, runs) in [("kill", 1), ("", 2)] {
            let mut command = shop.command(shop.path("ours"));
            let output = command.arg(how).env("LLVM_PROFILE_FILE", "a%c.profraw").output().unwrap();
            assert!(output.stderr.is_empty(), "{output:?}");
            shop.tool_output(&["fold", "a.profraw"]);
            let dump = Dump::parse(&shop.read("a.profraw")).unwrap();
            assert_eq!(dump.modules[0].sums.runs, runs, "LLVM {}", llvm.major);
        }
    }
}
