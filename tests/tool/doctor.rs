//! What `countersink doctor` says about programs that are ready for training, and about those that are not.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{PROFILE, Workshop, have, succeed};

fn doctor(shop: &Workshop, status: i32, arguments: &[&str]) -> String {
    let output = shop.tool(&[&["doctor"], arguments].concat());
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn has(report: &str, verdict: &str, subject: &str, what: &str) {
    let is_it = |line: &str| {
        let mut words = line.split("  ").map(str::trim).filter(|word| !word.is_empty());
        words.next() == Some(verdict) && words.next() == Some(subject) && line.contains(what)
    };
    assert!(report.lines().any(is_it), "{verdict} {subject} {what}: {report}");
}

#[test]
fn a_program_that_is_ready() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &[]);
    shop.link(&[&object], "prog", &[]);
    let report = doctor(&shop, 0, &["prog"]);
    has(&report, "ok", "instrumented", "1 object of gcc; GCC: ");
    has(&report, "ok", "runtime", "countersink");
    has(&report, "ok", "notes", "found for 1 object");
    has(&report, "ok", "debug lines", "there");
    has(&report, "-", "dump", "prog.csraw, in the directory where the program starts");
    has(&report, "ok", "reader", "convert --for-gcc gcc");
    shop.run("prog", &[]);
    shop.run("prog", &[]);
    has(&doctor(&shop, 0, &["prog"]), "ok", "dump", "has 2 runs of this build");
    // What it finds does not hang on symbols.
    succeed(shop.command("strip").args(["-o", "stripped", "prog"]));
    let report = doctor(&shop, 0, &["stripped"]);
    has(&report, "ok", "runtime", "countersink");
    has(&report, "ok", "instrumented", "1 object of gcc");
    has(&report, "-", "debug lines", "convert reads the objects");
    succeed(shop.command("strip").args(["-g", "-o", "bare.o", &object]));
    let whole = shop.read(&object);
    shop.write(&object, shop.read("bare.o"));
    has(&doctor(&shop, 1, &["stripped"]), "wrong", "debug lines", "compile with -g");
    shop.write(&object, whole);

    // Notes of the same name, written by another compilation.
    let (notes, code) = (shop.read("prog.gcno"), shop.read(&object));
    shop.compile("prog.c", &["-O0"]);
    has(&doctor(&shop, 1, &["prog"]), "wrong", "notes", "from another compilation");
    shop.write("prog.gcno", notes);
    shop.write(&object, code);
    shop.link(&[&object, "-Wl,--build-id=none"], "prog", &[]);
    has(&doctor(&shop, 0, &["prog"]), "-", "dump", "no build-id to compare");
    shop.link(&[&object, "-Wl,--build-id=0x1234"], "prog", &[]);
    has(&doctor(&shop, 0, &["prog"]), "-", "dump", "only runs of other builds");
    shop.write("prog.csraw", &shop.read("prog.csraw")[..50]);
    has(&doctor(&shop, 1, &["prog"]), "wrong", "dump", "0x");
    let mut elsewhere = shop.command(env!("CARGO_BIN_EXE_countersink"));
    elsewhere.env("COUNTERSINK_FILE", "/x/%p").args(["doctor", "prog"]);
    let report = String::from_utf8(succeed(&mut elsewhere)).unwrap();
    has(&report, "-", "dump", "/x/%p (COUNTERSINK_FILE)");
}

