//! Programs that keep their function records out of memory (`-profile-correlate`): their profiles are those of the same
//! programs with records in memory, by our runtime and by LLVM's.

use std::fs;
use std::process::Command;

use crate::harness::{Workshop, succeed};
use crate::llvm::both::{OURS, assert_same_text};
use crate::llvm::{Llvm, all, of_rustc};

/// A way to instrument, and the releases of LLVM that can do so with records elsewhere.
struct Way {
    releases: std::ops::RangeInclusive<u32>,
    flags: &'static [&'static str],
    /// What moves the records.
    correlate: &'static [&'static str],
    /// The option of `llvm-profdata`.
    option: &'static str,
}

const OPTIMISER: &[&str] = &["-fprofile-generate", "-g", "-mllvm", "-disable-vp"];
const FRONT_END: &[&str] = &["-fprofile-instr-generate", "-fcoverage-mapping", "-g"];
const ENTRIES: &[&str] = &[
    "-fprofile-generate",
    "-g",
    "-mllvm",
    "-disable-vp",
    "-mllvm",
    "-pgo-function-entry-coverage",
];
const FIRST_CALLS: &[&str] = &[
    "-fprofile-generate",
    "-gdwarf-4",
    "-mllvm",
    "-disable-vp",
    "-mllvm",
    "-pgo-temporal-instrumentation",
];
const SINGLE_BYTES: &[&str] = &[
    "-fprofile-instr-generate",
    "-fcoverage-mapping",
    "-mllvm",
    "-enable-single-byte-coverage=true",
];
const CONDITIONS: &[&str] = &["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];

const OLD_DEBUG_INFO: &[&str] = &["-mllvm", "-debug-info-correlate"];
const DEBUG_INFO: &[&str] = &["-mllvm", "-profile-correlate=debug-info"];
const BINARY: &[&str] = &["-mllvm", "-profile-correlate=binary"];

const fn in_debug_info(flags: &'static [&'static str]) -> Way {
    Way { releases: 19..=23, flags, correlate: DEBUG_INFO, option: "--debug-info" }
}

const fn in_binary(flags: &'static [&'static str]) -> Way {
    Way { releases: 19..=23, flags, correlate: BINARY, option: "--binary-file" }
}

const WAYS: [Way; 10] = [
    Way { releases: 15..=18, flags: OPTIMISER, correlate: OLD_DEBUG_INFO, option: "--debug-info" },
    in_debug_info(OPTIMISER),
    in_debug_info(ENTRIES),
    in_debug_info(FIRST_CALLS),
    in_debug_info(FRONT_END),
    in_binary(OPTIMISER),
    in_binary(FIRST_CALLS),
    in_binary(FRONT_END),
    in_binary(SINGLE_BYTES),
    in_binary(CONDITIONS),
];

/// Makes `whole` with records in memory, and of the same source `stock` and `ours` without, with LLVM's runtime and
/// with ours. Runs them.
fn build(llvm: Llvm, shop: &Workshop, way: &Way) {
    shop.program("values.cc");
    let object = llvm.object(shop, "values.cc", way.flags);
    llvm.clang(shop, &[way.flags[0], &object, "-o", "whole"]);
    let object = llvm.object(shop, "values.cc", &[way.flags, way.correlate].concat());
    llvm.clang(shop, &[way.flags[0], &object, "-o", "stock"]);
    llvm.clang(shop, &[&[way.flags[0], &object, "-o", "ours"], &OURS[..]].concat());
    llvm.run(shop, "whole", "whole.profraw");
    llvm.run(shop, "stock", "stock.profraw");
    run_ours(shop);
}

fn run_ours(shop: &Workshop) {
    succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
}

/// What the tool writes to a file, as text.
fn text(shop: &Workshop, words: &[&str]) -> String {
    shop.tool_output(&[words, &["-o", "text"]].concat());
    String::from_utf8(shop.read("text")).unwrap()
}

