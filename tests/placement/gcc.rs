//! Every gcc at hand takes the profiles of Lua, SQLite and a C++ program that are made for it, and annotates
//! blocks with their counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use countersink::formats::afdo_v1_v3::decode::decode;
use countersink::profile::{Body, Profile};

use crate::compilers::Compiler;
use crate::harness::{Workshop, gcc_for_version_2, gcc_major, have};
use crate::programs::{
    Built, CLOCK, LUA, Rocksdb, SQLITE, WRAPPER, lua_sources, run_classes, run_rocksdb,
    sqlite_sources,
};
use crate::reference::{lines_of_callgrind, lines_of_gcov, share_of};

/// Counts by function.
type Counts = BTreeMap<String, BTreeSet<u64>>;

/// Counts that blocks got from the profile, by function. They come from the dump of a compilation.
fn annotated(compiler: &Compiler, dump: &str) -> Counts {
    let mut counts = Counts::new();
    let (mut function, mut before) = (String::new(), "");
    for line in dump.lines() {
        let count = if compiler.major() >= 16 {
            // From 16 on counts are scaled, but the dump tells them before that.
            if let Some((_, name)) = line.split_once("Annotating BB profile of ") {
                function = name.rsplit_once('/').map_or(name, |(name, _)| name).to_owned();
            }
            let annotated = line.split_once("Annotated bb ");
            annotated.and_then(|(_, rest)| rest.split_once(" with count ")?.1.split_once(','))
        } else {
            if line == "{" {
                // The line before this one is the declaration: `int *name (int x)`.
                let name = before.split(" (").next().unwrap().rsplit(' ').next().unwrap();
                function = name.trim_start_matches('*').to_owned();
            }
            line.split_once(" count ").and_then(|(_, rest)| rest.split_once(" (auto FDO"))
        };
        if let Some((count, _)) = count {
            counts.entry(function.clone()).or_default().insert(count.parse().unwrap());
        }
        before = line;
    }
    counts
}

/// Compiles with the profile made for this compiler. Gives the counts that it annotated, and the largest
/// counts of each function in the profile.
fn compile_with_profile(
    compiler: &Compiler,
    shop: &Workshop,
    sources: &[String],
    flags: &[&str],
) -> (Counts, Vec<(Vec<u64>, String)>) {
    let major = compiler.major().to_string();
    shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &major, "-o", "prog.afdo"]);
    let mut counts = Counts::new();
    for source in sources {
        let dump = format!("{}.afdo", source.rsplit('/').next().unwrap());
        let dump_flag = format!("-fdump-ipa-afdo-blocks-details={dump}");
        let compile = ["-O1", "-fauto-profile=prog.afdo", &dump_flag];
        compiler.compile(shop, source, &[&compile[..], flags].concat());
        let dump = String::from_utf8_lossy(&shop.read(dump)).into_owned();
        for (function, found) in annotated(compiler, &dump) {
            counts.entry(function).or_default().extend(found);
        }
    }
    let decoded = decode(&shop.read("prog.afdo")).unwrap();
    // It has nothing that any compiler is known to crash on.
    assert!(decoded.findings.is_empty());
    let profile = decoded.profile;
    let largest = |body: &Body| {
        let counts: BTreeSet<_> =
            body.positions.values().filter_map(|record| record.count).collect();
        counts.into_iter().rev().take(LARGEST).collect::<Vec<u64>>()
    };
    let name = |symbol| String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap();
    // Other functions exist only inlined, here as in the program that ran.
    let functions = profile.functions.iter().filter(|(_, function)| function.head_count > 0);
    let mut hottest: Vec<(Vec<u64>, String)> =
        functions.map(|(&symbol, function)| (largest(&function.body), name(symbol))).collect();
    hottest.sort_by_key(|(counts, _)| Reverse(counts.clone()));
    (counts, hottest)
}

/// Number of a body's largest counts to look for. gcc removes some statements before it reads the profile,
/// and no block takes their counts, so the very largest one need not be found.
const LARGEST: usize = 3;

