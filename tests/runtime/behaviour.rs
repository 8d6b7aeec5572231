//! What a program does to its descriptors, signals and children has the same result as without the runtime,
//! and costs no count.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use countersink::convert::gcov::names::ident;
use countersink::raw::dump::Dump;
use countersink::raw::gcov::Kind;
use rustix::fs::{FlockOperation, flock};

use crate::harness::{Workshop, succeed};

const BOTH: [&str; 2] = ["ours", "live"];

struct Programs(Workshop);

impl Programs {
    fn new() -> Self {
        let shop = Workshop::new();
        shop.program("behaviour.c");
        let flags = ["-pthread", "-fdata-sections", "-fprofile-update=atomic"];
        let object = shop.compile("behaviour.c", &flags);
        for (name, flags) in [("ours", &["flags"][..]), ("live", &["flags", "--live"])] {
            let printed = String::from_utf8(shop.tool_output(flags)).unwrap();
            let link: Vec<&str> = printed.split_whitespace().collect();
            let all = ["-fprofile-generate", &object, "-o", name, "-pthread"];
            shop.gcc(&[&all, &link[..]].concat());
        }
        Self(shop)
    }

    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = self.0.command(self.0.path(name));
        command.args(arguments).env_remove("COUNTERSINK_FILE").env_remove("COUNTERSINK_ON_SIGNAL");
        command
    }

    fn shell(&self, script: &str) -> ExitStatus {
        self.0.command("sh").args(["-c", script]).status().unwrap()
    }

    /// Rounds of work in a dump. Removes the dump.
    #[track_caller]
    fn work(&self, name: &str) -> i64 {
        let path = format!("{name}.csraw");
        let dump = Dump::parse(&self.0.read(&path)).unwrap();
        std::fs::remove_file(self.0.path(path)).unwrap();
        let module = &dump.modules[0];
        let mut functions = module.functions(&module.objects[0]);
        let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
        work.counters(Kind::ARCS).iter().copied().max().unwrap()
    }

    /// Files beside the dumps.
    fn litter(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.0.path("")).unwrap();
        let names = entries.map(|entry| PathBuf::from(entry.unwrap().file_name()));
        names.filter(|name| name.to_str().unwrap().contains(".csraw.")).collect()
    }
}

/// The program may close any descriptor, and use its number for a file of its own.
#[test]
fn descriptors_are_the_program_s() {
    let programs = Programs::new();
    let text = "0123456789abcdef0123456789abcdef\n";
    for name in BOTH {
        succeed(&mut programs.command(name, &["closes all"]));
        assert_eq!(programs.0.read("data.bin"), text.as_bytes(), "{name}");
        assert_eq!(programs.work(name), 1000, "{name}");
        succeed(&mut programs.command(name, &["closes all and forks"]));
        assert_eq!(programs.0.read("data.bin"), format!("{text}child\n").as_bytes(), "{name}");
        // Only a live file has what the child counted before its _exit.
        let _ = programs.0.tool(&["fold", "live.csraw"]);
        assert_eq!(programs.work(name), if name == "live" { 1100 } else { 1000 });
        assert_eq!(programs.litter(), Vec::<PathBuf>::new(), "{name}");
    }
}

/// Closed standard descriptors stay closed: nothing comes from a file of ours, or goes into one.
#[test]
fn closed_standard_descriptors() {
    let programs = Programs::new();
    for name in BOTH {
        assert!(programs.shell(&format!("./{name} 'standard descriptors' <&- 2>&-")).success());
        assert_eq!(programs.0.read("result"), b"-1 -1\n", "{name}");
        assert_eq!(programs.work(name), 1000, "{name}");
        let all = format!("./{name} 'standard descriptors' <&- >&- 2>&-");
        assert!(programs.shell(&all).success());
        assert_eq!(programs.work(name), 1000, "{name}");
        // A message has nowhere to go, and must not go into the dump.
        programs.0.write(&format!("{name}.csraw"), "no dump");
        assert!(programs.shell(&all).success());
        assert_eq!(programs.work(name), 1000, "{name}");
    }
}

/// A message before main that nobody reads.
#[test]
fn messages_that_nobody_reads() {
    let programs = Programs::new();
    let long = "x".repeat(5000);
    for (variable, value) in [("COUNTERSINK_FILE", &*long), ("COUNTERSINK_ON_SIGNAL", "NONSENSE")] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = programs.command("ours", &["-"]);
        let status = command.env(variable, value).stderr(writer).status().unwrap();
        assert!(status.success(), "{variable}: {status}");
    }
}

