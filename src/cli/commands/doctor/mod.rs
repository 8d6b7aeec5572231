//! `countersink doctor`: whether a program is ready to be trained, and where its counts will be. It looks at the file
//! of the program and does not run it. [`options`] compares two programs.

mod options;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use anstyle::{AnsiColor, Style};
use clap::Args;
use hashbrown::HashMap;
use memchr::memmem;
use object::{BinaryFormat, Object, ObjectSection, SectionKind};

use crate::cli::archives::linked_file;
use crate::cli::compilers::gcc;
use crate::cli::compilers::llvm::{Llvm, Origins};
use crate::cli::inputs::debug_file;
use crate::cli::inputs::input::read_regular;
use crate::cli::inputs::notes::{NOTES_HINT, Places, display};
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::message::say;
use crate::cli::terminal::print;
use crate::cli::terminal::visible::visible;
use crate::convert::number::Number;
use crate::formats::gcno::Notes;
use crate::program::debug::producer::{Compilation, compilations};
use crate::raw::dump::Dump;
use crate::raw::layout::MAGIC;

/// Say whether a program is ready for its training runs
///
/// Looks at the program's file: who instrumented it, the runtime that it is linked with, its notes and debug
/// information, where its dump will be, and what the installed compiler reads. It does not run the program.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # After the link, before the training runs
  countersink doctor prog
  # Whether the optimised program comes from the same compiler and options
  countersink doctor prog --final prog-opt

The exit status is 1 if something is wrong.")]
pub struct Doctor {
    /// Executables and shared objects
    #[arg(required = true, value_name = "PROGRAM")]
    programs: Vec<PathBuf>,
    /// Compare the compilers and options that the first program records with those of this one, which was compiled with
    /// the profile
    #[arg(long = "final", value_name = "PROGRAM")]
    last: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
}

/// A line of the report.
struct Line {
    subject: &'static str,
    verdict: Verdict,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
    /// Neither.
    Note,
}

/// What a program's file says.
struct Program<'b> {
    bytes: &'b [u8],
    /// The compilers named in it, such as `GCC: (Debian 12.2.0-14) 12.2.0`.
    compilers: BTreeSet<String>,
    /// The data files of objects that gcc instrumented.
    data_files: Vec<Vec<u8>>,
    /// Whether clang or rustc instrumented any object.
    has_llvm: bool,
    /// Whether clang's `--coverage` did, whose counts LLVM's own runtime writes.
    has_gcov_of_llvm: bool,
    /// Whether the runtime's part for clang and rustc is there, if the runtime is ours.
    has_part_for_llvm: bool,
    runtime: Runtime,
    /// The name of the dump that the link or clang has put into the program.
    pattern: Option<&'b [u8]>,
    /// Why it has more rights than its starter, if it has.
    more_rights: Option<&'static str>,
    has_debug_information: bool,
    build_id: Vec<u8>,
}

/// The profile runtime in a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runtime {
    /// Ours, with counters in memory, or in a file from the start.
    Countersink {
        live: bool,
    },
    /// Ours, for programs without an operating system.
    Bare,
    Libgcov,
    Llvm,
    None,
}

/// A name in the memory of each runtime. Stripped programs have it, too.
const RUNTIMES: [(&[u8], Runtime); 4] = [
    (b"COUNTERSINK_FILE", Runtime::Countersink { live: false }),
    // LLVM's runtime knows libgcov's variables, too.
    (b"LLVM_PROFILE_FILE", Runtime::Llvm),
    (b"GCOV_PREFIX_STRIP", Runtime::Libgcov),
    // No variables, but dumps.
    (&MAGIC, Runtime::Bare),
];

/// Whether a file has debug lines.
fn has_lines(file: &object::File<'_>) -> bool {
    file.section_by_name(".debug_line").is_some()
}

impl Doctor {
    pub fn run(&self) -> Result<Outcome> {
        let mut outcome = Outcome::Done;
        for (number, path) in self.programs.iter().enumerate() {
            let last = self.last.as_deref().filter(|_| number == 0);
            let found = self.examine(path, last).unwrap_or_else(|error| {
                say(error);
                Outcome::Failed
            });
            outcome = outcome.max(found);
        }
        Ok(outcome)
    }

