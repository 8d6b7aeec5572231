//! Whatever is wrong with the place of a file, or around the process that writes it, there is one clear
//! message, the right exit status and no panic, and nothing that was there before is touched.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use countersink::raw::dump::Dump;

use crate::complaints::{errors, program_complains, ran, tool_fails};
use crate::harness::{Workshop, have, say_skipped, succeed};

const TOOL: &str = env!("CARGO_BIN_EXE_countersink");

/// The rights of `nobody`: root's would let everything through.
fn without_rights(command: &mut Command) -> &mut Command {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65534).gid(65534)
    } else {
        command
    }
}

/// The tool at a place that all users reach, as they may not reach the checkout.
fn tool_for_all(shop: &Workshop) -> PathBuf {
    let tool = shop.path("for-all");
    fs::copy(TOOL, &tool).unwrap();
    chmod(&tool, 0o755);
    tool
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_that_cannot_be_written() {
    let shop = ran();
    let tool = tool_for_all(&shop);
    let before = shop.read("ours.csraw");
    chmod(&shop.path(""), 0o555);
    chmod(&shop.path("ours.csraw"), 0o666);
    let output = without_rights(&mut shop.command(shop.path("ours"))).output().unwrap();
    program_complains(
        &output,
        &["ours.csraw: not written: permission denied; the counts of this run are lost"],
    );
    let mut new = shop.command(shop.path("ours"));
    let output = without_rights(new.env("COUNTERSINK_FILE", "new/x.csraw")).output().unwrap();
    program_complains(&output, &["new/x.csraw: not written: permission denied"]);

    let mut tool = shop.command(tool);
    let output =
        without_rights(tool.args(["convert", "ours.csraw", "--to=v4", "-o", "ours.gcov"])).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("ours.gcov: "), "{output:?}");
    chmod(&shop.path(""), 0o755);
    assert_eq!(shop.read("ours.csraw"), before);
    assert_eq!(shop.files("part"), Vec::<PathBuf>::new());
}

#[test]
fn a_file_that_may_not_be_read() {
    let shop = ran();
    let tool = tool_for_all(&shop);
    let before = shop.read("ours.csraw");
    chmod(&shop.path(""), 0o777);
    chmod(&shop.path("ours.csraw"), 0o000);
    let output = without_rights(&mut shop.command(shop.path("ours"))).output().unwrap();
    program_complains(
        &output,
        &["the counts are here, as the file without the last ending may not be read"],
    );
    let mut tool = shop.command(tool);
    let output = without_rights(tool.args(["show", "ours.csraw"])).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("ours.csraw: Permission denied"), "{output:?}");
    chmod(&shop.path("ours.csraw"), 0o600);
    assert_eq!(shop.read("ours.csraw"), before);
    assert_eq!(shop.files("part"), Vec::<PathBuf>::new());
}

