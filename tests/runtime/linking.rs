//! Every way of linking: nothing of libgcov comes in, and the counts equal libgcov's.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use countersink::raw::dump::Dump;

use crate::harness::{Workshop, assert_same_files, have, succeed};

const OURS: [&str; 2] = ["-L.", "-lcountersink_rt"];

/// Global `__gcov` symbols of a program that only libgcov defines.
fn of_libgcov(shop: &Workshop, program: &str) -> BTreeSet<String> {
    let printed = succeed(shop.command("nm").arg(program));
    let symbols = String::from_utf8(printed).unwrap();
    let words = symbols.lines().filter_map(|line| line.split_whitespace().last());
    let internal = |name: &&str| {
        ["__gcov_root", "__gcov_var", "__gcov_master", "__gcov_error_file", "mangle_path"]
            .contains(name)
    };
    words.filter(internal).map(str::to_owned).collect()
}

/// Builds hello.c with these flags and both runtimes. The counts must be the same.
#[track_caller]
fn same_with(compile: &[&str], link: &[&str]) {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", compile);
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "stock"], link].concat());
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "ours"], link, &OURS].concat());
    assert_eq!(of_libgcov(&shop, "ours"), BTreeSet::new());
    assert_eq!(shop.run("stock", &[]), "60\n");
    let stock = shop.take_gcda();
    assert_eq!(shop.run("ours", &[]), "60\n");
    assert_same_files(&shop.converted_gcda("ours.csraw"), &stock);
}

#[test]
fn plain() {
    same_with(&[], &[]);
}

#[test]
fn no_pie() {
    same_with(&["-fno-pie"], &["-no-pie"]);
}

#[test]
fn static_() {
    same_with(&[], &["-static"]);
}

#[test]
fn static_pie() {
    same_with(&["-fpie"], &["-static-pie"]);
}

#[test]
fn gc_sections() {
    same_with(&["-ffunction-sections", "-fdata-sections"], &["-Wl,--gc-sections"]);
}

#[test]
fn lto() {
    same_with(&["-flto"], &["-flto", "-O2"]);
}

#[test]
fn icf_and_now() {
    same_with(&[], &["-Wl,-z,now,-z,relro", "-Wl,--as-needed", "-Wl,-O2"]);
}

/// `countersink flags` in front of the objects, where archives usually come too early.
#[test]
fn the_flags_may_stand_anywhere() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    for (program, before, after) in [("early", &flags[..], &[][..]), ("late", &[], &flags)] {
        let words = [before, &crate::harness::PROFILE, &["hello.c", "-o", program], after].concat();
        shop.gcc(&words);
        assert_eq!(of_libgcov(&shop, program), BTreeSet::new());
        shop.run(program, &[]);
        assert!(shop.path(format!("{program}.csraw")).exists());
    }
}

fn library(shop: &Workshop, main_flags: &[&str], stock_library: bool) {
    for name in ["library.c", "uses_library.c"] {
        shop.program(name);
    }
    let inner = shop.compile("library.c", &["-fPIC"]);
    let outer = shop.compile("uses_library.c", main_flags);
    let ours: &[&str] = if stock_library { &[] } else { &OURS };
    let shared = ["-shared", "-fprofile-generate", &inner, "-o", "library.so"];
    shop.gcc(&[&shared, ours].concat());
    let linked: &[&str] = if main_flags.contains(&"-DOPENED") { &[] } else { &["library.so"] };
    let program = ["-fprofile-generate", &outer, "-o", "ours", "-Wl,-rpath,."];
    shop.gcc(&[&program, linked, &OURS].concat());
    shop.gcc(&[&shared[..], &["-o", "stock.so"]].concat());
    let stock_linked: &[&str] = if linked.is_empty() { &[] } else { &["stock.so"] };
    let program = ["-fprofile-generate", &outer, "-o", "stock", "-Wl,-rpath,."];
    shop.gcc(&[&program, stock_linked].concat());
}

