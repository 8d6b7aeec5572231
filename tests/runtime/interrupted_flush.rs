//! Kills the process, or makes the system fail, at each system call of a flush in turn. The file is then the
//! old one or the new one, whole. Nothing else is left behind, and the program ends as it would otherwise.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

use countersink::raw::dump::Dump;

use crate::harness::{Workshop, have};

/// The age of the file that a flush finds, and the call that puts the new file in its place.
const AGES: [(u64, &str); 2] = [(0, "renameat2"), (3600, "renameat")];

/// A program that has run once, and the system calls of its flush in a second run. Each call has its name,
/// and its number among calls of that name in the process.
fn program((age, rename): (u64, &str)) -> (Workshop, Vec<(String, usize)>) {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    let before = shop.read("ours.csraw");
    put(&shop, &before, age);
    let output = traced(&shop, &[]);
    assert!(output.status.success(), "{output:?}");
    let trace = String::from_utf8(shop.read("trace")).unwrap();
    shop.write("ours.csraw", before);
    let mut seen = std::collections::HashMap::new();
    let mut calls = Vec::new();
    let mut flushing = false;
    for line in trace.lines() {
        let Some((name, _)) = line.split_once('(') else { continue };
        let number = seen.entry(name.to_owned()).or_insert(0);
        *number += 1;
        flushing |= line.starts_with("rt_sigprocmask(SIG_BLOCK, ~[ILL");
        // The program's own output. The C library writes it last.
        flushing &= !line.starts_with("write(1, ");
        if flushing {
            calls.push((name.to_owned(), *number));
        }
    }
    assert!(calls.len() > 15, "{trace}");
    let of_names = calls.iter().filter(|(name, _)| name.starts_with("rename"));
    assert!(of_names.map(|(name, _)| &**name).eq([rename]), "{trace}");
    (shop, calls)
}

/// Puts a file there that was written this many seconds ago.
fn put(shop: &Workshop, dump: &[u8], age: u64) {
    shop.write("ours.csraw", dump);
    let file = File::options().write(true).open(shop.path("ours.csraw")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
}

fn traced(shop: &Workshop, arguments: &[&str]) -> Output {
    let mut strace = shop.command("strace");
    strace.args(["-o", "trace"]).args(arguments).arg("./ours").output().unwrap()
}

fn runs(shop: &Workshop) -> u64 {
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
    module.sums.runs
}

/// Names in the folder that a flush makes.
fn litter(shop: &Workshop) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(shop.path("")).unwrap();
    let names = entries.map(|entry| PathBuf::from(entry.unwrap().file_name()));
    names
        .filter(|name| {
            let name = name.to_str().unwrap();
            name.starts_with("ours.csraw.")
        })
        .collect()
}

#[test]
fn killed_at_every_system_call() {
    if have("strace") {
        AGES.into_iter().for_each(killed);
    }
}

fn killed(age: (u64, &str)) {
    let (shop, calls) = program(age);
    let first = shop.read("ours.csraw");
    let (mut old, mut new) = (0, 0);
    for (name, number) in calls {
        put(&shop, &first, age.0);
        let inject = format!("inject={name}:signal=KILL:when={number}");
        let output = traced(&shop, &["-e", &inject]);
        assert!(!output.status.success(), "{name} {number}: {output:?}");
        match runs(&shop) {
            1 => old += 1,
            2 => new += 1,
            other => panic!("{name} {number}: {other} runs"),
        }
        let left = litter(&shop);
        assert!(left.len() <= 1, "{name} {number}: {left:?}");
        // The next flush succeeds, and clears up.
        let before = runs(&shop);
        shop.run("ours", &[]);
        assert_eq!(runs(&shop), before + 1, "{name} {number}");
        assert_eq!(litter(&shop), Vec::<PathBuf>::new(), "{name} {number}");
    }
    assert!(old > 10 && new > 0, "{old} {new}");
}

/// A read-only file does not get a name that the next process must be able to open.
#[test]
fn what_is_left_can_be_opened() {
    let prepare = |shop: &Workshop| set_mode(&shop.path("ours.csraw"), 0o444);
    killed_everywhere(prepare, |shop, call| {
        for left in litter(shop) {
            let mode = std::fs::metadata(shop.path(left)).unwrap().permissions().mode();
            assert_eq!(mode & 0o600, 0o600, "{call}");
        }
        shop.run("ours", &[]);
        assert_eq!(litter(shop), Vec::<PathBuf>::new(), "{call}");
        std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    });
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Another name of the old file keeps its content, and so does a reader of it.
#[test]
fn another_name_keeps_what_it_stands_for() {
    let prepare = |shop: &Workshop| {
        std::fs::hard_link(shop.path("ours.csraw"), shop.path("kept")).unwrap();
        std::fs::copy(shop.path("ours.csraw"), shop.path("first")).unwrap();
    };
    killed_everywhere(prepare, |shop, call| {
        shop.run("ours", &[]);
        assert!(shop.read("kept") == shop.read("first"), "{call}");
        std::fs::remove_file(shop.path("kept")).unwrap();
    });
}

/// Kills a flush that finds a recent file at each of its system calls.
fn killed_everywhere(prepare: impl Fn(&Workshop), check: impl Fn(&Workshop, &str)) {
    if !have("strace") {
        return;
    }
    let (shop, calls) = program(AGES[0]);
    let first = shop.read("ours.csraw");
    for (name, number) in calls {
        put(&shop, &first, 0);
        prepare(&shop);
        traced(&shop, &["-e", &format!("inject={name}:signal=KILL:when={number}")]);
        check(&shop, &format!("{name} {number}"));
    }
}

#[test]
fn failing_at_every_system_call() {
    if have("strace") {
        AGES.into_iter().for_each(failing);
    }
}

fn failing(age: (u64, &str)) {
    let (shop, calls) = program(age);
    let first = shop.read("ours.csraw");
    for (name, number) in calls {
        for error in ["EIO", "ENOSPC", "EINTR"] {
            put(&shop, &first, age.0);
            let inject = format!("inject={name}:error={error}:when={number}");
            let output = traced(&shop, &["-e", &inject]);
            let context = format!("{name} {number} {error}: {output:?}");
            assert_eq!(output.status.code(), Some(0), "{context}");
            assert_eq!(output.stdout, b"60\n", "{context}");
            let told = String::from_utf8_lossy(&output.stderr).lines().count();
            // A program that cannot find out its own name has another file.
            let elsewhere = std::fs::remove_file(shop.path("program.csraw")).is_ok();
            let before = runs(&shop);
            assert!(
                elsewhere || before == 2 && told == 0 || before == 1 && told == 1,
                "{before} {context}"
            );
            for left in litter(&shop) {
                assert!(left.to_str().unwrap().ends_with(".part"), "{left:?} {context}");
            }
            shop.run("ours", &[]);
            assert_eq!(runs(&shop), before + 1, "{context}");
            assert_eq!(litter(&shop), Vec::<PathBuf>::new(), "{context}");
        }
    }
}