/// What `llvm-profdata` makes of the dump of `ours`.
fn text_of_dump(llvm: Llvm, shop: &Workshop) -> String {
    let dump = text(shop, &["convert", "ours.csraw", "--to", "proftext"]);
    llvm.text(shop, dump.as_bytes()).unwrap()
}

#[test]
#[ignore = "slow"]
fn profiles_are_those_of_uncorrelated_programs() {
    for llvm in all() {
        for way in WAYS.iter().filter(|way| way.releases.contains(&llvm.major)) {
            let shop = Workshop::new();
            build(llvm, &shop, way);
            let about = format!("LLVM {}, {:?}", llvm.major, [way.flags, way.correlate].concat());
            let whole = llvm.merged(&shop, &["whole.profraw"]);
            assert!(whole.contains("main"), "{about}: {whole}");

            let option = format!("{}=stock", way.option);
            assert_same_text(&text_of_dump(llvm, &shop), &whole, &about);
            let merge = ["profdata", "merge", "--text", &option, "stock.profraw"];
            assert_same_text(&text(&shop, &merge), &whole, &about);
            // LLVM's own tool drops bitmaps.
            if way.flags != CONDITIONS {
                let merged = llvm.merged(&shop, &[&option, "stock.profraw"]);
                assert_same_text(&merged, &whole, &about);
            }
        }
    }
}

const LIBRARY: &str =
    "int g(int n) { int s = 0; for (int i = 0; i < n; i++) if (i % 3) s += i; return s; }\n";
const CALLER: &str = "int g(int);\nint main(void) { return g(100) != 3267; }\n";

/// A program and its library, with live counters and without: each image gets its own functions, in whatever order
/// files are named, and if no linker wrote a build-id, too.
#[test]
fn every_image_has_its_own_functions() {
    for llvm in all().into_iter().filter(|llvm| llvm.major >= 19) {
        for (correlate, id) in [DEBUG_INFO, BINARY].into_iter().zip(["sha1", "none"]) {
            let shop = Workshop::new();
            shop.write("library.cc", LIBRARY);
            shop.write("caller.cc", CALLER);
            let id = format!("-Wl,--build-id={id}");
            let flags = ["-O1", "-g", "-fprofile-generate", "-mllvm", "-disable-vp", "-fPIC", &id];
            let flags = [&flags[..], correlate].concat();
            let library = [&flags[..], &["-shared", "library.cc", "-o", "liblibrary.so"], &OURS];
            llvm.clang(&shop, &library.concat());
            let program = ["caller.cc", "-L.", "-llibrary", "-Wl,-rpath,.", "-o", "ours"];
            llvm.clang(&shop, &[&flags[..], &program, &OURS].concat());
            run_ours(&shop);
            let about = format!("LLVM {}, {correlate:?}", llvm.major);
            let expected = ["3\n100\n1\n34\n", "1\n1\n"];
            for programs in [["ours", "liblibrary.so"], ["liblibrary.so", "ours"]] {
                let [first, second] = programs;
                let binaries = ["--binary", first, "--binary", second];
                let convert = ["convert", "ours.csraw", "--to", "proftext"];
                let text = without_comments(&text(&shop, &[&convert[..], &binaries].concat()));
                for counts in expected {
                    assert!(text.contains(counts), "{about}, {programs:?}: {text}");
                }
            }
            let live = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
            let live: Vec<&str> = live.split_whitespace().collect();
            let program = ["caller.cc", "library.cc", "-o", "ours"];
            llvm.clang(&shop, &[&flags[..], &program, &live].concat());
            fs::remove_file(shop.path("ours.csraw")).unwrap();
            run_ours(&shop);
            let text = without_comments(&text_of_dump(llvm, &shop));
            for counts in expected {
                assert!(text.contains(counts), "live, {about}: {text}");
            }
        }
    }
}

