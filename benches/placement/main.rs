//! How many executions `convert` puts at a wrong place, measured against known counts.
//!
//! `cargo bench --bench placement [-- OPTIONS]` compiles programs with several versions of gcc, runs them, and compares
//! the exact profile (`convert --to json`) of the usual build with the truth. It prints a table for the book, and
//! `--record FILE` writes it as CSV. Truth comes from three kinds of builds, each right about something else:
//!
//! | truth | what it knows | what it does not |
//! |---|---|---|
//! | `made` | Made-up programs count each statement themselves, in each inlined copy: see `self_counting`. The truth is what a build with these counters prints. The build that is measured has none | loops and branches, whose lines have several blocks; real code |
//! | `late` | `-fno-early-inlining`: the same optimisations, but each function has counters of its own, so no copy is guessed. Counts are summed over all copies of a function | which copy a count belongs to |
//! | `O0` | `-O0`: each statement is executed as the source says. Also summed | what the optimiser does to a line's count |
//!
//! All builds run with the same input, and the programs are deterministic. The count of a line in a copy is the largest
//! of its blocks: a `for` line counts its condition. Only lines that the other build knows for certain are compared;
//! the share of the executions that are compared stands in the table.
//!
//! A count that is too small is not always an error: in some copy the optimiser may have removed the line, or have
//! merged it with another one, and then nothing executes it there. A count that is too large is one, because executions
//! stand at a line that was not executed so often. (Exceptions: if-conversion executes both arms of a branch. The error
//! of certain counts shows how rare that is.) A misplaced execution makes one line's count too large and another's too
//! small. So the error is the sum of all excess over the sum of all counts that are compared. What is too small is
//! printed beside it as *absent*: removed, merged or misplaced.
//!
//! Where certain counts and estimates share a line, the excess is the estimates' as far as these reach.

#[path = "../../tests/harness/mod.rs"]
mod harness;
#[path = "../../tests/self_counting/mod.rs"]
mod self_counting;

#[path = "../speedup/builds.rs"]
#[allow(dead_code, reason = "the other benchmark uses the rest")]
mod builds;
#[path = "../speedup/compilers.rs"]
mod compilers;
#[path = "../speedup/further.rs"]
mod further;
#[path = "../speedup/held_out.rs"]
mod held_out;
#[path = "../speedup/program.rs"]
#[allow(dead_code, reason = "the other benchmark uses the rest")]
mod program;
#[path = "../speedup/programs.rs"]
mod programs;
#[path = "../speedup/releases.rs"]
mod releases;

mod counts;
mod error;
mod table;

use std::fs;
use std::process::ExitCode;

use clap::Parser;
use countersink::placement::{RULES, Rule};
use serde_json::Value;

use builds::Subject;
use compilers::{Compiler, Language};
use counts::{by_copy, by_line, estimates, stated_error, stated_placed};
use error::{compare, moved};
use program::{Entry, Program, scratch};
use self_counting::Kind;
use table::Row;

