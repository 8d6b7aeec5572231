//! Every way of putting images together: compilers of several families and versions, libraries, linkers.

use std::collections::{BTreeMap, BTreeSet};

use countersink::convert::llvm::profile;
use countersink::counters::{Function, ValueKind, name_ref};
use countersink::raw::dump::Dump;

use crate::harness::{Workshop, succeed};
use crate::llvm::both::{OURS, of_stock};
use crate::llvm::{Llvm, all};

const GENERATE: &str = "-fprofile-generate";

/// The functions of a dump by their names.
fn functions(shop: &Workshop, dump: &str) -> BTreeMap<String, Function> {
    let converted = profile(&Dump::parse(&shop.read(dump)).unwrap()).unwrap();
    assert_eq!(converted.nameless, 0);
    let named = |function: Function| (String::from_utf8_lossy(&function.name).into(), function);
    converted.profile.functions.into_iter().map(named).collect()
}

/// The targets of a function's first indirect call: names as numbers, and counts.
fn targets(function: &Function) -> Vec<(u64, u64)> {
    let sites = &function.values[ValueKind::IndirectCall as usize];
    sites[0].values.iter().map(|value| (value.value, value.count)).collect()
}

fn largest(function: &Function) -> u64 {
    function.counters.iter().copied().max().unwrap()
}

/// What `countersink flags` prints.
fn flags(shop: &Workshop) -> Vec<String> {
    let printed = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    printed.split_whitespace().map(str::to_owned).collect()
}

/// Oldest and newest.
fn ends() -> Option<[Llvm; 2]> {
    let found = all();
    Some([*found.first()?, *found.last()?])
}

