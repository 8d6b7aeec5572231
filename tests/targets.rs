//! Archives of other targets: given to the build of the tool or refused there, then listed, chosen and installed. What
//! these archives do is compared with libgcov by `tests/targets/run`. It makes them, and runs these tests with a tool
//! that has them. Otherwise the tests build a tool, with copies of its own archives for those of other targets.

mod harness;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::{env, fs};

use countersink::cli::archives::archive::{ALL, Archive, BARE, HOSTED, LIVE, Target};
use harness::{Workshop, have, succeed};

const LINUX: &str = "aarch64-unknown-linux-gnu";
const BOARD: &str = "thumbv7m-none-eabi";

/// A tool that was built with archives for [`LINUX`] and [`BOARD`], and the folder that the build was given.
struct Built {
    tool: PathBuf,
    archives: PathBuf,
    /// What the folder is in, if these tests made it.
    _shop: Option<Workshop>,
}

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let given = env::var_os("COUNTERSINK_ARCHIVES").map(PathBuf::from);
    if let Some(archives) =
        given.filter(|folder| [LINUX, BOARD].iter().all(|name| folder.join(name).is_dir()))
    {
        return Built { tool: env!("CARGO_BIN_EXE_countersink").into(), archives, _shop: None };
    }
    let shop = Workshop::new();
    give_archives(&shop);
    let archives = shop.path("archives");
    let given = [("COUNTERSINK_ARCHIVES", archives.to_str().unwrap())];
    let output = build(&target_directory(), &["--bin", "countersink"], &given);
    assert!(output.status.success(), "{output:?}");
    let tool = shop.path("countersink");
    fs::copy(target_directory().join("debug/countersink"), &tool).unwrap();
    Built { tool, archives, _shop: Some(shop) }
});

impl Built {
    /// An archive of a target.
    fn archive(&self, target: &str, archive: &Archive) -> Vec<u8> {
        fs::read(self.archives.join(target).join(archive.file_name())).unwrap()
    }
}

/// For tools that tests build. Stays, so that the packages of others are compiled once.
fn target_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("targets")
}

/// Builds this package with these variables.
fn build(directory: &Path, what: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["build", "--locked", "--offline", "--target-dir"]).arg(directory).args(what);
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo.env_remove("COUNTERSINK_TARGETS").env_remove("COUNTERSINK_ARCHIVES");
    cargo.envs(variables.iter().copied()).output().unwrap()
}

/// Builds the library with archives, without the tool. The directory of these tests' own build has its packages.
fn provide(variables: &[(&str, &str)]) -> Output {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    build(directory, &["--lib", "--no-default-features", "--features", "archives"], variables)
}

/// A folder of archives. Those of Linux are in each other's place, to be told from the tool's own.
fn give_archives(shop: &Workshop) {
    for archive in ALL {
        shop.write(&format!("archives/{}", archive.file_name()), archive.bytes);
    }
    let linux = |name: &str, bytes: &[u8]| {
        shop.write(&format!("archives/{LINUX}/{name}"), bytes);
    };
    linux(&HOSTED.file_name(), LIVE.bytes);
    linux(&LIVE.file_name(), HOSTED.bytes);
    linux(&BARE.file_name(), BARE.bytes);
    shop.write(&format!("archives/{BOARD}/{}", BARE.file_name()), BARE.bytes);
    shop.write("archives/pkgconfig/countersink.pc", "not an archive");
}

/// Runs that tool in a folder.
fn run(shop: &Workshop, arguments: &[&str]) -> Output {
    let mut tool = shop.command(&BUILT.tool);
    tool.env("XDG_CACHE_HOME", shop.path("cache")).args(arguments).output().unwrap()
}

