//! Programs of clang and rustc with LLVM's own runtime and with ours count the same.
//!
//! Objects are compiled once and linked twice. `llvm-profdata` of the same version reads both results: the raw
//! profile, and the text made of the dump.

use countersink::raw::dump::Dump;

use crate::harness::{Workshop, succeed};
use crate::llvm::both::{OURS, assert_same_text, of_stock, text_of_dump};
use crate::llvm::{Llvm, all, of_rustc};
use crate::programs::FIXED_ADDRESSES;

/// How a program is made.
struct Way {
    name: &'static str,
    /// The first LLVM that has it.
    since: u32,
    /// Flags of compilations and of the link.
    flags: &'static [&'static str],
    /// Flags of the link alone.
    link: &'static [&'static str],
}

const GENERATE: &str = "-fprofile-generate";
const FRONT_END: &str = "-fprofile-instr-generate";
const COVERAGE: &str = "-fcoverage-mapping";

/// Ways to instrument at other levels of optimisation than the first.
const AT_OTHER_LEVELS: &[Way] = &[
    Way { name: "optimised", since: 13, flags: &["-O2", GENERATE], link: &[] },
    Way { name: "not optimised", since: 13, flags: &["-O0", GENERATE], link: &[] },
    Way { name: "small", since: 13, flags: &["-Os", GENERATE], link: &[] },
    Way { name: "front end, optimised", since: 13, flags: &["-O2", FRONT_END], link: &[] },
    Way { name: "coverage", since: 13, flags: &["-O0", FRONT_END, COVERAGE], link: &[] },
    Way {
        name: "counters that may move",
        since: 13,
        // Optimised, clang 13 and 14 crash.
        flags: &["-O0", GENERATE, "-mllvm", "-runtime-counter-relocation"],
        link: &[],
    },
];

/// Ways to link.
const LINKED: &[Way] = &[
    Way { name: "static", since: 13, flags: &["-O1", GENERATE], link: &["-static"] },
    Way { name: "static coverage", since: 13, flags: &["-O1", FRONT_END], link: &["-static"] },
    Way {
        name: "static PIE",
        since: 13,
        flags: &["-O1", GENERATE, "-fPIE"],
        link: &["-static-pie"],
    },
    Way { name: "no PIE", since: 13, flags: &["-O1", GENERATE, "-fno-pie"], link: &["-no-pie"] },
    Way { name: "bfd", since: 13, flags: &["-O1", GENERATE], link: &["-fuse-ld=bfd"] },
    Way { name: "gold", since: 13, flags: &["-O1", GENERATE], link: &["-fuse-ld=gold"] },
    Way {
        name: "unused sections",
        since: 13,
        flags: &["-O1", GENERATE, "-ffunction-sections"],
        link: &["-Wl,--gc-sections"],
    },
    Way {
        name: "unused sections of the front end",
        since: 13,
        flags: &["-O1", FRONT_END, COVERAGE, "-ffunction-sections"],
        link: &["-Wl,--gc-sections", "-fuse-ld=gold"],
    },
];

/// Ways that need LLVM's own linker, of the same version.
const LINKED_BY_LLD: &[Way] = &[
    Way { name: "lld", since: 13, flags: &["-O1", GENERATE], link: &["-fuse-ld=lld"] },
    Way {
        name: "unused sections, lld",
        since: 13,
        flags: &["-O1", FRONT_END, COVERAGE, "-ffunction-sections"],
        link: &["-fuse-ld=lld", "-Wl,--gc-sections", "-Wl,--icf=all"],
    },
    Way { name: "LTO", since: 13, flags: &["-O2", GENERATE, "-flto"], link: &["-fuse-ld=lld"] },
    Way {
        name: "thin LTO",
        since: 13,
        flags: &["-O2", GENERATE, "-flto=thin"],
        link: &["-fuse-ld=lld"],
    },
    Way {
        name: "LTO of the front end",
        since: 13,
        flags: &["-O2", FRONT_END, "-flto"],
        link: &["-fuse-ld=lld", "-static"],
    },
];

