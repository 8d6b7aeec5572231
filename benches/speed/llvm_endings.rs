//! The cost of ending a large program of clang, in processor time.
//!
//! LLVM's runtime merges into the file of a pool, `%m`, which only programs of one build share: it maps the file and
//! adds to the counters in place, so that a kill leaves a part of a run. Ours writes a new file.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use countersink::cli::archives::archive;

use crate::Options;
use crate::harness::succeed;
use crate::llvm::Llvm;
use crate::program::{Compiler, FUNCTIONS, objects};
use crate::scratch::Scratch;
use crate::table::{Row, Table, medians};

/// The program, linked with both runtimes.
struct Large<'s> {
    directory: PathBuf,
    scratch: &'s Scratch,
    /// The folder with the counts of both.
    counts: RefCell<PathBuf>,
}

pub fn measure(llvm: Llvm, options: &Options, scratch: &Scratch, table: &mut Table) {
    let (number, repetitions) = (options.objects, options.repetitions);
    let large = Large::link(llvm, number, scratch);
    let mut row = |what: &str, target: f64, [ours, theirs]: [f64; 2]| {
        let objects = format!("{number} objects of {FUNCTIONS} functions");
        let figure = format!("clang {}: {objects}: {what}", llvm.major);
        table.row(Row { figure: &figure, ours, theirs, target });
    };
    row("first run, its end (ms)", 0.2, large.ends(repetitions, true));
    row("merging run, its end (ms)", 0.2, large.ends(repetitions, false));
}

impl<'s> Large<'s> {
    fn link(llvm: Llvm, number: usize, scratch: &'s Scratch) -> Self {
        let (folder, driver) = (format!("clang-{}", llvm.major), format!("clang-{}", llvm.major));
        let compiler = Compiler { folder: &folder, driver: &driver, flags: &[] };
        let directory = objects(&compiler, number, FUNCTIONS);
        let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
        write(&archive::HOSTED.file_name(), archive::HOSTED.bytes);
        write("observer.c", include_bytes!("observer.c"));
        let objects: Vec<String> = (0..number).map(|object| format!("o{object}.o")).collect();
        write("objects", objects.join("\n").as_bytes());
        let run = |driver: &str, arguments: &[&str]| {
            succeed(Command::new(driver).current_dir(&directory).args(arguments));
        };
        run("gcc", &["-O2", "-w", "-fPIC", "-shared", "observer.c", "-o", "libobserver.so"]);
        let link = ["-fprofile-generate", "main.o", "@objects", "libobserver.so", "-Wl,-rpath,."];
        run(&driver, &[&link[..], &["-o", "theirs"]].concat());
        run(&driver, &[&link[..], &["-o", "ours", "-L.", "-lcountersink_rt"]].concat());
        let directory = directory.canonicalize().unwrap();
        Self { directory, scratch, counts: RefCell::new(scratch.folder()) }
    }

    /// The end of a run, in milliseconds.
    fn end(&self, program: &str) -> f64 {
        let counts = self.counts.borrow();
        let mut command = Command::new(self.directory.join(program));
        command
            .current_dir(&self.directory)
            .env("COUNTERSINK_FILE", counts.join("ours.csraw"))
            .env("LLVM_PROFILE_FILE", counts.join("%m.profraw"));
        let printed = String::from_utf8(succeed(&mut command)).unwrap();
        printed.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1e6
    }

    fn ends(&self, repetitions: usize, first: bool) -> [f64; 2] {
        if !first {
            ["ours", "theirs"].into_iter().for_each(|program| _ = self.end(program));
        }
        medians(repetitions, |place| {
            if first {
                Scratch::empty(&self.counts.replace(self.scratch.folder()));
            }
            self.end(["ours", "theirs"][place])
        })
    }
}
