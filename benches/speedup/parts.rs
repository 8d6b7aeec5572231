//! Parts of a profile beside the whole one: whether gcc makes the same objects, and what both cost the compiler.
//!
//! `countersink launch` compiles each source with its part, gcc alone with the whole profile. The cost of reading a
//! profile is the processor time of an empty source with it, less that of the same source without one.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rayon::prelude::*;

use crate::builds::{Subject, Variant, object, succeed};
use crate::compilers::Language;
use crate::program::{Entry, Group, Package, Program, of_tests, words};
use crate::programs;

/// How often the empty source is compiled with the whole profile.
const READINGS: u32 = 20;

/// How often it is compiled with parts, at least once with each.
const READINGS_OF_PARTS: u32 = 200;

/// The unit of the kernel's times, `USER_HZ`.
const TICK: Duration = Duration::from_millis(10);

/// A program with more sources is compared in a third of them.
const SOURCES_OF_ALL: usize = 100;

pub const GROUP: Group = (
    "with parts",
    &[
        Entry { name: "lua", title: "Lua", program: programs::lua },
        Entry { name: "sqlite", title: "SQLite", program: programs::sqlite },
        Entry { name: "leveldb", title: "LevelDB (C++)", program: programs::leveldb },
        Entry { name: "rocksdb", title: "RocksDB (C++)", program: rocksdb },
    ],
);

/// RocksDB 6.20. Training compiles all its sources.
fn rocksdb() -> Program {
    let package = Package::of("librocksdb-sys");
    let list = fs::read_to_string(package.path("rocksdb_lib_sources.txt")).unwrap();
    // RocksDB's build makes the file with the version. The crate has it elsewhere.
    let names = list.split_whitespace().filter(|name| !name.ends_with("util/build_version.cc"));
    let mut sources: Vec<PathBuf> = names.map(|name| package.path("rocksdb").join(name)).collect();
    sources.extend([package.path("build_version.cc"), of_tests("rocksdb.cc")]);
    let defines = "-DNDEBUG -DOS_LINUX -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX \
        -DROCKSDB_SUPPORT_THREAD_LOCAL -fprofile-update=prefer-atomic";
    let includes = ["rocksdb", "rocksdb/include"].map(|folder| package.include(folder));
    Program {
        language: Language::Cxx,
        sources,
        flags: [words(defines), words("-std=gnu++17 -w -include cstdint"), includes.into()]
            .concat(),
        libraries: &["-lpthread", "-ldl"],
        training: words("20000"),
        measured: words("20000"),
    }
}

/// What one program and one gcc showed.
pub struct Row {
    pub program: &'static str,
    pub gcc: u32,
    objects: usize,
    /// The sources whose objects differ.
    different: Vec<PathBuf>,
    /// Sizes in bytes: of the whole profile, and of each part. A source that the profile does not know has none.
    whole: u64,
    parts: Vec<u64>,
    /// Processor time of reading the whole profile, and all parts.
    reading: Duration,
    reading_parts: Duration,
    /// Processor time of compiling with the whole profile, and with parts.
    compiling: Duration,
    compiling_parts: Duration,
}

/// Compares all objects of a program that has been trained.
pub fn measure(program: &'static str, subject: &Subject<'_>) -> Result<Row, String> {
    let folders = ["whole", "parts", "cut"].map(|name| subject.instrumented().join(name));
    for folder in &folders {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let [whole, parts, cut] = folders;
    let step = if subject.program.sources.len() > SOURCES_OF_ALL { 3 } else { 1 };
    let sources: Vec<&PathBuf> = subject.program.sources.iter().step_by(step).collect();
    let flags = subject.flags(Variant::Auto, None)?;
    let compiling = timed(|| {
        sources.par_iter().with_max_len(1).try_for_each(|source| {
            let flags = [&flags[..], &to(source)].concat();
            succeed(&mut subject.compilation(&whole, source, &flags)).map(drop)
        })
    })?;
    let launch = Launch::new(subject, &cut)?;
    let compiling_parts = timed(|| {
        sources
            .par_iter()
            .with_max_len(1)
            .try_for_each(|source| succeed(&mut launch.compilation(&parts, source)).map(drop))
    })?;
    let is_different = |source: &&PathBuf| {
        let [whole, parts] = [&whole, &parts].map(|folder| fs::read(folder.join(object(source))));
        whole.unwrap() != parts.unwrap()
    };
    let different: Vec<PathBuf> = sources.iter().copied().filter(is_different).cloned().collect();
    eprintln!("{} of {} objects differ", different.len(), sources.len());
    let cut_parts = parts_in(&cut);
    if cut_parts.is_empty() {
        return Err("no source got a part".into());
    }
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    let profile = subject.profile(Variant::Auto);
    let none = reading(subject, None, READINGS)?;
    let count = cut_parts.len() as u32;
    let times = READINGS_OF_PARTS.div_ceil(count);
    let of_parts: Result<Vec<Duration>, String> =
        cut_parts.iter().map(|part| reading(subject, Some(part), times)).collect();
    Ok(Row {
        program,
        gcc: subject.compiler.major(),
        objects: sources.len(),
        different,
        whole: size(&profile),
        parts: cut_parts.iter().map(|part| size(part)).collect(),
        reading: reading(subject, Some(&profile), READINGS)?.saturating_sub(none),
        reading_parts: of_parts?.iter().sum::<Duration>().saturating_sub(none * count),
        compiling,
        compiling_parts,
    })
}

/// `countersink launch` in front of a compiler.
struct Launch<'l> {
    subject: &'l Subject<'l>,
    profile: PathBuf,
    parts: &'l Path,
}