/// How many executions convert puts at a wrong place.
#[derive(Parser)]
struct Options {
    /// Only these versions of gcc [default: all that are found]
    #[arg(long, value_delimiter = ',', value_name = "N")]
    gcc: Vec<u32>,
    /// Only these programs; made-c and made-cxx are the made-up ones
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    programs: Vec<String>,
    /// The programs that the account was not calibrated with
    #[arg(long)]
    held_out: bool,
    /// Measure each rule instead: the executions that move without it, and the error with and without it
    #[arg(long)]
    rules: bool,
    /// Number of made-up programs of each kind
    #[arg(long, default_value_t = 8)]
    seeds: u64,
    /// Also write the table here, as CSV
    #[arg(long, value_name = "FILE")]
    record: Option<std::path::PathBuf>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Real programs, in C and C++.
const PROGRAMS: [&str; 8] =
    ["lua", "zlib", "bzip2", "libyaml", "ordinary", "clipper", "snappy", "meshopt"];
/// Those that are kept aside.
const HELD_OUT: [&str; 4] = ["pcre2", "lz4", "minisat", "cadical"];

fn main() -> ExitCode {
    let options = Options::parse();
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    if options.rules {
        table::print_rule_heads();
    }
    for compiler in compilers::all(&options.gcc) {
        for name in names(&options) {
            eprintln!("{name}, gcc {} ...", compiler.major());
            let found = match options.rules {
                true => worth_of_rules(name, &compiler, &options).map(|()| Vec::new()),
                false => measured(name, &compiler, &options),
            };
            match found {
                Ok(found) => rows.extend(found),
                Err(why) => failures.push(format!("{name}, gcc {}: {why}", compiler.major())),
            }
        }
    }
    if !options.rules {
        table::print(&rows);
        table::print_estimates(&rows);
    }
    if let Some(path) = &options.record
        && let Err(error) = fs::write(path, table::record(&rows))
    {
        failures.push(format!("{}: {error}", path.display()));
    }
    failures.iter().for_each(|failure| eprintln!("FAILED: {failure}"));
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The programs that were asked for.
fn names(options: &Options) -> Vec<&str> {
    match &options.programs[..] {
        [] if options.held_out => HELD_OUT.into(),
        [] => ["made-c", "made-cxx"].into_iter().chain(PROGRAMS).collect(),
        names => names.iter().map(String::as_str).collect(),
    }
}

/// The rows of a program.
fn measured(name: &str, compiler: &Compiler, options: &Options) -> Result<Vec<Row>, String> {
    match name {
        "made-c" => made(Kind::Copies, compiler, options).map(|row| vec![row]),
        "made-cxx" => made(Kind::Templates, compiler, options).map(|row| vec![row]),
        _ => real(name, compiler),
    }
}

/// Compares a real program with both other builds.
fn real(name: &str, compiler: &Compiler) -> Result<Vec<Row>, String> {
    let entry = entry(name)?;
    let program = (entry.program)();
    let subject = Subject::new(&format!("placement-{name}"), &program, compiler)?;
    let (usual, account) = profile(&subject, "usual", "")?;
    let (measured, stated) = (by_line(&usual)?, stated_error(&account));
    let estimates = estimates(&account)?;
    let mut rows = Vec::new();
    for (truth, flags) in [("late", WITHOUT_COPIES), ("O0", "-O0")] {
        let (other, _) = profile(&subject, truth, flags)?;
        let error = compare(&measured, &by_line(&other)?, &estimates);
        rows.push(Row { program: entry.title.into(), gcc: compiler.major(), truth, stated, error });
    }
    Ok(rows)
}

const WITHOUT_COPIES: &str = "-fno-early-inlining";

/// The real program of this name.
fn entry(name: &str) -> Result<Entry, String> {
    let groups = programs::GROUPS.into_iter().chain([held_out::GROUP]);
    let mut entries = groups.flat_map(|(_, entries)| entries);
    entries.find(|entry| entry.name == name).copied().ok_or("no such program".into())
}

/// Prints what each rule is worth for a program, and all of them.
fn worth_of_rules(name: &str, compiler: &Compiler, options: &Options) -> Result<(), String> {
    match name {
        "made-c" => worth_for_made(Kind::Copies, compiler, options),
        "made-cxx" => worth_for_made(Kind::Templates, compiler, options),
        _ => worth_for_real(name, compiler),
    }
}

/// By truth `late`.
fn worth_for_real(name: &str, compiler: &Compiler) -> Result<(), String> {
    let entry = entry(name)?;
    let program = (entry.program)();
    let subject = Subject::new(&format!("placement-{name}"), &program, compiler)?;
    let (dump, _) = subject.count("usual", "")?;
    let truth = by_line(&profile(&subject, "late", WITHOUT_COPIES)?.0)?;
    print_worth(entry.title, compiler.major(), |without| {
        let (profile, account) = converted(&subject, &dump, without)?;
        let counts = by_line(&profile)?;
        let error = compare(&counts, &truth, &estimates(&account)?);
        Ok((counts, error, stated_placed(&account)))
    })
}

/// By the programs' own counters.
fn worth_for_made(kind: Kind, compiler: &Compiler, options: &Options) -> Result<(), String> {
    let without = without_each();
    let seeds: Result<Vec<_>, _> =
        (1..=options.seeds).map(|seed| measured_made(seed, kind, compiler, &without)).collect();
    let seeds = seeds?;
    print_worth(title_of(kind), compiler.major(), |wanted| {
        let (mut counts, mut error, mut placed) =
            (counts::Counts::new(), error::Sums::default(), 0.0);
        let which = without.iter().position(|without| without == wanted).ok_or("no such rule")?;
        for (seed, of_rules) in seeds.iter().enumerate() {
            let one = &of_rules[which];
            error.add(&one.error);
            placed += stated_placed(&one.account) / seeds.len() as f64;
            counts.extend(one.counts.iter().map(|(at, count)| ((seed, at), *count)));
        }
        Ok((counts, error, placed))
    })
}

/// What to switch off: nothing, each rule, and all of them.
fn without_each() -> Vec<String> {
    let names = RULES.map(Rule::name);
    let each = names.iter().map(|name| (*name).to_owned());
    [String::new()].into_iter().chain(each).chain([names.join(",")]).collect()
}

/// Prints a row for each rule. `of` gives the counts without some rules, their error, and the share that the account
/// calls placed.
fn print_worth<K: Ord>(
    title: &str,
    gcc: u32,
    of: impl Fn(&str) -> Result<(counts::Counts<K>, error::Sums, f64), String>,
) -> Result<(), String> {
    let (with, error, _) = of("")?;
    for without in without_each().into_iter().skip(1) {
        let (counts, without_it, placed) = of(&without)?;
        let rule = if without.contains(',') { "**all**" } else { &without };
        let moved = moved(&with, &counts);
        table::print_rule(rule, title, gcc, moved, (&error, &without_it), placed);
    }
    Ok(())
}

const fn title_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Templates => "made up, C++",
        _ => "made up, C",
    }
}

