//! How much faster programs become with a profile from countersink, beside `-fprofile-use`.
//!
//! `cargo bench --bench speedup [-- OPTIONS]` compiles real programs with several versions of gcc: with `-O2`
//! alone; with `-fprofile-use` and the `.gcda` files that `convert --to gcda` writes (libgcov's, byte for
//! byte); and with `-fauto-profile`, the output of `convert --for-gcc` and the flags that `flags --optimise`
//! prints. All profiles come from one run; the measured run has another input. Cachegrind counts
//! instructions, mispredicted branches and misses of the instruction cache, which no neighbour on the machine
//! disturbs. Processor time is measured, too. The tables are Markdown for the book.
//!
//! `--annotation` measures instead how far the counts of blocks are from the exact ones, by gcc's dumps.
//! `--held-out` takes programs that nobody has tuned the conversion to, and `--applications` large programs that
//! many people use, which `apt-get source` fetches: see [`applications`]. `--record FILE` also writes the saved
//! instructions as CSV, and `--chart RECORD` only draws the chart of the README from such a file, beside it.
//!
//! `--parts` compares instead the objects that `countersink launch` makes: see [`parts`].
//!
//! `--clang N` compiles with clang instead, from the counts of gcc's instrumentation: see [`clang`].
//!
//! Cachegrind's model of mispredictions is too small for large programs; `predictor` makes one that is not.
//!
//! A gcc is `gcc-N` on the path, or in another system's folder that `COUNTERSINK_GCCS` names: see
//! `compilers`. Needs valgrind, and 1 GB in Cargo's target folder.

#[path = "../../tests/harness/mod.rs"]
mod harness;

mod annotation;
mod applications;
mod builds;
mod chart;
mod clang;
mod compilers;
mod further;
mod held_out;
mod measure;
mod parts;
mod program;
mod programs;
mod recorded;
mod releases;
mod table;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use builds::{Subject, Variant};
use compilers::Compiler;
use measure::Figures;
use program::Entry;
use table::Row;