#[test]
fn signals_that_mean_nothing_interrupt_nothing() {
    let programs = Programs::new();
    let mut command = programs.command("ours", &["waits"]);
    assert_eq!(succeed(command.env("COUNTERSINK_ON_SIGNAL", "WINCH")), b"1\n");
}

/// The refused call is not made again, so its signal would not come again by itself.
#[test]
fn a_refused_system_call() {
    let programs = Programs::new();
    for list in ["", "SYS"] {
        let mut command = programs.command("ours", &["is refused a call"]);
        let status = command.env("COUNTERSINK_ON_SIGNAL", list).status().unwrap();
        assert_eq!(status.signal(), Some(31), "{list}: {status}");
    }
    assert_eq!(programs.work("ours"), 1000);
}

/// Runs while the dump is locked for a moment, and sends a signal then if one is given.
fn while_locked(programs: &Programs, name: &str, how: &str, signal: Option<&str>) -> ExitStatus {
    let part = File::create(programs.0.path(format!("{name}.csraw.part"))).unwrap();
    flock(&part, FlockOperation::LockExclusive).unwrap();
    let mut child = programs.command(name, &[how]).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    if let Some(signal) = signal {
        succeed(Command::new("kill").args([signal, &child.id().to_string()]));
        std::thread::sleep(Duration::from_millis(100));
    }
    flock(&part, FlockOperation::Unlock).unwrap();
    child.wait().unwrap()
}

/// Only signals caused by our own writes are kept from the program.
#[test]
fn a_signal_that_others_send_during_a_flush() {
    let programs = Programs::new();
    let status = while_locked(&programs, "ours", "-", Some("-PIPE"));
    assert_eq!(status.signal(), Some(13), "{status}");
    assert_eq!(programs.work("ours"), 1000);
}

#[test]
fn handlers_that_fork_during_a_flush_or_leave_it() {
    let programs = Programs::new();
    for how in ["forks in a flush", "leaves a flush"] {
        let start = Instant::now();
        assert!(while_locked(&programs, "ours", how, None).success(), "{how}");
        assert!(start.elapsed() < Duration::from_secs(20), "{how} hangs");
        assert_eq!(programs.work("ours"), 1000, "{how}");
        assert_eq!(programs.litter(), Vec::<PathBuf>::new(), "{how}");
    }
}

#[test]
fn handlers_at_every_moment_of_a_fork() {
    let programs = Programs::new();
    for name in BOTH {
        let printed = succeed(&mut programs.command(name, &["signals around forks"]));
        let handled: i64 = String::from_utf8(printed).unwrap().trim().parse().unwrap();
        // The sender, which never counts, leaves a live file.
        let _ = programs.0.tool(&["fold", "live.csraw"]);
        assert!(handled > 100, "{handled}");
        assert_eq!(programs.work(name), 1000 + handled, "{name}");
    }
}

#[test]
fn children_that_nobody_told_of() {
    let programs = Programs::new();
    for name in BOTH {
        let refused = succeed(&mut programs.command(name, &["vforks"]));
        assert_eq!(refused, b"200\n");
        assert_eq!(programs.work(name), 1200, "{name}");
        succeed(&mut programs.command(name, &["unseen child"]));
        let expected = if name == "live" { 1000..=101_000 } else { 1000..=1000 };
        let work = programs.work(name);
        assert!(expected.contains(&work), "{name}: {work}");
        assert_eq!(programs.litter(), Vec::<PathBuf>::new(), "{name}");
    }
}

/// The next children add what killed children leave, so it does not pile up.
#[test]
fn children_that_end_without_a_word() {
    let programs = Programs::new();
    succeed(&mut programs.command("live", &["children"]));
    assert!(programs.litter().len() < 3, "{:?}", programs.litter());
    assert_eq!(programs.0.tool(&["fold", "live.csraw"]).status.code(), Some(0));
    assert_eq!((programs.work("live"), programs.litter()), (5000, vec![]));
}

