//! Compilers other than the system's: the same `.gcda` files as with their own libgcov, byte for byte.
//!
//! `COUNTERSINK_GCCS=DIR:DIR` names folders with systems that have them, unpacked as by `debootstrap`: for
//! instance Debian's sid for GCC 13 to 16 and its bullseye for GCC 10. Everything happens inside these
//! folders, and `chroot` needs root's rights.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use countersink::cli::archives::archive::HOSTED;

use crate::harness::{Workshop, assert_same_files, have, say_skipped, succeed};

/// A system with compilers, and a folder in it.
struct System {
    root: PathBuf,
    folder: tempfile::TempDir,
}

impl System {
    fn new(root: &Path) -> Self {
        let folder = tempfile::tempdir_in(root.join("tmp")).unwrap();
        fs::write(folder.path().join(HOSTED.file_name()), HOSTED.bytes).unwrap();
        Self { root: root.to_owned(), folder }
    }

    /// Runs a line of shell in the folder, inside the system.
    fn shell(&self, line: &str) -> Vec<u8> {
        let inside = Path::new("/tmp").join(self.folder.path().file_name().unwrap());
        // Without /proc a program does not know its name.
        let line =
            format!("cd {} && export COUNTERSINK_FILE=ours.csraw && {line}", inside.display());
        succeed(Command::new("chroot").arg(&self.root).args(["sh", "-c", &line]))
    }

    fn take_gcda(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut taken: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "gcda"))
            .map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap()))
            .collect();
        for (name, _) in &taken {
            fs::remove_file(self.folder.path().join(name)).unwrap();
        }
        taken.sort();
        taken
    }
}

/// Programs, with the arguments of their runs. GCC 10 has other rules for the last ones.
const PROGRAMS: [(&str, &[&str], u32); 5] = [
    ("hello.c", &["", ""], 10),
    ("endings.c", &["", "e"], 10),
    ("everything.c", &["500", "77"], 11),
    ("sequence.c", &["wdrw", "wrw"], 11),
    ("processes.c", &["fork", "exec execv", "fail execl"], 11),
];

fn same_as_libgcov(system: &System, gcc: &str, source: &str, runs: &[&str]) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    fs::copy(from, system.folder.path().join(source)).unwrap();
    // The program's data are at the same place with either runtime: some counters count addresses.
    let place =
        "-no-pie -Wl,--section-start=.rodata=0x10000000 -Wl,-Tdata=0x20000000 -Wl,-Tbss=0x30000000";
    let link = format!("{gcc} -fprofile-generate {place} program.o");
    system.shell(&format!(
        "{gcc} -O2 -fno-pie -w -fprofile-generate -ftest-coverage -c {source} -o program.o && \
         {link} -o stock -L. && {link} -o ours -L. -lcountersink_rt -pthread"
    ));
    for run in runs {
        let stock = system.shell(&format!("./stock {run}"));
        assert_eq!(system.shell(&format!("./ours {run}")), stock, "{gcc} {source} {run}");
    }
    let stock = system.take_gcda();
    assert!(!stock.is_empty(), "{gcc} {source}");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_countersink"));
    tool.current_dir(system.folder.path()).args(["convert", "--to", "gcda", "ours.csraw"]);
    succeed(tool.arg("--prefix").arg(&system.root));
    assert_same_files(&system.take_gcda(), &stock);
    fs::remove_file(system.folder.path().join("ours.csraw")).unwrap();
}

fn major(compiler: &str) -> Option<u32> {
    compiler.strip_prefix("gcc-")?.parse().ok()
}

#[test]
fn compilers_of_other_systems() {
    let Some(roots) = std::env::var_os("COUNTERSINK_GCCS") else {
        return say_skipped("COUNTERSINK_GCCS names no folder with other compilers");
    };
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return say_skipped("only root can look into other systems");
    }
    let mut tried = Vec::new();
    for root in std::env::split_paths(&roots) {
        let system = System::new(&root);
        for entry in fs::read_dir(root.join("usr/bin")).unwrap() {
            let gcc = entry.unwrap().file_name().into_string().unwrap();
            let Some(major) = major(&gcc) else { continue };
            for (source, runs, _) in PROGRAMS.iter().filter(|(_, _, since)| major >= *since) {
                same_as_libgcov(&system, &gcc, source, runs);
            }
            tried.push(gcc);
        }
    }
    assert!(!tried.is_empty());
    say_tried(&tried);
}

fn say_tried(compilers: &[String]) {
    eprintln!("the same as libgcov: {}", compilers.join(", "));
}

/// Objects of two compilers in one program. libgcov takes only those of its own version, so each object is
/// compared with a program made by one compiler alone.
#[test]
fn objects_of_two_compilers() {
    if !have("gcc-11") {
        return;
    }
    let shop = Workshop::new();
    for name in ["library.c", "uses_library.c"] {
        shop.program(name);
    }
    // Otherwise the time of compilation is in the files.
    let flags = "-O2 -fprofile-generate -ftest-coverage -frandom-seed=0 -c";
    let compile = |gcc: &str, source: &str| {
        let mut command = shop.command(gcc);
        succeed(command.args(flags.split(' ')).arg(source));
    };
    let alone = |gcc: &str| {
        compile(gcc, "library.c");
        compile(gcc, "uses_library.c");
        let link = ["-fprofile-generate", "library.o", "uses_library.o", "-o", "alone"];
        succeed(shop.command(gcc).args(link));
        shop.run("alone", &[]);
        shop.take_gcda()
    };
    let [of_11, of_own] = ["gcc-11", "gcc"].map(alone);
    compile("gcc-11", "library.c");
    compile("gcc", "uses_library.c");
    shop.link(&["library.o", "uses_library.o"], "ours", &[]);
    shop.run("ours", &[]);
    let mixed = shop.converted_gcda("ours.csraw");
    assert_same_files(&mixed[..1], &of_11[..1]);
    assert_same_files(&mixed[1..], &of_own[1..]);
}