#[test]
fn a_path_that_is_something_else() {
    let shop = ran();
    fs::create_dir(shop.path("directory")).unwrap();
    succeed(shop.command("mkfifo").arg("fifo"));
    symlink("loop", shop.path("loop")).unwrap();
    for (name, word) in [
        ("directory", "is a directory"),
        ("fifo", "not an ordinary file"),
        ("hello.c/x", "not a directory"),
        ("loop", "too many links"),
    ] {
        let mut command = shop.command(shop.path("ours"));
        let output = command.env("COUNTERSINK_FILE", name).output().unwrap();
        program_complains(&output, &[word, "; the counts of this run are lost"]);
    }
    let mut silent = shop.command(shop.path("ours"));
    let output = silent.env("COUNTERSINK_FILE", "/dev/null").output().unwrap();
    assert_eq!((errors(&output), output.status.code()), (String::new(), Some(0)));
    succeed(shop.command("mkfifo").arg("x.part"));
    let output = shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "x").output().unwrap();
    program_complains(&output, &["x: not written: its .part is not ours, move it away"]);
    fs::remove_file(shop.path("x.part")).expect("a pipe that stays");
    for mine in ["a download", "x"] {
        shop.write("x.part", mine);
        let output = shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "x").output().unwrap();
        program_complains(&output, &["x: not written: its .part is not ours, move it away"]);
        assert_eq!(shop.read("x.part"), mine.as_bytes());
    }
    fs::remove_file(shop.path("x.part")).unwrap();
    for make in [&["mkdir", "x.part"][..], &["ln", "-s", "other", "x.part"]] {
        succeed(shop.command(make[0]).args(&make[1..]));
        let output = shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "x").output().unwrap();
        program_complains(&output, &["x: not written: its .part is not ours, move it away"]);
        succeed(shop.command("rm").args(["-d", "x.part"]));
    }
    assert!(shop.path("directory").is_dir());
    assert_eq!(shop.files("part"), Vec::<PathBuf>::new());
    tool_fails(&shop, &["show", "directory"], &["directory: no dumps or profiles below it"]);
    tool_fails(
        &shop,
        &["convert", "ours.csraw", "--to=v4", "-o", "directory"],
        &["directory: is a directory"],
    );
    tool_fails(&shop, &["convert", "nowhere.csraw", "--to=v4"], &["nowhere.csraw: No such file"]);
    fs::rename(shop.path("ours"), shop.path("program")).unwrap();
    tool_fails(
        &shop,
        &["convert", "program.csraw", "--to=v4"],
        &[
            "program.csraw: No such file",
            "`countersink doctor program` says where the program's dump will be",
        ],
    );
    tool_fails(&shop, &["convert", "hello.c", "--to=v4"], &["hello.c: 0x0: expected a raw dump"]);
}

/// Through a symbolic link the target is replaced, and the link stays.
#[test]
fn a_symbolic_link_stays_one() {
    let shop = ran();
    fs::create_dir(shop.path("real")).unwrap();
    fs::rename(shop.path("ours.csraw"), shop.path("real/file")).unwrap();
    symlink("real/file", shop.path("ours.csraw")).unwrap();
    shop.run("ours", &[]);
    assert!(fs::symlink_metadata(shop.path("ours.csraw")).unwrap().is_symlink());
    let dump = Dump::parse(&shop.read("real/file")).unwrap();
    assert_eq!(dump.modules[0].sums.runs, 2);
}

/// A disk without room: a file size limit stops a write in the middle, as a full disk does.
#[test]
fn a_full_disk() {
    let shop = ran();
    let more = |number: usize| format!("int f{number}(int n) {{ return n < 0 ? -n : n; }}\n");
    shop.write("more.c", (0..20).map(more).collect::<String>());
    let objects = ["hello.c", "more.c"].map(|source| shop.compile(source, &[]));
    shop.link(&[&objects[0], &objects[1]], "ours", &[]);
    fs::remove_file(shop.path("ours.csraw")).unwrap();
    shop.run("ours", &[]);
    let before = shop.read("ours.csraw");
    for blocks in ["0", "1"] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec ./ours");
        // Larger than a block of 512 bytes, so that the second limit is met in the middle.
        assert!(before.len() > 512);
        let output = shop.command("sh").args(["-c", &script]).output().unwrap();
        program_complains(&output, &["ours.csraw: not written: file too large"]);
        assert_eq!(shop.read("ours.csraw"), before);
        assert_eq!(shop.files("part"), Vec::<PathBuf>::new());
    }
    let convert = "convert ours.csraw --to v4 -o x.gcov";
    let script = format!("trap '' XFSZ; ulimit -f 0; exec '{TOOL}' {convert}");
    let output = shop.command("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(errors(&output).contains("x.gcov: File too large"), "{output:?}");
    assert!(!shop.path("x.gcov").exists());
}

