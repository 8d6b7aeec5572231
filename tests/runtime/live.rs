//! Live counters: nothing that happens to a process costs a count, and no count is added twice.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use Runtime::{Libgcov, Live, Ordinary};
use countersink::convert::gcov::names::ident;
use countersink::raw::dump::Dump;
use countersink::raw::dump::SiteView;
use countersink::raw::gcov::Kind;
use rustix::fs::{FlockOperation, flock};

use crate::harness::{Workshop, assert_same_files, have, say_skipped, succeed};

/// A program with live counters, without them, and with libgcov.
fn program(source: &str, flags: &[&str]) -> Workshop {
    let (shop, object) = without_stock(source, flags);
    shop.link_stock(&[&object], "stock", &["-pthread"]);
    shop
}

/// The same for a program whose calls libgcov does not have. Gives its object, too.
fn without_stock(source: &str, flags: &[&str]) -> (Workshop, String) {
    let shop = Workshop::new();
    shop.program(source);
    let flags = [&["-fdata-sections", "-pthread"], flags].concat();
    let object = shop.compile(source, &flags);
    shop.link(&[&object], "without", &["-pthread"]);
    let printed = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
    let link: Vec<&str> = printed.split_whitespace().collect();
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "ours", "-pthread"], &link[..]].concat());
    (shop, object)
}

fn survivor() -> Workshop {
    program("survive.c", &["-fprofile-update=atomic", "-Wno-prio-ctor-dtor"])
}

/// Runs and rounds of work in the dump.
fn work_in(shop: &Workshop) -> (u64, i64) {
    let Ok(bytes) = std::fs::read(shop.path("ours.csraw")) else { return (0, 0) };
    let dump = Dump::parse(&bytes).unwrap();
    let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
    let mut functions = module.functions(&module.objects[0]);
    let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
    let rounds = work.counters(Kind::ARCS).iter().copied().max().unwrap();
    (module.sums.runs, rounds)
}

/// Events and values of the indirect call of `call`.
fn site_in(shop: &Workshop, dump: &str) -> (i64, Vec<(i64, i64)>) {
    let (_, total, _, values) = call_in(Dump::parse(&shop.read(dump)).unwrap());
    (total, values)
}

/// Rounds of `call`; and events, error and values of its indirect call.
fn call_in(dump: Dump) -> (i64, i64, i64, Vec<(i64, i64)>) {
    let module = &dump.modules[0];
    let mut functions = module.functions(&module.objects[0]);
    let call = functions.find(|function| function.ident() == ident(b"call")).unwrap();
    let rounds = call.counters(Kind::ARCS).iter().copied().max().unwrap();
    let site = call.sites(Kind::INDIRECT_CALL).next().unwrap();
    let values = site.pairs.iter().map(|pair| (pair.value, pair.count)).collect();
    (rounds, site.total, site.error, values)
}

fn live_files(shop: &Workshop) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(shop.path("")).unwrap();
    let names = entries.map(|entry| PathBuf::from(entry.unwrap().file_name()));
    names.filter(|name| name.to_str().unwrap().starts_with("ours.csraw.")).collect()
}