fn run_both(shop: &Workshop, arguments: &[&str]) {
    let stock = shop.run("stock", arguments);
    let files = shop.take_gcda();
    assert_eq!(shop.run("ours", arguments), stock);
    let converted = shop.converted_gcda("ours.csraw");
    std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    assert_same_files(&converted, &files);
}

/// Two images, two copies of the archive, one file. Calls across the boundary are counted; dump and fork
/// reach both images.
#[test]
fn a_program_and_its_library() {
    let shop = Workshop::new();
    library(&shop, &[], false);
    for arguments in [&[][..], &["fork"], &["dump"]] {
        run_both(&shop, arguments);
    }
    shop.run("ours", &[]);
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let paths: Vec<String> = dump
        .modules
        .iter()
        .map(|module| String::from_utf8_lossy(&module.path).into_owned())
        .collect();
    assert_eq!(dump.modules.len(), 2, "{paths:?}");
    for name in ["ours", "library.so"] {
        let path = shop.path(name).canonicalize().unwrap();
        assert!(paths.contains(&path.to_str().unwrap().to_owned()), "{path:?} in {paths:?}");
    }
}

#[test]
fn a_program_and_a_library_it_opens() {
    let shop = Workshop::new();
    library(&shop, &["-DOPENED"], false);
    for arguments in [&[][..], &["close"]] {
        shop.run("ours", arguments);
        let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
        assert_eq!(dump.modules.len(), 2);
        std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}

/// A flush in a program that exports nothing of its own reaches a library that the program opened.
#[test]
fn a_flush_reaches_a_library_that_was_opened() {
    let shop = Workshop::new();
    library(&shop, &["-DOPENED"], false);
    let object = shop.compile("uses_library.c", &["-DOPENED", "-DFLUSHES"]);
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "ours"], &flags[..]].concat());
    shop.run("ours", &["flush"]);
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    assert_eq!(dump.modules.len(), 2);
}

#[test]
fn a_library_in_two_programs() {
    let shop = Workshop::new();
    library(&shop, &[], false);
    let object = shop.compile("uses_library.c", &["-Dcalled_back=other_name"]);
    let link = ["-fprofile-generate", &object, "library.so", "-o", "other", "-Wl,-rpath,."];
    shop.gcc(&[&link[..], &OURS].concat());
    for program in ["ours", "other", "ours"] {
        let mut command = shop.command(shop.path(program));
        succeed(command.env("COUNTERSINK_FILE", "both.csraw"));
    }
    let dump = Dump::parse(&shop.read("both.csraw")).unwrap();
    let mut runs: Vec<(String, u64)> = dump
        .modules
        .iter()
        .map(|module| (String::from_utf8_lossy(&module.path).into_owned(), module.sums.runs))
        .map(|(path, runs)| (path.rsplit('/').next().unwrap().to_owned(), runs))
        .collect();
    runs.sort();
    let expected = [("library.so", 3), ("other", 1), ("ours", 2)];
    assert_eq!(runs, expected.map(|(name, runs)| (name.to_owned(), runs)));
}

/// A library that carries libgcov, in a program that carries our runtime. The library's calls of profilers
/// bind to ours, and its libgcov walks lists of our nodes.
#[test]
fn a_library_with_libgcov() {
    let shop = Workshop::new();
    library(&shop, &[], true);
    shop.run("ours", &[]);
    let library = shop.take_gcda();
    assert_eq!(library.len(), 1);
    shop.run("stock", &[]);
    let stock = shop.take_gcda();
    assert_eq!(library[0], stock[0]);
    let ours = shop.converted_gcda("ours.csraw");
    assert_eq!(ours[0], stock[1]);
}