/// A really full disk, where a small file system may be mounted.
#[test]
fn a_full_file_system() {
    let shop = ran();
    fs::create_dir(shop.path("disk")).unwrap();
    let mut mount = shop.command("mount");
    mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs", "disk"]);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        say_skipped("file systems cannot be mounted here");
        return;
    }
    let mut command = shop.command(shop.path("ours"));
    command.env("COUNTERSINK_FILE", "disk/x.csraw");
    succeed(&mut command);
    let before = shop.read("disk/x.csraw");
    while fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(shop.path("disk/filler"))
        .and_then(|mut file| std::io::Write::write_all(&mut file, &[1; 4096]))
        .is_ok()
    {}
    let output = command.output().unwrap();
    let after = shop.read("disk/x.csraw");
    let parts = shop.files("part");
    succeed(shop.command("umount").arg("disk"));
    program_complains(&output, &["disk/x.csraw: not written: no space left on device"]);
    assert_eq!(after, before);
    assert_eq!(parts, Vec::<PathBuf>::new());
}

/// Torn counters cost one function, not the profile.
#[test]
fn impossible_counters_cost_one_function() {
    let shop = Workshop::new();
    shop.write("torn.c", TORN);
    let object = shop.compile("torn.c", &["-O0"]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    let output = shop.tool(&["convert", "ours.csraw", "--to", "v4-text", "--verbose"]);
    assert!(output.status.success());
    let told = errors(&output);
    assert!(told.contains("1 function with impossible counts"), "{told}");
    assert!(told.contains("torn: impossible flow: a negative count; not used"), "{told}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"whole\":0(") && !text.contains("\"torn\":0("), "{text}");
}

/// A function that spoils its own counters. It finds them by their value, as nobody knows what lies before
/// and behind them.
const TORN: &str = "\
extern long long __gcov0_torn[] __attribute__((weak));
int whole(int n) { int s = 0; while (n-- > 0) s += n; return s; }
int torn(int n) { int s = 0; while (n-- > 0) { if (n % 3) s += n; else s -= n; } return s; }
int main(void)
{
    extern char __data_start, _end;
    int s = whole(10) + torn(1000003);
    for (char *p = (char *)((unsigned long)&__data_start & ~7ul); p + 8 <= &_end; p += 8)
        if (*(long long *)p == 666668 || *(long long *)p == 333335)
            *(long long *)p = -5;
    return s == 1;
}
";

/// With the default action of SIGXFSZ and SIGPIPE the program would end before its own output.
#[test]
fn writing_that_fails_sends_the_program_no_signal() {
    let shop = ran();
    let before = shop.read("ours.csraw");
    let script = "ulimit -c 0; ulimit -f 0; ./ours | cat; exit ${PIPESTATUS[0]}";
    let output = shop.command("bash").args(["-c", script]).output().unwrap();
    program_complains(&output, &["ours.csraw: not written: file too large"]);
    assert_eq!((shop.read("ours.csraw"), shop.files("part")), (before, vec![]));

    // Nobody reads standard error any more.
    let (_, closed) = std::io::pipe().unwrap();
    let mut command = shop.command(shop.path("ours"));
    let output = command.env("COUNTERSINK_FILE", "/").stderr(closed).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"60\n"[..]));
    // Somebody could, but does not.
    let (reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b'x'; 65536]).unwrap();
    let mut command = shop.command(shop.path("ours"));
    let output = command.env("COUNTERSINK_FILE", "/").stderr(full).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"60\n"[..]));
    drop(reader);
}

/// A signal that was pending before stays pending. One that is not blocked stays so.
#[test]
fn signals_of_the_program_s_own_stay_its_own() {
    let shop = Workshop::new();
    shop.program("signals.c");
    let object = shop.compile("signals.c", &[]);
    shop.link(&[&object], "ours", &[]);
    assert_eq!(shop.run("ours", &[]), "pending after a flush\n");
}

#[test]
fn images_that_meet_the_same_error_say_it_once() {
    let shop = Workshop::new();
    shop.library();
    let program = shop.compile("uses_library.c", &[]);
    shop.link(&[&program, "./library.so"], "ours", &[]);
    let run = |file: &str| {
        let mut command = shop.command(shop.path("ours"));
        let output = command.env("COUNTERSINK_FILE", file).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        errors(&output)
    };
    let told = run("/proc/nowhere/x");
    assert_eq!(told.lines().count(), 1, "{told}");
    let told = run("/proc/nowhere/%m");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(run("x.csraw"), "");
}