    /// Reports on a program, and on what differs from the one that was compiled with the profile.
    fn examine(&self, path: &Path, last: Option<&Path>) -> Result<Outcome> {
        let bytes = read_regular(path).about(path)?;
        let program = Program::of(path, &bytes)?;
        let counters = counters(&program.data_files, &self.places);
        let mut lines = vec![program.instrumentation(), program.runtime(counters.is_some())];
        lines.extend(program.notes(&self.places));
        lines.extend(program.debug_information(&self.places));
        match program.runtime {
            Runtime::Countersink { .. } => lines.push(dump(path, &program)),
            Runtime::Libgcov => lines.extend(counters),
            Runtime::Bare => {
                let text = "where the program's own call of countersink_write or countersink_write_text puts it";
                lines.push(Line { subject: "dump", verdict: Verdict::Note, text: text.to_owned() });
            }
            _ => {}
        }
        lines.push(program.reader(&self.places));
        if let Some(last) = last {
            let other = read_regular(last).about(last)?;
            let (own, other) = (recorded(path, &bytes)?, recorded(last, &other)?);
            let (verdict, text) = options::compare(&own, &other);
            lines.push(Line { subject: "options", verdict, text });
        }
        print::print_text(&text(path, &lines))?;
        let is_bad = lines.iter().any(|line| line.verdict == Verdict::Bad);
        Ok(if is_bad { Outcome::Found } else { Outcome::Done })
    }
}

/// The counters that libgcov has written.
fn counters(data_files: &[Vec<u8>], places: &Places) -> Option<Line> {
    let is_there = |file: &&Vec<u8>| display(&places.moved(file)).is_file();
    let (found, all) = (data_files.iter().filter(is_there).count(), data_files.len());
    let text = format!("{found} of {all} .gcda files are there, which convert reads, too");
    (found > 0).then_some(Line { subject: "counters", verdict: Verdict::Note, text })
}

/// What the compilers recorded in a program, or in its debug file.
fn recorded(path: &Path, bytes: &[u8]) -> Result<Vec<Compilation>> {
    let file = object::File::parse(bytes).about(path)?;
    let own = compilations(&file);
    let debug = debug_file::find(path, &file).filter(|_| own.is_empty());
    let of_debug = debug.and_then(|bytes| Some(compilations(&object::File::parse(&*bytes).ok()?)));
    Ok(of_debug.unwrap_or(own))
}

/// Where the dump will be, and what is there.
fn dump(path: &Path, program: &Program<'_>) -> Line {
    let subject = "dump";
    let is_absolute = program.pattern.is_some_and(|pattern| pattern.starts_with(b"/"));
    match program.more_rights {
        Some(why) if !is_absolute => {
            let text = format!(
                "none: the program is {why}, and takes only an absolute name from the link: flags --file \
                 /DIRECTORY/%e.csraw"
            );
            return Line { subject, verdict: Verdict::Bad, text };
        }
        Some(_) => {}
        None => {
            if let Some((variable, pattern)) = program.variable() {
                let text = format!("{} ({variable})", visible(&pattern));
                return Line { subject, verdict: Verdict::Note, text };
            }
        }
    }
    let unless = match program.more_rights {
        Some(why) => format!("whatever the environment says, as the program is {why}"),
        None if program.has_llvm => {
            "unless COUNTERSINK_FILE or LLVM_PROFILE_FILE names another".to_owned()
        }
        None => "unless COUNTERSINK_FILE names another".to_owned(),
    };
    let pattern = match program.pattern {
        Some(pattern) => pattern,
        // clang's symbol goes when the program is stripped.
        None if program.has_llvm => {
            let name =
                "the name that the compiler has put into the program, such as default_%m.profraw";
            let text = format!("{name}, {unless}");
            return Line { subject, verdict: Verdict::Note, text };
        }
        None => b"%e.csraw",
    };
    let name = path.file_name().unwrap_or_default();
    let Some(file) = expanded(pattern, name) else {
        let text = format!("{}, {unless}", visible(&String::from_utf8_lossy(pattern)));
        return Line { subject, verdict: Verdict::Note, text };
    };
    let file = Path::new(OsStr::from_bytes(&file));
    let shown = visible(&file.to_string_lossy());
    let (place, here) = match file.is_absolute() {
        true => ("", ""),
        false => (", in the directory where the program starts", " in this directory"),
    };
    let Ok(bytes) = read_regular(file) else {
        let text = format!("{shown}{place}, {unless}");
        return Line { subject, verdict: Verdict::Note, text };
    };
    let (verdict, what) = program.runs_in(&bytes);
    Line { subject, verdict, text: format!("{shown}{here} {what}") }
}

