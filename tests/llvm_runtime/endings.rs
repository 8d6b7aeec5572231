//! Processes of programs that clang instruments: however they begin and end, their counts are kept once.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersink::convert::llvm::profile;
use countersink::raw::dump::Dump;

use crate::harness::{Workshop, succeed};
use crate::llvm::Llvm;

/// Dumps are named by the variable that LLVM's runtime has, too.
const FILE: [(&str, &str); 1] = [("LLVM_PROFILE_FILE", "ours.csraw")];
const FLAGS: [&str; 5] =
    ["-O1", "-fprofile-generate", "-fprofile-update=atomic", "-pthread", "-std=c11"];

/// A source of the folder linked as `ours`, and as `wrapped` with what keeps counts at `_exit`.
fn program(llvm: Llvm, source: &str) -> Workshop {
    let shop = Workshop::new();
    shop.program(source);
    let object = llvm.object(&shop, source, &FLAGS);
    for (name, options) in [("ours", &[][..]), ("wrapped", &["--wrap-exit"])] {
        let printed = shop.tool_output(&[&["flags"], options].concat());
        let printed = String::from_utf8(printed).unwrap();
        let link: Vec<&str> = printed.split_whitespace().collect();
        let words = ["-fprofile-generate", "-pthread", &object, "-o", name];
        llvm.clang(&shop, &[&words[..], &link].concat());
    }
    shop
}

/// Oldest and newest.
fn ends() -> Vec<Llvm> {
    let found = crate::llvm::all();
    found.first().into_iter().chain(found.last()).copied().collect()
}

/// Runs, and rounds of work, in a dump; 0 if there is none.
fn work_in(shop: &Workshop) -> (u64, u64) {
    let Ok(bytes) = std::fs::read(shop.path("ours.csraw")) else { return (0, 0) };
    let dump = Dump::parse(&bytes).unwrap();
    let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
    let converted = profile(&dump).unwrap();
    let work = converted.profile.functions.iter().find(|function| function.name == b"work");
    (module.sums.runs, work.unwrap().counters.iter().copied().max().unwrap())
}

fn take_work(shop: &Workshop) -> u64 {
    let (_, rounds) = work_in(shop);
    let _ = std::fs::remove_file(shop.path("ours.csraw"));
    rounds
}

#[test]
fn every_ending() {
    for llvm in ends() {
        let shop = program(llvm, "survive.c");
        for (program, ending, signals, rounds) in [
            ("ours", "return", "", 100),
            ("ours", "exit in a thread", "", 100),
            ("ours", "late destructor", "", 150),
            ("ours", "quick_exit", "", 100),
            ("ours", "_exit", "", 0),
            ("wrapped", "_exit", "", 100),
            ("wrapped", "_Exit", "", 100),
            ("ours", "SIGTERM", "", 0),
            ("ours", "SIGTERM", "TERM,SEGV", 100),
            ("ours", "fault", "TERM,SEGV", 100),
            ("ours", "stack overflow", "SEGV", 100),
            ("ours", "abort", "", 0),
            ("ours", "abort", "ABRT", 100),
            ("ours", "SIGKILL", "TERM", 0),
            ("wrapped", "vfork", "TERM", 100),
        ] {
            let mut command = shop.command("sh");
            command.args(["-c", "ulimit -c 0; exec \"./$0\" \"$1\"", program, ending]).envs(FILE);
            if !signals.is_empty() {
                command.env("COUNTERSINK_ON_SIGNAL", signals);
            }
            let output = command.output().unwrap();
            let about = format!("LLVM {}, {program} {ending} {signals}", llvm.major);
            assert!(output.stderr.is_empty(), "{about}: {output:?}");
            assert_eq!(take_work(&shop), rounds, "{about}");
        }
        assert_eq!(shop.files("part"), Vec::<std::path::PathBuf>::new());
    }
}