impl<'l> Launch<'l> {
    /// Converts the dump of a trained program once more, into version 4.
    fn new(subject: &'l Subject<'l>, parts: &'l Path) -> Result<Self, String> {
        let profile = subject.profile(Variant::Auto).with_extension("v4");
        let dump = subject.instrumented().join("program.csraw").display().to_string();
        let major = subject.compiler.major().to_string();
        let output = profile.display().to_string();
        subject.tool(&["convert", &dump, "--to", "v4", "--for-gcc", &major, "-o", &output])?;
        Ok(Self { subject, profile, parts })
    }

    /// The command that compiles a source with its part in a folder.
    fn compilation(&self, folder: &Path, source: &Path) -> Command {
        let direct = self.subject.compilation(folder, source, &to(source));
        let language = Language::of(source);
        let script = self.subject.compiler.script(language, &self.subject.instrumented());
        let own = self.subject.compiler.command(language, folder).get_args().count();
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersink"));
        command.args(["launch", "--profile"]).arg(&self.profile);
        command.arg("--parts").arg(self.parts).arg("--").arg(script);
        command.args(direct.get_args().skip(own)).current_dir(folder);
        command
    }
}

/// Flags that compile a source to its object.
fn to(source: &Path) -> [String; 3] {
    ["-c".into(), "-o".into(), object(source)]
}

/// The parts in their folder, which also has the catalogue of the profile.
fn parts_in(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == "afdo")).collect()
}

/// Processor time of compiling an empty source with a profile, or without one: the mean of some times.
fn reading(subject: &Subject<'_>, profile: Option<&Path>, times: u32) -> Result<Duration, String> {
    let folder = subject.instrumented();
    fs::write(folder.join("empty.c"), "int empty;\n").map_err(|error| error.to_string())?;
    let option = profile.map(|profile| format!("-fauto-profile={}", profile.display()));
    let once = || {
        let mut command = subject.compiler.command(Language::C, &folder);
        command.args(words("-O2 -S empty.c -o /dev/null")).args(&option);
        succeed(&mut command).map(drop)
    };
    Ok(timed(|| (0..times).try_for_each(|_| once()))? / times)
}

/// Processor time that the children of this process take meanwhile, by the kernel's ticks of 10 ms.
fn timed(work: impl FnOnce() -> Result<(), String>) -> Result<Duration, String> {
    let before = of_children()?;
    work()?;
    Ok(of_children()? - before)
}

/// Processor time of all children that have ended, and of theirs: fields 16 and 17 of `/proc/self/stat`.
fn of_children() -> Result<Duration, String> {
    let text = fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    // The second field is the program's name in parentheses, and may have blanks.
    let (_, fields) = text.rsplit_once(") ").ok_or(format!("/proc/self/stat: {text}"))?;
    let ticks = fields.split(' ').skip(13).take(2).filter_map(|field| field.parse::<u64>().ok());
    Ok(TICK * ticks.sum::<u64>() as u32)
}

impl Row {
    /// Whether all objects are equal.
    pub fn is_same(&self) -> bool {
        self.different.is_empty()
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kilobytes = |bytes: u64| bytes as f64 / 1e3;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let count = self.parts.len();
        let mean = self.parts.iter().sum::<u64>() / count as u64;
        let largest = self.parts.iter().copied().max().unwrap_or_default();
        write!(
            f,
            "| {} | {} | {} | {count} | {} ",
            self.program,
            self.gcc,
            self.objects,
            self.different.len()
        )?;
        write!(f, "| {:.0} kB | {:.0} kB ", kilobytes(self.whole), kilobytes(mean))?;
        write!(f, "| {:.0} kB | {:.1} ms ", kilobytes(largest), milliseconds(self.reading))?;
        write!(f, "| {:.1} ms ", milliseconds(self.reading_parts) / count as f64)?;
        let [whole, parts] = [self.compiling, self.compiling_parts].map(|time| time.as_secs_f64());
        write!(f, "| {whole:.1} s | {parts:.1} s |")
    }
}

/// Prints the table, and the names of sources whose objects differ.
pub fn print(rows: &[Row]) {
    let head = "| program | gcc | objects | parts | different | the whole profile | a part, mean | the largest | reading the \
        whole | reading a part, mean | compiling with the whole | with parts |";
    println!("{head}\n|{}", "---|".repeat(12));
    for row in rows {
        println!("{row}");
    }
    for (row, source) in
        rows.iter().flat_map(|row| row.different.iter().map(move |path| (row, path)))
    {
        println!("different: {}, gcc {}: {}", row.program, row.gcc, source.display());
    }
}
