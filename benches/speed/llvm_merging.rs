//! The cost of merging LLVM's raw profiles, beside `llvm-profdata`: time until the end on all cores, and peak of
//! memory.
//!
//! The profiles are written here; `llvm-profdata` reads them as it reads those of programs.

use std::fs;
use std::path::{Path, PathBuf};

use countersink::counters::{Function, Profile, Site, Value, ValueKind, Variant, name_ref};
use countersink::formats::profraw::encode::encode;

use crate::Options;
use crate::cost::{Cores, Cost, Observer};
use crate::llvm::Llvm;
use crate::scratch::Scratch;
use crate::table::{Row, Table, medians};

/// Functions of a small profile, 12 kB.
const SMALL: u64 = 50;
/// Functions of a large one, 100 MB.
const LARGE: u64 = 400_000;
/// Counters of a function.
const COUNTERS: u64 = 20;

pub fn measure(llvm: Llvm, options: &Options, scratch: &Scratch, table: &mut Table) {
    let observer = Observer::compile(scratch.path());
    let repetitions = options.repetitions.div_ceil(3);
    for (number, functions) in [(options.profiles, SMALL), (2, LARGE)] {
        let folder = scratch.folder();
        let megabytes = write(llvm, &folder, number, functions);
        let merge = |place: usize| {
            let profdata = format!("llvm-profdata-{}", llvm.major);
            let tool: &[&str] = match place {
                0 => &[env!("CARGO_BIN_EXE_countersink"), "profdata", "merge"],
                _ => &[&profdata, "merge"],
            };
            let words = [tool, &["-f", "list", "-o", "merged"]].concat();
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            observer.run(Cores::All, &folder, &words)
        };
        let mut row = |what: &str, target: f64, figure: &dyn Fn(Cost) -> f64| {
            let [ours, theirs] = medians(repetitions, |place| figure(merge(place)));
            let profiles = format!("{number} raw profiles, {megabytes} MB");
            let figure = format!("LLVM {}: {profiles}: {what}", llvm.major);
            table.row(Row { figure: &figure, ours, theirs, target });
        };
        row("merged, all cores (ms)", 0.3, &|cost| cost.elapsed);
        row("merged, memory (MB)", 0.5, &|cost| cost.peak);
        Scratch::empty(&folder);
    }
}

/// Writes profiles of one program and a list of them. Gives their size in MB.
fn write(llvm: Llvm, folder: &Path, number: usize, functions: u64) -> usize {
    let mut profile = Profile {
        variant: Variant::IR,
        functions: (0..functions).map(function).collect(),
        ..Profile::default()
    };
    let (mut bytes, mut paths) = (0, Vec::new());
    for run in 0..number {
        for function in &mut profile.functions {
            function.counters[0] = run as u64;
        }
        let raw = encode(&profile, llvm.raw_version()).unwrap();
        let path: PathBuf = folder.join(format!("{run}.profraw"));
        fs::write(&path, &raw).unwrap();
        bytes += raw.len();
        paths.push(path.to_str().unwrap().to_owned());
    }
    fs::write(folder.join("list"), paths.join("\n")).unwrap();
    bytes / 1_000_000
}

/// A function; every eighth has a call with two targets.
fn function(number: u64) -> Function {
    let name = |number| format!("the_function_{number}").into_bytes();
    let mut values: [Vec<Site>; ValueKind::ALL.len()] = Default::default();
    if number.is_multiple_of(8) {
        let targets = [number + 1, number + 2];
        let value = |target| Value { value: name_ref(&name(target)), count: target };
        values[ValueKind::IndirectCall as usize].push(Site { values: targets.map(value).to_vec() });
    }
    let counters = (0..COUNTERS).map(|counter| number * counter).collect();
    Function { name: name(number), hash: number << 8, counters, values, ..Function::default() }
}
