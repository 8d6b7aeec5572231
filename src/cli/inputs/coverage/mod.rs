//! Coverage of lines, and profiles from its counts.
//!
//! [`counters`] reads the inputs: the counters from dumps and LLVM's profiles. gcc's notes, and the coverage mapping in
//! the programs of clang and rustc ([`mapping`]), have the places in the source that they count. [`tracefile`] reads
//! coverage of another time, to compare with.

pub mod counters;
mod mapping;
pub mod selection;
pub mod tracefile;
mod wasm_module;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use crate::cli::cores::Cores;
use crate::cli::inputs::input::Input;
use crate::cli::inputs::notes::{Copies, Missing, NOTES_HINT};
use crate::cli::inputs::sources::Sources;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::text;
use crate::cli::terminal::progress::Progress;
use crate::convert::gcov;
use crate::convert::gcov::coverage::FlowMemory;
use crate::convert::llvm::coverage::{self as of_llvm, Left, Positioned};
use crate::convert::number::Number;
use crate::coverage::{Coverage, Sum, Total, Totals};
use crate::profile::Profile;
use crate::program::source_path::source_path;
use crate::workers::Workers;
use counters::Inputs;
use mapping::Mapped;
use selection::{Chosen, Selection};

/// The coverage of some inputs.
pub struct Covered {
    pub coverage: Coverage,
    /// Which files were chosen.
    pub chosen: Chosen,
    /// Whether no input, object or function was left out.
    pub is_whole: bool,
}

/// The coverage of all inputs, which are of these paths.
pub fn coverage(
    inputs: Vec<Input>,
    paths: &[PathBuf],
    sources: &Sources,
    selection: &Selection,
    name: &Path,
) -> Result<Covered> {
    let counted = paths.iter().filter_map(|path| path.metadata().ok()?.modified().ok()).max();
    let is_whole = Cell::new(true);
    let tell = |file: &Path, what: String| {
        is_whole.set(false);
        warn(file, what);
    };
    let mut coverage = Inputs::of(inputs, sources)?.lines(sources, name, &tell)?;
    let chosen = selection.apply(&mut coverage, name, counted)?;
    say_totals(&coverage, name);
    Ok(Covered { coverage, chosen, is_whole: is_whole.get() })
}

/// The coverage of all inputs, with all files.
pub fn lines_of(inputs: Vec<Input>, sources: &Sources, name: &Path) -> Result<Coverage> {
    Inputs::of(inputs, sources)?.lines(sources, name, &|file, what| warn(file, what))
}

/// What is told about a file.
type Tell<'t> = &'t dyn Fn(&Path, String);

impl Inputs {
    /// The coverage of the inputs, with all files. `tell` gets what is not in it.
    pub fn lines(&self, sources: &Sources, name: &Path, tell: Tell<'_>) -> Result<Coverage> {
        let mut coverage = Coverage::default();
        if self.has_llvm() {
            match self.of_llvm(sources, name, tell) {
                Ok(of_llvm) => coverage.add(of_llvm),
                Err(error) => drop(self.leave_out_llvm(error)?),
            }
        }
        if !self.gcc.modules.is_empty() {
            coverage.add(self.of_gcc(sources, name, tell)?);
        }
        Ok(coverage)
    }

    /// Reads and counts one object after the other: the notes of all would need much memory.
    fn of_gcc(&self, sources: &Sources, name: &Path, tell: Tell<'_>) -> Result<Coverage> {
        let copies = Copies::all(&self.gcc);
        let mut progress = Progress::new(copies.len());
        let path =
            |directory: &[u8], file: &[u8]| sources.places.moved(&source_path(directory, file));
        let count = |copies: &Copies<'_>, memory: &mut FlowMemory, (all, missing): &mut _| {
            let all: &mut Vec<_> = all;
            *missing = copies.with_notes(&sources.places, |notes, objects| {
                all.push(gcov::coverage::coverage(notes, objects, path, memory));
            });
        };
        let (mut sum, mut missing) = (Sum::default(), Vec::new());
        let (mut functions, mut unknown, mut impossible, mut without_paths) = (0, 0, 0, 0);
        Cores.pass(copies.iter(), count, |(all, without)| {
            progress.step();
            missing.append(without);
            for converted in all.drain(..) {
                functions += converted.functions;
                unknown += converted.functions_without_notes;
                impossible += converted.functions_impossible;
                without_paths += converted.functions_without_paths;
                sum.add(converted.coverage);
            }
        });
        let shown = if sources.verbose { missing.len() } else { 1 };
        let shown = missing.iter().take(shown);
        shown.for_each(|Missing { file, what, .. }| tell(file, what.to_string()));
        let left = [
            (missing.len(), "object", "without notes that fit"),
            (unknown, "function", "that the notes do not know"),
            (impossible, "function", "with counters that contradict each other"),
        ];
        if without_paths > 0 {
            let functions = Number(without_paths as u64, "function");
            let what = "the notes have another number of them than the counters";
            tell(name, format!("left out: the prime paths of {functions}: {what}"));
        }
        for (number, what, why) in left.into_iter().filter(|&(number, ..)| number > 0) {
            tell(name, format!("left out: {} {why}", Number(number as u64, what)));
        }
        match functions {
            0 => Err(Error::about(name, format!("no coverage: {NOTES_HINT}"))),
            _ => Ok(sum.finish()),
        }
    }

    fn of_llvm(&self, sources: &Sources, name: &Path, tell: Tell<'_>) -> Result<Coverage> {
        let (mut coverage, mut functions, mut left) = (Coverage::default(), 0, Left::default());
        let (mut torn, mut without_decisions) = (Vec::new(), 0);
        for mapped in self.mapped(sources, name, tell)? {
            let Mapped { mapping, names, .. } = &mapped;
            let converted =
                of_llvm::coverage(mapping, names, self.counters(&mapped)).about(name)?;
            functions += converted.functions;
            left += converted.left;
            torn.extend(converted.torn);
            without_decisions += converted.without_decisions;
            if !sources.moves_files() {
                coverage.add(converted.coverage);
                continue;
            }
            for (path, file) in converted.coverage.files {
                coverage.add(Coverage { files: [(sources.places.moved(&path), file)].into() });
            }
        }
        warn_of_left(left, functions, name, tell)?;
        warn_of_torn(&torn, name, tell);
        if without_decisions > 0 {
            let functions = Number(without_decisions as u64, "function");
            let what = "their bitmap does not fit them";
            tell(name, format!("left out: the conditions of {functions}: {what}"));
        }
        Ok(coverage)
    }
}