#[test]
fn exports_of_a_shared_object_are_those_of_libgcov() {
    let shop = Workshop::new();
    library(&shop, &[], false);
    let dynamic = |library: &str| -> BTreeSet<String> {
        let printed = succeed(shop.command("nm").args(["-D", "--defined-only", library]));
        let symbols = String::from_utf8(printed).unwrap();
        symbols
            .lines()
            .filter_map(|line| Some(line.split_whitespace().nth(2)?.to_owned()))
            .collect()
    };
    let (ours, stock) = (dynamic("library.so"), dynamic("stock.so"));
    let ours: BTreeSet<&str> = ours.iter().map(String::as_str).collect();
    assert!(ours.contains("__gcov_indirect_call_profiler_v4") && ours.contains("library_work"));
    for name in ours.iter().filter(|name| name.starts_with("__gcov")) {
        let known =
            ["__gcov_flush", "__gcov_info_to_gcda", "__gcov_filename_to_gcfn", "__gcov_dump"];
        let profiler = name.ends_with("_profiler") || name.ends_with("_profiler_atomic");
        let agreed =
            stock.contains(*name) || known.contains(name) || profiler || name.contains("_v4");
        assert!(agreed || *name == "__gcov_reset", "{name}");
    }
    assert!(!ours.contains("__gcov_init") && !ours.contains("__gcov_exit"));
}

#[test]
fn cplusplus() {
    if !have("g++") {
        return;
    }
    let shop = Workshop::new();
    for name in ["classes.cc", "shapes.cc", "shapes.h"] {
        shop.program(name);
    }
    let sources = ["-I.", "classes.cc", "shapes.cc"];
    let mut gxx = shop.command("g++");
    succeed(gxx.args(crate::harness::PROFILE).args(sources).args(["-o", "ours"]).args(OURS));
    assert_eq!(of_libgcov(&shop, "ours"), BTreeSet::new());
    shop.run("ours", &[]);
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    assert_eq!(dump.modules[0].objects.len(), 2);
}

/// A Rust program that links C objects built by gcc: two Rust static libraries in one program.
#[test]
fn rust() {
    let shop = Workshop::new();
    shop.write("add.c", "int add(int a, int b) { while (a-- > 0) b ^= a; return b; }\n");
    let object = shop.compile("add.c", &["-fPIC"]);
    shop.write(
        "main.rs",
        "unsafe extern \"C\" { safe fn add(a: i32, b: i32) -> i32; }\n\
         fn main() { println!(\"{}\", (0..10).map(|i| add(i, 1)).sum::<i32>()); }\n",
    );
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let link = |word: &str| format!("-Clink-arg={word}");
    let mut rustc = shop.command(rustc);
    rustc.args(["--edition=2024", "-O", "main.rs", "-o", "ours"]);
    succeed(rustc.args([link(&object), link("-L."), link("-lcountersink_rt")]));
    assert!(!shop.run("ours", &[]).is_empty());
    shop.tool_output(&["convert", "--to", "gcda", "ours.csraw"]);
    let printed = succeed(Command::new("gcov-dump").arg("-l").arg(shop.path("add.gcda")));
    let printed = String::from_utf8(printed).unwrap();
    let mut arcs = printed.lines().skip_while(|line| !line.contains("COUNTERS arcs")).skip(1);
    let arcs = arcs.next().unwrap().split_whitespace();
    let mut counts: Vec<u64> = arcs.filter_map(|word| word.parse().ok()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [10, 45], "calls, and rounds of the loop, 0 + 1 + ... + 9: {printed}");
}