/// Objects of gcc, of two versions of clang and of rustc, with records of two or three layouts, in one image.
#[test]
fn compilers_in_one_image() {
    let Some([oldest, newest]) = ends() else { return };
    let shop = Workshop::new();
    for name in ["mixed.c", "mixed_part.c", "mixed_part.rs"] {
        shop.program(name);
    }
    let gcc = shop.compile("mixed.c", &[]);
    let part = |llvm: Llvm, name: &str| {
        let object = llvm.object(
            &shop,
            "mixed_part.c",
            &["-O1", GENERATE, "-fPIE", &format!("-DNAME={name}")],
        );
        let named = format!("{name}.o");
        std::fs::rename(shop.path(object), shop.path(&named)).unwrap();
        named
    };
    let parts = [part(oldest, "oldest"), part(newest, "newest")];
    let rust = ["-O", "-Cprofile-generate", "-Cpanic=abort", "--edition=2024", "mixed_part.rs"];
    succeed(shop.command("rustc").args(rust).args(["-o", "libpart.a"]));
    let objects = [&gcc, &parts[0], &parts[1]];
    let clang = format!("clang-{}", newest.major);
    // A static library of rustc brings LLVM's runtime along, so ours comes before.
    for (driver, wanted) in [("gcc", "-Wl,-u,__llvm_profile_runtime"), (&clang, GENERATE)] {
        let mut linker = shop.command(driver);
        linker.args(objects).args([wanted, "-o", "ours"]).args(OURS);
        succeed(linker.args(["libpart.a", "-lpthread", "-ldl", "-lm"]));
        assert_eq!(of_stock(&shop, "ours"), Vec::<String>::new(), "{driver}");
        succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
        let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
        let of_llvm = dump.modules.iter().filter(|module| module.is_llvm()).count();
        assert_eq!((dump.modules.len(), of_llvm), (2, 1), "{driver}");
        let shown = String::from_utf8(shop.tool_output(&["show", "ours.csraw"])).unwrap();
        let releases = [oldest, newest].map(|llvm| llvm.raw_version().releases());
        assert!(shown.contains("1 object of gcc "), "{shown}");
        assert!(shown.contains(&format!(" of LLVM {} and LLVM {}", releases[0], releases[1])));
        let functions = functions(&shop, "ours.csraw");
        for (name, rounds, target) in [
            ("oldest_work", 200, 0),
            ("newest_work", 300, name_ref(b"of_oldest")),
            ("rust_work", 400, name_ref(b"of_oldest")),
        ] {
            assert_eq!(largest(&functions[name]), rounds, "{name}");
            assert_eq!(targets(&functions[name]), [(target, rounds)], "{name}");
        }
        assert_eq!(largest(&functions["of_oldest"]), 800);
        shop.tool_output(&["convert", "--to", "gcda", "ours.csraw"]);
        assert_eq!(shop.take_gcda().len(), 1);
        let converted =
            shop.tool(&["convert", "--to", "v4", "--strict", "ours.csraw", "-o", "ours.gcov"]);
        let account = String::from_utf8_lossy(&converted.stderr);
        let [left_out, placed] = account.lines().collect::<Vec<_>>()[..] else {
            panic!("{account}")
        };
        assert!(converted.status.success(), "{account}");
        assert!(left_out.ends_with("left out: 1 module of clang or rustc"), "{account}");
        let is_placed = placed.contains("placed 100.0 %") || placed.contains("placed 99.");
        assert!(is_placed && placed.contains("1 object,"), "{account}");
        std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}

/// A library, with a copy of the runtime of its own, calls a function of the program. It may be of another version.
/// The target is named if the library is closed while the program runs.
#[test]
#[ignore = "slow"]
fn a_library_calls_the_program() {
    let Some([oldest, newest]) = ends() else { return };
    for (program, library) in
        [(oldest, oldest), (newest, newest), (oldest, newest), (newest, oldest)]
    {
        let shop = Workshop::new();
        shop.program("library.c");
        shop.program("uses_library.c");
        let compile = ["-O1", GENERATE, "-fPIC"];
        let inner = library.object(&shop, "library.c", &compile);
        library.clang(
            &shop,
            &[&["-shared", GENERATE, &inner, "-o", "library.so"], &OURS[..]].concat(),
        );
        let flags = flags(&shop);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        for (define, arguments) in
            [("-DLINKED", &[][..]), ("-DOPENED", &[]), ("-DOPENED", &["close"])]
        {
            let outer =
                program.object(&shop, "uses_library.c", &[&compile[..], &[define]].concat());
            let linked: &[&str] =
                if define == "-DLINKED" { &["library.so", "-Wl,-rpath,."] } else { &[] };
            program.clang(&shop, &[&[GENERATE, &outer, "-o", "ours"], linked, &flags].concat());
            assert_eq!(of_stock(&shop, "ours"), Vec::<String>::new());
            let mut command = shop.command(shop.path("ours"));
            succeed(command.args(arguments).env("COUNTERSINK_FILE", "ours.csraw"));
            assert_eq!(Dump::parse(&shop.read("ours.csraw")).unwrap().modules.len(), 2);
            let functions = functions(&shop, "ours.csraw");
            let called = functions.keys().find(|name| name.ends_with("called_back")).unwrap();
            let work = &functions["library_work"];
            assert_eq!(largest(work), 10, "{define} {arguments:?}");
            // At the end of the process the program has left before its libraries, and its names with it.
            let name = if arguments == ["close"] { name_ref(called.as_bytes()) } else { 0 };
            assert_eq!(targets(work), [(name, 10)], "{define} {arguments:?}");
            assert_eq!(largest(&functions[called]), 10);
            std::fs::remove_file(shop.path("ours.csraw")).unwrap();
        }
    }
}

/// A library whose inline function is replaced by the copy of a program that nobody instrumented: the library's own
/// record names it where LLVM's own runtime has a name, although it lies elsewhere.
#[test]
fn a_library_with_a_function_of_the_program() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.write("order.h", "inline int order(const int *a, const int *b) { return *a - *b; }\n");
        shop.write(
            "library.cc",
            "#include \"order.h\"\ntypedef int Order(const int *, const int *);\n\
             __attribute__((noinline)) int first(Order *volatile order, int *v, int n) {\n\
             int *best = v;\n\
             for (int i = 1; i < n; i++) if (order(v + i, best) < 0) best = v + i;\n\
             return *best; }\n\
             int smallest(int *v, int n) { return first(order, v, n); }\n",
        );
        shop.write(
            "program.cc",
            "#include \"order.h\"\nint smallest(int *, int);\n\
             int (*volatile used)(const int *, const int *) = order;\n\
             int main() { int v[] = {3, 1, 2}; return smallest(v, 3) != 1 || used(v, v); }\n",
        );
        let library = llvm.object(&shop, "library.cc", &["-O1", "-fPIC", GENERATE]);
        let link = ["-shared", GENERATE, &library, "-o", "library.so"];
        llvm.clang(&shop, &link);
        llvm.clang(&shop, &["program.cc", "library.so", "-Wl,-rpath,.", "-o", "program"]);
        succeed(shop.command(shop.path("program")).env("LLVM_PROFILE_FILE", "stock.profraw"));
        let stock = llvm.merged(&shop, &["stock.profraw"]);
        llvm.clang(&shop, &[&link[..], &OURS].concat());
        for _ in 0..2 {
            succeed(shop.command(shop.path("program")).env("COUNTERSINK_FILE", "ours.csraw"));
        }
        let first =
            functions(&shop, "ours.csraw").into_iter().find(|(name, _)| name.contains("first"));
        let (_, first) = first.unwrap();
        let order = targets(&first);
        // The record of newer releases leads to the library's copy, and nothing names that of the program.
        let mut names = stock.lines().filter_map(|line| line.strip_suffix(":2"));
        let named = names.find(|name| name.contains("order"));
        assert!(named.is_some() || llvm.major >= 17, "{stock}");
        let name = named.map_or(0, |name| name_ref(name.as_bytes()));
        assert_eq!(order, [(name, 4)], "LLVM {}", llvm.major);
        shop.tool_output(&["check", "ours.csraw"]);
        assert_eq!(Dump::parse(&shop.read("ours.csraw")).unwrap().modules[0].sums.runs, 2);
    }
}

