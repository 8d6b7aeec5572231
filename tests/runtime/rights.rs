//! What the runtime opens, creates, follows, trusts and waits for, as `docs/src/design/rights.md` says: nobody gets at
//! files by a program that is linked with it, and nobody makes it lose or wait for ever.
//!
//! Other users are `nobody` and two numbers without names, so most of it needs root.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use countersink::convert::gcov::names::ident;
use countersink::raw::dump::Dump;
use countersink::raw::gcov::Kind;
use countersink::raw::live::START;

use crate::complaints::errors;
use crate::harness::{Workshop, have, say_skipped, succeed};

const NOBODY: u32 = 65534;
const ALICE: u32 = 12345;
const BOB: u32 = 12346;

/// Whether files of several users can be made here.
fn is_root() -> bool {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        say_skipped("only root can be several users");
    }
    is_root
}

/// A folder that all may enter, with `refused.c` compiled.
fn open_shop() -> (Workshop, String) {
    let shop = Workshop::new();
    chmod(&shop.path(""), 0o755);
    shop.program("refused.c");
    let object = shop.compile("refused.c", &["-fdata-sections"]);
    (shop, object)
}

/// Links with what the tool prints for these options.
fn link(shop: &Workshop, object: &str, program: &str, options: &[&str]) {
    let printed = String::from_utf8(shop.tool_output(&[&["flags"], options].concat())).unwrap();
    let link: Vec<&str> = printed.split_whitespace().collect();
    shop.gcc(&[&["-fprofile-generate", object, "-o", program], &link[..]].concat());
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn owner(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().uid()
}

/// A folder with a mode and an owner.
fn folder(shop: &Workshop, name: &str, rights: u32, user: u32) -> PathBuf {
    let path = shop.path(name);
    fs::create_dir_all(&path).unwrap();
    chown(&path, Some(user), Some(user)).unwrap();
    chmod(&path, rights);
    path
}

/// A command of another user, in a folder, with this umask.
fn as_user(shop: &Workshop, user: u32, folder: &Path, mask: &str, command: &[&str]) -> Command {
    let mut shell = shop.command("sh");
    shell.args(["-c", &format!("umask {mask}; exec \"$@\""), "sh"]).args(command);
    shell.current_dir(folder).uid(user).gid(user).env_remove("COUNTERSINK_ON_SIGNAL");
    shell
}

/// The program ends as always, and says at most one line.
#[track_caller]
fn ended(output: &Output) -> String {
    let told = errors(output);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(told.lines().count() <= 1, "{told}");
    told
}

/// Runs and rounds of work in a dump.
fn kept(dump: &[u8]) -> (u64, i64) {
    let dump = Dump::parse(dump).unwrap();
    let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
    let mut functions = module.functions(&module.objects[0]);
    let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
    (module.sums.runs, work.counters(Kind::ARCS).iter().copied().max().unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The starter of a set-user-ID program chooses the folder, the umask, and the links there.
#[test]
fn more_rights_without_a_name_from_the_link() {
    if !is_root() {
        return;
    }
    let (shop, object) = open_shop();
    for (program, options) in
        [("plain", &[][..]), ("live", &["--live"]), ("relative", &["--file", "%e.csraw"])]
    {
        link(&shop, &object, program, options);
        chmod(&shop.path(program), 0o4755);
        let system = folder(&shop, "etc", 0o755, 0);
        fs::write(system.join("shadow"), "secret").unwrap();
        chmod(&system.join("shadow"), 0o600);
        let start = folder(&shop, &format!("{program}.start"), 0o777, NOBODY);
        let path = shop.path(program);
        let path = path.to_str().unwrap();
        for target in ["shadow", "ld.so.preload"] {
            let name = start.join(format!("{program}.csraw"));
            symlink(system.join(target), &name).unwrap();
            lchown(&name, Some(NOBODY), Some(NOBODY)).unwrap();
            let mut command = as_user(&shop, NOBODY, &start, "0", &[path]);
            command.env("COUNTERSINK_FILE", start.join("chosen"));
            command.env("COUNTERSINK_ON_SIGNAL", "TERM,USR1");
            let output = command.output().unwrap();
            let told = errors(&output);
            assert_eq!(output.status.code(), Some(7), "{output:?}");
            let expected = "more rights than its starter, and no absolute name from `flags --file`";
            assert!(told.contains(expected), "{told}");
            fs::remove_file(&name).unwrap();
        }
        assert_eq!(names(&start), Vec::<String>::new());
        assert_eq!(names(&system), ["shadow"]);
        assert_eq!(fs::read(system.join("shadow")).unwrap(), b"secret");
    }
}

/// With an absolute name from the link: nothing of others is followed or overwritten, and the file is for its owner.
#[test]
fn more_rights_with_a_name_from_the_link() {
    if !is_root() {
        return;
    }
    let (shop, object) = open_shop();
    let dumps = folder(&shop, "dumps", 0o755, 0);
    let file = dumps.join("x.csraw");
    link(&shop, &object, "ours", &["--file", file.to_str().unwrap()]);
    link(&shop, &object, "live", &["--live", "--file", file.to_str().unwrap()]);
    for program in ["ours", "live"] {
        chmod(&shop.path(program), 0o4755);
    }
    let start = folder(&shop, "start", 0o777, NOBODY);
    let run = |program: &str| {
        let path = shop.path(program);
        as_user(&shop, NOBODY, &start, "0", &[path.to_str().unwrap()]).output().unwrap()
    };
    assert_eq!(ended(&run("ours")), "");
    assert_eq!((kept(&fs::read(&file).unwrap()), mode(&file), owner(&file)), ((1, 100), 0o600, 0));
    // A wide mode is not taken over.
    chmod(&file, 0o6666);
    assert_eq!(ended(&run("ours")), "");
    assert_eq!((kept(&fs::read(&file).unwrap()), mode(&file)), ((2, 200), 0o600));
    let told = ended(&run("live"));
    let expected = "live counters: not in a program with more rights than its starter";
    assert!(told.contains(expected), "{told}");
    assert_eq!(names(&dumps), ["x.csraw"]);
    fs::remove_file(&file).unwrap();

    // Links, also of root's, and files of others.
    let any_link = "has a link, which a program with more rights than its starter does not follow";
    symlink(start.join("y"), &file).unwrap();
    assert!(ended(&run("ours")).contains(any_link));
    fs::remove_file(&file).unwrap();
    assert_eq!(names(&start), Vec::<String>::new());
    fs::write(&file, "mine").unwrap();
    chown(&file, Some(NOBODY), None).unwrap();
    assert!(ended(&run("ours")).contains("another user's file"));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    fs::remove_file(&file).unwrap();
    assert_eq!(ended(&run("ours")), "");
    fs::hard_link(&file, start.join("second")).unwrap();
    assert!(ended(&run("ours")).contains("x.csraw: not written: the file has a second name"));
    fs::remove_file(&file).unwrap();
    fs::remove_file(start.join("second")).unwrap();
    fs::write(shop.path("victim"), "").unwrap();
    fs::hard_link(shop.path("victim"), dumps.join("x.csraw.part")).unwrap();
    assert_eq!(ended(&run("ours")), "");
    assert_eq!(fs::read(shop.path("victim")).unwrap(), b"");
    assert_eq!(names(&dumps), ["x.csraw"]);
    fs::remove_file(&file).unwrap();

    // Directories that others could exchange.
    chmod(&dumps, 0o1777);
    assert_eq!(ended(&run("ours")), "");
    fs::remove_file(&file).unwrap();
    let may_change = "others may change one of its directories";
    chmod(&shop.path(""), 0o777);
    assert!(ended(&run("ours")).contains(may_change));
    // What belongs to the starter, he can exchange even in a folder like /tmp.
    chmod(&shop.path(""), 0o1777);
    folder(&shop, "dumps", 0o755, NOBODY);
    assert!(ended(&run("ours")).contains(may_change));
    assert_eq!(names(&dumps), Vec::<String>::new());
    chmod(&shop.path(""), 0o755);
    fs::remove_dir_all(&dumps).unwrap();
    assert!(ended(&run("ours")).contains("no such directory"));
    let elsewhere = folder(&shop, "elsewhere", 0o777, NOBODY);
    symlink(&elsewhere, &dumps).unwrap();
    assert!(ended(&run("ours")).contains(any_link));
    assert_eq!(names(&elsewhere), Vec::<String>::new());
}

/// Neither of group nor by capabilities.
#[test]
fn more_rights_of_a_group_or_by_capabilities() {
    if !is_root() {
        return;
    }
    let (shop, object) = open_shop();
    link(&shop, &object, "group", &[]);
    chown(shop.path("group"), None, Some(BOB)).unwrap();
    chmod(&shop.path("group"), 0o2755);
    let mut programs = vec!["group"];
    link(&shop, &object, "capable", &[]);
    let set = Command::new("setcap").arg("cap_net_raw+ep").arg(shop.path("capable")).output();
    match set {
        Ok(output) if output.status.success() => programs.push("capable"),
        _ => say_skipped("setcap does not work here"),
    }
    let start = folder(&shop, "start", 0o777, NOBODY);
    for program in programs {
        let path = shop.path(program);
        let command = as_user(&shop, NOBODY, &start, "0", &[path.to_str().unwrap()]).output();
        let told = ended(&command.unwrap());
        assert!(told.contains("more rights than its starter"), "{program}: {told}");
        assert_eq!(names(&start), Vec::<String>::new());
    }
    // The starter is the user of such a program, but his folders are no safer for that.
    let dumps = folder(&shop, "dumps", 0o755, NOBODY);
    link(&shop, &object, "named", &["--file", dumps.join("x").to_str().unwrap()]);
    chown(shop.path("named"), None, Some(BOB)).unwrap();
    chmod(&shop.path("named"), 0o2755);
    let path = shop.path("named");
    let run = || as_user(&shop, NOBODY, &start, "0", &[path.to_str().unwrap()]).output().unwrap();
    assert!(ended(&run()).contains("others may change one of its directories"));
    chown(&dumps, Some(0), Some(BOB)).unwrap();
    chmod(&dumps, 0o775);
    assert!(ended(&run()).contains("others may change one of its directories"));
    chmod(&dumps, 0o1775);
    assert_eq!(ended(&run()), "");
    assert_eq!(names(&dumps), ["x"]);
}

/// A finished dump has the rights that any new file has.
#[test]
fn rights_of_a_new_dump() {
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    for (mask, expected) in [("0", 0o666), ("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        let status = shop.command("sh").args(["-c", &format!("umask {mask}; ./ours")]).status();
        assert_eq!(status.unwrap().code(), Some(7));
        assert_eq!(mode(&shop.path("ours.csraw")), expected, "{mask}");
        // And keeps them.
        for changed in [0o444, 0o660, 0o6777] {
            chmod(&shop.path("ours.csraw"), changed);
            assert_eq!(shop.output("ours", &[]).status.code(), Some(7));
            assert_eq!(mode(&shop.path("ours.csraw")), changed & 0o666, "{mask} {changed:o}");
        }
        fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}

/// While it is being written nobody else can open it, whatever the umask; nor live counters.
#[test]
fn rights_of_unfinished_files() {
    if !have("strace") {
        return;
    }
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    link(&shop, &object, "live", &["--live"]);
    for mask in ["0", "022", "0777"] {
        for (stop, program, name) in [
            ("flock", "./ours", "ours.csraw.part"),
            ("write", "./ours", "ours.csraw.part"),
            // The program's own call, long after its counters went into the file.
            ("prctl", "./live 0 1 end", "live.csraw.live.0"),
        ] {
            let strace = format!("strace -o /dev/null -e inject={stop}:signal=KILL {program}");
            let output =
                shop.command("sh").args(["-c", &format!("umask {mask}; {strace}")]).output();
            assert!(!output.unwrap().status.success());
            assert_eq!(mode(&shop.path(name)), 0o600, "{mask} {name}");
            fs::remove_file(shop.path(name)).unwrap();
        }
    }
}

/// In a folder of several users, each adds to the dump of the others. The rights of somebody else's file do not become
/// those of one's own.
#[test]
fn several_users() {
    if !is_root() {
        return;
    }
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    let shared = folder(&shop, "shared", 0o777, 0);
    let file = shared.join("x.csraw");
    let path = shop.path("ours");
    let run = |user: u32| {
        let mut command = as_user(&shop, user, &shared, "022", &[path.to_str().unwrap()]);
        ended(&command.env("COUNTERSINK_FILE", &file).output().unwrap())
    };
    for (number, user) in (1..).zip([ALICE, BOB, ALICE, NOBODY, BOB]) {
        assert_eq!(run(user), "");
        let found = (kept(&fs::read(&file).unwrap()), mode(&file), owner(&file));
        assert_eq!(found, ((number, number as i64 * 100), 0o644, user));
    }
    chown(&file, Some(NOBODY), None).unwrap();
    for wide in [0o6077, 0o4777, 0o666] {
        chown(&file, Some(NOBODY), None).unwrap();
        chmod(&file, wide | 0o004);
        assert_eq!(run(ALICE), "");
        assert_eq!((mode(&file), owner(&file)), (0o644, ALICE), "{wide:o}");
    }
    // Root gives it back to its owner, without bits that mean more than reading and writing.
    chmod(&file, 0o6667);
    assert_eq!(run(0), "");
    assert_eq!((mode(&file), owner(&file)), (0o666, ALICE));
    assert_eq!(names(&shared), ["x.csraw"]);
    // What root or its user finds unlocked was left by a killed process.
    let part = shared.join("x.csraw.part");
    for user in [0, ALICE] {
        fs::write(&part, "").unwrap();
        chown(&part, Some(ALICE), None).unwrap();
        assert_eq!(run(user), "");
        assert_eq!(names(&shared), ["x.csraw"], "{user}");
    }
    // A private dump is kept, and so are the counts of another user.
    chmod(&file, 0o600);
    let before = kept(&fs::read(&file).unwrap());
    let told = run(BOB);
    let end = "the counts are here, as the file without the last ending may not be read\n";
    assert!(told.ends_with(end) && told.lines().count() == 1, "{told}");
    assert_eq!((kept(&fs::read(&file).unwrap()), mode(&file)), (before, 0o600));
    let other = names(&shared).into_iter().find(|name| name != "x.csraw").unwrap();
    let other = shared.join(other);
    assert_eq!((kept(&fs::read(&other).unwrap()), mode(&other)), ((1, 100), 0o644));
}

/// Where the folder has a default list, the dump has the rights that this gives.
#[test]
fn rights_of_a_folder_with_a_list() {
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    fs::create_dir(shop.path("team")).unwrap();
    let set =
        Command::new("setfacl").args(["-d", "-m", "u:12345:rw"]).arg(shop.path("team")).output();
    if !set.is_ok_and(|output| output.status.success()) {
        return say_skipped("setfacl does not work here");
    }
    let status = shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "team/x").status();
    assert_eq!(status.unwrap().code(), Some(7));
    succeed(shop.command("sh").args(["-c", "umask 022; : > team/usual"]));
    let list = |name: &str| {
        let list = succeed(shop.command("getfacl").args(["-c", name]));
        String::from_utf8(list).unwrap()
    };
    assert_eq!(list("team/x"), list("team/usual"));
}

/// A link counts only if the user or root has made it.
#[test]
fn links_of_others() {
    if !is_root() {
        return;
    }
    let (shop, object) = open_shop();
    for (program, options) in [("plain", &[][..]), ("live", &["--live"])] {
        link(&shop, &object, program, options);
        let path = shop.path(program);
        for rights in [0o777, 0o1777] {
            let shared = folder(&shop, "shared", rights, BOB);
            let own = folder(&shop, "own", 0o700, ALICE);
            let name = shared.join("x.csraw");
            for (maker, counts) in [(NOBODY, false), (BOB, false), (0, true), (ALICE, true)] {
                symlink(own.join("y"), &name).unwrap();
                lchown(&name, Some(maker), Some(maker)).unwrap();
                let mut run = as_user(&shop, ALICE, &shared, "022", &[path.to_str().unwrap()]);
                let output = run.env("COUNTERSINK_FILE", &name).output().unwrap();
                let told = errors(&output);
                assert_eq!(output.status.code(), Some(7));
                assert_eq!(own.join("y").exists(), counts, "{program} {maker}: {told}");
                let expected = "a link that belongs neither to this user nor to root";
                assert_eq!(told.contains(expected), !counts, "{told}");
                assert_eq!(names(&shared), ["x.csraw"]);
                let _ = fs::remove_file(own.join("y"));
                fs::remove_file(&name).unwrap();
            }
            fs::remove_dir(&shared).unwrap();
            fs::remove_dir(&own).unwrap();
        }
    }
}

/// Root's program in a user's folder: the user's link does not move root's files away, under whatever name it comes.
#[test]
fn links_of_a_user_for_root() {
    if !is_root() {
        return;
    }
    let (shop, object) = open_shop();
    let system = folder(&shop, "etc", 0o755, 0);
    fs::write(system.join("shadow"), "secret").unwrap();
    for (program, options) in [("plain", &[][..]), ("live", &["--live"])] {
        link(&shop, &object, program, options);
        let home = folder(&shop, "home", 0o755, ALICE);
        let name = home.join("x.csraw");
        let foreign = |name: &Path, target: &Path| {
            symlink(target, name).unwrap();
            lchown(name, Some(ALICE), Some(ALICE)).unwrap();
        };
        let run = || {
            let mut run = shop.command(shop.path(program));
            let output = run.env("COUNTERSINK_FILE", &name).output().unwrap();
            assert_eq!(output.status.code(), Some(7), "{output:?}");
            errors(&output)
        };
        let refused = "a link that belongs neither to this user nor to root";
        for target in ["shadow", "new"] {
            foreign(&name, &system.join(target));
            assert!(run().contains(refused), "{program} {target}");
            fs::remove_file(&name).unwrap();
        }
        // Behind a link of root's, and under its names for other files.
        foreign(&home.join("y.csraw"), &system.join("shadow"));
        symlink("y.csraw", &name).unwrap();
        assert!(run().contains(refused), "{program}");
        fs::remove_file(&name).unwrap();
        for ending in ["part", "live.0"] {
            foreign(&home.join(format!("x.csraw.{ending}")), &system.join("new"));
        }
        run();
        assert_eq!(names(&system), ["shadow"]);
        assert_eq!(fs::read(system.join("shadow")).unwrap(), b"secret");
        fs::remove_dir_all(&home).unwrap();
    }
}

/// A file that is set aside replaces none that has its name, also where the kernel cannot rename so.
#[test]
fn set_aside_under_a_free_name() {
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    let inject = |error| vec![format!("strace -f -o /dev/null -e inject=renameat2:error={error}")];
    let mut ways = vec![vec![]];
    if have("strace") {
        ways.extend(["EINVAL", "ENOSYS"].map(inject));
    }
    for way in ways {
        let user = rustix::process::geteuid().as_raw();
        let shared = folder(&shop, "shared", 0o755, user);
        let file = shared.join("x.csraw");
        let long = shared.join("y".repeat(250));
        for file in [&file, &long] {
            fs::write(file, "damaged").unwrap();
            // Of a long name the start.
            let path = file.to_str().unwrap();
            let start = &path[..path.len().min(shared.to_str().unwrap().len() + 1 + 225)];
            let aside = format!("{start}.aside-{}", fs::metadata(file).unwrap().ino());
            fs::write(&aside, "older").unwrap();
            symlink("nowhere", format!("{aside}.1")).unwrap();
            let program = shop.path("ours").to_str().unwrap().to_owned();
            let command = [&way[..], &[program]].concat().join(" ");
            let mut run = shop.command("sh");
            let output = run.args(["-c", &command]).env("COUNTERSINK_FILE", file).output().unwrap();
            let told = ended(&output);
            let expected = format!("the file was set aside as {aside}.2\n");
            assert!(told.ends_with(&expected), "{way:?} {told}");
            assert_eq!(fs::read(&aside).unwrap(), b"older");
            assert_eq!(fs::read_link(format!("{aside}.1")).unwrap(), Path::new("nowhere"));
            assert_eq!(fs::read(format!("{aside}.2")).unwrap(), b"damaged");
            assert_eq!(kept(&fs::read(file).unwrap()), (1, 100));
        }
        fs::remove_dir_all(&shared).unwrap();
    }
}

/// What root folds stays its owner's, with its rights.
#[test]
fn root_folds_a_dump_of_another_user() {
    if !is_root() || !have("strace") {
        return;
    }
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &["--live"]);
    let home = folder(&shop, "home", 0o755, ALICE);
    let file = home.join("x.csraw");
    let run = |before: &str, arguments: &str| {
        let command = format!("{before} {} {arguments}", shop.path("ours").display());
        let mut run = as_user(&shop, ALICE, &home, "022", &["sh", "-c", &command]);
        run.env("COUNTERSINK_FILE", &file).output().unwrap()
    };
    run("", "");
    chmod(&file, 0o640);
    run("strace -o /dev/null -e inject=prctl:signal=KILL", "0 1 end");
    assert_eq!(names(&home), ["x.csraw", "x.csraw.live.0"]);
    shop.tool_output(&["fold", file.to_str().unwrap()]);
    assert_eq!(names(&home), ["x.csraw"]);
    assert_eq!((kept(&fs::read(&file).unwrap()).0, mode(&file), owner(&file)), (2, 0o640, ALICE));
}

/// Somebody else's process that holds a lock until it is dropped.
struct Holder(Child);

impl Holder {
    fn new(shop: &Workshop, user: u32, file: &Path) -> Self {
        let mut command = shop.command("flock");
        command.arg(file).args(["sleep", "100"]).uid(user).gid(user);
        let child = command.spawn().unwrap();
        let start = Instant::now();
        while !Command::new("flock")
            .arg("-n")
            .arg(file)
            .arg("true")
            .status()
            .is_ok_and(|s| s.code() == Some(1))
        {
            assert!(start.elapsed() < Duration::from_secs(20), "{}", file.display());
            std::thread::sleep(Duration::from_millis(5));
        }
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whoever holds the lock of `FILE.part` for ever costs nobody a count.
#[test]
fn locks_of_others() {
    if !is_root() || !have("flock") {
        return;
    }
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    let path = shop.path("ours");
    for (rights, maker) in [(0o777, NOBODY), (0o1777, NOBODY), (0o755, ALICE)] {
        let shared = folder(&shop, "shared", rights, ALICE);
        let (file, part) = (shared.join("x.csraw"), shared.join("x.csraw.part"));
        let run = || {
            let mut run = as_user(&shop, ALICE, &shared, "022", &[path.to_str().unwrap()]);
            ended(&run.env("COUNTERSINK_FILE", &file).output().unwrap())
        };
        assert_eq!(run(), "");
        fs::write(&part, "").unwrap();
        chown(&part, Some(maker), Some(maker)).unwrap();
        chmod(&part, 0o644);
        let holder = Holder::new(&shop, NOBODY, &part);
        let told = run();
        drop(holder);
        let dumps: Vec<_> = names(&shared)
            .into_iter()
            .filter(|name| name.starts_with("x.csraw") && !name.contains("part"))
            .collect();
        let sum: i64 = dumps.iter().map(|name| kept(&fs::read(shared.join(name)).unwrap()).1).sum();
        assert_eq!(sum, 200, "{rights:o} {maker} {told} {dumps:?}");
        match (rights, maker) {
            (_, ALICE) => assert_eq!((told.as_str(), dumps.len()), ("", 1)),
            // The folder's owner may move away what is in it.
            _ => assert!(
                told.contains("another user's, and nobody writes it; set aside as"),
                "{told}"
            ),
        }
        fs::remove_dir_all(&shared).unwrap();
    }
    // Where nobody may move it, the counts go to a file of their own.
    let shared = folder(&shop, "shared", 0o1777, 0);
    let (file, part) = (shared.join("x.csraw"), shared.join("x.csraw.part"));
    fs::write(&part, "").unwrap();
    chown(&part, Some(NOBODY), None).unwrap();
    let _holder = Holder::new(&shop, NOBODY, &part);
    let mut run = as_user(&shop, ALICE, &shared, "022", &[path.to_str().unwrap()]);
    let told = ended(&run.env("COUNTERSINK_FILE", &file).output().unwrap());
    assert!(
        told.contains("the counts are here, as the file without the last ending was in use"),
        "{told}"
    );
    let other: Vec<_> = names(&shared).into_iter().filter(|name| !name.ends_with("part")).collect();
    assert_eq!(other.len(), 1, "{other:?}");
    assert_eq!(kept(&fs::read(shared.join(&other[0])).unwrap()), (1, 100));
}

/// The system calls that a program makes for us, with their numbers.
fn system_calls(shop: &Workshop, program: &str) -> Vec<(String, String)> {
    let mut strace = shop.command("strace");
    strace.args(["-n", "-o", "trace"]).arg(shop.path(program)).output().unwrap();
    let trace = String::from_utf8(shop.read("trace")).unwrap();
    // [ 257] openat(AT_FDCWD, ...
    let call = |line: &str| {
        let (number, rest) = line.split_once('[')?.1.split_once(']')?;
        Some((rest.trim().split_once('(')?.0.to_owned(), number.trim().to_owned()))
    };
    let mut calls: Vec<_> = trace.lines().filter_map(call).collect();
    calls.sort();
    calls.dedup();
    // Those of the loader, the C library, and the program's end.
    let others = "execve exit_group brk arch_prctl set_tid_address set_robust_list rseq prlimit64 mprotect getrandom \
                  access";
    calls.retain(|(name, _)| !others.split(' ').any(|other| name == other));
    calls
}

/// The files of a program in the folder.
fn files_of(shop: &Workshop, dump: &str) -> Vec<PathBuf> {
    let names = names(&shop.path("")).into_iter().filter(|name| name.starts_with(dump));
    names.map(|name| shop.path(name)).collect()
}

/// Runs a program whose system calls fail, and looks what became of its old dump.
#[track_caller]
fn refuse(shop: &Workshop, program: &str, first: &[u8], arguments: [&str; 3]) {
    let dump = format!("{program}.csraw");
    files_of(shop, &dump).iter().for_each(|path| fs::remove_file(path).unwrap());
    shop.write(&dump, first);
    let mut command = shop.command("timeout");
    let output = command.args(["-s", "KILL", "100"]).arg(shop.path(program)).args(arguments);
    let output = output.env("COUNTERSINK_FILE", &dump).output().unwrap();
    let what = format!("{program} {arguments:?}: {output:?}");
    assert_eq!(output.status.code(), Some(7), "{what}");
    assert_eq!(output.stdout, b"done\n", "{what}");
    // What did not get into the dump may wait in a live file, or lie beside it.
    shop.tool(&["fold", &dump]);
    let is_dump = |path: &&PathBuf| !path.to_str().unwrap().contains(".part");
    let found = files_of(shop, &dump);
    let rounds: i64 =
        found.iter().filter(is_dump).map(|path| kept(&fs::read(path).unwrap()).1).sum();
    assert!([100, 200].contains(&rounds), "{rounds} in {found:?}: {what}");
    // A count that is not there is a count that was told.
    let told = errors(&output);
    assert!(rounds == 200 || !told.is_empty() || ["1", "271"].contains(&arguments[0]), "{what}");
}

/// Whatever the kernel answers, the program ends as always and soon, and its old dump stays.
#[test]
fn every_system_call_fails() {
    every_system_call_of("plain", &[]);
}

#[test]
fn every_system_call_of_live_counters_fails() {
    every_system_call_of("live", &["--live"]);
}

fn every_system_call_of(program: &str, options: &[&str]) {
    if !have("strace") || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let (shop, object) = open_shop();
    // EPERM, EINTR, EIO, EAGAIN, ENOSYS, and to have read or written nothing.
    const ERRORS: [&str; 6] = ["1", "4", "5", "11", "38", "0"];
    link(&shop, &object, program, options);
    assert_eq!(shop.output(program, &[]).status.code(), Some(7));
    let first = shop.read(format!("{program}.csraw"));
    let calls = system_calls(&shop, program);
    eprintln!("{program}: {calls:?}");
    assert!(calls.len() > 15, "{calls:?}");
    for (name, number) in &calls {
        for error in ERRORS {
            // A lock that somebody has is waited for: `a_lock_that_is_never_free`.
            let waits = name == "flock" && ["4", "11"].contains(&error);
            let is_number = name.contains("read") || name.contains("write");
            if waits || (error == "0" && !is_number) {
                continue;
            }
            refuse(&shop, program, &first, [number, error, "end"]);
            // The C library needs these to begin, and to print.
            if !["mmap", "munmap", "write", "fstat", "newfstatat"].contains(&name.as_str()) {
                refuse(&shop, program, &first, [number, error, "start"]);
            }
        }
    }
}

/// The kernel says that somebody has the lock, or that the call was interrupted, for as long as anybody asks. All wait
/// at the same time.
#[test]
#[ignore = "slow"]
fn a_lock_that_is_never_free() {
    if cfg!(not(target_arch = "x86_64")) {
        return say_skipped("the number of the call is that of x86-64");
    }
    let ways: [(&str, &[&str], [&str; 3]); 5] = [
        ("ours", &[], ["73", "11", "end"]),
        ("early", &[], ["73", "4", "start"]),
        ("late", &[], ["73", "4", "end"]),
        ("early-live", &["--live"], ["73", "4", "start"]),
        ("late-live", &["--live"], ["73", "4", "end"]),
    ];
    let wait = |(program, options, arguments): (&str, &[&str], [&str; 3])| {
        let (shop, object) = open_shop();
        link(&shop, &object, program, options);
        assert_eq!(shop.output(program, &[]).status.code(), Some(7));
        refuse(&shop, program, &shop.read(format!("{program}.csraw")), arguments);
    };
    std::thread::scope(|scope| ways.map(|way| _ = scope.spawn(move || wait(way))));
}

/// Whoever may write a live file may write anything there, at any moment: the program goes on, and its pointers lead
/// nowhere else.
#[test]
fn hostile_live_files() {
    let shop = Workshop::new();
    shop.write(
        "ours.c",
        "#include <stdio.h>
        #include <unistd.h>
        typedef int function(int);
        #define F(n) __attribute__((noinline)) static int f##n(int x) { return x * n + 1; }
        F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12)
        function *table[] = {f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12};
        __attribute__((noinline)) int work(int k)
        {
            for (int i = 0; i < 400; i++)
                k += table[i * 7 % 12](i) / (1 + i % 100);
            return k;
        }
        int main(void)
        {
            int sum = work(1);
            puts(\"ready\");
            fflush(stdout);
            for (char c; read(0, &c, 1) == 1;)
                for (int i = 0; i < 20; i++)
                    sum += work(i);
            return sum == 12345 ? 1 : 7;
        }",
    );
    let object = shop.compile("ours.c", &["-fdata-sections"]);
    link(&shop, &object, "ours", &["--live"]);
    let word = |bytes: &[u8], place: usize| {
        u64::from_ne_bytes(bytes[place..place + 8].try_into().unwrap())
    };
    for round in 0..8u64 {
        let mut command = shop.command(shop.path("ours"));
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        let live = shop.path("ours.csraw.live.0");
        let bytes = fs::read(&live).unwrap();
        let file = fs::File::options().write(true).open(&live).unwrap();
        let (address, length) = (word(&bytes, 16), word(&bytes, 24));
        let hostile = |place: usize, found: u64| match round {
            0 => 0x10,
            1 => address - 8,
            2 => address + length - 16,
            3 => found + 4,
            4 => u64::MAX - 7,
            // A ring, and a list of what are no nodes.
            5 => address + (place - START as usize) as u64 - 16,
            6 => address,
            _ => 1 << 46,
        };
        let mut changed = 0;
        for place in (START as usize..START as usize + length as usize).step_by(8) {
            let found = word(&bytes, place);
            if (address..address + length).contains(&found) {
                file.write_all_at(&hostile(place, found).to_ne_bytes(), place as u64).unwrap();
                changed += 1;
            }
        }
        assert!(changed > 12, "{changed}");
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"xyz").unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), errors(&output)), (Some(7), String::new()), "{round}");
        assert_eq!(names(&shop.path("")).iter().filter(|name| name.contains(".live.")).count(), 0);
    }
}

/// Counts of a process that has gone behind `chroot`, or has become another user, count once.
#[test]
fn out_of_reach_of_its_live_file() {
    if !is_root() {
        return;
    }
    let (shop, _) = open_shop();
    shop.write(
        "gone.c",
        "#define _GNU_SOURCE
        #include <sys/stat.h>
        #include <unistd.h>
        __attribute__((noinline)) int work(int n) { int s = 0; while (n-- > 0) s += n & 3; return s; }
        int main(int argc, char **argv)
        {
            if (argc > 1 && (chroot(argv[1]) || chdir(\"/\")))
                return 9;
            if (argc < 2 && setuid(12345))
                return 9;
            return work(100) == 1 ? 1 : 7;
        }",
    );
    let object = shop.compile("gone.c", &["-fdata-sections"]);
    link(&shop, &object, "gone", &["--live"]);
    let dumps = folder(&shop, "dumps", 0o777, 0);
    let jail = folder(&shop, "jail", 0o777, 0);
    let rounds = |path: &Path| fs::read(path).map_or(0, |dump| kept(&dump).1);
    let file = dumps.join("x.csraw");
    for arguments in [vec!["jail"], vec![]] {
        let mut gone = shop.command(shop.path("gone"));
        let output = gone.args(&arguments).env("COUNTERSINK_FILE", &file).output().unwrap();
        assert_eq!(ended(&output), "");
        shop.tool_output(&["fold", file.to_str().unwrap()]);
        let inside = jail.join(file.strip_prefix("/").unwrap());
        assert_eq!(rounds(&file) + rounds(&inside), 100, "{arguments:?}");
        assert_eq!(names(&dumps).iter().filter(|name| name.contains(".live.")).count(), 0);
        let _ = fs::remove_file(&file);
        let _ = fs::remove_file(inside);
    }
}

/// A name of a file cannot control the terminal on which a message about it appears.
#[test]
fn control_characters_in_messages() {
    let (shop, object) = open_shop();
    link(&shop, &object, "ours", &[]);
    let name = OsStr::from_bytes(b"\x1b[31m\x07\xc2\x9b\x9b\xc3\xa9\n/x");
    let output = shop
        .command(shop.path("ours"))
        .env("COUNTERSINK_FILE", shop.path("refused.c").join(name))
        .output();
    let told = output.unwrap().stderr;
    let told = str::from_utf8(&told).unwrap();
    assert!(
        told.contains(r"/\x1b[31m\x07\xc2\x9b\x9bé\x0a/x: not written: not a directory"),
        "{told}"
    );
}

/// For clang the folder of -fprofile-generate is a name from the link, too. What the program says is not.
#[test]
fn more_rights_of_a_program_of_clang() {
    if !is_root() {
        return;
    }
    let Some(llvm) = crate::llvm::all().pop() else { return };
    let (shop, _) = open_shop();
    let dumps = folder(&shop, "dumps", 0o755, 0);
    shop.write(
        "ours.cc",
        "extern \"C\" void __llvm_profile_set_filename(const char *);
        int main(int argc, char **argv)
        {
            if (argc > 1)
                __llvm_profile_set_filename(argv[1]);
            return 7;
        }",
    );
    let printed = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let folder_of = format!("-fprofile-generate={}", dumps.display());
    let flags = std::iter::once(folder_of.as_str()).chain(printed.split_whitespace());
    llvm.compile(&shop, "ours.cc", "ours", &flags.collect::<Vec<_>>());
    chmod(&shop.path("ours"), 0o6755);
    let start = folder(&shop, "start", 0o777, NOBODY);
    let (path, chosen) = (shop.path("ours"), start.join("chosen"));
    for arguments in
        [&[path.to_str().unwrap()][..], &[path.to_str().unwrap(), chosen.to_str().unwrap()]]
    {
        let mut run = as_user(&shop, NOBODY, &start, "0", arguments);
        assert_eq!(ended(&run.env("LLVM_PROFILE_FILE", &chosen).output().unwrap()), "");
    }
    let made = names(&dumps);
    assert_eq!((made.len(), names(&start)), (1, vec![]), "{made:?}");
    assert_eq!(mode(&dumps.join(&made[0])), 0o600);
    assert_eq!(
        Dump::parse(&fs::read(dumps.join(&made[0])).unwrap()).unwrap().modules[0].sums.runs,
        2
    );
}