/// Weak references do not pull in libgcov's member with these calls. Ours is there anyway.
#[test]
fn weak_references() {
    let shop = Workshop::new();
    let calls = ["__gcov_dump", "__gcov_reset", "countersink_version"];
    let declare = |call| format!("extern void {call}(void) __attribute__((weak));\n");
    let sum: Vec<String> = calls.map(|call| format!("!!{call}")).into();
    let main =
        format!("#include <stdio.h>\nint main(void) {{ printf(\"%d\", {}); }}\n", sum.join(" + "));
    shop.write("weak.c", calls.map(declare).concat() + &main);
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    for (instrument, link, set) in [
        (&["-fprofile-generate"][..], &[][..], "0"),
        (&["-fprofile-generate"], &OURS, "3"),
        (&["-fprofile-generate"], &flags, "3"),
        (&[], &OURS, "0"),
        (&[], &flags, "3"),
    ] {
        shop.gcc(&[instrument, &["weak.c", "-o", "weak"], link].concat());
        assert_eq!(shop.run("weak", &[]), set, "{instrument:?} {link:?}");
    }
}

/// Ends without a word, in a way that its argument names.
const ENDS: &str = "#include <signal.h>\n#include <unistd.h>\n\
    int main(int argc, char **argv) { return argc < 2 ? 0 : argv[1][0] == 'k' ? raise(SIGKILL) : (_exit(0), 1); }\n";

/// The program `plain`, and `whole`, which is linked for live counters and wrapped exits, write their counts
/// however they end.
#[track_caller]
fn write_counts(shop: &Workshop) {
    shop.run("plain", &[]);
    assert!(shop.path("plain.csraw").exists());
    shop.output("whole", &["kill"]);
    shop.run("whole", &["_exit"]);
    shop.tool_output(&["fold", "whole.csraw"]);
    let shown = String::from_utf8(shop.tool_output(&["show", "whole.csraw"])).unwrap();
    assert!(shown.contains("runs 2"), "{shown}");
}

/// In a folder with a blank in its name.
#[test]
fn pkg_config_finds_what_install_writes() {
    if !have("pkg-config") {
        return;
    }
    let shop = Workshop::new();
    shop.write("ends.c", ENDS);
    shop.tool_output(&["install", "--prefix", "my installed"]);
    let link = |program: &str, packages: &str| {
        let flags = format!("$(pkg-config --cflags --libs {packages})");
        let script = format!("eval \"gcc -fprofile-generate ends.c -o {program} {flags}\"");
        let mut shell = shop.command("sh");
        shell.env("PKG_CONFIG_PATH", shop.path("my installed/lib/pkgconfig"));
        succeed(shell.args(["-e", "-c", &script]));
    };
    link("plain", "countersink");
    link("whole", "countersink-live countersink-wrap-exit");
    write_counts(&shop);
    let mut flags = shop.command("pkg-config");
    flags.env("PKG_CONFIG_PATH", shop.path("my installed/lib/pkgconfig"));
    let flags = succeed(flags.args(["--libs-only-l", "countersink-bare"]));
    assert_eq!(String::from_utf8(flags).unwrap().trim(), "-lcountersink_rt_bare");
}

#[test]
fn cmake_finds_what_install_writes() {
    if !have("cmake") {
        return;
    }
    let shop = Workshop::new();
    shop.write("ends.c", ENDS);
    shop.write(
        "lone.c",
        "int countersink_version(void);\nint main(void) { return !countersink_version; }\n",
    );
    shop.tool_output(&["install", "--prefix", "my installed"]);
    shop.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(ends C)\n\
         find_package(countersink 0.1 REQUIRED)\nadd_executable(plain ends.c)\n\
         add_executable(whole ends.c)\nadd_executable(lone lone.c)\n\
         target_link_libraries(lone PRIVATE countersink::bare)\n\
         foreach(program plain whole)\n\
         target_compile_options(${program} PRIVATE -fprofile-generate -ftest-coverage)\n\
         target_link_options(${program} PRIVATE -fprofile-generate)\nendforeach()\n\
         target_link_libraries(plain PRIVATE countersink::runtime)\n\
         target_link_libraries(whole PRIVATE countersink::live countersink::wrap_exit)\n",
    );
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", shop.path("my installed").display());
    succeed(shop.command("cmake").args(["-S", ".", "-B", "build", &prefix]));
    succeed(shop.command("cmake").args(["--build", "build"]));
    for program in ["plain", "whole", "lone"] {
        fs::rename(shop.path("build").join(program), shop.path(program)).unwrap();
    }
    shop.run("lone", &[]);
    write_counts(&shop);
}