/// gold takes the start of a library for the place of symbols that are not there, such as the version word of
/// objects made by the front end.
#[test]
fn a_library_without_a_version_word() {
    for llvm in ends().into_iter().flatten() {
        for linker in ["-fuse-ld=bfd", "-fuse-ld=gold"] {
            let shop = Workshop::new();
            shop.program("library.c");
            shop.program("uses_library.c");
            let front_end = ["-O1", "-fprofile-instr-generate", "-fPIC", "-DLINKED"];
            let objects = ["library.c", "uses_library.c"]
                .map(|source| llvm.object(&shop, source, &front_end));
            let library = ["-shared", front_end[1], &objects[0], "-o", "library.so", linker];
            llvm.clang(&shop, &[&library[..], &OURS[..]].concat());
            let flags = flags(&shop);
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let program =
                [front_end[1], &objects[1], "-o", "ours", linker, "library.so", "-Wl,-rpath,."];
            llvm.clang(&shop, &[&program[..], &flags].concat());
            succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
            let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
            let stamps = dump.modules.iter().flat_map(|module| &module.objects);
            let stamps: Vec<u32> = stamps.map(|object| object.stamp).collect();
            assert_eq!(stamps, [0, 0], "LLVM {}, {linker}", llvm.major);
        }
    }
}

/// Symbols in the table of the dynamic linker.
fn exported(shop: &Workshop, program: &str) -> BTreeSet<String> {
    let printed = succeed(shop.command("nm").args(["-D", "--defined-only", program]));
    let printed = String::from_utf8(printed).unwrap();
    printed.lines().filter_map(|line| Some(line.split_whitespace().nth(2)?.to_owned())).collect()
}