/// A pattern with the program's name in place of `%e`. Other letters are known only when the program runs.
fn expanded(pattern: &[u8], program: &OsStr) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        match (byte, if byte == b'%' { bytes.next() } else { None }) {
            (b'%', Some(b'e')) => file.extend_from_slice(program.as_bytes()),
            (b'%', Some(b'%')) => file.push(b'%'),
            (b'%', _) => return None,
            (byte, _) => file.push(byte),
        }
    }
    Some(file)
}

/// Why a program has more rights than its starter, if the file gives it some.
fn more_rights(path: &Path) -> Option<&'static str> {
    const SET_USER: u32 = 0o4000;
    /// Without the right of the group to execute it, the mark means something else.
    const SET_GROUP: u32 = 0o2010;
    let mode = path.metadata().ok()?.mode();
    if mode & SET_USER == SET_USER {
        return Some("set-user-ID");
    }
    if mode & SET_GROUP == SET_GROUP {
        return Some("set-group-ID");
    }
    let mut capabilities = [0; 64];
    let found = rustix::fs::getxattr(path, "security.capability", &mut capabilities[..]);
    found.is_ok_and(|length| length > 0).then_some("a program with capabilities")
}

impl<'b> Program<'b> {
    fn of(path: &Path, bytes: &'b [u8]) -> Result<Self> {
        let file = object::File::parse(bytes).about(path)?;
        let comment = file.section_by_name(".comment").and_then(|section| section.data().ok());
        let compilers = comment.unwrap_or_default().split(|&byte| byte == 0);
        let compilers = compilers.filter(|name| !name.is_empty() && !name.starts_with(b"Linker"));
        let is_there = |text: &[u8]| memmem::find(bytes, text).is_some();
        let runtime = RUNTIMES.into_iter().find(|(variable, _)| is_there(variable));
        let runtime = match runtime.map(|(_, runtime)| runtime) {
            // Only the runtime for live counters names live files.
            Some(Runtime::Countersink { .. }) => Runtime::Countersink { live: is_there(b".live.") },
            Some(other) => other,
            None => Runtime::None,
        };
        // A module of WebAssembly has segments, with names.
        let is_wasm = file.format() == BinaryFormat::Wasm;
        let has_counters = file.section_by_name("__llvm_prf_cnts").is_some();
        Ok(Self {
            compilers: compilers.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            data_files: data_files(&file),
            has_llvm: has_counters || is_wasm && is_there(b"__llvm_prf_cnts"),
            has_gcov_of_llvm: is_there(b"llvm_gcda_"),
            has_part_for_llvm: is_there(b"LLVM_PROFILE_FILE"),
            bytes,
            runtime,
            pattern: linked_file::pattern(&file),
            more_rights: more_rights(path),
            has_debug_information: has_lines(&file) || debug_file::find(path, &file).is_some(),
            build_id: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
        })
    }

    /// The variable that names the dump, and the name.
    fn variable(&self) -> Option<(&'static str, String)> {
        let of_llvm = self.has_llvm.then_some("LLVM_PROFILE_FILE");
        ["COUNTERSINK_FILE"].into_iter().chain(of_llvm).find_map(|variable| {
            let pattern = std::env::var(variable).ok().filter(|pattern| !pattern.is_empty())?;
            Some((variable, pattern))
        })
    }

    /// What the dump has of this program.
    fn runs_in(&self, dump: &[u8]) -> (Verdict, String) {
        match Dump::parse(dump) {
            Err(error) => (Verdict::Bad, format!("is damaged: {error}")),
            Ok(_) if self.build_id.is_empty() => {
                (Verdict::Note, "is there; the program has no build-id to compare".to_owned())
            }
            Ok(dump) => {
                let is_its = |id: &[u8]| id == self.build_id;
                let module = dump.modules.iter().find(|module| is_its(module.build_id()));
                match module.map(|module| Number(module.sums.runs, "run")) {
                    Some(runs) => (Verdict::Good, format!("has {runs} of this build")),
                    None => (Verdict::Note, "has only runs of other builds".to_owned()),
                }
            }
        }
    }

