//! What an old profile is worth for a new release, as it is and carried, beside a fresh one.
//!
//! `cargo bench --bench carry [-- OPTIONS]` takes releases of real programs from crates. It trains an old release, and
//! compiles a newer one with `-O2`: without a profile, with the old profile as it is, with what `countersink carry`
//! makes of it, and with a profile of its own. Both releases are trained with the same input; the measured run has
//! another one. Cachegrind counts the instructions. The table is Markdown for the book.
//!
//! Programs, compilers and figures are those of `speedup`. Needs a network, valgrind, and 1 GB in Cargo's target
//! folder.

#[path = "../speedup/builds.rs"]
#[allow(dead_code, reason = "speedup uses all of it")]
mod builds;
#[path = "../speedup/compilers.rs"]
mod compilers;
#[path = "../../tests/harness/mod.rs"]
mod harness;
#[path = "../speedup/measure.rs"]
#[allow(dead_code, reason = "speedup uses all of it")]
mod measure;
#[path = "../speedup/program.rs"]
#[allow(dead_code, reason = "speedup uses all of it")]
mod program;
#[path = "../speedup/releases.rs"]
mod releases;

mod histories;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;

use builds::{Subject, Variant, succeed};
use compilers::Compiler;
use histories::{HISTORIES, Step};
use measure::simulate;
use program::words;

/// What an old profile is worth for a new release.
#[derive(Parser)]
struct Options {
    /// The version of gcc
    #[arg(long, default_value_t = 12, value_name = "N")]
    gcc: u32,
    /// Only these programs
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    programs: Vec<String>,
    /// Hide the sources, so that lines are aligned by their code alone
    #[arg(long)]
    without_sources: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let compilers = compilers::all(&[options.gcc]);
    let Some(compiler) = compilers.first() else { return ExitCode::FAILURE };
    let is_wanted = |step: &&Step| {
        options.programs.is_empty() || options.programs.contains(&step.program.into())
    };
    println!(
        "| program | from | to | fresh | old | carried | old of fresh | carried of fresh | executions carried |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut status = ExitCode::SUCCESS;
    for step in HISTORIES.iter().filter(is_wanted) {
        match row(step, compiler, options.without_sources) {
            Ok(row) => println!("{row}"),
            Err(error) => {
                eprintln!(
                    "FAILED: {} {} to {}: {error}",
                    step.program, step.old.name, step.new.name
                );
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}

/// Measures a step of a history.
fn row(step: &Step, compiler: &Compiler, without_sources: bool) -> Result<String, String> {
    let [old, new] = [&step.old, &step.new].map(|release| (step.build)(release));
    let (old_name, new_name) = (
        format!("carry/{}-{}/old", step.program, step.old.name),
        format!("carry/{}-{}-from-{}", step.program, step.new.name, step.old.name),
    );
    let old = Subject::new(&old_name, &old, compiler)?;
    let new = Subject::new(&new_name, &new, compiler)?;
    for subject in [&old, &new] {
        subject.train(&[Variant::Auto])?;
        let described = subject.folder(Variant::Plain);
        subject.compile_into(&[(described.clone(), words("-g"))])?;
        subject.link(&described, &[])?;
    }
    let carried = new.folder(Variant::Auto).with_extension("carried");
    let said = carry(&old, &new, &carried, without_sources)?;
    let with = |name: &str, profile: &Path| instructions(&new, name, profile);
    let plain = simulate(&new.folder(Variant::Plain), &new.program.measured)?.instructions;
    let fresh = with("fresh", &new.profile(Variant::Auto))?;
    let stale = with("stale", &old.profile(Variant::Auto))?;
    let moved = with("moved", &carried)?;
    let saved = |count: u64| 100.0 * (1.0 - count as f64 / plain as f64);
    let of_fresh = |count: u64| format!("{:.0} %", 100.0 * saved(count) / saved(fresh));
    let Step { program, old: from, new: to, .. } = step;
    Ok(format!(
        "| {program} | {} ({}) | {} ({}) | {:.1} | {:.1} | {:.1} | {} | {} | {said} |",
        from.name,
        from.date,
        to.name,
        to.date,
        saved(fresh),
        saved(stale),
        saved(moved),
        of_fresh(stale),
        of_fresh(moved),
    ))
}

/// Carries the old profile. Gives the share of executions that was carried.
fn carry(
    old: &Subject,
    new: &Subject,
    carried: &Path,
    without_sources: bool,
) -> Result<String, String> {
    let program = |subject: &Subject| subject.executable(Variant::Plain);
    let mut tool = Command::new(env!("CARGO_BIN_EXE_countersink"));
    tool.arg("carry").arg(old.profile(Variant::Auto)).arg("--from").arg(program(old));
    tool.arg("--to").arg(program(new)).arg("-o").arg(carried);
    if without_sources {
        let empty = carried.with_extension("no-sources");
        fs::create_dir_all(&empty).map_err(|error| error.to_string())?;
        tool.arg("--from-sources").arg(&empty).arg("--to-sources").arg(&empty);
    }
    let output = tool.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    eprint!("{said}");
    let share = said.split_once("carried ").and_then(|(_, rest)| rest.split_once(" of"));
    share.map(|(share, _)| share.to_owned()).ok_or(said.clone())
}

/// The instructions of the new release with a profile.
fn instructions(new: &Subject, name: &str, profile: &Path) -> Result<u64, String> {
    let folder: PathBuf = new.folder(Variant::Plain).with_file_name(name);
    let major = new.compiler.major().to_string();
    let mut flags = vec![format!("-fauto-profile={}", profile.display())];
    flags.extend(words(&new.tool(&["flags", "--optimise", &major])?));
    new.compile_into(&[(folder.clone(), flags)])?;
    new.link(&folder, &[])?;
    let printed = |folder: &Path| {
        succeed(
            Command::new(folder.join("program")).args(&new.program.measured).current_dir(folder),
        )
    };
    if printed(&folder)? != printed(&new.folder(Variant::Plain))? {
        return Err(format!("prints something else with the {name} profile"));
    }
    Ok(simulate(&folder, &new.program.measured)?.instructions)
}