/// The starter of a program with other rights does not choose the files that it writes.
#[test]
fn a_program_with_more_rights_than_its_starter_ignores_the_variable() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 || !have("setpriv") {
        return say_skipped("only root can make such a program");
    }
    let shop = ran();
    chmod(&shop.path(""), 0o755);
    chmod(&shop.path("ours"), 0o4755);
    fs::create_dir(shop.path("closed")).unwrap();
    chmod(&shop.path("closed"), 0o700);
    let mut command = shop.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "./ours"]);
    succeed(command.env("COUNTERSINK_FILE", "closed/x"));
    assert_eq!(fs::read_dir(shop.path("closed")).unwrap().count(), 0);
}

#[test]
fn long_names() {
    let shop = ran();
    // If nothing more fits into a name, a damaged file is set aside under a shorter one.
    let name = "x".repeat(250);
    shop.write(&name, "damaged");
    let mut command = shop.command(shop.path("ours"));
    let output = command.env("COUNTERSINK_FILE", &name).output().unwrap();
    program_complains(&output, &["the file was set aside as "]);
    assert_eq!(shop.read(&name), shop.read("ours.csraw"));
    // The program's own name, wherever the program is.
    let directory = ["d".repeat(200), "e".repeat(200), "f".repeat(200)].join("/");
    fs::create_dir_all(shop.path(&directory)).unwrap();
    let deep = shop.path(&directory).join("deep");
    fs::copy(shop.path("ours"), &deep).unwrap();
    succeed(&mut shop.command(deep));
    assert!(shop.path("deep.csraw").exists());
}

#[test]
fn many_links() {
    let shop = ran();
    shop.write("l0", "");
    for link in 1..=20 {
        symlink(format!("l{}", link - 1), shop.path(format!("l{link}"))).unwrap();
    }
    succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "l20"));
    assert_eq!(shop.read("l0"), shop.read("ours.csraw"));
}

/// Devices and pipes are written to. Links lead to the file that is replaced.
#[test]
fn output_of_the_tool_into_something_else() {
    let shop = ran();
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "file"]);
    let expected = shop.read("file");
    symlink("file", shop.path("link")).unwrap();
    symlink("nothing yet", shop.path("dangling")).unwrap();
    for name in ["link", "dangling"] {
        shop.write("file", "old");
        shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", name]);
        assert!(shop.path(name).is_symlink());
        assert_eq!(shop.read(name), expected);
    }
    assert_eq!(shop.read("file"), b"old");
    tool_fails(
        &shop,
        &["convert", "ours.csraw", "--to=v4", "-o", "/dev/full"],
        &["/dev/full: No space"],
    );
    succeed(shop.command("mkfifo").arg("fifo"));
    let reader = shop.command("cat").arg("fifo").stdout(Stdio::piped()).spawn().unwrap();
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "fifo"]);
    assert_eq!(reader.wait_with_output().unwrap().stdout, expected);
}

/// Other programs have written to files that are already open, and will go on writing.
#[test]
fn output_of_the_tool_into_open_files() {
    let shop = ran();
    shop.tool_output(&["convert", "ours.csraw", "--to", "v4-text", "-o", "file"]);
    let expected = ["before\n", &String::from_utf8(shop.read("file")).unwrap(), "after\n"].concat();
    symlink("/dev/stdout", shop.path("link")).unwrap();
    for (opened, name) in [
        (">", "/dev/stdout"),
        (">>", "/dev/stdout"),
        (">", "/dev/fd/1"),
        (">", "/proc/self/fd/1"),
        (">", "link"),
        ("3>>", "/dev/fd/3"),
    ] {
        let to = if opened == "3>>" { ">&3" } else { "" };
        let script = format!(
            "{{ echo before {to}; \"$0\" convert ours.csraw --to v4-text -o {name}; echo after {to}; }} {opened} log"
        );
        fs::remove_file(shop.path("log")).ok();
        succeed(shop.command("sh").args(["-c", &script, env!("CARGO_BIN_EXE_countersink")]));
        assert_eq!(String::from_utf8(shop.read("log")).unwrap(), expected, "{opened} {name}");
    }
    assert!(shop.path("link").is_symlink());
}