/// The link names the file, and a program with more rights than its starter takes no other name.
#[test]
fn a_program_with_the_name_of_its_dump() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &[]);
    let link = |program: &str, file: Option<&str>| {
        let options = file.map_or(vec!["flags"], |file| vec!["flags", "--file", file]);
        let flags = String::from_utf8(shop.tool_output(&options)).unwrap();
        let words = [&object, "-o", program].into_iter().chain(flags.split_whitespace());
        shop.gcc(&words.collect::<Vec<_>>());
    };
    let absolute = shop.path("%e%%.csraw").display().to_string();
    let written = shop.path("named%.csraw").display().to_string();
    link("named", Some(&absolute));
    link("process", Some("%e.%p"));
    link("prog", None);
    has(&doctor(&shop, 0, &["named"]), "-", "dump", &format!("{written}, unless COUNTERSINK_FILE"));
    shop.run("named", &[]);
    has(&doctor(&shop, 0, &["named"]), "ok", "dump", &format!("{written} has 1 run of this build"));
    has(&doctor(&shop, 0, &["process"]), "-", "dump", "%e.%p, unless COUNTERSINK_FILE");
    succeed(shop.command("strip").arg("named"));
    has(&doctor(&shop, 0, &["named"]), "ok", "dump", "has 1 run of this build");
    for (mode, why) in [(0o4755, "set-user-ID"), (0o2755, "set-group-ID")] {
        for program in ["named", "prog", "process"] {
            fs::set_permissions(shop.path(program), fs::Permissions::from_mode(mode)).unwrap();
        }
        let none = format!("none: the program is {why}, and takes only an absolute name");
        has(&doctor(&shop, 1, &["prog"]), "wrong", "dump", &none);
        has(&doctor(&shop, 1, &["process"]), "wrong", "dump", &none);
        let mut elsewhere = shop.command(env!("CARGO_BIN_EXE_countersink"));
        elsewhere.env("COUNTERSINK_FILE", "/x/%p").args(["doctor", "named"]);
        let report = String::from_utf8(succeed(&mut elsewhere)).unwrap();
        has(&report, "ok", "dump", "has 1 run of this build");
        fs::rename(&written, shop.path("away")).unwrap();
        let expected = format!("{written}, whatever the environment says, as the program is {why}");
        has(&doctor(&shop, 0, &["named"]), "-", "dump", &expected);
        fs::rename(shop.path("away"), &written).unwrap();
    }
}

/// gcc's driver does not ask for the runtime's part for clang, whose objects do not name it.
#[test]
fn objects_of_clang_that_gcc_links() {
    if !have("clang-22") {
        return;
    }
    let shop = Workshop::new();
    shop.write("main.c", "int work(int n);\nint main(void) { return work(0); }\n");
    shop.write("work.c", "int work(int n) { return n; }\n");
    let object = shop.compile("main.c", &[]);
    succeed(shop.command("clang-22").args(["-O2", "-fprofile-generate", "-c", "work.c"]));
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let part = "-Wl,-u,__llvm_profile_runtime";
    shop.gcc(&[&[&*object, "work.o", "-o", "prog"], &flags[..]].concat());
    let told = "without its part for clang and rustc, whose counts are lost: add -Wl,-u,__llvm_profile_runtime";
    has(&doctor(&shop, 1, &["prog"]), "wrong", "runtime", told);
    shop.gcc(&[&[&*object, "work.o", "-o", "prog", part], &flags[..]].concat());
    let report = doctor(&shop, 0, &["prog"]);
    has(&report, "ok", "runtime", "countersink");
    has(&report, "-", "dump", "default_%m.profraw, unless COUNTERSINK_FILE or LLVM_PROFILE_FILE");
    // What gcc counted has lines, and the rest is named once.
    let mut run = shop.command(shop.path("prog"));
    succeed(run.env("COUNTERSINK_FILE", "prog.csraw"));
    for target in ["lcov", "cobertura"] {
        let output = shop.tool(&["convert", "prog.csraw", "--to", target, "-o", "lines"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        assert_eq!(told.matches("; left out: 1 module of clang or rustc").count(), 1, "{told}");
        let lines = String::from_utf8(shop.read("lines")).unwrap();
        assert!(lines.contains("main.c") && !lines.contains("work.c"), "{lines}");
    }
}

/// The profile would be for another compiler than the one that instrumented.
#[test]
fn a_program_of_another_gcc() {
    if !have("gcc-11") {
        return;
    }
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    succeed(shop.command("gcc-11").args(PROFILE).args(["-c", "prog.c"]));
    shop.link(&["prog.o"], "prog", &[]);
    has(&doctor(&shop, 0, &["prog"]), "-", "reader", "gcc 11 instrumented the program");
}

#[test]
fn programs_that_are_not_ready() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    succeed(shop.command("gcc").args(["prog.c", "-o", "plain"]));
    let report = doctor(&shop, 1, &["plain"]);
    has(&report, "wrong", "instrumented", "flags --compile");
    has(&report, "wrong", "runtime", "none");

    succeed(shop.command("gcc").args(["-fprofile-generate", "prog.c", "-o", "libgcov"]));
    let report = doctor(&shop, 1, &["libgcov"]);
    has(&report, "wrong", "runtime", "libgcov: add $(countersink flags)");
    has(&report, "wrong", "notes", "1 of 1 missing");

    let object = shop.compile("prog.c", &[]);
    shop.link(&[&object], "moved", &[]);
    fs::create_dir(shop.path("notes")).unwrap();
    fs::rename(shop.path("prog.gcno"), shop.path("notes/prog.gcno")).unwrap();
    has(&doctor(&shop, 1, &["moved"]), "wrong", "notes", "--notes DIR");
    has(&doctor(&shop, 0, &["moved", "--notes", "notes"]), "ok", "notes", "1 object");

    for (file, said) in [("prog.c", "prog.c: "), ("missing", "missing: No such file")] {
        let output = shop.tool(&["doctor", file]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(told.contains(said) && output.stdout.is_empty(), "{told}");
    }
}

/// Names of data files that follow each other.
#[test]
fn every_object() {
    let shop = Workshop::new();
    let names: Vec<String> = (0..7).map(|number| format!("f{number}.c")).collect();
    let objects: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let body = if number == 0 { "int main(void) { return 0; }" } else { "" };
            // A constant whose last bytes are letters may stand right before a name.
            let constant = "double g{number}(double x) { return x * 371.0; }"
                .replace("{number}", &number.to_string());
            shop.write(name, format!("void f{number}(void) {{}}\n{constant}\n{body}\n"));
            shop.compile(name, &[])
        })
        .collect();
    let objects: Vec<&str> = objects.iter().map(|object| &**object).collect();
    shop.link(&objects, "prog", &[]);
    let report = doctor(&shop, 0, &["prog"]);
    has(&report, "ok", "notes", "found for 7 objects");
    fs::remove_file(shop.path("f3.gcno")).unwrap();
    has(&doctor(&shop, 1, &["prog"]), "wrong", "notes", "1 of 7 missing");
}