/// How much faster programs become with a profile of countersink.
#[derive(Parser)]
struct Options {
    /// Only these versions of gcc [default: all that are found]
    #[arg(long, value_delimiter = ',', value_name = "N")]
    gcc: Vec<u32>,
    /// Only these programs
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    programs: Vec<String>,
    /// Number of runs; the processor time is their median, and 0 runs leave it out
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Also measure the profile without bodies of inlined functions
    #[arg(long)]
    flat: bool,
    /// Also measure the profile without estimated bodies at hot calls
    #[arg(long)]
    nested: bool,
    /// Take the flags for -fauto-profile from here instead of from `flags --optimise`
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    optimise: Option<String>,
    /// The programs that nobody has tuned the conversion to
    #[arg(long)]
    held_out: bool,
    /// Large programs of Debian, as their own build compiles them; apt-get fetches the sources
    #[arg(long, conflicts_with_all = ["held_out", "annotation"])]
    applications: bool,
    /// Compare objects made with parts of the profile with those of the whole one instead, and what both cost
    #[arg(long, conflicts_with_all = ["held_out", "applications", "annotation", "only_check", "record", "flat", "nested", "runs", "optimise"])]
    parts: bool,
    /// Compile, run and compare what the programs print, but show no figures
    #[arg(long)]
    only_check: bool,
    /// Measure the error of annotated blocks instead
    #[arg(long, conflicts_with_all = ["held_out", "only_check", "flat", "nested", "runs", "optimise"])]
    annotation: bool,
    /// Compile with these versions of clang, from the counts of the first gcc
    #[arg(long, value_delimiter = ',', value_name = "N", conflicts_with_all = ["annotation", "parts", "held_out", "applications", "only_check", "flat", "nested", "optimise", "record"])]
    clang: Vec<u32>,
    /// Also write the saved instructions here, as CSV
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Only draw such a file, as SVG beside it
    #[arg(long, value_name = "RECORD")]
    chart: Option<PathBuf>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(record) = &options.chart {
        return match draw(record) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", record.display());
                ExitCode::FAILURE
            }
        };
    }
    let compilers = compilers::all(&options.gcc);
    let failures = match options.annotation {
        true => annotation::measure(&compilers, &options.programs),
        false if options.parts => with_parts(&options, &compilers),
        false if !options.clang.is_empty() => with_clang(&options, &compilers),
        false => speedup(&options, &compilers),
    };
    for failure in &failures {
        eprintln!("FAILED: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Draws a record beside it.
fn draw(record: &Path) -> Result<(), Box<dyn Error>> {
    let svg = chart::draw(&fs::read_to_string(record)?)?;
    Ok(fs::write(record.with_extension("svg"), svg)?)
}

/// Measures and prints; returns what has failed.
fn speedup(options: &Options, compilers: &[Compiler]) -> Vec<String> {
    let groups = match (options.held_out, options.applications) {
        (true, _) => vec![held_out::GROUP],
        (_, true) => vec![applications::GROUP],
        _ => programs::GROUPS.to_vec(),
    };
    let mut variants = vec![Variant::Plain, Variant::Use, Variant::Auto];
    if options.flat {
        variants.push(Variant::Flat);
    }
    if options.nested {
        variants.push(Variant::Nested);
    }
    let (mut rows, mut failures) = (vec![], unknown(options, &groups));
    for compiler in compilers {
        for (group, (_, entries)) in groups.iter().enumerate() {
            for entry in wanted(entries, &options.programs) {
                match figures(options, entry, compiler, &variants) {
                    Ok(figures) => {
                        let row =
                            Row { group, program: entry.title, gcc: compiler.major(), figures };
                        if !options.only_check {
                            eprintln!("{}", row.summary());
                        }
                        rows.push(row);
                    }
                    Err(why) => {
                        let failure = format!("{}, gcc {}: {why}", entry.name, compiler.major());
                        eprintln!("{failure}");
                        failures.push(failure);
                    }
                }
            }
        }
    }
    if !options.only_check {
        let title = |group: &program::Group| match &options.programs[..] {
            [] => group.0,
            _ => "these",
        };
        let titles: Vec<&str> = groups.iter().map(title).collect();
        table::print(&rows, &titles, &variants);
    }
    if let Some(path) = &options.record
        && let Err(error) = fs::write(path, table::record(&rows, &variants))
    {
        failures.push(format!("{}: {error}", path.display()));
    }
    failures
}

/// Measures clang with gcc's counts and prints; returns what has failed.
fn with_clang(options: &Options, compilers: &[Compiler]) -> Vec<String> {
    let Some(gcc) = compilers.first() else { return vec!["no gcc".into()] };
    let names: Vec<String> = match &options.programs[..] {
        [] => clang::PROGRAMS.map(str::to_owned).into(),
        names => names.to_vec(),
    };
    let (mut rows, mut failures) = (vec![], vec![]);
    for entry in programs::GROUPS.iter().flat_map(|(_, entries)| wanted(entries, &names)) {
        let program = (entry.program)();
        let subject = Subject::new(entry.name, &program, gcc);
        let subject = subject.and_then(|subject| subject.train(&[]).map(|()| subject));
        for &version in &options.clang {
            eprintln!("{}, clang {version} ...", entry.name);
            let trained = subject.as_ref().map_err(String::clone);
            match trained.and_then(|subject| clang::measure(entry.title, subject, version)) {
                Ok(row) => rows.push(row),
                Err(why) => failures.push(format!("{}, clang {version}: {why}", entry.name)),
            }
        }
    }
    clang::print(&rows);
    failures
}

/// Compares objects made with parts of profiles and prints; returns what has failed.
fn with_parts(options: &Options, compilers: &[Compiler]) -> Vec<String> {
    let (mut rows, mut failures) = (vec![], unknown(options, &[parts::GROUP]));
    for compiler in compilers {
        for entry in wanted(parts::GROUP.1, &options.programs) {
            eprintln!("{}, gcc {} ...", entry.name, compiler.major());
            let program = (entry.program)();
            let subject = Subject::new(entry.name, &program, compiler);
            let trained =
                subject.and_then(|subject| subject.train(&[Variant::Auto]).map(|()| subject));
            match trained.and_then(|subject| parts::measure(entry.title, &subject)) {
                Ok(row) => rows.push(row),
                Err(why) => {
                    failures.push(format!("{}, gcc {}: {why}", entry.name, compiler.major()))
                }
            }
        }
    }
    parts::print(&rows);
    let different = rows.iter().filter(|row| !row.is_same());
    failures
        .extend(different.map(|row| format!("{}, gcc {}: objects differ", row.program, row.gcc)));
    failures
}

/// What is wrong with the names of programs that were asked for.
fn unknown(options: &Options, groups: &[program::Group]) -> Vec<String> {
    let is_known =
        |name: &String| groups.iter().any(|(_, entries)| entries.iter().any(|e| e.name == name));
    let unknown = options.programs.iter().filter(|name| !is_known(name));
    unknown.map(|name| format!("{name}: no such program")).collect()
}

/// The programs that were asked for.
fn wanted<'e>(entries: &'e [Entry], names: &[String]) -> impl Iterator<Item = &'e Entry> {
    let is_wanted =
        |entry: &&Entry| names.is_empty() || names.iter().any(|name| name == entry.name);
    entries.iter().filter(is_wanted)
}

/// The figures of all variants of a program, in their order.
fn figures(
    options: &Options,
    entry: &Entry,
    compiler: &Compiler,
    variants: &[Variant],
) -> Result<Vec<Figures>, String> {
    eprintln!("{}, gcc {} ...", entry.name, compiler.major());
    let program = (entry.program)();
    let subject = Subject::new(entry.name, &program, compiler)?;
    subject.train(variants)?;
    subject.compile(variants, options.optimise.as_deref())?;
    measure::compare(&subject, variants)?;
    if options.only_check {
        return Ok(vec![]);
    }
    let mut figures = measure::cachegrind(&subject, variants)?;
    measure::times(&subject, variants, options.runs, &mut figures)?;
    Ok(figures)
}
