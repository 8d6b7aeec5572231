//! The cost of conversion, beside gcov and gcov-tool on the same notes and counts.
//!
//! gcov reads notes and data files and knows nothing about the program, so the comparable figures are those
//! without its binary. On one core the figure is processor time, which other load of the machine hardly
//! changes. On all cores it is the time until the end.
//!
//! Memory is a command's peak beyond its peak for a program of one object. That is some MB of the tool's own
//! code, as much as the command runs through.
//!
//! `convert --to gcda` has written the data files that gcov reads; they equal libgcov's byte for byte. The
//! notes and the dump of programs named `generated` are copies of one object that gcc has compiled
//! (`generated.rs`): compiling them all would take an hour.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cost::{Cores, Cost, Observer};
use crate::endings::Large;
use crate::harness::{Workshop, succeed};
use crate::program::FUNCTIONS;
use crate::programs::compile_sqlite;
use crate::scratch::Scratch;
use crate::table::{Row, Table, medians};
use crate::{Options, generated};

const TOOL: &str = env!("CARGO_BIN_EXE_countersink");

/// Functions of a smaller program, to see that each function of a larger one costs no more.
const SMALL: usize = 10_000;
/// Functions of a program whose memory is subtracted from that of a larger one.
const TINY: usize = 1;

/// Notes and a dump in a folder without the program.
struct Subject<'o> {
    name: String,
    observer: &'o Observer,
    scratch: &'o Scratch,
    /// The folder with the notes, and with data files for gcov in two places, as from two runs.
    directory: PathBuf,
    dump: PathBuf,
    /// The folder in which the program and its notes were compiled, if the program is to be found, too.
    compiled: Option<PathBuf>,
    repetitions: usize,
}

pub fn measure(options: &Options, scratch: &Scratch, table: &mut Table) {
    let observer = Observer::compile(scratch.path());
    let subject = |name: &str, compiled: Option<&Path>, dump: PathBuf| {
        let directory = scratch.path().join(name.replace(' ', "-"));
        let compiled = compiled.map(Path::to_owned);
        let repetitions = options.repetitions.div_ceil(3);
        let name = name.to_owned();
        let subject =
            Subject { name, observer: &observer, scratch, directory, dump, compiled, repetitions };
        subject.prepare();
        subject
    };
    let generated = |functions: usize| {
        let name = format!("{functions} functions generated");
        let directory = scratch.path().join(name.replace(' ', "-"));
        generated::write(&directory, functions);
        let dump = directory.join("dump.csraw");
        subject(&name, None, dump)
    };
    let tiny = generated(TINY);
    let large = Large::link(options.objects, scratch);
    succeed(&mut large.command(0));
    let name = format!("{} objects of {FUNCTIONS} functions", options.objects);
    subject(&name, Some(&large.directory), large.dump()).rows(&tiny, table);

    let shop = Workshop::new();
    if let Some(built) = compile_sqlite(&shop, &[]) {
        let objects: Vec<&str> = built.objects.iter().map(String::as_str).collect();
        shop.link(&objects, "ours", &["-lm"]);
        shop.run("ours", &built.arguments());
        subject("SQLite", Some(&shop.path("")), shop.path("ours.csraw")).rows(&tiny, table);
    }

    let (small, big) = (generated(SMALL), generated(options.functions));
    big.rows(&tiny, table);
    growth([&big, &small], [options.functions, SMALL], table);
}