/// The functions whose bodies the profile has at calls.
fn inlined(shop: &Workshop) -> BTreeSet<String> {
    fn add(profile: &Profile, body: &Body, names: &mut BTreeSet<String>) {
        for (&callee, body) in body.positions.values().flat_map(|record| &record.inlined) {
            names.insert(String::from_utf8(profile.symbols.name(callee).to_vec()).unwrap());
            add(profile, body, names);
        }
    }
    let profile = decode(&shop.read("prog.afdo")).unwrap().profile;
    let mut names = BTreeSet::new();
    profile.functions.values().for_each(|function| add(&profile, &function.body, &mut names));
    names
}

/// gcc 11 and 12 end with an internal error at these without the flags: a side without statements counts 0.
#[test]
fn loops_with_conditions() {
    let shop = Workshop::new();
    let (mut functions, mut calls) = (String::new(), String::new());
    let conditions = [
        "value = value < -2 ? -2 : value; value = value > 2 ? 2 : value;",
        "value = value < -2 ? -2 : value;\nvalue = value > 2 ? 2 : value;",
        "value = value < -2 ? -2 : value > 2 ? 2 : value;",
        "value = value < -2 ?\n-2 :\nvalue > 2 ?\n2 :\nvalue;",
        "if (value > 2)\nvalue = 2;",
        "if (value > 2 || others[i] > 2) value = 2;",
        "if (value > 2 && others[i] > 2)\nvalue = others[i];",
        "if (value > 2)\nvalue += 3;\nelse\nvalue -= 4;",
        "most = most > value ? most : value; value = most;",
    ];
    for (condition, number) in conditions.iter().zip(0..) {
        for of in ["float", "int", "short"] {
            writeln!(
                functions,
                "int {of}_{number}({of} *restrict values, {of} *restrict others, int number)\n\
                 {{\n{of} most = 0;\nif (number <= 0)\nreturn 1;\n\
                 for (int i = 0; i < number; i++)\n\
                 {{\n{of} value = values[i];\n{condition}\nvalues[i] = value;\n}}\nreturn 0;\n}}"
            )
            .unwrap();
            writeln!(
                calls,
                "{{ static {of} values[960], others[960]; int {of}_{number}({of} *, {of} *, int); \
                 {of}_{number}(values, others, 960); }}"
            )
            .unwrap();
        }
    }
    shop.write("loops.c", &functions);
    shop.write("main.c", format!("int main(void)\n{{\n{calls}}}\n"));
    shop.compile("loops.c", &["-O2"]);
    shop.compile("main.c", &["-O2"]);
    shop.link(&["loops.o", "main.o"], "ours", &[]);
    shop.run("ours", &[]);
    let flags = |compiler: &str| {
        let flags = shop.tool_output(&["flags", "--optimise", compiler]);
        String::from_utf8(flags).unwrap()
    };
    let installed = flags("gcc -mavx2");
    for compiler in crate::compilers::all() {
        let major = compiler.major().to_string();
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &major, "-o", "loops.afdo"]);
        let profile = ["-O2", "-fauto-profile=loops.afdo"];
        let printed = flags(&major);
        let flags: Vec<&str> = printed.split_whitespace().collect();
        compiler.compile(&shop, "loops.c", &[&profile[..], &flags].concat());
        // The flags for AVX are those of the gcc on the path.
        if installed.contains("-fno-tree-loop-if-convert") && compiler.major() < 13 {
            let flags: Vec<&str> = installed.split_whitespace().chain(["-mavx2"]).collect();
            compiler.compile(&shop, "loops.c", &[&profile[..], &flags].concat());
        }
    }
}

/// Builds with `-Werror` keep working.
#[test]
fn no_compiler_warns_of_the_flags() {
    let shop = Workshop::new();
    shop.write("empty.c", "");
    for compiler in crate::compilers::all() {
        let flags = shop.tool_output(&["flags", "--optimise", &compiler.major().to_string()]);
        let flags = String::from_utf8(flags).unwrap();
        let flags: Vec<&str> = flags.split_whitespace().collect();
        compiler.compile(&shop, "empty.c", &[&["-O2", "-Werror"], &flags[..]].concat());
    }
}