/// A program shows nothing but where its images meet; a library shows nothing of LLVM's.
#[test]
fn exported_symbols() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("library.c");
        shop.write("main.c", "int main(void) { return 0; }\n");
        let main = llvm.object(&shop, "main.c", &["-O1", GENERATE]);
        let flags = flags(&shop);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        llvm.clang(&shop, &[&[GENERATE, &main, "-o", "ours"], &flags[..]].concat());
        let ours = exported(&shop, "ours");
        let profile = |name: &&String| {
            ["llvm", "lprof", "countersink", "gcov"].iter().any(|part| name.contains(part))
        };
        let ours: Vec<&String> = ours.iter().filter(profile).collect();
        assert_eq!(ours, ["countersink_images"], "LLVM {}", llvm.major);
        let library = llvm.object(&shop, "library.c", &["-O1", GENERATE, "-fPIC"]);
        llvm.clang(
            &shop,
            &[&["-shared", GENERATE, &library, "-o", "library.so"], &OURS[..]].concat(),
        );
        let of_library = exported(&shop, "library.so");
        assert!(of_library.contains("countersink_images") && of_library.contains("library_work"));
        // Linkers export the bounds of sections, each image its own.
        let of_linker = |name: &str| name.starts_with("__start_") || name.starts_with("__stop_");
        let of_llvm = |name: &&String| name.contains("llvm") && !of_linker(name);
        let shown: Vec<&String> = of_library.iter().filter(of_llvm).collect();
        assert!(shown.is_empty(), "LLVM {}: {shown:?}", llvm.major);
    }
}

/// The linkers take no member of LLVM's own archive.
#[test]
fn members_that_linkers_take() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("values.cc");
        for mode in [GENERATE, "-fprofile-instr-generate"] {
            let object = llvm.object(&shop, "values.cc", &["-O1", mode]);
            let linkers: &[&str] =
                if llvm.has_lld() { &["bfd", "gold", "lld"] } else { &["bfd", "gold"] };
            for linker in linkers {
                let chosen = format!("-fuse-ld={linker}");
                llvm.clang(
                    &shop,
                    &[&[mode, &object, &chosen, "-Wl,-Map,map", "-o", "ours"], &OURS[..]].concat(),
                );
                let map = String::from_utf8_lossy(&shop.read("map")).into_owned();
                let member =
                    |line: &&str| line.contains("libclang_rt.profile") && line.contains(".o)");
                let taken: Vec<&str> = map.lines().filter(member).collect();
                assert!(taken.is_empty(), "LLVM {}, {linker}: {taken:?}", llvm.major);
                assert!(map.contains("countersink_rt_llvm.o"), "{linker}");
                shop.run("ours", &[]);
            }
        }
    }
}

/// A program of gcc alone takes no member that is for LLVM's instrumentation.
#[test]
fn programs_of_gcc_alone() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    shop.link(&[&object], "ours", &["-Wl,-Map,map"]);
    let map = String::from_utf8(shop.read("map")).unwrap();
    let members = map.lines().filter(|line| line.contains("libcountersink_rt.a("));
    let members: BTreeSet<&str> = members
        .filter_map(|line| line.split_once("libcountersink_rt.a(")?.1.split(')').next())
        .collect();
    assert!(members.iter().any(|name| name.ends_with("countersink_rt.o")), "{members:?}");
    assert!(!members.iter().any(|name| name.contains("llvm")), "{members:?}");
    let symbols = String::from_utf8(succeed(shop.command("nm").arg("ours"))).unwrap();
    let of_llvm = |line: &&str| line.contains("llvm");
    assert_eq!(symbols.lines().find(of_llvm), None);
}

/// A program that defines the symbol which asks for the runtime: nothing happens at its start and its end.
#[test]
fn programs_that_opt_out() {
    for llvm in all() {
        let shop = Workshop::new();
        for name in ["kinds.h", "kinds_first.cc", "kinds_second.cc"] {
            shop.program(name);
        }
        shop.write("opt_out.c", "int __llvm_profile_runtime;\n");
        let objects = ["kinds_first.cc", "kinds_second.cc", "opt_out.c"]
            .map(|source| llvm.object(&shop, source, &["-O1", GENERATE]));
        llvm.link_both(&shop, &objects, &[GENERATE]);
        let stock = shop.run("stock", &[]);
        assert_eq!(shop.run("ours", &[]), stock);
        for extension in ["csraw", "profraw", "part"] {
            assert_eq!(
                shop.files(extension),
                Vec::<std::path::PathBuf>::new(),
                "LLVM {}",
                llvm.major
            );
        }
    }
}

