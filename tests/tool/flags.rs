//! What `countersink flags` prints, where it puts the archive, and that no command line is left without it in silence.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use countersink::cli::archives::archive;

use crate::harness::Workshop;

const TOOL: &str = env!("CARGO_BIN_EXE_countersink");

/// No folder can be made below it, not even by root.
const NOWHERE: &str = "/proc/nowhere";

fn text(shop: &Workshop, arguments: &[&str]) -> String {
    String::from_utf8(shop.tool_output(arguments)).unwrap()
}

/// The tool on a machine where none of its usual places can be written.
fn without_places(shop: &Workshop, tool: impl AsRef<Path>) -> Command {
    let mut command = shop.command(tool.as_ref());
    command.env("HOME", NOWHERE).env("TMPDIR", NOWHERE);
    command.env_remove("XDG_CACHE_HOME").env_remove("XDG_RUNTIME_DIR");
    command
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn stdout(command: &mut Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The folder that flags name.
fn folder(flags: &str) -> &Path {
    Path::new(flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L")).unwrap())
}

fn has_archive(folder: &Path) -> bool {
    fs::read(folder.join(archive::HOSTED.file_name())).is_ok_and(|is| is == archive::HOSTED.bytes)
}

#[test]
fn the_cache_is_made_once_and_mended() {
    let shop = Workshop::new();
    let flags = text(&shop, &["flags"]);
    let directory = flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L")).unwrap();
    let file = std::path::Path::new(directory).join(archive::HOSTED.file_name());
    assert_eq!(fs::read(&file).unwrap(), archive::HOSTED.bytes);
    let made = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(text(&shop, &["flags"]), flags);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), made);
    fs::write(&file, "damaged").unwrap();
    assert_eq!(text(&shop, &["flags"]), flags);
    assert_eq!(fs::read(&file).unwrap(), archive::HOSTED.bytes);
}

/// What `flags` prints for compilations. gcc must know all of it.
#[test]
fn flags_for_compilations() {
    let shop = Workshop::new();
    let flags = |arguments: &[&str]| text(&shop, &[&["flags"], arguments].concat());
    let compile = "-g -fprofile-generate -ftest-coverage";
    assert_eq!(flags(&["--compile"]), format!("{compile}\n"));
    let atomic = format!("{compile} -fprofile-update=prefer-atomic");
    assert_eq!(flags(&["--compile", "--threads"]), format!("{atomic}\n"));
    assert_eq!(flags(&["--compile", "--live"]), format!("{compile} -fdata-sections\n"));
    for (versions, expected) in [
        (["10", "12.2.0"], "-fno-unroll-loops -ftree-loop-if-convert --param="),
        (["13", "15"], ""),
        (["16", "17.0.1"], "-fpeel-loops -fsplit-loops "),
    ] {
        // The targets of virtual calls are in the profile.
        let last = "-fno-devirtualize-speculatively\n";
        for version in versions {
            let printed = flags(&["--optimise", version]);
            assert!(printed.starts_with(expected), "{version}: {printed}");
            assert!(printed.ends_with(last), "{version}: {printed}");
        }
    }

    // A path, and the flags for the compiler there.
    let printed = flags(&["--optimise", "gcc"]);
    let printed: Vec<&str> = printed.split_whitespace().collect();
    shop.write("empty.c", "");
    shop.gcc(&[&["-O2", "-c", "empty.c"], &printed[..]].concat());

    // gcc 12 must not convert loops for a machine with masked moves.
    let has_it = |arguments: &str| {
        let printed = flags(&["--optimise", &format!("gcc {arguments}")]);
        printed.contains("-fno-tree-loop-if-convert")
    };
    if cfg!(target_arch = "x86_64") {
        assert!(!has_it("-mno-avx"));
        assert_eq!(has_it("-mavx"), printed.contains(&"-fno-unroll-loops"));
    }

    for refused in [
        &["--optimise", "9"][..],
        &["--optimise", "no-such-gcc"],
        &["--optimise", "12", "--live"],
        &["--compile", "--wrap-exit"],
        &["--threads"],
    ] {
        let output = shop.tool(&[&["flags"], refused].concat());
        assert_eq!(output.status.code(), Some(2), "{refused:?}: {output:?}");
    }
}

/// A compiler that gets no flags would link libgcov, and succeed.
#[test]
fn a_link_without_flags_fails_and_shows_why() {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &[]);
    for arguments in [&["flags"][..], &["flags", "--live"], &["flags", "--rustc"]] {
        let output = output(without_places(&shop, TOOL).args(arguments));
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(told.contains(NOWHERE) && told.contains("--dir"), "{told}");
        let flags = String::from_utf8(output.stdout).unwrap();
        let mut words = flags.split_whitespace();
        let (word, rest) = (words.next().unwrap(), words.next());
        assert_eq!(rest, None, "{flags}");
        let mut gcc = shop.command("gcc");
        let linked =
            gcc.args([&*object, "-fprofile-generate", "-o", "prog", word]).output().unwrap();
        let told = String::from_utf8(linked.stderr).unwrap();
        assert!(!linked.status.success() && told.contains(NOWHERE), "{told}");
        assert!(!shop.path("prog").exists());
    }
}

