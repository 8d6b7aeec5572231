//! Compares what is there in the end with what the model allows.

use std::fs;
use std::path::{Path, PathBuf};

use countersink::raw::dump::Dump;

use crate::builds::{Build, IMAGES};
use crate::launch::Outcome;
use crate::model::{Expected, Model};
use crate::scenario::{Old, Operation, Scenario};
use crate::tally::{Counts, Tally, counts_of};

/// With more options than this a scenario would allow too much, and take too long.
const MOST_OPTIONS: usize = 14;

/// Everything that is not as it must be.
pub fn violations(scenario: &Scenario, builds: &[Build], outcome: &Outcome) -> Vec<String> {
    let model = Model::new(scenario, builds, outcome);
    let mut judge = Judge { builds, outcome, model, violations: outcome.violations.clone() };
    judge.violations.append(&mut judge.model.violations);
    judge.check_counts();
    judge.check_files(scenario);
    judge.check_messages(scenario);
    judge.violations
}

struct Judge<'j> {
    builds: &'j [Build],
    outcome: &'j Outcome,
    model: Model<'j>,
    violations: Vec<String>,
}

/// What all files together hold of an image.
#[derive(Clone, Default)]
struct Found {
    counts: Counts,
    runs: u64,
}

impl Judge<'_> {
    fn check_counts(&mut self) {
        let found = self.found();
        for (build, found) in self.builds.iter().zip(&found) {
            let number = self.builds.iter().position(|other| other.name == build.name).unwrap();
            for (image, found) in found.iter().enumerate() {
                let expected = &self.model.expected[number][image];
                let name = format!("{} {}", build.name, IMAGES[image]);
                if !(expected.runs[0]..=expected.runs[1]).contains(&found.runs) {
                    let what = format!("{name}: {} runs, not {:?}", found.runs, expected.runs);
                    self.violations.push(what);
                }
                if !self.is_allowed(build, image, expected, &found.counts) {
                    self.violations.push(difference(&name, build, image, expected, &found.counts));
                }
            }
        }
    }

    fn found(&mut self) -> Vec<Vec<Found>> {
        let mut found: Vec<Vec<Found>> =
            self.builds.iter().map(|build| vec![Found::default(); build.images()]).collect();
        for path in files(&self.outcome.folder).into_iter().filter(|path| is_dump(path)) {
            let dump = match Dump::parse(&fs::read(&path).unwrap()) {
                Ok(dump) => dump,
                Err(damage) => {
                    self.violations.push(format!("{}: {damage}", path.display()));
                    continue;
                }
            };
            for module in &dump.modules {
                let owner = self.builds.iter().enumerate().find_map(|(number, build)| {
                    let of = |known: &countersink::raw::dump::Module| {
                        known.record.identity == module.record.identity
                    };
                    Some((number, build.modules.iter().position(of)?))
                });
                let Some((build, image)) = owner else {
                    let name = String::from_utf8_lossy(&module.path);
                    self.violations.push(format!("an unknown module {name}"));
                    continue;
                };
                let found = &mut found[build][image];
                found.runs += module.sums.runs;
                for (place, count) in counts_of(module) {
                    *found.counts.entry(place).or_default() += count;
                }
            }
        }
        found
    }

    /// Whether some choice of options gives the counts. Counts that could not be written must have been reported.
    fn is_allowed(&self, build: &Build, image: usize, expected: &Expected, found: &Counts) -> bool {
        let units = &build.units[image];
        let found = units.steady(found.clone());
        let options = &expected.options[..expected.options.len().min(MOST_OPTIONS)];
        (0u32..1 << options.len()).any(|choice| {
            let mut sum = expected.certain;
            let mut is_told = true;
            for (place, option) in options.iter().enumerate() {
                match choice >> place & 1 {
                    1 => sum += option.tally,
                    _ => is_told &= option.message.is_none_or(|root| self.says_lost(root)),
                }
            }
            is_told && units.counts(&sum) == found
        })
    }

    fn says_lost(&self, root: usize) -> bool {
        let messages = &self.outcome.roots[root].messages;
        messages.iter().any(|line| line.ends_with("; the counts of this run are lost"))
    }

    fn check_files(&mut self, scenario: &Scenario) {
        let jail = self.outcome.folder.join("jail");
        let leaves_parts = self.hides_from_others(scenario);
        let mut aside = Vec::new();
        for path in files(&self.outcome.folder) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_known = is_dump(&path)
                || ["script", "ledger", "report"].contains(&name)
                || name.contains(".csraw.part.aside-") && leaves_parts;
            if name.contains(".csraw.aside-") {
                aside.push(fs::read(&path).unwrap());
            } else if !is_known && !path.starts_with(&jail) {
                self.violations.push(format!("{} is left", path.display()));
            }
        }
        let is_damaged = matches!(scenario.old, Old::Cut(_) | Old::Flipped(_) | Old::Text);
        let expected: Vec<Vec<u8>> =
            self.outcome.old.iter().filter(|_| is_damaged).cloned().collect();
        if aside != expected {
            self.violations.push(format!(
                "{} files were set aside, not {}",
                aside.len(),
                expected.len()
            ));
        }
    }

    /// Whether a failing call of one user may have left something that another user may not read or remove: a private
    /// dump or a `FILE.part`.
    fn hides_from_others(&self, scenario: &Scenario) -> bool {
        let mut steps = scenario.processes.iter().flat_map(|process| &process.steps);
        let is_shared = steps.any(|step| step.operation == Operation::Nobody);
        is_shared && !self.model.troubled.is_empty()
    }

    fn check_messages(&mut self, scenario: &Scenario) {
        let mut aside = 0;
        let is_hidden = self.hides_from_others(scenario);
        for (number, root) in self.outcome.roots.iter().enumerate() {
            let is_troubled = is_hidden || self.model.troubled.contains(&number);
            let untold = root.messages.iter().filter(|line| line.ends_with(UNTOLD)).count();
            if untold != self.model.untold[number] {
                let what = format!("root {number} has {untold} messages of unknown children");
                self.violations.push(format!("{what}, not {}", self.model.untold[number]));
            }
            let dumped = root.messages.iter().filter(|line| line.ends_with(DUMPED)).count();
            if dumped != self.model.dumped[number] && self.outcome.killed.is_empty() {
                let what = format!("root {number} says {dumped} times that it has dumped");
                self.violations.push(format!("{what}, not {}", self.model.dumped[number]));
            }
            for line in &root.messages {
                let is_known = line.ends_with(UNTOLD)
                    || line.ends_with(DUMPED)
                    || line.ends_with(WAITING) && self.model.waiting.contains(&number)
                    || line.contains(PART) && is_hidden
                    || is_troubled && TROUBLE.iter().any(|end| line.ends_with(end));
                if line.contains("the file was set aside as ") {
                    aside += 1;
                } else if !is_known {
                    self.violations.push(format!("root {number} says: {line}"));
                }
            }
        }
        let is_damaged = matches!(scenario.old, Old::Cut(_) | Old::Flipped(_) | Old::Text);
        // A kill may come between the new name and the message.
        let least = usize::from(is_damaged && self.outcome.killed.is_empty());
        if !(least..=usize::from(is_damaged)).contains(&aside) {
            self.violations.push(format!("{aside} messages of a file set aside"));
        }
    }
}