/// Records of a version that nobody knows are left out, wherever they are among the others, and told once.
#[test]
fn records_of_an_unknown_version() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("unknown.s");
        shop.gcc(&["-c", "unknown.s"]);
        for name in ["kinds.h", "kinds_first.cc", "kinds_second.cc"] {
            shop.program(name);
        }
        let objects = ["kinds_first.cc", "kinds_second.cc"]
            .map(|source| llvm.object(&shop, source, &["-O1", GENERATE]));
        let [first, second] = objects.each_ref().map(String::as_str);
        let run = |objects: &[&str]| {
            llvm.clang(&shop, &[objects, &[GENERATE, "-o", "ours"], &OURS].concat());
            let output = shop
                .command(shop.path("ours"))
                .env("COUNTERSINK_FILE", "u.csraw")
                .output()
                .unwrap();
            assert!(output.status.success(), "LLVM {}: {output:?}", llvm.major);
            let functions = functions(&shop, "u.csraw");
            std::fs::remove_file(shop.path("u.csraw")).unwrap();
            (functions, String::from_utf8(output.stderr).unwrap())
        };
        let (known, told) = run(&[first, second]);
        assert_eq!(told, "");
        assert!(known.len() > 10);
        for order in [
            [first, "unknown.o", second],
            ["unknown.o", first, second],
            [first, second, "unknown.o"],
        ] {
            let (functions, told) = run(&order);
            let what = "176 bytes of function records are of an unknown version; their counts are left out";
            assert_eq!(
                told,
                format!("countersink: {}: {what}\n", shop.path("u.csraw").display()),
                "LLVM {}, {order:?}",
                llvm.major
            );
            assert_eq!(functions, known, "LLVM {}, {order:?}", llvm.major);
        }
    }
}

/// Resolvers of functions, early constructors: all values are counted, as with LLVM's runtime.
#[test]
#[ignore = "slow"]
fn before_the_image_begins() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("early.c");
        for (compile, link) in [("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-DSTATIC", "-static")]
        {
            let object = llvm.object(&shop, "early.c", &["-O1", GENERATE, compile]);
            llvm.link_both(&shop, &[object], &[GENERATE, link]);
            llvm.assert_same_counts(&shop, &[], link);
        }
    }
}

/// clang's `--coverage`: LLVM's own runtime writes its files, and the calls for them are its own, too. Our flags
/// change nothing about that, and count the rest.
#[test]
fn coverage_of_clang() {
    for llvm in ends().into_iter().flatten() {
        let linkers: &[&str] =
            if llvm.has_lld() { &["bfd", "gold", "lld"] } else { &["bfd", "gold"] };
        for linker in linkers {
            for more in [&[][..], &[GENERATE, "-DFILE_NAME"]] {
                let shop = Workshop::new();
                shop.program("coverage.c");
                let object = llvm.object(&shop, "coverage.c", &[&["--coverage"], more].concat());
                let linker = format!("-fuse-ld={linker}");
                let words = [&["--coverage", &object, &linker], more].concat();
                let flags = flags(&shop);
                let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
                llvm.clang(&shop, &[&words[..], &["-o", "stock"]].concat());
                llvm.clang(&shop, &[&words[..], &["-o", "ours"], &flags].concat());
                for how in ["", "dump", "reset", "fork"] {
                    let [stock, ours] = ["stock", "ours"].map(|program| {
                        let mut command = shop.command(shop.path(program));
                        succeed(command.arg(how).env("COUNTERSINK_FILE", "ours.csraw"));
                        shop.take_gcda()
                    });
                    let about = format!("LLVM {}, {linker} {more:?} {how}", llvm.major);
                    assert_eq!((ours.len(), ours), (1, stock), "{about}");
                }
                if !more.is_empty() {
                    // Four runs: one resets, and one has a child.
                    let work = &functions(&shop, "ours.csraw")["work"];
                    assert_eq!(largest(work), 4 * 15 + 100, "LLVM {}, {linker}", llvm.major);
                }
            }
        }
    }
}
