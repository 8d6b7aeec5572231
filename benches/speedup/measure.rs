//! The cost of the compiled programs: cachegrind's counts, and processor time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rayon::prelude::*;
use regex::Regex;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::builds::{Subject, Variant, succeed};

/// The cost of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub instructions: u64,
    pub mispredictions: u64,
    /// Instructions that were not in the first cache.
    pub instruction_misses: u64,
    /// The median of several runs, if there were any.
    pub time: Option<Duration>,
}

/// Runs each variant. It must print the same as the first one.
pub fn compare(subject: &Subject, variants: &[Variant]) -> Result<(), String> {
    let printed: Result<Vec<String>, String> = variants
        .iter()
        .map(|&variant| {
            let mut run = Command::new(subject.executable(variant));
            succeed(run.args(&subject.program.measured).current_dir(subject.folder(variant)))
        })
        .collect();
    let printed = printed?;
    for (found, variant) in printed.iter().zip(variants) {
        if *found != printed[0] {
            let (title, expected) = (variant.title(), &printed[0]);
            return Err(format!("prints with {title}:\n{found}\ninstead of:\n{expected}"));
        }
    }
    Ok(())
}

/// Runs each variant in cachegrind.
pub fn cachegrind(subject: &Subject, variants: &[Variant]) -> Result<Vec<Figures>, String> {
    let folders = variants.par_iter().map(|&variant| subject.folder(variant));
    folders.map(|folder| simulate(&folder, &subject.program.measured)).collect()
}

/// The figures of one run of the program in a folder.
pub fn simulate(folder: &Path, arguments: &[String]) -> Result<Figures, String> {
    let log = folder.join("cachegrind.log");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes"]);
    valgrind.args(["--cachegrind-out-file=/dev/null", &format!("--log-file={}", log.display())]);
    valgrind.arg(folder.join("program")).args(arguments);
    succeed(valgrind.current_dir(folder))?;
    let text = fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let figure = |name: &str| {
        let pattern = Regex::new(&format!(r"(?m)^==\d+== {name}:\s+([\d,]+)")).unwrap();
        let found = pattern.captures(&text).ok_or(format!("no \"{name}\" in:\n{text}"))?;
        found[1].replace(',', "").parse::<u64>().map_err(|error| error.to_string())
    };
    Ok(Figures {
        instructions: figure("I +refs")?,
        mispredictions: figure("Mispredicts")?,
        instruction_misses: figure("I1 +misses")?,
        time: None,
    })
}

/// Median processor times of variants that run in turn, so that other work of the machine affects all alike.
pub fn times(
    subject: &Subject,
    variants: &[Variant],
    runs: usize,
    figures: &mut [Figures],
) -> Result<(), String> {
    let mut times = vec![vec![]; variants.len()];
    for _ in 0..runs {
        for (&variant, times) in variants.iter().zip(&mut times) {
            times.push(time(subject, variant)?);
        }
    }
    for (figures, mut times) in figures.iter_mut().zip(times) {
        times.sort_unstable();
        figures.time = times.get(times.len() / 2).copied();
    }
    Ok(())
}

/// Processor time of one run. The kernel counts it in nanoseconds, but only for a process that has not been
/// waited for. `getrusage` would need unsafe code, and ticks of a hundredth of a second are too long.
fn time(subject: &Subject, variant: Variant) -> Result<Duration, String> {
    let mut command = Command::new(subject.executable(variant));
    command.args(&subject.program.measured).current_dir(subject.folder(variant));
    let mut child = command.stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), ended).map_err(|error| error.to_string())?;
    let path = format!("/proc/{}/schedstat", child.id());
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    child.wait().map_err(|error| error.to_string())?;
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or(format!("{path}: {text}"))
}