/// A profile in place of its own dump would cost the dump.
#[test]
fn output_of_the_tool_into_its_own_input() {
    let shop = ran();
    let before = shop.read("ours.csraw");
    symlink("ours.csraw", shop.path("link")).unwrap();
    tool_fails(
        &shop,
        &["convert", "ours.csraw", "--to=v4", "-o", "./link"],
        &["./link: is an input, too"],
    );
    assert_eq!(shop.read("ours.csraw"), before);
}

/// Exit status and output do not depend on anybody listening.
#[test]
fn nobody_reads_the_tool_s_messages() {
    let shop = ran();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = |arguments: &[&str]| {
        let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
        tool.args(arguments).stderr(full()).status().unwrap().code()
    };
    assert_eq!(status(&["convert", "ours.csraw", "--to=v4", "-o", "x.gcov"]), Some(0));
    assert!(shop.path("x.gcov").exists());
    assert_eq!(status(&["convert", "nowhere.csraw", "--to=v4", "-o", "y.gcov"]), Some(2));
}

/// The name in a dump need not be that of a file.
#[test]
fn notes_and_binaries_that_are_no_files() {
    let shop = ran();
    fs::remove_file(shop.path("hello.gcno")).unwrap();
    fs::remove_file(shop.path("ours")).unwrap();
    succeed(shop.command("mkfifo").args(["hello.gcno", "ours"]));
    tool_fails(
        &shop,
        &["convert", "ours.csraw", "--to=v4", "-o", "x"],
        &["nothing could be converted"],
    );
    let told = errors(&shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x"]));
    assert!(told.contains("hello.gcno: not a regular file\n"), "{told}");
    let binary = ["convert", "ours.csraw", "--to=v4", "-o", "x", "--binary", "ours"];
    tool_fails(&shop, &binary, &["ours: not a regular file"]);
}

/// If one of several files cannot be written, none is.
#[test]
fn counter_files_that_cannot_all_be_written() {
    let shop = Workshop::new();
    shop.program("hello.c");
    shop.write("more.c", "int more(void) { return 1; }\n");
    let objects = ["hello.c", "more.c"].map(|source| shop.compile(source, &[]));
    shop.link(&[&objects[0], &objects[1]], "ours", &[]);
    shop.run("ours", &[]);
    shop.write("hello.gcda", "old");
    for blocked in ["hello.gcda", "more.gcda"] {
        let _ = fs::remove_file(shop.path(blocked));
        fs::create_dir(shop.path(blocked)).unwrap();
        let before = fs::read_dir(shop.path("")).unwrap().count();
        let words = [format!("{blocked}: is a directory")];
        tool_fails(&shop, &["convert", "ours.csraw", "--to", "gcda"], &[&words[0]]);
        assert_eq!(fs::read_dir(shop.path("")).unwrap().count(), before);
        fs::remove_dir(shop.path(blocked)).unwrap();
    }
    assert!(shop.files("gcda").is_empty());
    let output = shop.tool(&["convert", "ours.csraw", "--to", "gcda"]);
    assert!(errors(&output).contains("2 .gcda files written"), "{output:?}");
}

/// A dump names the files of its objects, and anybody may have made it. A prefix is a wall, links are not followed, and
/// only `.gcda` files are replaced.
#[test]
fn counter_files_of_a_dump_from_anybody() {
    let shop = ran();
    let recorded = shop.path("").canonicalize().unwrap().display().to_string();
    for folder in ["box", "outside"] {
        fs::create_dir_all(shop.path(folder)).unwrap();
    }
    shop.write("hello.gcda", "of the user");
    symlink("../outside", shop.path("box/link")).unwrap();
    fs::create_dir(shop.path("box/inside")).unwrap();
    symlink(shop.path("hello.gcda"), shop.path("box/inside/hello.gcda")).unwrap();
    let named = |path: &str| format!("{recorded}={path}");
    let convert = ["convert", "ours.csraw", "--to", "gcda"];
    let with = |map: &str| {
        let map = named(map);
        let words = ["--prefix", "box", "--path-map", &map];
        convert.iter().chain(&words).map(|word| (*word).to_owned()).collect::<Vec<String>>()
    };
    for (map, told) in [
        ("/..", "box: /../hello.gcda is recorded, which leads out of this folder"),
        ("/a/../../..", "which leads out of this folder"),
        ("/link", "box/link: is a link, which may lead out of the prefix"),
        ("/inside", "box/inside/hello.gcda: is a link"),
    ] {
        let words = with(map);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        tool_fails(&shop, &words, &[told]);
        assert_eq!(shop.read("hello.gcda"), b"of the user", "{map}");
        assert_eq!(fs::read_dir(shop.path("outside")).unwrap().count(), 0, "{map}");
    }
    tool_fails(&shop, &convert, &["hello.gcda: 0x0: is there, and is no .gcda file; it stays"]);
    assert_eq!(shop.read("hello.gcda"), b"of the user");
    // What stays inside is written, and replaces an older file.
    for _ in 0..2 {
        let words = with("/build/../objects");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        shop.tool_output(&words);
        assert!(shop.read("box/objects/hello.gcda").starts_with(b"adcg"));
    }
}

/// What the tool replaces keeps its owner and its rights. Only root can give files to others, so others leave them
/// alone.
#[test]
fn files_of_another_user() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return say_skipped("only root can make files of others");
    }
    let shop = ran();
    chmod(&shop.path(""), 0o777);
    let convert = ["convert", "ours.csraw", "--to", "gcda"];
    shop.tool_output(&convert);
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "ours.afdo"]);
    let facts = |name: &str| {
        let found = fs::metadata(shop.path(name)).unwrap();
        (found.uid(), found.gid(), found.mode() & 0o7777)
    };
    for (user, mode) in [(65534, 0o640), (12345, 0o666), (12345, 0o400)] {
        for name in ["hello.gcda", "ours.afdo"] {
            chown(shop.path(name), Some(user), Some(12346)).unwrap();
            chmod(&shop.path(name), mode);
        }
        shop.tool_output(&convert);
        shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "ours.afdo"]);
        for name in ["hello.gcda", "ours.afdo"] {
            assert_eq!(facts(name), (user, 12346, mode), "{name}");
        }
    }
    chmod(&shop.path("hello.gcda"), 0o644);
    chmod(&shop.path("ours.csraw"), 0o644);
    let before = shop.read("hello.gcda");
    let mut others = shop.command(tool_for_all(&shop));
    let output = without_rights(others.args(convert)).output().unwrap();
    let told = "hello.gcda: Operation not permitted (os error 1): belongs to another user, and the new one would not";
    assert!(errors(&output).contains(told), "{output:?}");
    assert_eq!((output.status.code(), facts("hello.gcda")), (Some(2), (12345, 12346, 0o644)));
    assert_eq!(shop.read("hello.gcda"), before);
    let left: Vec<_> = fs::read_dir(shop.path("")).unwrap().flatten().collect();
    assert!(
        !left.iter().any(|entry| entry.file_name().to_string_lossy().starts_with(".countersink"))
    );
}