/// Where no linker writes a build-id, builds are told apart by their code: in the dump, and when a program is wanted.
#[test]
fn builds_without_ids_stay_apart() {
    for llvm in all().into_iter().filter(|llvm| llvm.major >= 19) {
        let shop = Workshop::new();
        let sources = [LIBRARY.to_owned(), LIBRARY.replace("i % 3", "i % 5 == 0")];
        shop.write("caller.cc", "int g(int);\nint main(void) { g(100); return 0; }\n");
        let flags = ["-O1", "-g", "-fprofile-generate", "-mllvm", "-disable-vp"];
        let program = ["caller.cc", "library.cc", "-Wl,--build-id=none", "-o", "ours"];
        for (source, kept) in sources.iter().zip(["first", "second"]) {
            shop.write("library.cc", source);
            llvm.clang(&shop, &[&flags[..], DEBUG_INFO, &program, &OURS].concat());
            run_ours(&shop);
            fs::rename(shop.path("ours"), shop.path(kept)).unwrap();
        }
        let shown = String::from_utf8(shop.tool_output(&["show", "ours.csraw"])).unwrap();
        assert_eq!(shown.matches("runs 1").count(), 2, "LLVM {}: {shown}", llvm.major);
        let convert = |programs: &[&str]| {
            let words = ["convert", "ours.csraw", "--to", "proftext", "-o", "text"];
            let output = shop.tool(&[&words[..], programs].concat());
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8(shop.read("text")).unwrap();
            (without_comments(&text), String::from_utf8(output.stderr).unwrap())
        };
        let (both, told) = convert(&["--binary", "second", "--binary", "first"]);
        assert!(both.contains("\n3\n200\n2\n"), "{both}");
        assert_eq!(told, "");
        let (one, told) = convert(&["--binary", "second"]);
        assert!(one.contains("\n3\n100\n1\n") && !one.contains("\n34\n"), "{one}");
        assert!(
            told.contains("other code than that which ran") && told.contains("left out"),
            "{told}"
        );
    }
}

