//! Simulates processes of many builds that count, fork, start programs, are killed and meet failing calls, all into
//! one file. What the file must hold in the end is known exactly. Everything comes from a seed.
//!
//! ```text
//! COUNTERSINK_SEED=N cargo test --test simulation     # one seed, with its script
//! COUNTERSINK_SEEDS=N cargo test --test simulation    # N seeds instead of 150; with COUNTERSINK_SEED, N times that
//! seed
//! ```
//!
//! A seed makes the same script each time. Where processes run at the same time, their order is the system's.
//!
//! `scenario` makes processes and faults from a seed, `program.c` interprets them, `launcher.c` lets the faults
//! strike, `model` says what must be there, and `judge` compares.

mod builds;
mod finds;
#[path = "../harness/mod.rs"]
mod harness;
mod judge;
mod launch;
mod ledger;
#[path = "../llvm/mod.rs"]
mod llvm;
mod model;
mod scenario;
mod tally;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use builds::{Builds, threads};
use launch::Outcome;
use scenario::{Scenario, Script};

/// Seeds of a run without variables.
const SEEDS: u64 = 150;
/// A run ends after this number of failing seeds.
const MOST_FAILURES: usize = 5;

#[test]
fn every_count_is_kept_once() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("COUNTERSINK_SEED");
    let most = number("COUNTERSINK_SEEDS").unwrap_or(if seed.is_some() { 1 } else { SEEDS });
    if !cfg!(target_arch = "x86_64") {
        return harness::say_skipped(
            "the launcher of the simulation knows the registers of x86-64 only",
        );
    }
    let builds = Builds::new();
    if !launch::can_trace(&builds) {
        return harness::skip("the simulation needs ptrace");
    }
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut finds = finds::scenarios(&builds.all);
    finds.retain(|_| seed.is_none());
    let attempts = most + finds.len() as u64;
    let (next, failures) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        while failures.lock().unwrap().len() < MOST_FAILURES {
            let attempt = next.fetch_add(1, Ordering::Relaxed);
            if attempt >= attempts {
                break;
            }
            let scenario = match finds.get(attempt as usize) {
                Some(find) => find.clone(),
                None => {
                    let seed = seed.unwrap_or(attempt - finds.len() as u64);
                    Scenario::new(seed, &builds.all, is_root)
                }
            };
            let folder = builds.shop.path(format!("attempt-{attempt}"));
            if let Some(failure) = simulate(&scenario, &folder, &builds) {
                failures.lock().unwrap().push(failure);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().unwrap();
    if is_alone() && !failures.is_empty() {
        // The folder stays.
        std::mem::forget(builds);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether somebody wants to look at one seed.
fn is_alone() -> bool {
    std::env::var_os("COUNTERSINK_SEED").is_some()
}

/// Runs a scenario. Gives what is wrong, with the script.
fn simulate(scenario: &Scenario, folder: &Path, builds: &Builds) -> Option<String> {
    let outcome = Outcome::of(scenario, folder, builds);
    let violations = judge::violations(scenario, &builds.all, &outcome);
    if !is_alone() || violations.is_empty() {
        std::fs::remove_dir_all(&outcome.folder).unwrap();
    }
    if violations.is_empty() {
        return None;
    }
    let script = Script(scenario, &builds.all);
    let waves = &scenario.waves;
    let (old, on_signal) = (scenario.old, scenario.on_signal);
    let messages: Vec<_> =
        outcome.roots.iter().map(|root| (&root.status, &root.messages)).collect();
    Some(format!(
        "COUNTERSINK_SEED={}\n{script}old file {old:?}, on signal {on_signal}, waves {waves:?}\n\
         {messages:?}, killed {:?}, in {}\nWRONG: {}\n",
        scenario.seed,
        outcome.killed,
        outcome.folder.display(),
        violations.join("\nWRONG: ")
    ))
}