/// A file that is no input is refused by its beginning, however large it is.
#[test]
fn a_large_file_of_another_kind() {
    let shop = Workshop::new();
    let large = fs::File::create(shop.path("large")).unwrap();
    large.set_len(1 << 36).unwrap();
    for words in ["show", "check", "convert", "merge -o x", "stale", "profdata show", "report -o x"]
    {
        let script = format!("ulimit -v 4000000; exec timeout 60 '{TOOL}' {words} large");
        let told = errors(&shop.command("sh").args(["-c", &script]).output().unwrap());
        assert!(told.contains("large: 0x0: expected a raw dump"), "{words}: {told}");
    }
    // Nor where a program or its notes are expected.
    let shop = ran();
    let large = fs::File::create(shop.path("large")).unwrap();
    large.set_len(1 << 36).unwrap();
    fs::rename(shop.path("hello.gcno"), shop.path("notes")).unwrap();
    symlink("large", shop.path("hello.gcno")).unwrap();
    for words in [
        "doctor large",
        "convert ours.csraw --binary large -o x",
        "stale ours.csraw --binary large",
    ] {
        let script = format!("ulimit -v 4000000; exec timeout 60 '{TOOL}' {words}");
        let output = shop.command("sh").args(["-c", &script]).output().unwrap();
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {told}");
        assert!(told.contains("large: ") || told.contains("hello.gcno: "), "{words}: {told}");
        assert!(!told.contains("memory"), "{words}: {told}");
    }
}