/// Time and memory for each function of a large and of a small program.
fn growth(subjects: [&Subject<'_>; 2], functions: [usize; 2], table: &mut Table) {
    let name = |what: &str| format!("{} functions beside {}: {what}", functions[0], functions[1]);
    let mut row = |what: &str, figure: &dyn Fn(Cost) -> f64| {
        let [ours, theirs] = medians(subjects[0].repetitions, |place| {
            let cost = subjects[place].convert(Cores::One, false);
            1e3 * figure(cost) / functions[place] as f64
        });
        table.row(Row { figure: &name(what), ours, theirs, target: 1.3 });
    };
    row("to v4, microseconds for each", &|cost| cost.processor);
    row("to v4, memory for each (kB)", &|cost| cost.peak);
}

impl Subject<'_> {
    /// Copies the notes, unless they are in the folder, and writes data files, twice.
    fn prepare(&self) {
        fs::create_dir_all(&self.directory).unwrap();
        for entry in self.compiled.iter().flat_map(|compiled| fs::read_dir(compiled).unwrap()) {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "gcno") {
                fs::copy(&path, self.directory.join(path.file_name().unwrap())).unwrap();
            }
        }
        succeed(Command::new(TOOL).args(&self.to_gcda()[1..]));
        for run in ["first", "second"] {
            fs::create_dir_all(self.directory.join(run)).unwrap();
            for name in self.names("gcda") {
                fs::copy(self.directory.join(&name), self.directory.join(run).join(name)).unwrap();
            }
        }
    }

    fn rows(&self, tiny: &Self, table: &mut Table) {
        let name = |what: &str| format!("{}: {what}", self.name);
        let mut row = |what: &str, target: f64, [ours, theirs]: [f64; 2]| {
            table.row(Row { figure: &name(what), ours, theirs, target });
        };
        let gcov = |cores| self.gcov(cores);
        let v4 = |cores| self.convert(cores, false);
        let gcda = |cores| self.to_new_gcda(cores);
        let one = self.compare(Cores::One, v4, gcov);
        row("to v4 without the binary, beside gcov, one core (ms)", 0.5, one);
        let all = self.compare(Cores::All, v4, gcov);
        row("to v4 without the binary, beside gcov, all cores (ms)", 0.3, all);
        let [one_gcda, _] = self.compare(Cores::One, gcda, gcov);
        row("to gcda, beside gcov, one core (ms)", 0.5, [one_gcda, one[1]]);
        row("to gcda, beside gcov, all cores (ms)", 0.3, self.compare(Cores::All, gcda, gcov));
        let merge = |cores| self.merge(cores);
        let gcov_tool = |cores| self.gcov_tool(cores);
        let merged = self.compare(Cores::One, merge, gcov_tool);
        row("two dumps added, beside gcov-tool merge, one core (ms)", 0.2, merged);

        let [notes, dump] = self.megabytes();
        let mut memory = |what: &str, input: f64, cost: &dyn Fn(&Self) -> Cost| {
            let [ours, least] = medians(self.repetitions, |place| cost([self, tiny][place]).peak);
            row(&format!("{what} (MB)"), 4.0, [ours - least, input]);
        };
        memory("to v4, memory beside notes and dump", notes + dump, &|subject| {
            subject.convert(Cores::All, false)
        });
        memory("to gcda, memory beside the dump", dump, &|subject| subject.to_new_gcda(Cores::All));
        memory("two dumps added, memory beside both", 2.0 * dump, &|subject| {
            subject.merge(Cores::All)
        });

        // A file system may at once write a file to the disk that replaces another.
        let replacing = |cores| self.run(cores, &self.to_gcda());
        let [replaced, _] = self.compare(Cores::All, replacing, |_| Cost::default());
        table.plain(
            &name("to gcda in place of files that are there, all cores (ms)"),
            replaced,
            None,
        );
        let mut speed = |what: &str, input: f64, times: [f64; 2]| {
            let [ours, theirs] = times.map(|time| 1e3 * input / time);
            table.plain(&name(what), ours, Some(theirs));
        };
        speed("to v4, MB of notes and dump in a second, one core", notes + dump, one);
        speed("to v4, MB of notes and dump in a second, all cores", notes + dump, all);
        if self.compiled.is_some() {
            for (cores, how) in [(Cores::One, "one core"), (Cores::All, "all cores")] {
                let [ours, theirs] = self.compare(cores, |cores| self.convert(cores, true), gcov);
                let what = format!("to v4 with the binary, beside gcov, {how} (ms)");
                table.plain(&name(&what), ours, Some(theirs));
            }
            let least = tiny.convert(Cores::All, false).peak;
            let memory = self.convert(Cores::All, true).peak - least;
            table.plain(&name("to v4 with the binary, memory (MB)"), memory, None);
        }
    }

    /// Median times of two commands.
    fn compare(
        &self,
        cores: Cores,
        ours: impl Fn(Cores) -> Cost,
        theirs: impl Fn(Cores) -> Cost,
    ) -> [f64; 2] {
        medians(self.repetitions, |place| {
            let cost = if place == 0 { ours(cores) } else { theirs(cores) };
            if cores == Cores::One { cost.processor } else { cost.elapsed }
        })
    }

    fn run(&self, cores: Cores, command: &[String]) -> Cost {
        self.observer.run(cores, &self.directory, command)
    }

    fn convert(&self, cores: Cores, with_binary: bool) -> Cost {
        let mut command = self.tool("convert");
        command.extend(words(&["-o", "profile.gcov"]));
        if !with_binary {
            command.extend(self.moved());
        }
        self.run(cores, &command)
    }

    fn to_gcda(&self) -> Vec<String> {
        let mut command = self.tool("convert");
        command.extend(words(&["--to", "gcda"]));
        command.extend(self.moved());
        command
    }

    /// Writes data files where there are none yet.
    fn to_new_gcda(&self, cores: Cores) -> Cost {
        let mut command = self.to_gcda();
        command.extend(["--prefix".to_owned(), name_of(self.scratch.folder())]);
        self.run(cores, &command)
    }

    fn merge(&self, cores: Cores) -> Cost {
        let mut command = self.tool("merge");
        command.extend([self.dump.to_str().unwrap().to_owned()]);
        command.extend(words(&["-o", "merged.csraw"]));
        self.run(cores, &command)
    }

    fn gcov(&self, cores: Cores) -> Cost {
        let mut command = words(&["gcov", "-j", "-t"]);
        command.extend(self.names("gcno"));
        self.run(cores, &command)
    }

    fn gcov_tool(&self, cores: Cores) -> Cost {
        let mut command = words(&["gcov-tool", "merge", "first", "second", "-o"]);
        command.push(name_of(self.scratch.folder()));
        self.run(cores, &command)
    }

    /// The tool's command line for a subcommand and the dump.
    fn tool(&self, subcommand: &str) -> Vec<String> {
        words(&[TOOL, subcommand, self.dump.to_str().unwrap()])
    }

    /// Options that move the place of the program and its notes to the folder, which has only the notes.
    fn moved(&self) -> Vec<String> {
        let Some(compiled) = &self.compiled else { return Vec::new() };
        let compiled = compiled.to_str().unwrap().trim_end_matches('/');
        words(&["--path-map", &format!("{compiled}={}", self.directory.display())])
    }

    /// The folder's files with an extension.
    fn names(&self, extension: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.directory).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(&format!(".{extension}"))).collect()
    }

    /// Size of the notes and of the dump.
    fn megabytes(&self) -> [f64; 2] {
        let bytes = |path: &Path| fs::metadata(path).unwrap().len() as f64 / 1e6;
        let notes = self.names("gcno");
        let notes = notes.iter().map(|name| bytes(&self.directory.join(name)));
        [notes.sum(), bytes(&self.dump)]
    }
}

fn name_of(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