/// Children count from zero, and a program that ends by exec writes before. LLVM's own runtime counts a parent's
/// work once more in each child.
#[test]
fn processes() {
    for llvm in ends() {
        let shop = program(llvm, "unseen.c");
        for (program, arguments, runs) in [
            ("ours", &["fork"][..], 3),
            ("ours", &["double fork"], 3),
            ("ours", &["children of others"], 1),
            ("ours", &["threads"], 51),
            ("wrapped", &["daemon"], 2),
            ("wrapped", &["execl", "exec"], 1),
            ("wrapped", &["execv", "exec"], 1),
            ("wrapped", &["fexecve", "exec"], 1),
        ] {
            let mut command = shop.command(shop.path(program));
            let printed = succeed(command.args(arguments).envs(FILE));
            let expected: u64 = String::from_utf8(printed).unwrap().trim().parse().unwrap();
            // Processes that a program leaves behind may take longer than the program.
            let start = Instant::now();
            while work_in(&shop) != (runs, expected) && start.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(work_in(&shop), (runs, expected), "LLVM {}, {arguments:?}", llvm.major);
            take_work(&shop);
        }
    }
}

/// Many processes end at the same time, into one file.
#[test]
fn many_at_once() {
    for llvm in ends() {
        let shop = program(llvm, "unseen.c");
        let start = || {
            let mut command = Command::new(shop.path("ours"));
            command.arg("children of others").current_dir(shop.path("")).envs(FILE);
            command.stdout(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = (0..40).map(|_| start()).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(work_in(&shop), (40, 40 * 1010), "LLVM {}", llvm.major);
        assert_eq!(shop.files("part"), Vec::<std::path::PathBuf>::new());
    }
}

/// Threads that count at the same time lose nothing if updates are atomic.
#[test]
fn threads() {
    for llvm in ends() {
        let shop = Workshop::new();
        shop.write(
            "threads.c",
            "#include <pthread.h>\n\
             static int one(int x) { return x + 1; }\n\
             static int two(int x) { return x + 2; }\n\
             static int (*volatile table[2])(int) = {one, two};\n\
             __attribute__((noinline)) void work(int rounds)\n\
             { for (int i = 0; i < rounds; i++) table[i % 2](i); }\n\
             static void *run(void *unused) { work(50000); return unused; }\n\
             int main(void)\n{\n  pthread_t threads[4];\n\
               for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, 0);\n\
               for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);\n  return 0;\n}\n",
        );
        let object = llvm.object(&shop, "threads.c", &FLAGS);
        let words = ["-fprofile-generate", "-pthread", &object, "-o", "ours"];
        llvm.clang(&shop, &[&words[..], &crate::llvm::both::OURS].concat());
        succeed(shop.command(shop.path("ours")).envs(FILE));
        assert_eq!(work_in(&shop), (1, 200_000), "LLVM {}", llvm.major);
        // The hooks for values have no atomic form: events may be lost, but none is made up.
        let converted = profile(&Dump::parse(&shop.read("ours.csraw")).unwrap()).unwrap();
        let work = converted.profile.functions.iter().find(|function| function.name == b"work");
        let values = &work.unwrap().values[0][0].values;
        assert_eq!(values.len(), 2, "{values:?}");
        assert!(values.iter().all(|value| value.value != 0 && value.count > 0), "{values:?}");
        assert!(values.iter().map(|value| value.count).sum::<u64>() <= 200_000, "{values:?}");
    }
}

/// LLVM's own runtime writes before they run.
#[test]
fn destructors_of_static_objects() {
    for llvm in ends() {
        let shop = Workshop::new();
        let source = "int work_done;\n\
                      struct Object { ~Object(); };\n\
                      __attribute__((noinline)) Object::~Object() { work_done++; }\n\
                      static Object first, second;\n\
                      int main() { return work_done; }\n";
        shop.write("objects.cc", source);
        let object = llvm.object(&shop, "objects.cc", &["-O1", "-fprofile-generate"]);
        let words = ["-fprofile-generate", &object, "-o", "ours"];
        llvm.clang(&shop, &[&words[..], &crate::llvm::both::OURS].concat());
        succeed(shop.command(shop.path("ours")).envs(FILE));
        let converted = profile(&Dump::parse(&shop.read("ours.csraw")).unwrap()).unwrap();
        let mut functions = converted.profile.functions.iter();
        let destructor = functions.find(|function| function.name.ends_with(b"D2Ev")).unwrap();
        assert_eq!(destructor.counters, [2], "LLVM {}", llvm.major);
    }
}