/// A folder with the program of two files.
fn kinds() -> Workshop {
    let shop = Workshop::new();
    for name in ["kinds.h", "kinds_first.cc", "kinds_second.cc"] {
        shop.program(name);
    }
    shop
}

fn build(llvm: Llvm, shop: &Workshop, flags: &[&str], link: &[&str]) {
    let objects =
        ["kinds_first.cc", "kinds_second.cc"].map(|source| llvm.object(shop, source, flags));
    llvm.link_both(shop, &objects, &[flags, link].concat());
}

fn same_counts(ways: &[Way], has: impl Fn(Llvm) -> bool) {
    for llvm in all().into_iter().filter(|&llvm| has(llvm)) {
        let shop = kinds();
        for way in ways.iter().filter(|way| way.since <= llvm.major) {
            build(llvm, &shop, way.flags, way.link);
            llvm.assert_same_counts(&shop, &[], way.name);
            if way.name == "optimised" {
                llvm.assert_same_object(&shop, "kinds_first.cc", &["-O2"]);
            }
        }
    }
}

/// A program goes on in a dump that the tool has written as in one of its own.
fn assert_goes_on(shop: &Workshop, about: &str) {
    shop.tool_output(&["merge", "ours.csraw", "-o", "tool.csraw"]);
    let [ours, tool] = ["ours.csraw", "tool.csraw"].map(|dump| {
        succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", dump));
        let parsed = Dump::parse(&shop.read(dump)).unwrap();
        assert_eq!((parsed.modules.len(), parsed.modules[0].sums.runs), (1, 2), "{about}");
        text_of_dump(shop, dump)
    });
    assert_same_text(&tool, &ours, about);
}

#[test]
#[ignore = "slow"]
fn every_way_to_instrument() {
    for llvm in all() {
        let shop = kinds();
        for mode in llvm.modes() {
            build(llvm, &shop, &[&["-O1"], mode.flags].concat(), &[]);
            llvm.assert_same_counts(&shop, &[], mode.name);
            assert_goes_on(&shop, mode.name);
        }
    }
    same_counts(AT_OTHER_LEVELS, |_| true);
}

#[test]
#[ignore = "slow"]
fn every_way_to_link() {
    same_counts(LINKED, |_| true);
    same_counts(LINKED_BY_LLD, Llvm::has_lld);
}

/// With one byte for each entry there is no room for the times of first calls, and nothing notes them. LLVM's own
/// runtime takes the byte and its neighbours for a time. Here the profile is the one without times.
#[test]
fn entries_without_times() {
    let entries = ["-O1", GENERATE, "-mllvm", "-pgo-function-entry-coverage"];
    let timed = [&entries[..], &["-mllvm", "-pgo-temporal-instrumentation"]].concat();
    for llvm in all().into_iter().filter(|llvm| llvm.major >= 19) {
        let shop = kinds();
        let objects = |flags: &[&str]| {
            ["kinds_first.cc", "kinds_second.cc"].map(|source| llvm.object(&shop, source, flags))
        };
        llvm.link_both(&shop, &objects(&entries), &entries);
        llvm.run(&shop, "stock", "stock.profraw");
        llvm.link_both(&shop, &objects(&timed), &timed);
        for _ in 0..2 {
            succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
        }
        let no_traces = ":temporal_prof_traces\n# Num Temporal Profile Traces:\n0\n\
                         # Temporal Profile Trace Stream Size:\n0\n\n";
        let ours = llvm.text_of_dump(&shop, "ours.csraw").replace(no_traces, "");
        let stock = llvm.merged(&shop, &["stock.profraw"]);
        assert_same_text(&ours, &stock, &format!("LLVM {}", llvm.major));
    }
}

/// The second of two instrumented builds counts after inlining.
#[test]
fn after_inlining() {
    for llvm in all() {
        let shop = kinds();
        build(llvm, &shop, &["-O2", GENERATE], &[]);
        llvm.assert_same_counts(&shop, &[], "before");
        let merged = llvm.profdata(&shop, &["merge", "-o", "first.profdata", "stock.profraw"]);
        assert!(merged.status.success(), "{merged:?}");
        let flags = &["-O2", "-fprofile-use=first.profdata", "-fcs-profile-generate"];
        build(llvm, &shop, flags, &[]);
        llvm.assert_same_counts(&shop, &[], "after inlining");
    }
}

