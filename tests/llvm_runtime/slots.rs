//! Functions for whose sites the compiler lays out no slots (`-vp-static-alloc=false`): the runtime gives them some.

use countersink::convert::llvm::profile;
use countersink::counters::{Function, ValueKind};
use countersink::raw::dump::Dump;

use crate::harness::{Workshop, succeed};
use crate::llvm::both::{OURS, assert_same_text};
use crate::llvm::{Llvm, all};

const GENERATE: &str = "-fprofile-generate";
const WITHOUT: [&str; 5] = ["-O1", GENERATE, "-pthread", "-mllvm", "-vp-static-alloc=false"];
const WITH: [&str; 3] = ["-O1", GENERATE, "-pthread"];

/// A folder with the program, `with` slots of the compiler, and `without`, linked with what `countersink flags`
/// prints for these options.
fn programs(llvm: Llvm, options: &[&str]) -> Workshop {
    let shop = Workshop::new();
    let printed = shop.tool_output(&[&["flags"], options].concat());
    let printed = String::from_utf8(printed).unwrap();
    let link: Vec<&str> = printed.split_whitespace().collect();
    shop.program("slots.c");
    for (name, flags) in [("with", &WITH[..]), ("without", &WITHOUT)] {
        let object = llvm.object(&shop, "slots.c", flags);
        llvm.clang(&shop, &[&[GENERATE, "-pthread", &object, "-o", name], &link[..]].concat());
    }
    shop
}

/// The text of what a program counts, or leaves in a live file.
fn counted(llvm: Llvm, shop: &Workshop, program: &str, how: &str) -> String {
    let dump = format!("{program}.csraw");
    let _ = std::fs::remove_file(shop.path(&dump));
    let mut command = shop.command(shop.path(program));
    let output = command.arg(how).env("COUNTERSINK_FILE", &dump).output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    if how == "kill" {
        shop.tool_output(&["fold", &dump]);
    }
    llvm.text_of_dump(shop, &dump)
}

fn functions(shop: &Workshop, dump: &str) -> Vec<Function> {
    profile(&Dump::parse(&shop.read(dump)).unwrap()).unwrap().profile.functions
}

/// Whoever lays the slots out: the same values, however often processes begin and write.
#[test]
fn the_same_values() {
    for llvm in all() {
        let shop = programs(llvm, &[]);
        for how in ["", "idle", "fork", "reset", "write"] {
            let [with, without] =
                ["with", "without"].map(|program| counted(llvm, &shop, program, how));
            assert_same_text(&without, &with, &format!("LLVM {}, {how}", llvm.major));
        }
        // Runs that saw no values, and runs that saw some, are of one build.
        for how in ["idle", "", "idle"] {
            let mut command = shop.command(shop.path("without"));
            succeed(command.arg(how).env("COUNTERSINK_FILE", "merged.csraw"));
        }
        let dump = Dump::parse(&shop.read("merged.csraw")).unwrap();
        assert_eq!((dump.modules.len(), dump.modules[0].sums.runs), (1, 3));
    }
}

/// Threads that meet at a function without slots.
#[test]
fn threads() {
    for llvm in all() {
        let shop = programs(llvm, &[]);
        counted(llvm, &shop, "without", "threads");
        let functions = functions(&shop, "without.csraw");
        let work = functions.iter().find(|function| function.name == b"work").unwrap();
        let values = &work.values[ValueKind::IndirectCall as usize][0].values;
        assert_eq!(values.len(), 3, "{values:?}");
        // The hooks for values have no atomic form.
        let events: u64 = values.iter().map(|value| value.count).sum();
        assert!((50..=4050).contains(&events), "{events}");
    }
}

/// Threads one after the other: what they have counted elsewhere than the first one is not lost.
#[test]
fn turns_of_threads() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("slots.c");
        for flags in [&WITH[..], &WITHOUT] {
            let object = llvm.object(&shop, "slots.c", flags);
            llvm.link_both(&shop, &[object], &[GENERATE, "-pthread"]);
            for how in ["turns", "turns, reset"] {
                llvm.assert_same_counts(&shop, &[how], how);
            }
            let [whole, written] = ["turns", "turns, written"].map(|how| {
                counted(llvm, &shop, "ours", how);
                let functions = functions(&shop, "ours.csraw");
                functions.into_iter().find(|function| function.name == b"work")
            });
            assert_eq!(written, whole, "LLVM {}", llvm.major);
        }
    }
}