fn end(shop: &Workshop, ending: &str) {
    let output = shop.output("ours", &[ending]);
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_counts_are_libgcov_s() {
    let shop = program("processes.c", &[]);
    for arguments in [&["fork"][..], &["late"]] {
        shop.run("stock", arguments);
        let stock = shop.take_gcda();
        shop.run("ours", arguments);
        assert_eq!(live_files(&shop), Vec::<PathBuf>::new());
        assert_same_files(&shop.converted_gcda("ours.csraw"), &stock);
        std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}

/// Ends that no handler can see, and ends for which the ordinary archive needs flags or variables.
#[test]
fn whatever_ends_the_process() {
    let shop = survivor();
    let endings = ["SIGKILL", "_exit", "abort", "fault", "SIGTERM"];
    for (place, ending) in (1..).zip(endings) {
        end(&shop, ending);
        assert_eq!(live_files(&shop).len(), 1, "{ending}");
        end(&shop, "return");
        assert_eq!(live_files(&shop), Vec::<PathBuf>::new());
        assert_eq!(work_in(&shop), (2 * place, 200 * place as i64), "{ending}");
    }
}

/// Links the program so that we see `_exit`.
fn wrap_exit(shop: &Workshop, object: &str) {
    let printed = shop.tool_output(&["flags", "--live", "--wrap-exit"]);
    let printed = String::from_utf8(printed).unwrap();
    let link: Vec<&str> = printed.split_whitespace().collect();
    shop.gcc(&[&["-fprofile-generate", object, "-o", "ours", "-pthread"], &link[..]].concat());
}

/// Ends without destructors that the runtime sees. The counts are in the dump at once, and no file is left.
#[test]
fn ends_without_destructors() {
    let (shop, object) = without_stock("survive.c", &["-fprofile-update=atomic"]);
    end(&shop, "quick_exit");
    assert_eq!((work_in(&shop), live_files(&shop)), ((1, 100), vec![]));
    std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    wrap_exit(&shop, &object);
    for (place, ending) in (1..).zip(["_exit", "_Exit", "quick_exit", "vfork"]) {
        end(&shop, ending);
        let expected = (place, 100 * place as i64);
        assert_eq!((work_in(&shop), live_files(&shop)), (expected, vec![]), "{ending}");
    }
    // If the dump cannot be written, the live file keeps the counts.
    shop.write("ours.csraw.part", "a download");
    let output = shop.output("ours", &["_exit"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the counts wait in a live file") && told.lines().count() == 1, "{told}");
    assert_eq!(live_files(&shop).len(), 2);
    std::fs::remove_file(shop.path("ours.csraw.part")).unwrap();
    end(&shop, "return");
    assert_eq!((work_in(&shop), live_files(&shop)), ((6, 600), vec![]));
}

/// Children that leave by `_exit`, as servers' children do.
#[test]
fn children_that_leave_by_exit() {
    let shop = Workshop::new();
    shop.write(
        "ours.c",
        "#include <sys/wait.h>\n#include <unistd.h>\n
        static volatile int sum;
        __attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) sum += i; }
        int main(void)
        {
            for (int i = 0; i < 3; i++)
                if (fork() == 0) {
                    work(100);
                    _exit(0);
                }
            while (wait(0) > 0) {
            }
            work(10);
        }",
    );
    let object = shop.compile("ours.c", &["-fdata-sections"]);
    wrap_exit(&shop, &object);
    end(&shop, "");
    assert_eq!((work_in(&shop), live_files(&shop)), ((4, 310), vec![]));
}

/// Names of live files are not tried one by one: loading a library costs no calls for those that do not
/// exist.
#[test]
fn few_system_calls_for_a_library_that_is_opened() {
    if !have("strace") {
        return;
    }
    let shop = Workshop::new();
    shop.program("library.c");
    shop.write(
        "ours.c",
        "#include <dlfcn.h>\n
        int main(void)
        {
            for (int i = 0; i < 10; i++) {
                void *library = dlopen(\"./library.so\", RTLD_NOW);
                if (library == 0)
                    return 1;
                dlclose(library);
            }
            return 0;
        }",
    );
    let inner = shop.compile("library.c", &["-fPIC", "-fdata-sections"]);
    shop.gcc(&["ours.c", "-o", "ours"]);
    let calls = |flags: Option<&[&str]>| {
        let flags = flags.map(|flags| {
            String::from_utf8(shop.tool_output(&[&["flags"], flags].concat())).unwrap()
        });
        let flags = flags.unwrap_or_default();
        let link = ["-shared", "-fprofile-generate", &inner, "-o", "library.so"];
        shop.gcc(&[&link[..], &flags.split_whitespace().collect::<Vec<_>>()].concat());
        succeed(shop.command("strace").args(["-o", "trace", "./ours"]));
        String::from_utf8(shop.read("trace")).unwrap().lines().count()
    };
    let (stock, plain, live) = (calls(None), calls(Some(&[])), calls(Some(&["--live"])));
    eprintln!("system calls of ten loads: libgcov {stock}, plain {plain}, live {live}");
    assert!(plain < stock + 10 * 50, "{plain}, libgcov {stock}");
    assert!(live < 2 * plain, "{live}, without live counters {plain}");
}

/// Live files also hold values and targets of calls: SIGKILL does not change the result.
#[test]
fn values_survive() {
    let shop = program("interrupted_work.c", &[]);
    shop.run("without", &["return"]);
    assert!(!shop.output("ours", &["kill"]).status.success());
    assert_eq!(live_files(&shop).len(), 1);
    shop.run("ours", &["nothing"]);
    assert_eq!(site_in(&shop, "ours.csraw"), site_in(&shop, "without.csraw"));
    assert!(site_in(&shop, "ours.csraw").1.len() > 5);
}

fn spawn(shop: &Workshop, ending: &str) -> Child {
    let mut command = Command::new(shop.path("ours"));
    command.arg(ending).current_dir(shop.path("")).stdout(Stdio::null());
    command.env_remove("COUNTERSINK_FILE").spawn().unwrap()
}

/// Many processes that are killed, and many that start at the same time and find what those left.
#[test]
fn many_at_once() {
    let shop = survivor();
    for ending in ["SIGKILL", "return", "_exit", "return"] {
        let children: Vec<_> = (0..20).map(|_| spawn(&shop, ending)).collect();
        children.into_iter().for_each(|mut child| _ = child.wait().unwrap());
    }
    end(&shop, "return");
    assert_eq!(work_in(&shop), (81, 8100));
    assert_eq!(live_files(&shop), Vec::<PathBuf>::new());
}

/// Killed while its threads count at a site with more targets than are kept. Each thread loses at most the
/// event that it was about to count, and all readers find the same.
#[test]
fn full_sites_survive() {
    let shop = program("threads.c", &["-fprofile-update=atomic"]);
    for milliseconds in [0, 3, 5, 10, 15, 20, 25, 30, 35, 40, 60] {
        let mut child = shop.command("./ours").args(["100", "kill"]).spawn().unwrap();
        if milliseconds > 0 {
            std::thread::sleep(Duration::from_millis(milliseconds));
            child.kill().unwrap();
        }
        assert!(!child.wait().unwrap().success());
        if live_files(&shop).is_empty() || shop.read("ours.csraw.live.0").get(..8) == Some(&[0; 8])
        {
            continue;
        }
        let (rounds, total, error, values) =
            call_in(Dump::parse_live(&shop.read("ours.csraw.live.0")).unwrap());
        assert!((total - rounds).abs() <= 4, "{total} calls in {rounds} rounds");
        let kept: i64 = values.iter().map(|(_, count)| count).sum();
        let wrong = values.iter().map(|(_, count)| (count - rounds / 100).abs()).max();
        // An early kill leaves a site that has room for all.
        let lost = total - kept;
        assert!(lost >= 0 && (lost <= 4 || error > 0), "{kept} of {total}, error {error}");
        // In each round each thread makes 10 calls of each target.
        assert!(wrong.unwrap_or(0) <= error + 4 * 10, "{wrong:?}, error {error}");
        shop.run("ours", &["0"]);
        let added = call_in(Dump::parse(&shop.read("ours.csraw")).unwrap());
        assert_eq!(added, (rounds, total, error, values));
        std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}

/// The tool reads live files of processes that are gone or still running.
#[test]
fn the_tool_reads_live_files() {
    let shop = program("interrupted_work.c", &[]);
    shop.run("without", &["return"]);
    assert!(!shop.output("ours", &["kill"]).status.success());
    let text = |input: &str, binary: &str| {
        let convert = ["convert", input, "--binary", binary, "--to", "v4-text"];
        let text = String::from_utf8(shop.tool_output(&convert)).unwrap();
        // Not `main`: one of the processes has not left it.
        text.split("\n\n").find(|function| function.starts_with("\"call\"")).unwrap().to_owned()
    };
    let expected = text("without.csraw", "without");
    assert_eq!(text("ours.csraw.live.0", "ours"), expected);
    assert!(expected.contains("\"call\":0("), "{expected}");
    // As the next start makes of it. Until then there is a warning.
    shop.write("ours.csraw", shop.read("without.csraw"));
    let output = shop.tool(&["show", "ours.csraw"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("do not have those of live files beside it (1)"), "{told}");
    std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    let merge = ["merge", "ours.csraw.live.0", "-o", "merged.csraw"];
    shop.tool_output(&merge);
    shop.run("ours", &["nothing"]);
    assert_eq!(site_in(&shop, "merged.csraw"), site_in(&shop, "ours.csraw"));
    // Cut short anywhere it is an error, and no panic.
    assert!(!shop.output("ours", &["kill"]).status.success());
    let whole = shop.read("ours.csraw.live.0");
    for length in [9, 200, 65_536, 70_000, whole.len() - 8, whole.len() - 1] {
        shop.write("cut.live", &whole[..length]);
        assert_eq!(shop.tool(&["show", "cut.live"]).status.code(), Some(2), "{length}");
    }
}

/// A reset forgets no more than without live counters: it keeps when functions first ran before the flush.
#[test]
fn a_reset_goes_back_to_the_last_flush() {
    let (shop, _) = without_stock("interface.c", &[]);
    shop.run("ours", &["resets"]);
    shop.run("without", &["resets"]);
    let (live, written) = (shop.converted_gcda("ours.csraw"), shop.converted_gcda("without.csraw"));
    assert_same_files(&live, &written);
}

/// Without the script, or the sections, the runtime says so once and works as usual.
#[test]
fn what_cannot_be_live_is_said() {
    let shop = Workshop::new();
    shop.program("hello.c");
    let sections = shop.compile("hello.c", &["-fdata-sections"]);
    let link = ["-fprofile-generate", &sections, "-o", "ours", "-L.", "-lcountersink_rt_live"];
    shop.gcc(&link);
    let output = shop.output("ours", &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("counters are not live: linked without live.ld"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(shop.path("ours.csraw").exists());

    let printed = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
    let flags: Vec<&str> = printed.split_whitespace().collect();
    let object = shop.compile("hello.c", &["-fno-data-sections"]);
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "mixed"], &flags[..]].concat());
    let output = shop.output("mixed", &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("not all compiled with -fdata-sections"), "{told}");
    assert!(shop.path("mixed.csraw").exists());
}

/// Room for the dump, but not for a live file. A page that cannot be written later would be fatal.
#[test]
fn a_disk_without_room_for_it() {
    let shop = survivor();
    let output = shop.command("bash").args(["-c", "ulimit -f 4; exec ./ours return"]).output();
    let output = output.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("counters are not live: file too"), "{told}");
    assert_eq!(work_in(&shop), (1, 100));
    assert_eq!(live_files(&shop), Vec::<PathBuf>::new());
}

/// A disk that fills up after the program has started. Values without room count as dropped. Nothing else
/// happens to the program or its other counts.
#[test]
fn a_disk_that_is_full_later() {
    let (shop, _) = without_stock("full_later.c", &[]);
    std::fs::create_dir(shop.path("disk")).unwrap();
    let mut mount = shop.command("mount");
    mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk"]);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        say_skipped("file systems cannot be mounted here");
        return;
    }
    let run = |arguments: &[&str]| {
        let mut ours = shop.command(shop.path("ours"));
        ours.env("COUNTERSINK_FILE", "disk/ours.csraw").args(arguments).output().unwrap()
    };
    let full = run(&["disk/filler"]);
    let left = shop.path("disk/ours.csraw.live.0").exists();
    let _ = std::fs::remove_file(shop.path("disk/filler"));
    let next = run(&[]);
    let dump = std::fs::read(shop.path("disk/ours.csraw"));
    succeed(shop.command("umount").arg("disk"));
    let told = String::from_utf8(full.stderr).unwrap();
    assert!(full.status.success() && left, "{:?} {told}", full.status);
    assert!(told.contains("not written: no space left") && told.lines().count() == 1, "{told}");
    assert!(next.status.success() && next.stderr.is_empty(), "{next:?}");
    let dump = Dump::parse(&dump.unwrap()).unwrap();
    let module = &dump.modules[0];
    let mut functions = module.functions(&module.objects[0]);
    let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
    assert_eq!(work.counters(Kind::ARCS).iter().max(), Some(&(80 * 256)));
    assert!(module.sums.runs == 2 && module.sums.dropped > 1000, "{:?}", module.sums);
}

/// The system calls of a trace, each with its number among calls of that name.
fn calls(trace: &str) -> Vec<(&str, usize, &str)> {
    let mut seen = std::collections::HashMap::new();
    let named = trace.lines().filter_map(|line| Some((line.split_once('(')?.0, line)));
    let numbered = named.map(|(name, line)| {
        let number = seen.entry(name).or_insert(0);
        *number += 1;
        (name, *number, line)
    });
    numbered.collect()
}

/// A dump of one run, and a live file of another.
fn dump_and_left_over(shop: &Workshop) -> impl Fn() {
    end(shop, "return");
    end(shop, "SIGKILL");
    let (first, left) = (shop.read("ours.csraw"), shop.read("ours.csraw.live.0"));
    move || {
        live_files(shop).iter().for_each(|name| std::fs::remove_file(shop.path(name)).unwrap());
        shop.write("ours.csraw", &first);
        shop.write("ours.csraw.live.0", &left);
    }
}

/// Killed at every one of its system calls. Some of these add what another process has left behind.
#[test]
fn killed_at_every_system_call() {
    if !have("strace") {
        return;
    }
    let shop = survivor();
    let prepare = dump_and_left_over(&shop);
    let traced = |arguments: &[&str]| {
        let mut strace = shop.command("strace");
        strace.args(["-o", "trace"]).args(arguments).args(["./ours", "return"]).output().unwrap()
    };
    let output = traced(&[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(work_in(&shop), (3, 300));
    let trace = String::from_utf8(shop.read("trace")).unwrap();
    let calls = calls(&trace);
    let ends = calls.iter().rposition(|(_, _, line)| line.contains("SIG_BLOCK, ~[ILL")).unwrap();
    let mut tried = 0;
    for (place, (name, number, line)) in calls.into_iter().enumerate() {
        let dull = line.contains("ENOENT") && !line.contains(".live.0") || name == "execve";
        if dull || name == "exit_group" {
            continue;
        }
        prepare();
        let inject = format!("inject={name}:signal=KILL:when={number}");
        assert!(!traced(&["-e", &inject]).status.success(), "{inject}");
        end(&shop, "return");
        let (runs, rounds) = work_in(&shop);
        assert!(rounds == 300 || rounds == 400, "{inject}: {rounds}");
        assert!(place <= ends || rounds == 400, "{inject}: {rounds}");
        assert!(runs == 3 || runs == 4, "{inject}: {runs}");
        assert_eq!(live_files(&shop), Vec::<PathBuf>::new(), "{inject}");
        tried += 1;
    }
    assert!(tried > 60, "{tried}");
}

/// The tool adds what is left of any build, except what running processes have.
#[test]
fn folded_by_the_tool() {
    let shop = survivor();
    end(&shop, "SIGKILL");
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "p.gcov"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("but live files (1)"), "{told}");
    let fold = |said: &str| {
        let output = shop.tool(&["fold", "ours.csraw"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && told.contains(said), "{told}");
    };
    fold("ours.csraw: 1 live file added\n");
    assert_eq!((work_in(&shop), live_files(&shop)), ((1, 100), vec![]));
    fold("ours.csraw: 0 live files added\n");
    end(&shop, "SIGKILL");
    let running = std::fs::File::open(shop.path("ours.csraw.live.0")).unwrap();
    flock(&running, FlockOperation::LockExclusive).unwrap();
    end(&shop, "SIGKILL");
    fold("1 live file added, 1 of running processes left to them");
    assert_eq!((work_in(&shop), live_files(&shop).len()), ((2, 200), 1));
    flock(&running, FlockOperation::Unlock).unwrap();
    // A build that will never start again.
    let object = shop.compile("survive.c", &["-O0", "-fdata-sections", "-pthread"]);
    let printed = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
    let link: Vec<&str> = printed.split_whitespace().collect();
    shop.gcc(&[&["-fprofile-generate", &object, "-o", "ours", "-pthread"], &link[..]].concat());
    end(&shop, "SIGKILL");
    fold("ours.csraw: 2 live files added\n");
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let runs: Vec<u64> = dump.modules.iter().map(|module| module.sums.runs).collect();
    assert_eq!((runs, live_files(&shop)), (vec![3, 1], vec![]));
    // A live file is no dump, and is not added by hand while the next start would add it again.
    end(&shop, "SIGKILL");
    let output = shop.tool(&["fold", "ours.csraw.live.0"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.ends_with("a live file; name the dump that it is of, ours.csraw\n"), "{told}");
    let merge = ["merge", "ours.csraw.live.0", "-o", "ours.csraw"];
    assert_eq!(shop.tool(&merge).status.code(), Some(2));
    fold("ours.csraw: 1 live file added\n");
    // A file that is no dump is left as it is.
    end(&shop, "SIGKILL");
    shop.write("ours.csraw", "no dump");
    let output = shop.tool(&["fold", "ours.csraw"]);
    assert_eq!((output.status.code(), live_files(&shop).len()), (Some(2), 1), "{output:?}");
    assert_eq!(shop.read("ours.csraw"), b"no dump");
    assert_eq!(shop.tool(&["fold", "nothing.csraw"]).status.code(), Some(2));
}

/// Several tools at once, while programs start that add the same files.
#[test]
fn folded_by_many_at_once() {
    let shop = survivor();
    let killed: Vec<_> = (0..20).map(|_| spawn(&shop, "SIGKILL")).collect();
    killed.into_iter().for_each(|mut child| _ = child.wait().unwrap());
    std::thread::scope(|scope| {
        for number in 0..12 {
            let shop = &shop;
            scope.spawn(move || match number % 2 {
                0 => end(shop, "return"),
                _ => assert!(shop.tool(&["fold", "ours.csraw"]).status.success()),
            });
        }
    });
    assert_eq!((work_in(&shop), live_files(&shop)), ((26, 2600), vec![]));
}

#[test]
fn the_tool_killed_at_every_system_call() {
    if !have("strace") {
        return;
    }
    let shop = survivor();
    let prepare = dump_and_left_over(&shop);
    let traced = |arguments: &[&str]| {
        let mut strace = shop.command("strace");
        let fold = [env!("CARGO_BIN_EXE_countersink"), "fold", "ours.csraw"];
        strace.args(["-o", "trace"]).args(arguments).args(fold).output().unwrap()
    };
    assert!(traced(&[]).status.success());
    let trace = String::from_utf8(shop.read("trace")).unwrap();
    let calls = calls(&trace);
    let is_work = |line: &str| !line.starts_with("execve") && line.contains("ours.csraw");
    let first = calls.iter().position(|(_, _, line)| is_work(line)).unwrap();
    let at_work = &calls[first..];
    let mut tried = 0;
    for (name, number, line) in at_work {
        if line.contains("ENOENT") || *name == "exit_group" {
            continue;
        }
        prepare();
        let inject = format!("inject={name}:signal=KILL:when={number}");
        assert!(!traced(&["-e", &inject]).status.success(), "{inject}");
        shop.tool_output(&["fold", "ours.csraw"]);
        assert_eq!((work_in(&shop), live_files(&shop)), ((2, 200), vec![]), "{inject}");
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
}

/// Two processes find the same file. While one waits for the dump, the other adds the file, and a third
/// process adds another one. So the file is no longer the last one that the dump names.
#[test]
fn added_by_another_while_waiting() {
    let shop = survivor();
    end(&shop, "SIGKILL");
    let left = shop.read("ours.csraw.live.0");
    end(&shop, "return");
    assert_eq!(work_in(&shop), (2, 200));
    shop.write("ours.csraw.live.0", &left);
    let lock = std::fs::File::create(shop.path("ours.csraw.part")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let mut waiting = spawn(&shop, "return");
    let left = std::fs::File::options().write(true).open(shop.path("ours.csraw.live.0")).unwrap();
    while flock(&left, FlockOperation::NonBlockingLockExclusive).is_ok() {
        flock(&left, FlockOperation::Unlock).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    // Time to read the id as well.
    std::thread::sleep(Duration::from_millis(50));
    left.write_all_at(&[0; 8], 8).unwrap();
    flock(&lock, FlockOperation::Unlock).unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_eq!(work_in(&shop), (3, 300));
    assert_eq!(live_files(&shop), Vec::<PathBuf>::new());
}

/// A program with some live parts, and its library, which is not live.
#[test]
fn a_library_that_is_not_live() {
    let shop = Workshop::new();
    shop.library();
    let outer = shop.compile("uses_library.c", &["-fdata-sections"]);
    let printed = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
    let flags: Vec<&str> = printed.split_whitespace().collect();
    let link = ["-fprofile-generate", &outer, "./library.so", "-o", "ours"];
    shop.gcc(&[&link[..], &flags[..]].concat());
    for arguments in [&[][..], &["fork"]] {
        shop.run("ours", arguments);
    }
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let mut runs: Vec<u64> = dump.modules.iter().map(|m| m.sums.runs).collect();
    runs.sort_unstable();
    assert_eq!(runs, [3, 3]);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Runtime {
    Live,
    Ordinary,
    Libgcov,
}

/// A program and a library that call each other by pointer. Both can be linked in three ways.
struct Across {
    shop: Workshop,
    library: String,
    live: Vec<String>,
}

impl Across {
    fn new() -> Self {
        let shop = Workshop::new();
        shop.program("calls_across.c");
        let printed = String::from_utf8(shop.tool_output(&["flags", "--live"])).unwrap();
        let live = printed.split_whitespace().map(str::to_owned).collect();
        let flags = ["-fdata-sections", "-fPIC"];
        let program = shop.compile("calls_across.c", &flags);
        std::fs::rename(shop.path(&program), shop.path("program.o")).unwrap();
        let library = shop.compile("calls_across.c", &[&flags[..], &["-DLIBRARY"]].concat());
        Self { shop, library, live }
    }

    /// Links `ours` with the library before the runtime or behind it.
    fn link(&self, [program, library]: [Runtime; 2], library_first: bool) {
        self.link_library(&self.library, "library.so", library);
        let start = ["-fprofile-generate", "program.o", "-o", "ours"];
        let flags = self.flags(program);
        let rest = match library_first {
            true => [&["./library.so"][..], &flags].concat(),
            false => [&flags[..], &["./library.so"]].concat(),
        };
        self.shop.gcc(&[&start[..], &rest].concat());
    }

    /// Links a library.
    fn link_library(&self, object: &str, name: &str, runtime: Runtime) {
        let link = ["-fprofile-generate", "-shared", object, "-o", name];
        self.shop.gcc(&[&link[..], &self.flags(runtime)].concat());
    }

    fn flags(&self, runtime: Runtime) -> Vec<&str> {
        match runtime {
            Live => self.live.iter().map(String::as_str).collect(),
            Ordinary => vec!["-L.", "-lcountersink_rt"],
            Libgcov => Vec::new(),
        }
    }

    /// What `ours` has counted, after adding what was left.
    fn counted(&self) -> Vec<(i64, Vec<(i64, i64)>)> {
        self.shop.tool_output(&["fold", "ours.csraw"]);
        let sites = all_sites(&self.shop, "ours.csraw");
        std::fs::remove_file(self.shop.path("ours.csraw")).unwrap();
        sites
    }
}

/// Targets of calls between a program and its library. One image's profiler counts them all, but the targets
/// of each site must lie in the file that has the site. If the program is not live, the library's targets
/// survive.
#[test]
fn calls_between_images_survive() {
    let across = Across::new();
    across.link([Ordinary, Ordinary], true);
    across.shop.run("ours", &[]);
    let expected = across.counted();
    assert_eq!(expected.len(), 6);
    for (live, files) in [([Live, Live], 2), ([Ordinary, Live], 1)] {
        across.link(live, true);
        assert!(!across.shop.output("ours", &["kill"]).status.success());
        assert_eq!(across.counted(), expected[..3 * files]);
        across.shop.run("ours", &[]);
        assert_eq!(across.counted(), expected);
    }
}

/// A child's live counters begin at zero. They do not contain values of sites that are not live.
#[test]
fn calls_between_images_in_a_child() {
    let across = Across::new();
    across.link([Ordinary, Ordinary], true);
    across.shop.run("ours", &["fork"]);
    let expected = across.counted();
    for runtimes in [[Live, Live], [Ordinary, Live], [Live, Ordinary], [Live, Libgcov]] {
        for library_first in [true, false] {
            across.link(runtimes, library_first);
            // A child whose lists of values lead back into themselves would never end.
            succeed(across.shop.command("timeout").args(["60", "./ours", "fork"]));
            let counted = across.counted();
            match runtimes[1] {
                // The library has a file of its own. Its profiler keeps 32 values, if it is the one that
                // counts.
                Libgcov => assert_eq!(counted[..2], expected[3..5], "{library_first}"),
                _ => assert_eq!(counted, expected, "{runtimes:?} {library_first}"),
            }
        }
    }
}

/// Another library may take the place of one that is gone.
#[test]
fn a_child_with_other_plugins() {
    let across = Across::new();
    across.shop.program("plugins.c");
    let object = across.shop.compile("plugins.c", &["-fdata-sections"]);
    let first = across.shop.path("first.o").into_os_string().into_string().unwrap();
    std::fs::rename(across.shop.path(&across.library), &first).unwrap();
    let flags = ["-fdata-sections", "-fPIC", "-DLIBRARY", "-DPADDED"];
    let second = across.shop.compile("calls_across.c", &flags);
    let counted = |runtime, arguments: &[&str]| {
        across.link_library(&first, "first.so", runtime);
        across.link_library(&second, "second.so", runtime);
        let link = ["-fprofile-generate", "-rdynamic", &object, "-o", "ours"];
        across.shop.gcc(&[&link[..], &across.flags(runtime)].concat());
        let output = across.shop.output("ours", arguments);
        // Without live counters nobody can tell the child's counts from its parent's, and a line says so.
        let is_told = !output.stderr.is_empty();
        assert!(output.status.success() && is_told == (runtime == Ordinary), "{output:?}");
        // Only the libraries, which are written in another order: the child shares the program's own live
        // counters.
        let mut sites = across.counted()[..6].to_vec();
        sites.sort();
        sites
    };
    let expected = counted(Ordinary, &[]);
    assert_eq!(counted(Live, &[]), expected);
    assert_eq!(counted(Live, &["kill"]), expected);
}

/// The values of all sites, those of the library first.
fn all_sites(shop: &Workshop, dump: &str) -> Vec<(i64, Vec<(i64, i64)>)> {
    let mut dump = Dump::parse(&shop.read(dump)).unwrap();
    dump.modules.sort_by_key(|module| !module.path.ends_with(b".so"));
    let functions = dump.modules.iter().flat_map(|m| m.functions(&m.objects[0]));
    let sites = functions.flat_map(|function| function.sites(Kind::INDIRECT_CALL));
    let pairs =
        |site: &SiteView<'_>| site.pairs.iter().map(|pair| (pair.value, pair.count)).collect();
    sites.map(|site| (site.total, pairs(&site))).collect()
}

/// Nor does `fold` empty it.
#[test]
fn a_part_that_is_somebody_else_s() {
    let shop = survivor();
    end(&shop, "SIGKILL");
    shop.write("ours.csraw.part", "a download");
    let output = shop.tool(&["fold", "ours.csraw"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("ours.csraw.part: not ours, and where the dump is made ready"), "{told}");
    assert_eq!(shop.read("ours.csraw.part"), b"a download");
    std::fs::remove_file(shop.path("ours.csraw.part")).unwrap();
    shop.tool_output(&["fold", "ours.csraw"]);
    assert_eq!(work_in(&shop), (1, 100));
}

/// With %p no start finds what an earlier process has left.
#[test]
fn a_file_for_each_process() {
    let shop = survivor();
    let ours = |ending: &str| {
        let mut ours = shop.command(shop.path("ours"));
        ours.env("COUNTERSINK_FILE", "%p.csraw").arg(ending).spawn().unwrap()
    };
    let mut killed = ours("SIGKILL");
    killed.wait().unwrap();
    let mut other = ours("return");
    assert!(other.wait().unwrap().success());
    let killed = format!("{}.csraw", killed.id());
    assert!(shop.path(format!("{killed}.live.0")).exists() && !shop.path(&killed).exists());
    assert!(shop.path(format!("{}.csraw", other.id())).exists());
    shop.tool_output(&["fold", &killed]);
    assert!(shop.path(&killed).exists());
}