    fn instrumentation(&self) -> Line {
        let compilers = |is_llvm: bool| {
            let is = |name: &&String| is_llvm != name.starts_with("GCC");
            let names = self.compilers.iter().filter(is).map(|name| visible(name));
            names.collect::<Vec<_>>().join(", ")
        };
        let objects = Number(self.data_files.len() as u64, "object");
        let (verdict, text) = match (self.data_files.is_empty(), self.has_llvm) {
            (false, _) if self.has_gcov_of_llvm => {
                let what = "by clang's --coverage, which writes .gcda files itself: use -fprofile-generate";
                (Verdict::Bad, what.to_owned())
            }
            (true, false) => {
                let what = "no: compile with $(countersink flags --compile), or clang's or rustc's -fprofile-generate";
                (Verdict::Bad, what.to_owned())
            }
            (false, false) => (Verdict::Good, format!("{objects} of gcc; {}", compilers(false))),
            (true, true) => {
                let text = format!("by LLVM; {}", compilers(true));
                (Verdict::Good, text.trim_end_matches("; ").to_owned())
            }
            (false, true) => {
                let (gcc, llvm) = (compilers(false), compilers(true));
                (Verdict::Good, format!("{objects} of gcc, others of LLVM; {gcc}, {llvm}"))
            }
        };
        Line { subject: "instrumented", verdict, text }
    }

    fn runtime(&self, has_counters: bool) -> Line {
        let is_instrumented = self.has_llvm || !self.data_files.is_empty();
        let (verdict, text) = match self.runtime {
            Runtime::Countersink { .. } if self.has_llvm && !self.has_part_for_llvm => {
                let what = "countersink without its part for clang and rustc, whose counts are lost: add \
                            -Wl,-u,__llvm_profile_runtime to the link";
                (Verdict::Bad, what)
            }
            Runtime::Countersink { live: false } => (Verdict::Good, "countersink"),
            Runtime::Countersink { live: true } => {
                (Verdict::Good, "countersink, with counters in a file from the start (--live)")
            }
            Runtime::Bare => {
                (Verdict::Good, "countersink, for programs without an operating system (--bare)")
            }
            Runtime::Libgcov if has_counters => (Verdict::Note, "libgcov"),
            Runtime::Libgcov => (Verdict::Bad, "libgcov: add $(countersink flags) to the link"),
            Runtime::Llvm => (Verdict::Bad, "LLVM's: add $(countersink flags) to the link"),
            Runtime::None if is_instrumented => {
                (Verdict::Note, "none in this file; perhaps in a shared object")
            }
            Runtime::None => (Verdict::Bad, "none: add $(countersink flags) to the link"),
        };
        Line { subject: "runtime", verdict, text: text.to_owned() }
    }

    /// gcc's notes, without which there are no lines.
    fn notes(&self, places: &Places) -> Option<Line> {
        if self.data_files.is_empty() {
            return None;
        }
        let all = self.data_files.len();
        let notes = self.data_files.iter().map(|file| (file, places.find(file)));
        let (found, missing): (Vec<_>, Vec<_>) = notes.partition(|(_, notes)| notes.is_some());
        let found = found.into_iter().filter_map(|(_, notes)| notes);
        let other = found.filter(|notes| !self.has_stamp_of(notes)).collect::<Vec<_>>();
        let (verdict, text) = match (missing.first(), other.first()) {
            (None, None) => (Verdict::Good, format!("found for {}", Number(all as u64, "object"))),
            (None, Some(first)) => {
                let first = visible(&first.to_string_lossy());
                let what = "from another compilation, such as";
                (Verdict::Bad, format!("{} of {all} {what} {first}: compile again", other.len()))
            }
            (Some((first, _)), _) => {
                let first = visible(&display(first).with_extension("gcno").to_string_lossy());
                let all = format!("{} of {all} missing, such as {first}", missing.len());
                (Verdict::Bad, format!("{all}: {NOTES_HINT}"))
            }
        };
        Some(Line { subject: "notes", verdict, text })
    }

    /// Whether the program has the stamp of these notes, which each compilation has anew.
    fn has_stamp_of(&self, notes: &Path) -> bool {
        let Ok(bytes) = read_regular(notes) else { return false };
        let stamp = Notes::decode(&bytes).map(|notes| notes.stamp.to_le_bytes());
        stamp.is_ok_and(|stamp| memmem::find(self.bytes, &stamp).is_some())
    }

    /// Only gcc's counters are placed by it.
    fn debug_information(&self, places: &Places) -> Option<Line> {
        let (verdict, text) = match self.has_debug_information {
            true => (Verdict::Good, "there"),
            false if self.objects_have_lines(places) => {
                (Verdict::Note, "not in the program; convert reads the objects beside the notes")
            }
            false => {
                let what = "missing, so calls and inlined functions are not placed: compile with -g; if the program was \
                            stripped, name the whole one with --binary when you convert";
                (Verdict::Bad, what)
            }
        };
        let line = Line { subject: "debug lines", verdict, text: text.to_owned() };
        (!self.data_files.is_empty()).then_some(line)
    }