#[test]
fn live_counters() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &["-fdata-sections"]);
    let flags = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
    let mut gcc = shop.command("gcc");
    gcc.args(["-fprofile-generate", &object, "-o", "live"]).args(flags.split_whitespace());
    succeed(&mut gcc);
    has(&doctor(&shop, 0, &["live"]), "ok", "runtime", "--live");
}

#[test]
fn programs_of_clang() {
    if !have("clang-22") {
        return;
    }
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let generate = ["-O2", "-fprofile-generate", "prog.c", "-o"];
    succeed(shop.command("clang-22").args(generate).arg("stock"));
    let report = doctor(&shop, 1, &["stock"]);
    has(&report, "ok", "instrumented", "by LLVM; ");
    has(&report, "wrong", "runtime", "LLVM's: add $(countersink flags)");
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    succeed(shop.command("clang-22").args(generate).arg("ours").args(flags.split_whitespace()));
    let report = doctor(&shop, 0, &["ours"]);
    has(&report, "ok", "runtime", "countersink");
    has(&report, "-", "dump", "default_%m.profraw");
    let coverage = ["--coverage", "prog.c", "-o", "gcov"];
    succeed(shop.command("clang-22").args(coverage).args(flags.split_whitespace()));
    has(&doctor(&shop, 1, &["gcov"]), "wrong", "instrumented", "clang's --coverage");
}

/// Counters that libgcov has written are as good as a dump.
#[test]
fn a_program_with_libgcov() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &[]);
    shop.link_stock(&[&object], "prog", &[]);
    has(&doctor(&shop, 1, &["prog"]), "wrong", "runtime", "libgcov: add");
    shop.run("prog", &[]);
    let report = doctor(&shop, 0, &["prog"]);
    has(&report, "-", "counters", "1 of 1 .gcda files are there, which convert reads");
    has(&report, "-", "runtime", "libgcov");
}