/// A project's own options against vectorising hold where they hold with `-fprofile-use`.
#[test]
fn loops_are_vectorised_as_with_profile_use() {
    let source = "int a[1000], b[1000];\n\
                  __attribute__((noipa)) void add(int *to, int *from, int n)\n\
                  {\n\
                      for (int i = 0; i < n; i++)\n\
                          to[i] += from[i] * 3;\n\
                  }\n\
                  int main(void)\n\
                  {\n\
                      for (int i = 0; i < 1000; i++)\n\
                          add(a, b, 1000);\n\
                      return 0;\n\
                  }\n";
    for compiler in crate::compilers::all().iter().filter(|compiler| compiler.major() >= 11) {
        let major = compiler.major().to_string();
        let shop = Workshop::new();
        shop.write("add.c", source);
        let instrument = ["-O2", "-g", "-fprofile-generate", "-ftest-coverage"];
        let object = compiler.object(&shop, "add.c", &instrument);
        shop.link(&[&object], "ours", &[]);
        shop.run("ours", &[]);
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &major, "-o", "add.afdo"]);
        shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
        let helps = String::from_utf8(shop.tool_output(&["flags", "--optimise", &major])).unwrap();
        let ours: Vec<&str> =
            ["-fauto-profile=add.afdo"].into_iter().chain(helps.split_whitespace()).collect();
        let is_vectorised = |flags: &[&[&str]]| {
            let flags = [&[&["-O2", "-fopt-info-vec=vectorised"][..]], flags].concat().concat();
            std::fs::write(shop.path("vectorised"), "").unwrap();
            compiler.object(&shop, "add.c", &flags);
            String::from_utf8(shop.read("vectorised")).unwrap().contains("loop vectorized")
        };
        let loops = ["-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize"];
        for own in [&[][..], &["-fno-tree-vectorize"], &loops] {
            let [used, profiled] = [&["-fprofile-use"][..], &ours]
                .map(|profile| [is_vectorised(&[own, profile]), is_vectorised(&[profile, own])]);
            assert_eq!(profiled, used, "gcc {major}, {own:?} before and behind");
        }
    }
}

/// Of the 20 hottest functions, compilers take the counts of 17, and those with other discriminators of
/// `least_of_another`.
fn compilers_take_the_profile(
    build: impl Fn(&Workshop) -> Option<Built>,
    sources: impl Fn(&Workshop) -> Option<Vec<String>>,
    flags: &[&str],
    least_of_another: usize,
) {
    let shop = Workshop::new();
    let Some(built) = build(&shop) else { return };
    built.link(&shop);
    shop.run("ours", &built.arguments());
    let sources = sources(&shop).unwrap();
    for compiler in crate::compilers::all() {
        let gcc = compiler.major();
        let (counts, hottest) = compile_with_profile(&compiler, &shop, &sources, flags);
        let inlined = inlined(&shop);
        // gcc spreads counts over blocks without lines, and changes some counts where that leads to
        // contradictions.
        let is_taken = |(largest, name): &&(Vec<u64>, String)| {
            let annotated = counts.get(name);
            annotated.is_some_and(|counts| largest.iter().any(|count| counts.contains(count)))
        };
        // A function with bodies at calls in the profile is inlined there. Once a function is inlined at all,
        // none of its calls is left.
        let left =
            hottest.iter().filter(|(_, name)| counts.contains_key(name) || !inlined.contains(name));
        let (taken, others): (Vec<_>, Vec<_>) = left.take(20).partition(is_taken);
        // gcc 16 and later number discriminators otherwise than the compiler that instrumented the program.
        let is_of_another = gcc >= 16 && gcc != gcc_major();
        let least = if is_of_another { least_of_another } else { 17 };
        assert!(taken.len() >= least, "gcc {gcc}: {} taken, not {others:?}", taken.len());
        let executed = hottest.iter().filter(|(counts, _)| counts.first() > Some(&0)).count();
        let is_seen = |name: &String| counts.contains_key(name) || inlined.contains(name);
        let with_counts = hottest.iter().filter(|(_, name)| is_seen(name)).count();
        assert!(
            with_counts * 10 > executed * 9,
            "gcc {gcc}: {with_counts} of {executed} functions"
        );
    }
}