/// Counters of objects without debug information belong to nobody, which is told.
#[test]
fn counters_of_nobody() {
    for llvm in all().into_iter().filter(|llvm| llvm.major >= 19) {
        let shop = Workshop::new();
        shop.write("library.cc", LIBRARY);
        shop.write("caller.cc", CALLER);
        let flags = [&["-O1", "-fprofile-generate", "-mllvm", "-disable-vp"], DEBUG_INFO].concat();
        let library = llvm.object(&shop, "library.cc", &flags);
        let program = ["-g", "caller.cc", &library, "-o", "ours"];
        llvm.clang(&shop, &[&flags[..], &program, &OURS].concat());
        run_ours(&shop);
        let output = shop.tool(&["convert", "ours.csraw", "--to", "proftext", "-o", "text"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("3 of 4 counters belong to no function"), "{told}");
    }
}

/// The lines of a text that are not comments.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// Runs are added up in the dump, and the times of first calls of several runs are not told.
#[test]
fn runs_are_added_up() {
    let Some(llvm) = all().into_iter().rfind(|llvm| llvm.major >= 19) else { return };
    for flags in [FRONT_END, FIRST_CALLS] {
        let shop = Workshop::new();
        build(llvm, &shop, &in_binary(flags));
        run_ours(&shop);
        let output = shop.tool(&["convert", "ours.csraw", "--to", "proftext"]);
        let told = String::from_utf8(output.stderr).unwrap();
        let is_temporal = flags == FIRST_CALLS;
        assert_eq!(told.contains("times of first calls of several runs"), is_temporal, "{told}");
        let whole = llvm.merged(&shop, &["whole.profraw", "whole.profraw"]);
        let ours = text_of_dump(llvm, &shop);
        match is_temporal {
            false => assert_same_text(&ours, &whole, "two runs"),
            true => assert_eq!(counts(&ours), counts(&whole)),
        }
    }
}

/// The functions of a text with their counts, without traces.
fn counts(text: &str) -> Vec<&str> {
    text.lines().skip_while(|line| !line.starts_with('_')).collect()
}

/// Without the program nothing is known, and everything that reads the counters says where to find it.
#[test]
fn programs_are_asked_for() {
    let Some(llvm) = all().into_iter().rfind(|llvm| llvm.major >= 19) else { return };
    for way in [in_binary(FRONT_END), in_debug_info(OPTIMISER)] {
        let shop = Workshop::new();
        build(llvm, &shop, &way);
        let before = text(&shop, &["convert", "ours.csraw", "--to", "proftext"]);
        let shown = String::from_utf8(shop.tool_output(&["show", "ours.csraw"])).unwrap();
        assert!(shown.contains("functions in the program (-profile-correlate)"), "{shown}");
        let shown = shop.tool_output(&["show", "ours.csraw", "--function", "main"]);
        assert!(String::from_utf8(shown).unwrap().contains("main"));

        std::fs::rename(shop.path("ours"), shop.path("moved")).unwrap();
        for words in [
            &["convert", "ours.csraw", "--to", "proftext"][..],
            &["convert", "stock.profraw", "--to", "proftext"],
            &["show", "stock.profraw"],
            &["show", "ours.csraw", "--function", "main"],
            &["profdata", "show", "stock.profraw"],
            &["profdata", "merge", "stock.profraw", "-o", "merged"],
        ] {
            let output = shop.tool(words);
            let told = String::from_utf8_lossy(&output.stderr);
            let why = "are in the program (-profile-correlate), not here; name the program with";
            assert!(!output.status.success() && told.contains(why), "{words:?}: {told}");
        }
        let moved = ["convert", "ours.csraw", "--to", "proftext", "--binary", "moved"];
        assert_same_text(&text(&shop, &moved), &before, "moved");
        for other in ["whole", "/bin/true"] {
            let output =
                shop.tool(&["convert", "ours.csraw", "--to", "proftext", "--binary", other]);
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(told.contains("another program or build: build-id"), "{other}: {told}");
        }
        // Debug information and sections that are not loaded may stand in a file of their own.
        let mut objcopy = shop.command("objcopy");
        succeed(objcopy.args(["--only-keep-debug", "moved", "moved.debug"]));
        succeed(shop.command("objcopy").args(["--strip-all", "-R", "__llvm_covdata", "moved"]));
        let mut objcopy = shop.command("objcopy");
        succeed(objcopy.args(["--add-gnu-debuglink=moved.debug", "moved"]));
        assert_same_text(&text(&shop, &moved), &before, "split off");
    }
}

/// Lines come from the coverage mapping, as ever.
#[test]
fn lines_are_those_of_uncorrelated_programs() {
    let Some(llvm) = all().into_iter().rfind(|llvm| llvm.major >= 19) else { return };
    let shop = Workshop::new();
    build(llvm, &shop, &in_binary(FRONT_END));
    let whole = ["convert", "whole.profraw", "--to", "lcov", "--binary", "whole"];
    let whole = text(&shop, &whole);
    assert!(whole.contains("\nDA:"), "{whole}");
    assert_same_text(&text(&shop, &["convert", "ours.csraw", "--to", "lcov"]), &whole, "ours");
    let stock = ["convert", "stock.profraw", "--to", "lcov", "--binary", "stock"];
    assert_same_text(&text(&shop, &stock), &whole, "stock");
}

#[test]
fn programs_of_rustc() {
    let Some(llvm) = of_rustc() else { return };
    let shop = Workshop::new();
    shop.program("values.rs");
    let rustc = |program: &str, flags: &[&str]| {
        let mut command: Command = shop.command("rustc");
        command.args(["-O", "-Cinstrument-coverage", "values.rs", "-o", program]);
        succeed(command.args(flags));
    };
    let binary = "-Cllvm-args=-profile-correlate=binary";
    rustc("whole", &[]);
    rustc("ours", &[binary, "-Lnative=.", "-lstatic=countersink_rt"]);
    llvm.run(&shop, "whole", "whole.profraw");
    run_ours(&shop);
    let whole = llvm.merged(&shop, &["whole.profraw"]);
    assert_same_text(&text_of_dump(llvm, &shop), &whole, "rustc");
}