/// A made-up program, compared with its own counters.
struct MeasuredMade {
    counts: counts::Counts<self_counting::At>,
    error: error::Sums,
    account: Value,
}

/// One build, converted without each of these rules.
fn measured_made(
    seed: u64,
    kind: Kind,
    compiler: &Compiler,
    without: &[String],
) -> Result<Vec<MeasuredMade>, String> {
    let (extension, language) = match kind {
        Kind::Templates => ("cc", Language::Cxx),
        _ => ("c", Language::C),
    };
    let made = self_counting::program(seed, kind);
    let folder = scratch().join("made");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let source = folder.join(format!("made.{extension}"));
    fs::write(&source, &made.text).map_err(|error| error.to_string())?;
    let program = Program {
        language,
        sources: vec![source],
        flags: vec![],
        libraries: &[],
        training: vec![],
        measured: vec![],
    };
    let subject = Subject::new(&format!("placement-{}", title_of(kind)), &program, compiler)?;
    let (_, printed) = subject.count("counting", "-DCOUNTING")?;
    let (dump, _) = subject.count("usual", "")?;
    let truth: Result<Vec<u64>, _> = printed.lines().map(str::parse).collect();
    let truth = truth.map_err(|error| format!("{error}: {printed}"))?;
    let measured = without.iter().map(|without| {
        let (usual, account) = converted(&subject, &dump, without)?;
        let truth = made.counters.iter().cloned().zip(truth.iter().copied());
        let (counts, truth) = by_copy(&usual, truth)?;
        let error = compare(&counts, &truth, &estimates(&account)?);
        Ok(MeasuredMade { counts, error, account })
    });
    measured.collect()
}

/// Compares made-up programs with their own counters.
fn made(kind: Kind, compiler: &Compiler, options: &Options) -> Result<Row, String> {
    let (mut error, mut stated) = (error::Sums::default(), 0.0);
    for seed in 1..=options.seeds {
        let all = measured_made(seed, kind, compiler, &[String::new()])?;
        let one = &all[0];
        error.add(&one.error);
        stated += stated_error(&one.account) / options.seeds as f64;
    }
    let (program, gcc) = (title_of(kind).into(), compiler.major());
    Ok(Row { program, gcc, truth: "made", stated, error })
}

/// The profile of a build with these flags, and the account.
fn profile(subject: &Subject<'_>, name: &str, flags: &str) -> Result<(Value, Value), String> {
    let (dump, _) = subject.count(name, flags)?;
    converted(subject, &dump, "")
}

/// The profile of a dump, made without some rules, and the account.
fn converted(subject: &Subject<'_>, dump: &str, without: &str) -> Result<(Value, Value), String> {
    let (json, report) = (format!("{dump}.json"), format!("{dump}.account"));
    let convert = ["convert", dump, "--to", "json", "-o", &json, "--report", &report];
    let further = ["--without-rules", without];
    let further = if without.is_empty() { &[][..] } else { &further[..] };
    subject.tool(&[&convert, further].concat())?;
    let read = |path: &str| -> Result<Value, String> {
        let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        serde_json::from_slice(&bytes).map_err(|error| format!("{path}: {error}"))
    };
    Ok((read(&json)?, read(&report)?))
}