/// Live counters are beside the file that will get them.
#[test]
fn another_file() {
    let programs = Programs::new();
    succeed(&mut programs.command("live", &["chooses a file"]));
    assert_eq!(
        programs.command("live", &["chooses a file", "9"]).status().unwrap().signal(),
        Some(9)
    );
    assert!(programs.0.path("sub/live.csraw.live.0").exists());
    assert_eq!(programs.0.tool(&["fold", "sub/live.csraw"]).status.code(), Some(0));
    assert_eq!((programs.work("sub/live"), programs.litter()), (2200, vec![]));
    assert!(!programs.0.path("live.csraw").exists());
}

/// A file does not have what was forgotten, and has what was flushed before.
#[test]
fn resets() {
    let programs = Programs::new();
    let calls = |name: &str| {
        let dump = Dump::parse(&programs.0.read(format!("{name}.csraw"))).unwrap();
        let mut functions = dump.modules[0].functions(&dump.modules[0].objects[0]);
        let call = functions.find(|function| function.ident() == ident(b"call")).unwrap();
        let site = call.sites(Kind::INDIRECT_CALL).next().unwrap();
        let mut counts: Vec<i64> = site.pairs.iter().map(|pair| pair.count).collect();
        counts.sort_unstable();
        assert_eq!((counts.iter().sum(), 0), (site.total, site.error), "{name}");
        counts
    };
    let cases = [("resets", 10, [1, 2]), ("flushes and resets", 1010, [51, 52])];
    for (how, work, called) in cases {
        for name in BOTH {
            succeed(&mut programs.command(name, &[how]));
            assert_eq!(
                (calls(name), programs.work(name)),
                (called.to_vec(), work),
                "{how}, {name}"
            );
        }
        let status = programs.command("live", &[how, "9"]).status().unwrap();
        assert_eq!(status.signal(), Some(9), "{status}");
        assert_eq!(programs.0.tool(&["fold", "live.csraw"]).status.code(), Some(0));
        assert_eq!((calls("live"), programs.work("live")), (called.to_vec(), work), "{how}");
    }
    // A dump takes the counters out of their file, and the following reset puts them into another.
    let status = programs.command("live", &["dumps and resets", "9"]).status().unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
    assert_eq!(programs.0.tool(&["fold", "live.csraw"]).status.code(), Some(0));
    assert_eq!((programs.work("live"), programs.litter()), (1010, vec![]));
}

/// Files that happen to have the names of live files stay as they are, and do not keep others from going
/// live.
#[test]
fn files_of_others() {
    let programs = Programs::new();
    let path = |number| programs.0.path(format!("live.csraw.live.{number}"));
    succeed(Command::new("mkfifo").arg(path(0)));
    std::fs::write(path(1), "more than eight bytes").unwrap();
    std::fs::create_dir(path(2)).unwrap();
    std::os::unix::fs::symlink("nowhere", path(3)).unwrap();
    let status = programs.command("live", &["-", "9"]).status().unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
    assert_eq!(programs.litter().len(), 5);
    let output = programs.0.tool(&["fold", "live.csraw"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.ends_with("live.csraw: 1 live file added\n"), "{told}");
    assert_eq!(told.matches("not a regular file").count(), 3, "{told}");
    assert_eq!(programs.work("live"), 1000);
    assert_eq!(std::fs::read(path(1)).unwrap(), b"more than eight bytes");
    assert_eq!(programs.litter().len(), 4);
}

/// If there can be no dump, live files do not pile up.
#[test]
fn nowhere_to_go() {
    let programs = Programs::new();
    std::os::unix::fs::symlink("/dev/null", programs.0.path("live.csraw")).unwrap();
    assert!(programs.command("live", &["-"]).status().unwrap().success());
    assert!(!std::path::Path::new("/dev/null.live.0").exists());
    std::fs::remove_file(programs.0.path("live.csraw")).unwrap();
    std::fs::create_dir(programs.0.path("live.csraw")).unwrap();
    let output = programs.command("live", &["-"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(programs.litter(), Vec::<PathBuf>::new());
}

/// The next program can merge into a file that a program with strange rights has made.
#[test]
fn rights_without_which_nobody_could_go_on() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let programs = Programs::new();
    assert!(programs.shell("umask 0777; ./ours -").success());
    let path = programs.0.path("ours.csraw");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
        succeed(&mut programs.command("ours", &["-"]));
        assert_eq!(std::fs::metadata(&path).unwrap().uid(), 65534);
    }
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o444);
}