/// Objects with and without slots in one program.
#[test]
fn in_one_program() {
    for llvm in all() {
        let shop = Workshop::new();
        for name in ["kinds.h", "kinds_first.cc", "kinds_second.cc"] {
            shop.program(name);
        }
        for (first, second) in [(&WITH[..], &WITHOUT[..]), (&WITHOUT, &WITH)] {
            let objects = [("kinds_first.cc", first), ("kinds_second.cc", second)]
                .map(|(source, flags)| llvm.object(&shop, source, flags));
            llvm.link_both(&shop, &objects, &[GENERATE]);
            llvm.assert_same_counts(&shop, &[], "with and without slots");
        }
    }
}

/// A library that a program opens, closes and opens again.
#[test]
fn a_library_that_is_opened_twice() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.program("library.c");
        shop.write(
            "main.c",
            "#include <dlfcn.h>\nint called_back(int x) { return x; }\n\
             int main(void)\n{\n  for (int i = 0; i < 2; i++) {\n\
               void *library = dlopen(\"./library.so\", RTLD_NOW);\n\
               int (*work)(int (*)(int), int);\n\
               if (!library) return 1;\n\
               *(void **)&work = dlsym(library, \"library_work\");\n\
               work(called_back, 10);\n  dlclose(library);\n  }\n  return 0;\n}\n",
        );
        let inner = llvm.object(&shop, "library.c", &[&WITHOUT[..], &["-fPIC"]].concat());
        let library = ["-shared", GENERATE, &inner, "-o", "library.so"];
        llvm.clang(&shop, &[&library[..], &OURS].concat());
        let main = llvm.object(&shop, "main.c", &WITHOUT);
        llvm.clang(
            &shop,
            &[&[GENERATE, &main, "-rdynamic", "-ldl", "-o", "ours"], &OURS[..]].concat(),
        );
        succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
        let functions = functions(&shop, "ours.csraw");
        let work = functions.iter().find(|function| function.name == b"library_work").unwrap();
        let values = &work.values[ValueKind::IndirectCall as usize][0].values;
        let events: u64 = values.iter().map(|value| value.count).sum();
        assert_eq!(events, 20, "{values:?}");
    }
}

/// Live files have no room for slots: such sites stay empty, the events are counted as lost, and compilers take the
/// profile.
#[test]
fn live() {
    for llvm in all() {
        let shop = programs(llvm, &["--live"]);
        for (how, dropped) in [("", 100), ("kill", 0), ("fork", 140)] {
            let with = counted(llvm, &shop, "with", how);
            let without = counted(llvm, &shop, "without", how);
            let is_value = |line: &str| {
                line.rsplit_once(':').is_some_and(|(_, count)| count.parse::<u64>().is_ok())
            };
            assert!(with.lines().any(is_value), "{with}");
            assert!(!without.lines().any(is_value), "{without}");
            let counters = |functions: Vec<Function>| -> Vec<(Vec<u64>, [usize; 3])> {
                let sites = |function: &Function| function.values.each_ref().map(Vec::len);
                functions
                    .iter()
                    .map(|function| (function.counters.clone(), sites(function)))
                    .collect()
            };
            let [with, without] =
                ["with.csraw", "without.csraw"].map(|dump| counters(functions(&shop, dump)));
            assert_eq!(without, with, "LLVM {}, {how}", llvm.major);
            let dump = Dump::parse(&shop.read("without.csraw")).unwrap();
            assert_eq!(dump.modules[0].sums.dropped, dropped, "LLVM {}, {how}", llvm.major);
            let clang = format!("clang-{}", llvm.major);
            let convert = ["convert", "without.csraw", "--to", "profdata", "--for-llvm", &clang];
            shop.tool_output(&[&convert[..], &["-o", "without.profdata"]].concat());
            let used = ["-O1", "-Werror", "-fprofile-use=without.profdata", "-c", "slots.c"];
            succeed(shop.command(&clang).args(used));
        }
    }
}