/// A program that was linked for counters, and compiled without, leaves a profile without functions, as with LLVM's
/// own runtime. So does a library beside a program with counters: the file has those of the program.
#[test]
#[ignore = "slow"]
fn without_counters() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.write("alone.c", "int f(void) { return 0; }\nint main(void) { return f(); }\n");
        let object = llvm.object(&shop, "alone.c", &[]);
        llvm.link_both(&shop, &[object], &[FRONT_END]);
        succeed(shop.command(shop.path("stock")).env("LLVM_PROFILE_FILE", "stock.profraw"));
        succeed(shop.command(shop.path("ours")).env("LLVM_PROFILE_FILE", "ours.csraw"));
        let stock = llvm.merged(&shop, &["stock.profraw"]);
        assert_same_text(&llvm.text_of_dump(&shop, "ours.csraw"), &stock, "alone");
        let convert = shop.tool(&["convert", "ours.csraw", "--to", "profdata", "-o", "none"]);
        let message = String::from_utf8(convert.stderr).unwrap();
        assert!(message.contains("no function was instrumented"), "{message}");

        shop.write("beside.c", "int f(void) { return 0; }\n");
        shop.write("main.c", "int f(void);\nint main(void) { return f(); }\n");
        let beside = llvm.object(&shop, "beside.c", &["-fPIC"]);
        let library = ["-shared", FRONT_END, &beside, "-o", "libbeside.so"];
        llvm.clang(&shop, &[&library[..], &OURS].concat());
        let main = llvm.object(&shop, "main.c", &[FRONT_END]);
        llvm.link_both(&shop, &[main], &[FRONT_END, "-L.", "-lbeside", "-Wl,-rpath,."]);
        llvm.assert_same_counts(&shop, &[], "beside a library without counters");
        // The empty library says nothing of how the program was instrumented.
        let optimised = llvm.object(&shop, "main.c", &["-O1", GENERATE]);
        llvm.link_both(&shop, &[optimised], &[GENERATE, "-L.", "-lbeside", "-Wl,-rpath,."]);
        llvm.assert_same_counts(&shop, &[], "beside a library without counters, optimised");
    }
}

/// Three runs of a position-independent program into one dump are what `llvm-profdata` makes of three raw
/// profiles, targets of calls included.
#[test]
fn three_runs_in_one_dump() {
    for llvm in all() {
        let shop = kinds();
        let flags = &["-O1", GENERATE, "-fPIE"];
        build(llvm, &shop, flags, &["-pie"]);
        let profiles = ["10", "200", "30"].map(|rounds| {
            let profile = format!("{rounds}.profraw");
            for (program, variable, file) in [
                ("stock", "LLVM_PROFILE_FILE", profile.as_str()),
                ("ours", "LLVM_PROFILE_FILE", "ours.csraw"),
            ] {
                let mut command = shop.command(shop.path(program));
                succeed(command.env(variable, file).arg(rounds));
            }
            profile
        });
        let stock = llvm.merged(&shop, &profiles.each_ref().map(String::as_str));
        let ours = llvm.text_of_dump(&shop, "ours.csraw");
        assert_same_text(&ours, &stock, &format!("LLVM {}", llvm.major));
        assert!(ours.contains("second_locali:"), "targets are named: {ours}");
    }
}

/// With room for all values of a site with LLVM's runtime, too.
const OF_THE_OPTIMISER: [&str; 3] = [GENERATE, "-mllvm", "-vp-counters-per-site=20"];
const OF_THE_FRONT_END: [&str; 3] = [FRONT_END, "-mllvm", "-enable-value-profiling"];

fn oldest_and_newest() -> Vec<Llvm> {
    let found = all();
    found.first().into_iter().chain(found.last()).copied().collect()
}