#[test]
fn wrong_options_break_the_link_too() {
    let shop = Workshop::new();
    for arguments in [&["flags", "--liv"][..], &["-j", "2", "flags", "--file"], &["flag"]] {
        let output = shop.tool(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.starts_with(b"countersink-flags-failed:"), "{output:?}");
    }
    for arguments in [&["convert", "--bogus"][..], &["flags", "--help"]] {
        assert!(!shop.tool(arguments).stdout.starts_with(b"countersink-flags-failed"));
    }
}

#[test]
fn places_in_turn() {
    let shop = Workshop::new();
    for (variable, below) in [("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "tmp")] {
        let place = shop.path(below);
        fs::create_dir(&place).unwrap();
        let flags = stdout(without_places(&shop, TOOL).env(variable, &place).arg("flags"));
        let folder = folder(&flags);
        assert!(folder.starts_with(&place) && has_archive(folder), "{flags}");
    }
    // A blank would divide the flags: the next place is used.
    let mut command = without_places(&shop, TOOL);
    command.env("XDG_CACHE_HOME", shop.path("my cache")).env("TMPDIR", shop.path("tmp"));
    assert!(folder(&stdout(command.arg("flags"))).starts_with(shop.path("tmp")));
}

/// In a folder that others may write to, they could put another archive.
#[test]
fn only_an_own_temporary_folder() {
    let shop = Workshop::new();
    let place = shop.path("tmp");
    fs::create_dir(&place).unwrap();
    let mut first = without_places(&shop, TOOL);
    let flags = stdout(first.env("TMPDIR", &place).arg("flags"));
    let own = folder(&flags).ancestors().find(|above| above.parent() == Some(&place)).unwrap();
    fs::set_permissions(own, fs::Permissions::from_mode(0o777)).unwrap();
    let mut second = without_places(&shop, TOOL);
    let output = output(second.env("TMPDIR", &place).arg("flags"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("others may write there"), "{told}");

    fs::rename(own, place.join("elsewhere")).unwrap();
    symlink(place.join("elsewhere"), own).unwrap();
    assert_eq!(self::output(second.arg("flags")).status.code(), Some(2));
}

#[test]
fn a_chosen_folder() {
    let shop = Workshop::new();
    let flags = stdout(without_places(&shop, TOOL).args(["flags", "--dir", "libs/here"]));
    assert_eq!(folder(&flags), shop.path("libs/here"));
    assert!(has_archive(&shop.path("libs/here")));
    let mut blank = without_places(&shop, TOOL);
    let told = output(blank.args(["flags", "--dir", "my libs"])).stderr;
    assert!(String::from_utf8(told).unwrap().contains("has a blank"));
}

/// As in a package: no copy is made.
#[test]
fn an_installed_prefix() {
    let shop = Workshop::new();
    let tool = shop.path("usr/bin/countersink");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    fs::copy(TOOL, &tool).unwrap();
    shop.tool_output(&["install", "--prefix", "usr"]);
    let lib = shop.path("usr/lib").canonicalize().unwrap();
    for arguments in [&["flags"][..], &["flags", "--live"]] {
        assert_eq!(folder(&stdout(without_places(&shop, &tool).args(arguments))), lib);
    }
    // An archive of another release is of no use.
    fs::write(lib.join(archive::HOSTED.file_name()), "of another release").unwrap();
    assert!(!output(without_places(&shop, &tool).arg("flags")).status.success());
}

/// Build scripts pass the option on to C compilers, and refuse it without a folder.
#[test]
fn rustc_is_given_a_folder() {
    let shop = Workshop::new();
    let printed = shop.tool_output(&["flags", "--rustc", "--compile"]);
    assert_eq!(String::from_utf8(printed).unwrap(), "-Cprofile-generate=.\n");
    let output = shop.tool(&["flags", "--rustc", "--compile", "--threads"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