fn printed(shop: &Workshop, arguments: &[&str]) -> String {
    let output = run(shop, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn assert_refused(output: Output, wanted: &[&str]) {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && wanted.iter().all(|part| told.contains(part)), "{told}");
}

#[test]
#[ignore = "slow"]
fn they_are_listed() {
    let list = printed(&Workshop::new(), &["targets"]);
    let lines: Vec<Vec<&str>> =
        list.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |target: &str, sizes: [usize; 3]| {
        let sizes = sizes.map(|size| if size == 0 { "-".to_owned() } else { size.to_string() });
        sizes.into_iter().chain([target.to_owned()]).collect::<Vec<String>>()
    };
    let size = |target: &str, archive| BUILT.archive(target, archive).len();
    let of_linux = [&HOSTED, &LIVE, &BARE].map(|archive| size(LINUX, archive));
    assert_eq!(lines[0], ["runtime", "live", "bare", "target"]);
    let own = [&HOSTED, &LIVE, &BARE].map(|archive| archive.bytes.len());
    assert_eq!(lines[1], row(Target::own().name, own));
    let others: Vec<&Vec<&str>> =
        lines[2..].iter().filter(|line| [LINUX, BOARD].contains(&line[3])).collect();
    assert_eq!(others, [&row(LINUX, of_linux), &row(BOARD, [0, 0, size(BOARD, &BARE)])]);
    let folders = fs::read_dir(&BUILT.archives).unwrap().map(|entry| entry.unwrap());
    let given = folders.filter(|folder| folder.path().join(BARE.file_name()).is_file());
    let given = given.filter(|folder| folder.file_name() != Target::own().name).count();
    assert_eq!(lines.len(), 2 + given, "{list}");
}

/// The archive in the folder that flags name.
fn archive_of(flags: &str, name: &str) -> Vec<u8> {
    let folder = flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L")).unwrap();
    assert!(flags.trim_end().ends_with(&format!("-l{name}")), "{flags}");
    fs::read(Path::new(folder).join(format!("lib{name}.a"))).unwrap()
}

#[test]
#[ignore = "slow"]
fn flags_name_the_archive_of_a_target() {
    let shop = Workshop::new();
    let own = printed(&shop, &["flags"]);
    assert_eq!(archive_of(&own, "countersink_rt"), HOSTED.bytes);
    assert_eq!(printed(&shop, &["flags", "--target", Target::own().name]), own);
    let flags = printed(&shop, &["flags", "--target", LINUX]);
    assert_eq!(archive_of(&flags, "countersink_rt"), BUILT.archive(LINUX, &HOSTED));
    let flags = printed(&shop, &["flags", "--target", LINUX, "--bare"]);
    assert_eq!(archive_of(&flags, "countersink_rt_bare"), BUILT.archive(LINUX, &BARE));
    // Boards have nothing else.
    let flags = printed(&shop, &["flags", "--target", BOARD]);
    assert_eq!(archive_of(&flags, "countersink_rt_bare"), BUILT.archive(BOARD, &BARE));
    assert!(!flags.contains("--export-dynamic-symbol"), "{flags}");
    for option in ["--live", "--wrap-exit", "--wrap-signal", "--rustc", "--file=x"] {
        let output = run(&shop, &["flags", "--target", BOARD, option]);
        assert_refused(output, &[BOARD, "no operating system"]);
    }
    // A link without the flags would take libgcov: its command line fails.
    let output = run(&shop, &["flags", "--target", "loongarch64-unknown-linux-gnu"]);
    let flags = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(flags.starts_with("countersink-flags-failed:"), "{flags}");
    let advice = "COUNTERSINK_TARGETS=loongarch64-unknown-linux-gnu";
    assert_refused(output, &["--target loongarch64-unknown-linux-gnu", LINUX, BOARD, advice]);
    let both = run(&shop, &["flags", "--target", LINUX, "--cc", "gcc"]);
    assert_refused(both, &["cannot be used with"]);
}

/// A compiler that defines these macros, with the flag that it must get.
fn compiler(shop: &Workshop, name: &str, flag: &str, macros: &[&str]) -> String {
    let macros: String = macros.iter().map(|name| format!("echo '#define {name}'; ")).collect();
    let script = format!("#!/bin/sh\ncase \" $* \" in *' {flag} '*) {macros};; *) exit 1;; esac\n");
    let path = shop.write(name, script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{} {flag}", path.display())
}

#[test]
#[ignore = "slow"]
fn a_compiler_tells_its_target() {
    let shop = Workshop::new();
    let flags = |command: &str| printed(&shop, &["flags", "--cc", command]);
    let of = |target: &str| printed(&shop, &["flags", "--target", target]);
    assert_eq!(flags("gcc"), of(Target::own().name));
    assert_eq!(of("x86_64-unknown-linux-musl"), of("x86_64-unknown-linux-gnu"));
    let board = ["__ARMEL__ 1", "__ARM_ARCH_7M__ 1"];
    assert_eq!(flags(&compiler(&shop, "board-gcc", "-mcpu=cortex-m3", &board)), of(BOARD));
    let linux = ["__AARCH64EL__ 1", "__linux__ 1", "__ARM_FP 14"];
    assert_eq!(flags(&compiler(&shop, "linux-gcc", "-O2", &linux)), of(LINUX));
    if have("aarch64-linux-gnu-gcc") {
        assert_eq!(flags("aarch64-linux-gnu-gcc"), of(LINUX));
    }

    let m0 = compiler(&shop, "small-gcc", "-mcpu=cortex-m0", &["__ARMEL__ 1", "__ARM_ARCH_6M__ 1"]);
    let output = run(&shop, &["flags", "--cc", &m0]);
    assert_refused(output, &["small-gcc", "compiles for thumbv6m-none-eabi"]);
    let riscv = ["__riscv 1", "__riscv_xlen 32", "__riscv_float_abi_soft 1"];
    let riscv = compiler(&shop, "riscv-gcc", "-march=rv32i", &riscv);
    assert_refused(run(&shop, &["flags", "--cc", &riscv]), &["extension `c`"]);
    let old = compiler(&shop, "old-gcc", "-O0", &["__ARMEL__ 1", "__ELF__ 1", "__ARM_ARCH 4"]);
    assert_refused(run(&shop, &["flags", "--cc", &old]), &["-mcpu="]);
    let small = "i686-unknown-linux-gnu";
    match BUILT.archives.join(small).is_dir() {
        true => assert_eq!(flags("gcc -m32"), of(small)),
        false => {
            let output = run(&shop, &["flags", "--cc", "gcc -m32"]);
            assert_refused(output, &[&format!("compiles for {small}"), LINUX]);
        }
    }
    let other = compiler(&shop, "other-gcc", "-O1", &["__s390x__ 1", "__linux__ 1"]);
    assert_refused(run(&shop, &["flags", "--cc", &other]), &["other-gcc", "no archives"]);
    assert_refused(run(&shop, &["flags", "--cc", "no-such-gcc"]), &["no-such-gcc"]);
    assert_refused(run(&shop, &["flags", "--cc", "gcc -mno-such-option"]), &["no-such-option"]);
    assert_refused(run(&shop, &["flags", "--cc", " "]), &["expected a compiler"]);
    let elf = compiler(&shop, "elf-gcc", "-O1", &["__x86_64__ 1", "__ELF__ 1"]);
    assert_refused(run(&shop, &["flags", "--cc", &elf]), &["leave out --cc", "--bare"]);
}

#[test]
#[ignore = "slow"]
fn a_compiler_is_only_asked() {
    let shop = Workshop::new();
    let own = printed(&shop, &["flags"]);
    let before = fs::read_dir(shop.path("")).unwrap().count();
    for flags in ["-o made", "-omade -c", "-MMD -MF made", "-MD", "-save-temps", "-M -MT made"] {
        assert_eq!(printed(&shop, &["flags", "--cc", &format!("gcc -O2 {flags}")]), own, "{flags}");
    }
    assert_eq!(fs::read_dir(shop.path("")).unwrap().count(), before);
    assert_refused(run(&shop, &["flags", "--cc", "true"]), &["true: printed no predefined macros"]);
    // It prints without end.
    assert_refused(run(&shop, &["flags", "--cc", "yes"]), &["yes: "]);
}

#[test]
#[ignore = "slow"]
fn a_target_is_known_whatever_is_asked_about_it() {
    let shop = Workshop::new();
    let output = run(&shop, &["flags", "--compile", "--target", "no-such-target"]);
    assert_refused(output, &["no-such-target", "COUNTERSINK_TARGETS"]);
    let output = run(&shop, &["flags", "--target", "aarch64-linux-gnu"]);
    assert_refused(output, &[&format!("near it: {LINUX}")]);
    assert_refused(run(&shop, &["flags", "--target", ""]), &["--target"]);
}

#[test]
#[ignore = "slow"]
fn a_pipe_in_the_place_of_the_archive_is_refused() {
    let shop = Workshop::new();
    printed(&shop, &["flags", "--dir", "place"]);
    let archive = shop.path("place/libcountersink_rt.a");
    fs::remove_file(&archive).unwrap();
    succeed(Command::new("mkfifo").arg(&archive));
    let output = run(&shop, &["flags", "--dir", "place"]);
    assert_refused(output, &["place/libcountersink_rt.a: is not a file"]);
}

#[test]
#[ignore = "slow"]
fn they_are_installed_beside_each_other() {
    let shop = Workshop::new();
    for target in [&[][..], &["--target", LINUX], &["--target", BOARD]] {
        printed(&shop, &[&["install", "--prefix", "usr"], target].concat());
    }
    let read = |name: &str| shop.read(Path::new("usr/lib").join(name));
    assert_eq!(read("libcountersink_rt.a"), HOSTED.bytes);
    let of_linux = BUILT.archive(LINUX, &HOSTED);
    assert_eq!(read(&format!("{LINUX}/libcountersink_rt.a")), of_linux);
    assert_eq!(read(&format!("{BOARD}/libcountersink_rt_bare.a")), BUILT.archive(BOARD, &BARE));
    let of_board = shop.path("usr/lib").join(BOARD);
    assert!(!of_board.join("countersink_live.ld").exists());
    assert!(!of_board.join("pkgconfig/countersink-live.pc").exists());
    assert!(!of_board.join("pkgconfig/countersink-wrap-exit.pc").exists());
    // The installed tool finds them again.
    fs::create_dir_all(shop.path("usr/bin")).unwrap();
    fs::copy(&BUILT.tool, shop.path("usr/bin/countersink")).unwrap();
    for (target, folder) in [(Target::own().name, "lib"), (LINUX, &format!("lib/{LINUX}"))] {
        let mut tool = shop.command(shop.path("usr/bin/countersink"));
        let flags = succeed(tool.args(["flags", "--target", target]));
        let folder = shop.path("usr").canonicalize().unwrap().join(folder);
        let wanted = format!("-L{} ", folder.display());
        assert!(String::from_utf8_lossy(&flags).contains(&wanted), "{target}: {wanted}");
    }
    printed(&shop, &["install", "--prefix", "multiarch", "--libdir", "lib/arm", "--target", BOARD]);
    assert!(shop.path("multiarch/lib/arm/libcountersink_rt_bare.a").is_file());
    if !have("pkg-config") {
        return;
    }
    let mut package = shop.command("pkg-config");
    package.env("PKG_CONFIG_PATH", shop.path("usr/lib").join(LINUX).join("pkgconfig"));
    let flags = String::from_utf8(succeed(package.args(["--libs", "countersink"]))).unwrap();
    // The file says where it is by its own place.
    let folder = flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L")).unwrap();
    let archive = Path::new(folder).join("libcountersink_rt.a");
    assert_eq!(fs::read(archive).unwrap(), of_linux, "{flags}");
}

/// CMake takes the package of the machine that the toolchain file names.
#[test]
#[ignore = "slow"]
fn cmake_finds_the_package_of_its_machine() {
    if !have("cmake") {
        return;
    }
    let shop = Workshop::new();
    for target in [&[][..], &["--target", LINUX], &["--target", BOARD]] {
        printed(&shop, &[&["install", "--prefix", "usr"], target].concat());
    }
    shop.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(prog NONE)\n\
         find_package(countersink 0.1)\nif(countersink_FOUND)\n\
         get_target_property(archive countersink::bare IMPORTED_LOCATION)\nendif()\n\
         message(STATUS \"found ${countersink_DIR} ${archive}\")\n",
    );
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", shop.path("usr").display());
    let found = |name: &str, options: &[&str]| {
        let mut cmake = shop.command("cmake");
        cmake.args(["-S", ".", "-B", name, &prefix]).args(options);
        let told = String::from_utf8(succeed(&mut cmake)).unwrap();
        told.lines().find_map(|line| line.strip_prefix("-- found ")).unwrap().to_owned()
    };
    let place = |target: &str, folder: &str| {
        let usr = shop.path("usr");
        format!(
            "{}/lib/cmake/countersink{target} {}/lib{folder}/libcountersink_rt_bare.a",
            usr.display(),
            usr.display()
        )
    };
    let (linux, board) = (format!("-{LINUX}"), format!("-{BOARD}"));
    let (in_linux, in_board) = (format!("/{LINUX}"), format!("/{BOARD}"));
    let system = |name: &str| format!("-DCMAKE_SYSTEM_NAME={name}");
    let processor = |name: &str| format!("-DCMAKE_SYSTEM_PROCESSOR={name}");
    assert_eq!(found("own", &[]), place("", ""));
    let options = [&system("Linux")[..], &processor("aarch64")];
    assert_eq!(found("linux", &options), place(&linux, &in_linux));
    let options = [&system("Generic")[..], &processor("cortex-m3")];
    assert_eq!(found("board", &options), place(&board, &in_board));
    let options = [&system("Generic")[..], &format!("-DCOUNTERSINK_TARGET={BOARD}")];
    assert_eq!(found("chosen", &options), place(&board, &in_board));
    let options = [&system("Linux")[..], &processor("riscv64")];
    assert_eq!(found("none", &options), "countersink_DIR-NOTFOUND ");
}

fn has_source_of_core() -> bool {
    let root = succeed(Command::new("rustc").args(["--print", "sysroot"]));
    let root = PathBuf::from(String::from_utf8(root).unwrap().trim());
    root.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file()
}

/// What was asked for and cannot be had ends the build, and says why.
#[test]
#[ignore = "slow"]
fn a_build_leaves_no_target_out() {
    for (asked, wanted) in [
        ("no-such-target", "no-such-target"),
        ("s390x-unknown-linux-gnu", "little-endian"),
        ("x86_64-apple-darwin", "for Linux, WebAssembly, or no operating system"),
    ] {
        assert_refused(provide(&[("COUNTERSINK_TARGETS", asked)]), &[asked, wanted]);
    }
    // Few have this one installed.
    let rare = "loongarch64-unknown-linux-musl";
    if has_source_of_core() {
        harness::skip("rustc has the source of core, so no target is missing");
    } else {
        let advice = format!("rustup target add {rare}");
        assert_refused(provide(&[("COUNTERSINK_TARGETS", rare)]), &[rare, &advice]);
    }
    let shop = Workshop::new();
    give_archives(&shop);
    let archives = shop.path("archives");
    let given = ("COUNTERSINK_ARCHIVES", archives.to_str().unwrap());
    let asked = ("COUNTERSINK_TARGETS", "riscv64gc-unknown-linux-gnu");
    assert_refused(provide(&[given, asked]), &["riscv64gc-unknown-linux-gnu has no"]);
    fs::remove_file(archives.join(LINUX).join(LIVE.file_name())).unwrap();
    assert_refused(provide(&[given]), &[LINUX, "has no", "libcountersink_rt_live.a"]);
    assert_refused(provide(&[("COUNTERSINK_ARCHIVES", "/nowhere")]), &["/nowhere"]);
}