/// As distributions do: the files are put together in one place, and used in another.
#[test]
fn a_package_of_a_distribution() {
    let shop = Workshop::new();
    shop.write("ends.c", ENDS);
    let mut install = shop.command(env!("CARGO_BIN_EXE_countersink"));
    install.args(["install", "--prefix", "/usr", "--libdir", "lib/x86_64-linux-gnu"]);
    succeed(install.env("DESTDIR", "stage"));
    let usr = shop.path("stage/usr");
    let manual = fs::read_to_string(usr.join("share/man/man1/countersink-convert.1")).unwrap();
    assert!(manual.contains(".SH SYNOPSIS"), "{manual}");
    for file in [
        "share/man/man1/countersink.1",
        "share/bash-completion/completions/countersink",
        "share/doc/countersink/THIRD-PARTY.md",
        "include/countersink.h",
    ] {
        assert!(usr.join(file).is_file(), "{file}");
    }
    let link = fs::read_link(usr.join("libexec/countersink/llvm-profdata")).unwrap();
    assert_eq!(link, Path::new("../../bin/countersink"));
    // No file names the place where the package was put together.
    let stage = shop.path("stage").display().to_string();
    succeed(shop.command("sh").args(["-c", &format!("! grep -rF '{stage}' stage")]));
    if !have("pkg-config") {
        return;
    }
    fs::rename(&usr, shop.path("moved")).unwrap();
    let flags = "$(pkg-config --cflags --libs countersink-live countersink-wrap-exit)";
    let mut shell = shop.command("sh");
    shell.env("PKG_CONFIG_PATH", shop.path("moved/lib/x86_64-linux-gnu/pkgconfig"));
    let script =
        format!("for p in plain whole; do gcc -fprofile-generate ends.c -o $p {flags}; done");
    succeed(shell.args(["-e", "-c", &script]));
    write_counts(&shop);
}

#[test]
fn a_libdir_outside_the_prefix() {
    let shop = Workshop::new();
    for libdir in ["/elsewhere/lib", "../lib", "", "lib 64", "lib,64", "lib(x)"] {
        let output = shop.tool(&["install", "--prefix", "usr", "--libdir", libdir]);
        assert_eq!(output.status.code(), Some(2), "{libdir}");
    }
    let output = shop.tool(&["install", "--prefix", "/../../etc"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!shop.path("usr").exists());
    let libdir = shop.path("usr/lib64").display().to_string();
    shop.tool_output(&["install", "--prefix", "usr", "--libdir", &libdir]);
    assert!(shop.path("usr/lib64/libcountersink_rt.a").exists());
}

#[test]
fn a_prefix_that_pkg_config_would_misread() {
    let shop = Workshop::new();
    let output = shop.tool(&["install", "--prefix", "a$b"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("/a$b: pkg-config or the linker would misread"), "{told}");
    assert!(!shop.path("a$b").exists());
}

/// A linker script may put the build-id where its place in memory is not that in the file.
#[test]
fn a_build_id_behind_the_data() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    shop.write(
        "behind.ld",
        "SECTIONS { .note.gnu.build-id : { *(.note.gnu.build-id) } } INSERT AFTER .bss;\n",
    );
    for kind in ["-pie", "-no-pie"] {
        shop.link(&[&object], "ours", &[kind, "-Wl,--build-id=0x1234abcd", "-Wl,-T,behind.ld"]);
        let _ = fs::remove_file(shop.path("ours.csraw"));
        shop.run("ours", &[]);
        let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
        assert_eq!(dump.modules[0].build_id(), [0x12, 0x34, 0xab, 0xcd], "{kind}");
    }
}