#[test]
fn lua() {
    compilers_take_the_profile(crate::programs::lua, lua_sources, &LUA, 17);
}

/// For link-time optimisation gcc ends soon after it has taken the profile, in a fifth of the time. Of Lua it makes
/// machine code. `cargo test --test placement -- --ignored gcc::sqlite_by_hand`
#[test]
#[ignore = "a minute for each compiler"]
fn sqlite_by_hand() {
    let flags = [&SQLITE[..], &["-flto"]].concat();
    compilers_take_the_profile(crate::programs::sqlite, sqlite_sources, &flags, 10);
}

/// Calls through pointers, with everything that a profile makes gcc optimise. Not every compilation breaks
/// off where gcc reads something that is not there.
#[test]
fn a_program_with_call_targets() {
    let shop = Workshop::new();
    shop.write("quickstart.c", include_bytes!("../../examples/quickstart.c"));
    let object = shop.compile("quickstart.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &["key", "5"]);
    for compiler in crate::compilers::all() {
        let gcc = compiler.major().to_string();
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &gcc, "-o", "prog.afdo"]);
        for _ in 0..5 {
            compiler.compile(&shop, "quickstart.c", &["-O2", "-fauto-profile=prog.afdo"]);
        }
    }
}

#[test]
fn a_cxx_program() {
    if !have("g++") {
        return;
    }
    let shop = Workshop::new();
    shop.program("shapes.h");
    let sources = ["classes.cc", "shapes.cc"].map(|name| {
        shop.program(name);
        name.to_owned()
    });
    let objects = sources.each_ref().map(|source| shop.compile(source, &["-std=gnu++17"]));
    let objects = objects.each_ref().map(String::as_str);
    shop.link(&objects, "ours", &["-lstdc++"]);
    shop.run("ours", &[]);
    for compiler in crate::compilers::all().iter().filter(|compiler| compiler.has_cxx()) {
        let gcc = compiler.major();
        let (counts, hottest) = compile_with_profile(compiler, &shop, &sources, &["-std=gnu++17"]);
        // These dumps do not use assembler names, and each compiler has a library of its own, with templates
        // on other lines.
        let counts: BTreeSet<u64> = counts.into_values().flatten().collect();
        let is_taken =
            |(largest, _): &&(Vec<u64>, String)| largest.iter().any(|count| counts.contains(count));
        let taken = hottest.iter().take(10).filter(is_taken).count();
        assert!(taken >= 5, "gcc {gcc}: {taken}: {hottest:?} {counts:?}");
    }
}

/// Virtual calls that gcc expects to call the function itself. gcc 11 ends with an internal error at a function that a
/// profile inlines in itself.
#[test]
fn a_wrapper() {
    if !have("g++") {
        return;
    }
    let shop = Workshop::new();
    run_classes(&shop, &WRAPPER, &[]);
    for compiler in crate::compilers::all().iter().filter(|compiler| compiler.has_cxx()) {
        let gcc = compiler.major().to_string();
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", &gcc, "-o", "prog.afdo"]);
        compiler.compile(&shop, "wrapper.cc", &["-O2", "-fauto-profile=prog.afdo"]);
    }
}