/// What may never end is not read to its end.
#[test]
fn devices_as_input() {
    let shop = Workshop::new();
    // Random bytes may begin like a file of some format.
    let devices = [
        ("/dev/zero", "0x0: expected a raw dump", "0x0: expected text"),
        ("/dev/urandom", "/dev/urandom: ", "/dev/urandom: "),
    ];
    for (device, refused, no_text) in devices {
        for words in [&["show"][..], &["check"], &["convert"], &["stale"], &["profdata", "show"]] {
            let mut command = shop.command("timeout");
            let output = command.args(["20", TOOL]).args(words).arg(device).output().unwrap();
            let told = errors(&output);
            assert!(told.contains(refused), "{words:?}: {told}");
        }
        let mut extract = shop.command("timeout");
        let told = errors(&extract.args(["20", TOOL, "extract", device]).output().unwrap());
        assert!(told.contains(no_text), "{told}");
    }
    let endless =
        shop.command("sh").args(["-c", &format!("timeout 20 '{TOOL}' show - </dev/zero")]).output();
    assert!(errors(&endless.unwrap()).contains("standard input: 0x0: expected a raw dump"));
    let script = format!("printf ':ir\\nf\\n1\\n1\\n5\\n' | '{TOOL}' show - --top 1");
    let piped = succeed(shop.command("sh").args(["-c", &script]));
    assert!(String::from_utf8(piped).unwrap().contains("total count 5"));
}

/// A meaningless part of a file name's pattern stays, and is reported.
#[test]
fn an_unknown_letter_in_the_file_name() {
    let shop = ran();
    for (pattern, file, told) in
        [("%q.%%", "%q.%", Some("%q")), ("x%", "x%", Some("%")), ("%%q%h%e.%m", "", None)]
    {
        let mut ours = shop.command(shop.path("ours"));
        let output = ours.env("COUNTERSINK_FILE", pattern).output().unwrap();
        let line = |told| format!("countersink: name of the file: unknown {told} stays\n");
        assert_eq!(errors(&output), told.map_or_else(String::new, line), "{pattern}");
        assert!(shop.path(file).exists());
    }
}

/// With standard input closed, the one descriptor that is left is a standard one.
#[test]
fn no_descriptor_above_the_standard_ones() {
    let shop = Workshop::new();
    shop.write(
        "limit.c",
        "#include <stdio.h>\n#include <sys/resource.h>\n#include <unistd.h>\nint main(void)\n{\n    struct rlimit limit = { 3, 3 };\n    \
         close(0);\n    setrlimit(RLIMIT_NOFILE, &limit);\n    puts(\"60\");\n}\n",
    );
    let object = shop.compile("limit.c", &[]);
    shop.link(&[&object], "ours", &[]);
    let output = shop.output("ours", &[]);
    program_complains(&output, &["ours.csraw: not written: too many open files"]);
    assert!(!shop.path("ours.csraw").exists());
}

#[test]
fn a_name_that_is_too_long() {
    let shop = ran();
    let mut command = shop.command(shop.path("ours"));
    let output = command.env("COUNTERSINK_FILE", "x".repeat(5000)).output().unwrap();
    let told = "countersink: name of the file: name too long; the default file name is used\n";
    assert_eq!(errors(&output), told);
}