/// Lua and SQLite with these versions of clang. `optimised` are those of the sources that clang compiles with the
/// profiles, too.
fn real_program(
    versions: &[Llvm],
    sources: impl Fn(&Workshop) -> Option<Vec<String>>,
    mode: &[&str],
    flags: &[&str],
    size: &[&str],
    optimised: &[&str],
) {
    for llvm in versions {
        let shop = Workshop::new();
        let Some(sources) = sources(&shop) else { return };
        let compile = [&["-O1", "-w"], &crate::programs::REPEATABLE[..], flags].concat();
        let flags = [mode, &compile].concat();
        let mut objects: Vec<String> =
            sources.iter().map(|source| llvm.object(&shop, source, &flags)).collect();
        // Lua hashes the addresses of strings, and linkers merge them with the runtime's.
        for object in &objects {
            let apart = ".rodata.str1.1=alloc,load,readonly,data,contents";
            succeed(shop.command("objcopy").args(["--set-section-flags", apart, object]));
        }
        shop.program("fixed_memory.c");
        objects.push(llvm.object(&shop, "fixed_memory.c", &["-O2", "-fno-builtin"]));
        let link = [&[mode[0], "-lm"], &FIXED_ADDRESSES[..]].concat();
        llvm.link_both(&shop, &objects, &link);
        llvm.assert_same_counts(&shop, size, "a real program");
        for source in optimised {
            llvm.assert_same_object(&shop, source, &compile);
        }
    }
}

#[test]
fn lua() {
    let flags = ["-std=gnu99", "-DLUA_USE_POSIX"];
    real_program(
        &oldest_and_newest(),
        crate::programs::lua_sources,
        &OF_THE_OPTIMISER,
        &flags,
        &["benchmark.lua", "1"],
        &["lvm.c", "lgc.c", "ltable.c"],
    );
}

fn sqlite_with(versions: &[Llvm], mode: &[&str], level: &str) {
    let defines =
        ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_ENABLE_MATH_FUNCTIONS"];
    let flags = [&defines[..], &[level]].concat();
    real_program(versions, crate::programs::sqlite_sources, mode, &flags, &["200"], &[]);
}

/// Lua is another large program, and has both: `cargo test --test llvm_runtime -- --ignored sqlite_by_hand`.
#[test]
#[ignore = "a minute for each compiler"]
fn sqlite_by_hand() {
    sqlite_with(&oldest_and_newest(), &OF_THE_OPTIMISER, "-O1");
}

/// The front end counts before clang optimises anything.
#[test]
#[ignore = "slow"]
fn sqlite_of_the_front_end() {
    sqlite_with(&oldest_and_newest(), &OF_THE_FRONT_END, "-O0");
}

/// rustc puts our archive in front of its own runtime's if it is a native library of the program.
#[test]
#[ignore = "slow"]
fn rustc() {
    let Some(llvm) = of_rustc() else { return };
    let shop = Workshop::new();
    for name in ["values.rs", "generic.rs"] {
        shop.program(name);
    }
    let here = format!("-Lnative={}", shop.path("").display());
    let ours = [&here, "-lstatic=countersink_rt"];
    for (source, flags) in [
        ("values.rs", &["-Cprofile-generate"][..]),
        ("values.rs", &["-Cprofile-generate", "-Clto=fat"]),
        ("values.rs", &["-Cprofile-generate", "-Clto=thin", "-Ccodegen-units=4"]),
        ("values.rs", &["-Cprofile-generate", "-Cpanic=abort", "-Ctarget-feature=+crt-static"]),
        ("values.rs", &["-Cinstrument-coverage"]),
        ("values.rs", &["-Cinstrument-coverage", "-Copt-level=0"]),
        ("generic.rs", &["-Cprofile-generate"]),
        ("generic.rs", &["-Cprofile-generate", "-Copt-level=0"]),
        ("generic.rs", &["-Cinstrument-coverage"]),
    ] {
        for (program, ours) in [("stock", &[][..]), ("ours", &ours)] {
            let mut rustc = shop.command("rustc");
            rustc.args(["-O", "--edition=2024", source, "-o", program]);
            succeed(rustc.args(flags).args(ours));
        }
        let about = format!("{source} {flags:?}");
        assert!(of_stock(&shop, "ours").is_empty(), "{about}");
        llvm.assert_same_counts(&shop, &[], &about);
    }
}