/// End of the message of a child that the runtime did not see made.
const UNTOLD: &str = " its counts are not kept without `flags --wrap-exit`";

/// End of the message of `__llvm_profile_write_file` after a dump.
const DUMPED: &str = "not written: dumped before, and not reset since";

/// End of the message of a live process that may not mark another user's live file.
const WAITING: &str = " not written: permission denied; the counts wait in a live file";

/// Part of the message of a `FILE.part` that a failing call has left.
const PART: &str = "another user's, and nobody writes it; set aside as ";

/// Ends of messages that a process may print after something failed.
const TROUBLE: [&str; 6] = [
    " in use for too long",
    " may not be read",
    "; the counts of this run are lost",
    "; the counts stay in memory",
    "; the counts wait in a live file",
    "; they are written at the end",
];

fn difference(
    name: &str,
    build: &Build,
    image: usize,
    expected: &Expected,
    found: &Counts,
) -> String {
    let units = &build.units[image];
    let certain = units.counts(&expected.certain);
    let mut lines = format!("{name}: counts differ; certain {:?}", expected.certain.0);
    for option in &expected.options {
        let Tally(paths) = option.tally;
        lines += &format!("\n    option {paths:?}, message of root {:?}", option.message);
    }
    let places: std::collections::BTreeSet<_> = certain.keys().chain(found.keys()).collect();
    let of = |counts: &Counts, place| counts.get(place).copied().unwrap_or(0);
    let differ = places.into_iter().filter(|place| of(&certain, place) != of(found, place));
    for place in differ.take(6) {
        lines += &format!("\n    {place:?}: {} for {}", of(found, place), of(&certain, place));
    }
    lines
}

/// Also one beside the file, where that could not be replaced.
fn is_dump(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (_, end) = name.rsplit_once('.').unwrap_or_default();
    end == "csraw" || end.len() == 16 && u64::from_str_radix(end, 16).is_ok()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