    /// Whether there is an object with debug lines beside all notes.
    fn objects_have_lines(&self, places: &Places) -> bool {
        let is_such = |notes: PathBuf| {
            let object = read_regular(&notes.with_extension("o"));
            object
                .is_ok_and(|bytes| object::File::parse(&*bytes).is_ok_and(|file| has_lines(&file)))
        };
        self.data_files.iter().all(|file| places.find(file).is_some_and(is_such))
    }

    /// The major version of the gcc that wrote the notes of the first object.
    fn instrumented_by(&self, places: &Places) -> Option<u32> {
        let bytes = read_regular(&places.find(self.data_files.first()?)?).ok()?;
        Notes::decode(&bytes).ok()?.version.known_major()
    }

    /// What the installed compiler reads.
    fn reader(&self, places: &Places) -> Line {
        let subject = "reader";
        if self.has_llvm && self.data_files.is_empty() {
            let llvm = Llvm::installed(Origins::default());
            let text = format!("LLVM {}: convert --to profdata", llvm.version);
            let verdict = Verdict::Good;
            return Line { subject, verdict, text };
        }
        let (verdict, text) = match gcc::known_major("--for-gcc", "gcc") {
            Err(error) => (Verdict::Note, format!("{error}; --for-gcc also takes a version")),
            Ok(major) => match self.instrumented_by(places).filter(|&other| other != major) {
                None => (Verdict::Good, format!("gcc {major}: convert --for-gcc gcc")),
                Some(other) => {
                    let what = "name the compiler that will read the profile with --for-gcc";
                    let gccs =
                        format!("gcc {other} instrumented the program, but `gcc` is {major}");
                    (Verdict::Note, format!("{gccs}: {what}"))
                }
            },
        };
        Line { subject, verdict, text }
    }
}

/// The names of data files that gcc has put into a program. Other bytes may stand right before a name, so a name starts
/// where a pointer in the program leads.
fn data_files(file: &object::File<'_>) -> Vec<Vec<u8>> {
    const END: &[u8] = b".gcda\0";
    let mut names: HashMap<u64, &[u8]> = HashMap::new();
    for section in file.sections() {
        let Ok(data) = section.data() else { continue };
        for end in memmem::find_iter(data, END) {
            let before = memchr::memrchr(0, &data[..end]).map_or(0, |zero| zero + 1);
            let name = |start: usize| &data[start..end + END.len() - 1];
            names
                .extend((before..end).map(|start| (section.address() + start as u64, name(start))));
        }
    }
    let relocated = file.dynamic_relocations().into_iter().flatten();
    let relocated = relocated.map(|(_, relocation)| relocation.addend() as u64);
    let pointers = relocated.chain(file.sections().flat_map(|section| words(file, &section)));
    let found: BTreeSet<Vec<u8>> =
        pointers.filter_map(|pointer| names.get(&pointer)).map(|name| name.to_vec()).collect();
    found.into_iter().collect()
}

/// What may be pointers in a section.
fn words<'d>(file: &object::File<'d>, section: &object::Section<'d, '_>) -> Vec<u64> {
    let may_have = matches!(section.kind(), SectionKind::Data | SectionKind::ReadOnlyDataWithRel);
    let data = section.data().ok().filter(|_| may_have).unwrap_or_default();
    let is_little = file.is_little_endian();
    let word = |bytes: &[u8]| match is_little {
        true => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        false => bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    data.chunks_exact(if file.is_64() { 8 } else { 4 }).map(word).collect()
}

fn text(program: &Path, lines: &[Line]) -> String {
    const GOOD: Style = AnsiColor::Green.on_default();
    const BAD: Style = AnsiColor::Red.on_default().bold();
    let mut text = format!("{}\n", visible(&program.to_string_lossy()));
    for Line { subject, verdict, text: what } in lines {
        let (style, mark) = match verdict {
            Verdict::Good => (GOOD, "ok"),
            Verdict::Bad => (BAD, "wrong"),
            Verdict::Note => (Style::new(), "-"),
        };
        let _ = writeln!(text, "  {style}{mark:5}{style:#}  {subject:12}  {what}");
    }
    text
}