/// The counts at positions of functions that clang and rustc instrumented.
pub fn positions(inputs: &Inputs, sources: &Sources, name: &Path) -> Result<Profile> {
    let path = |path: &[u8]| sources.places.moved(path);
    let (mut profile, mut functions, mut undeclared) = (Profile::default(), 0, 0);
    let (mut left, mut torn) = (Left::default(), Vec::new());
    let tell: Tell<'_> = &|file, what| warn(file, what);
    for mapped in inputs.mapped(sources, name, tell)? {
        let declared = |name: &[u8], file: &[u8], body| mapped.declared(name, file, body);
        let (Mapped { mapping, names, .. }, counters) = (&mapped, inputs.counters(&mapped));
        let positioned = of_llvm::positions(mapping, names, counters, path, declared);
        let positioned: Positioned = positioned.about(name)?;
        profile.merge(&positioned.profile, 1);
        functions += positioned.functions;
        undeclared += positioned.undeclared;
        left += positioned.left;
        torn.extend(positioned.torn);
    }
    warn_of_left(left, functions, name, tell)?;
    warn_of_torn(&torn, name, tell);
    let all = Number(functions as u64, "function");
    warn(
        name,
        format!(
            "counts of lines from the coverage mapping: {all}; no call targets, no inlined bodies"
        ),
    );
    if undeclared > 0 {
        let some = Number(undeclared as u64, "function");
        let what = "lines count from the beginning of the body, which may be below the declaration that gcc \
                    counts from; compile with -g";
        warn(name, format!("{some} without debug information: {what}"));
    }
    Ok(profile)
}

/// Warns of functions that are left out. It is an error if no function is left.
fn warn_of_left(left: Left, functions: usize, name: &Path, tell: Tell<'_>) -> Result<()> {
    let Left { changed, nameless, damaged } = left;
    let parts = [
        (changed, "counted by another build of the program"),
        (nameless, "without a name"),
        (damaged, "with counters that do not exist"),
    ];
    for (number, why) in parts.into_iter().filter(|&(number, _)| number > 0) {
        let what = Number(number as u64, "function");
        if functions == 0 {
            return Err(Error::about(name, format!("no coverage: {what} {why}")));
        }
        tell(name, format!("left out: {what} {why}"));
    }
    Ok(())
}

/// Functions whose counters contradict each other are named up to this number.
const NAMED: usize = 3;

/// Warns of functions whose counters contradict each other.
fn warn_of_torn(torn: &[Vec<u8>], name: &Path, tell: Tell<'_>) {
    let what =
        "counters that contradict each other: a count derived from them was below 0 and is 0";
    for function in torn.iter().take(NAMED) {
        let how = "threads lose counts without -fprofile-update=atomic";
        tell(name, format!("{}: {what}; {how}", text(function)));
    }
    if let more @ 1.. = torn.len().saturating_sub(NAMED) {
        tell(name, format!("{}: {what}", Number(more as u64, "more function")));
    }
}

/// Prints the shares of lines, functions and branches that were executed.
fn say_totals(coverage: &Coverage, name: &Path) {
    let files = Number(coverage.files.len() as u64, "file");
    let Totals { functions, lines, branches, conditions, paths } = coverage.totals();
    let share = |Total { found, hit }, what| {
        if found == 0 {
            return format!("no {what}");
        }
        let percent = hit as f64 * 100.0 / found as f64;
        format!("{hit} of {found} {what} ({percent:.1} %)")
    };
    let (lines, functions) = (share(lines, "lines"), share(functions, "functions"));
    let mut line =
        format!("{files}; executed: {lines}, {functions}, {}", share(branches, "branches"));
    if conditions.found > 0 {
        line += &format!("; shown: {}", share(conditions, "condition outcomes"));
    }
    if paths.found > 0 {
        line += &format!("; taken: {}", share(paths, "prime paths"));
    }
    warn(name, line);
}

/// The name of the inputs in messages.
pub fn name_of(paths: &[PathBuf]) -> PathBuf {
    match paths {
        [only] => only.clone(),
        several => format!("the sum of {} files", several.len()).into(),
    }
}