/// A profile of 6 MB with tens of thousands of functions; a source needs a few of them. Not run by default,
/// because RocksDB takes a quarter of an hour to compile: `cargo test --release --test placement -- --ignored
/// gcc::rocksdb_by_hand`.
#[test]
#[ignore = "compiles for a quarter of an hour"]
fn rocksdb_by_hand() {
    let shop = Workshop::new();
    let Some(Rocksdb { sources, flags, objects }) = run_rocksdb(&shop, &[]) else { return };
    let share = found_of_gcov(&shop, &objects);
    println!("{share} of 1000 executions of gcov");
    assert!(share >= 970);
    let names = ["db/memtable", "table/block_based/block", "table/merging_iterator", "util/crc32c"];
    let sources = names.map(|name| format!("{}/{name}.cc", sources.display()));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    for compiler in crate::compilers::all().iter().filter(|compiler| compiler.has_cxx()) {
        let gcc = compiler.major();
        let (counts, _) = compile_with_profile(compiler, &shop, &sources, &flags);
        let profile = decode(&shop.read("prog.afdo")).unwrap().profile;
        let mut known = BTreeSet::new();
        for function in profile.functions.values() {
            function.body.for_each_record(&mut |record| known.extend(record.count));
        }
        let annotated: BTreeSet<u64> = counts.values().flatten().copied().collect();
        let taken = annotated.intersection(&known).count();
        println!("gcc {gcc}: {} functions, {taken} of {} counts", counts.len(), annotated.len());
        // gcc derives counts of other blocks. From 16 on it also adds up copies that it does not inline, and it numbers
        // the blocks of a line otherwise than the gcc that instrumented the program.
        let least = if gcc < 16 { 0.85 } else { 0.5 };
        let share = taken as f64 / annotated.len() as f64;
        assert!(counts.len() >= 100 && share > least, "gcc {gcc}");
    }
}

/// The share of the executions that gcov knows, line by line, in the profile, in thousandths.
fn found_of_gcov(shop: &Workshop, objects: &[String]) -> u64 {
    shop.tool_output(&["convert", "ours.csraw", "--to", "gcda"]);
    let gcov = lines_of_gcov(shop, objects);
    let ours =
        lines_of_callgrind(&shop.tool_output(&["convert", "ours.csraw", "--to", "callgrind"]));
    share_of(&gcov, &ours)
}

/// The end of the chain: compiles sources of a program with the profile of its run. Gives what gcc says about
/// its optimisations.
fn optimized(shop: &Workshop, compile: &[&str]) -> String {
    shop.tool_output(&["convert", "ours.csraw", "--to", "v2", "-o", "prog.afdo"]);
    let flags = ["-O2", "-I.", "-fauto-profile=prog.afdo", "-fopt-info-all=opt.txt", "-c"];
    shop.gcc(&[&flags[..], compile, &["-o", "again.o"]].concat());
    String::from_utf8_lossy(&shop.read("opt.txt")).into_owned()
}

#[track_caller]
fn promoted(optimized: &str, target: &str) {
    let end = format!("=> {target} (will resolve by ipa-profile)");
    let calls = optimized.lines().filter(|line| line.contains("Indirect call -> direct call"));
    assert!(calls.clone().any(|line| line.ends_with(&end)), "{:?}", calls.collect::<Vec<_>>());
}

/// A hot target of an indirect call becomes a comparison and a direct call.
#[test]
fn hot_targets_are_promoted() {
    let Some(_) = gcc_for_version_2() else { return };
    let shop = Workshop::new();
    shop.program("promoted.c");
    let object = shop.compile("promoted.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    promoted(&optimized(&shop, &["promoted.c"]), "often");
}

#[test]
fn hot_targets_of_virtual_calls_are_promoted() {
    let Some(_) = gcc_for_version_2().filter(|_| have("g++")) else { return };
    let shop = Workshop::new();
    run_classes(&shop, &CLOCK, &[]);
    let optimized = optimized(&shop, &["clock_first.cc"]);
    ["now", "advance"].iter().for_each(|target| promoted(&optimized, target));
    // The call of `next` has a body in the profile, so it becomes direct and is inlined before the others are
    // resolved. The calls in that body are then resolved twice: there and in the function itself.
    let of_next = optimized.lines().filter(|line| {
        line.starts_with("clock.h:8:") && line.ends_with("=> advance (will resolve by ipa-profile)")
    });
    assert_eq!(of_next.count(), 2, "{optimized}");
}

#[test]
#[ignore = "slow"]
fn a_hot_target_of_lua_is_promoted() {
    let Some(_) = gcc_for_version_2() else { return };
    let shop = Workshop::new();
    let Some(built) = crate::programs::lua(&shop) else { return };
    built.link(&shop);
    shop.run("ours", &built.arguments());
    // luaD_rawrunprotected runs coroutines more often than anything else.
    let optimized = optimized(&shop, &["-std=gnu99", "-DLUA_USE_POSIX", "ldo.c"]);
    promoted(&optimized, "resume");
}