#[test]
fn several_programs() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &[]);
    shop.link(&[&object], "prog", &[]);
    fs::copy(shop.path("prog"), shop.path("same")).unwrap();
    let report = doctor(&shop, 0, &["prog", "same"]);
    assert_eq!(report.matches("1 object of gcc").count(), 2, "{report}");
    // The others are examined, too.
    let output = shop.tool(&["doctor", "nowhere", "prog.c", "prog"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 object of gcc"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("nowhere: ") && told.contains("prog.c: "), "{told}");
}

/// The compilers record their options.
#[test]
fn options_of_the_last_compilation() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    shop.write("other.c", "int other(void) { return 0; }\n");
    let link = |program: &str, flags: &[&str]| {
        let words = ["prog.c", "other.c", "-o", program];
        succeed(shop.command("gcc").args(flags).args(words));
    };
    let trained = [&PROFILE[..], &["prog.c", "other.c", "-o", "prog", "-L.", "-lcountersink_rt"]];
    succeed(shop.command("gcc").args(trained.concat()));
    let plain = ["-O2", "-g"];
    let flags = String::from_utf8(shop.tool_output(&["flags", "--optimise", "gcc"])).unwrap();
    let optimised: Vec<&str> = plain.into_iter().chain(flags.split_whitespace()).collect();
    link("final", &optimised);
    let compare = |status: i32| doctor(&shop, status, &["prog", "--final", "final"]);
    has(&compare(0), "ok", "options", "the same for 2 sources");
    link("final", &["-O3", "-g", "-fno-inline"]);
    let differ = "for 2 of 2 sources, such as ";
    has(&compare(1), "wrong", "options", differ);
    has(&compare(1), "wrong", "options", "other.c: -O2 here, -O3 -fno-inline there");
    link("final", &["-O2", "-std=c99", "-g"]);
    has(&compare(1), "wrong", "options", "GNU C");
    // Without debug information.
    link("final", &["-O2"]);
    has(&compare(0), "-", "options", "compile with -g or -frecord-gcc-switches");
    link("final", &["-O2", "-frecord-gcc-switches"]);
    has(&compare(0), "ok", "options", "the same");
    link("final", &["-O1", "-frecord-gcc-switches"]);
    has(&compare(1), "wrong", "options", "-O2 here, -O1 there");
    // Another folder of the build.
    fs::create_dir(shop.path("elsewhere")).unwrap();
    for source in ["prog.c", "other.c"] {
        fs::copy(shop.path(source), shop.path("elsewhere").join(source)).unwrap();
    }
    let build = |flags: &[&str]| {
        let mut gcc = shop.command("gcc");
        gcc.current_dir(shop.path("elsewhere")).args(["prog.c", "other.c", "-o", "../final"]);
        succeed(gcc.args(flags));
    };
    build(&["-O2", "-g"]);
    has(&compare(0), "ok", "options", "the same for 2 sources");
    build(&["-O1", "-g"]);
    has(&compare(1), "wrong", "options", "-O2 here, -O1 there");
    // The debug information in a file beside the program.
    for words in [
        "objcopy --only-keep-debug final final.debug",
        "strip final",
        "objcopy --add-gnu-debuglink=final.debug final",
    ] {
        let mut words = words.split(' ');
        succeed(shop.command(words.next().unwrap()).args(words));
    }
    has(&compare(1), "wrong", "options", "-O2 here, -O1 there");
    shop.write("none.c", "int main(void) { return 0; }\n");
    succeed(shop.command("gcc").args(["-g", "none.c", "-o", "final"]));
    has(&compare(0), "-", "options", "none of the sources");
    let output = shop.tool(&["doctor", "prog", "--final", "prog.c"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// clang records its options only if it is asked to.
#[test]
fn options_of_clang() {
    if !have("clang-22") {
        return;
    }
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let build = |program: &str, flags: &[&str]| {
        succeed(shop.command("clang-22").args(flags).args(["-g", "prog.c", "-o", program]));
    };
    let compare = |status: i32| doctor(&shop, status, &["prog", "--final", "final"]);
    let trained = ["-O2", "-fprofile-generate", "-L.", "-lcountersink_rt"];
    build("prog", &trained);
    build("final", &["-O0"]);
    has(&compare(0), "-", "options", "which records no options");
    build("prog", &[&trained[..], &["-grecord-command-line"]].concat());
    build("final", &["-O2", "-grecord-command-line"]);
    has(&compare(0), "ok", "options", "the same for 1 source");
    build("final", &["-O1", "-grecord-command-line"]);
    has(&compare(1), "wrong", "options", "-O2 here, -O1 there");
}
