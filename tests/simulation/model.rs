//! What must be in the files in the end, by the promises of the book (docs/src/endings.md, docs/src/files.md,
//! docs/src/design/signals-and-fork.md) and of `countersink.h`.
//!
//! The model follows every process through its operations, as far as the ledger says that it came. Each image of a
//! process holds counts that are not in the file yet. Operations add to them, commit them, or drop them:
//!
//! | operation | what becomes of the counts |
//! |---|---|
//! | flush, a signal of `COUNTERSINK_ON_SIGNAL`, an exec that the runtime sees | committed |
//! | dump | committed; counts until the next reset are dropped |
//! | reset, discard | dropped |
//! | fork | the child begins with none |
//! | an end that runs destructors, or that the runtime sees | committed |
//! | any other end | dropped; committed if the counters are live |
//!
//! Where a kill or a failing call comes into a commit, its counts are in the file whole or not at all: an option.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::builds::{Build, PLUGIN};
use crate::launch::Outcome;
use crate::ledger::Entry;
use crate::scenario::{End, Old, Operation, Root, SIGNALS, Scenario, Step, is_shadow};
use crate::tally::Tally;

/// What the files must hold of one image of a build.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub certain: Tally,
    pub options: Vec<Choice>,
    /// Fewest and most runs.
    pub runs: [u64; 2],
}

/// Counts that are there or not.
#[derive(Clone, Debug)]
pub struct Choice {
    pub tally: Tally,
    /// The root among whose messages there must be one if the counts are not there.
    pub message: Option<usize>,
}

pub struct Model<'m> {
    scenario: &'m Scenario,
    builds: &'m [Build],
    outcome: &'m Outcome,
    /// By build and image.
    pub expected: Vec<Vec<Expected>>,
    /// What contradicts the script itself.
    pub violations: Vec<String>,
    /// Of each root, the number of processes of which the runtime did not know.
    pub untold: Vec<usize>,
    /// Of each root, the number of calls of clang's interface that found the counts dumped, and said so.
    pub dumped: Vec<usize>,
    /// Roots in whose processes something failed.
    pub troubled: Vec<usize>,
    /// Roots with processes of another user that have live counters. Where they would have to mark a live file that
    /// they may not open, their counts wait for root.
    pub waiting: Vec<usize>,
    root: usize,
}

/// One image of a process.
#[derive(Clone, Debug)]
struct Image {
    number: usize,
    pending: Tally,
    /// Parts of `pending` that a failed flush may have written all the same.
    unsure: Vec<Tally>,
    /// Whether it counts, as it does until a dump.
    is_open: bool,
    /// Whether the file has counted this run, or may have.
    has_run: bool,
    may_have_run: bool,
    run_is_over: bool,
}

/// How sure a commit is.
#[derive(Clone, Copy, PartialEq)]
enum Commit {
    Done,
    /// Done, and counting goes on. With live counters nothing is written, so the run is not counted yet.
    Marked,
    /// A kill came into it.
    Killed,
    /// Something failed in it, and a message must say so.
    Failed,
}

/// A process while the model follows it.
struct Running {
    number: usize,
    images: Vec<Image>,
    is_limited: bool,
    is_nobody: bool,
}

impl Image {
    fn new(number: usize) -> Self {
        Self {
            number,
            pending: Tally::default(),
            unsure: Vec::new(),
            may_have_run: false,
            is_open: true,
            has_run: false,
            run_is_over: false,
        }
    }

    fn child(&self) -> Self {
        let new = Self::new(self.number);
        match self.run_is_over {
            true => Self { pending: new.pending, unsure: new.unsure, is_open: true, ..*self },
            false => new,
        }
    }
}

impl<'m> Model<'m> {
    pub fn new(scenario: &'m Scenario, builds: &'m [Build], outcome: &'m Outcome) -> Self {
        let expected = builds.iter().map(|build| vec![Expected::default(); build.images()]);
        let expected = expected.collect();
        let (violations, troubled, waiting) = (Vec::new(), Vec::new(), Vec::new());
        let (untold, dumped) = (vec![0; outcome.roots.len()], vec![0; outcome.roots.len()]);
        let root = 0;
        let mut model = Self {
            scenario,
            builds,
            outcome,
            expected,
            violations,
            untold,
            dumped,
            troubled,
            waiting,
            root,
        };
        if let Old::Dump(build) = scenario.old {
            for image in &mut model.expected[build] {
                image.certain += Tally::all();
                image.runs = [1, 1];
            }
        }
        for (number, root) in scenario.waves.iter().flatten().enumerate() {
            model.root = number;
            model.start(*root, outcome.roots[number].status);
        }
        model
    }

    fn entry(&self, process: usize) -> &'m Entry {
        &self.outcome.ledger[process]
    }

    fn build(&self, process: usize) -> &'m Build {
        &self.builds[self.scenario.processes[process].build]
    }

    fn expected(&mut self, process: usize, image: &Image) -> &mut Expected {
        &mut self.expected[self.scenario.processes[process].build][image.number]
    }

    fn say(&mut self, process: usize, what: &str) {
        self.violations.push(format!("process {process}: {what}"));
    }

    fn start(&mut self, root: Root, status: ExitStatus) {
        if self.entry(root.process).started {
            self.follow_program(root.process, false);
            self.check_status(root.process, status);
        } else if root.kill > 0 {
            self.killed_at_start(root.process);
        } else {
            self.say(root.process, &format!("did not start: {status}"));
        }
    }

    /// A program that was killed before its first operation may have been about to count a run.
    fn killed_at_start(&mut self, process: usize) {
        let build = self.scenario.processes[process].build;
        self.expected[build].iter_mut().for_each(|image| image.runs[1] += 1);
    }

    fn was_killed(&self, process: usize) -> bool {
        let entry = self.entry(process);
        // After an exec it is the next process that was.
        let went_on = match self.scenario.processes[process].end {
            End::Exec { child, .. } => self.entry(child).started,
            _ => false,
        };
        self.outcome.killed.contains(&entry.process) && !went_on
    }

    fn follow_program(&mut self, number: usize, is_nobody: bool) {
        let images = (0..self.build(number).images().min(PLUGIN)).map(Image::new).collect();
        self.follow(Running { number, images, is_limited: false, is_nobody });
    }

    fn follow_child(&mut self, parent: &Running, number: usize) {
        let images = parent.images.iter().map(Image::child).collect();
        self.follow(Running { number, images, ..*parent });
    }

    fn follow(&mut self, mut running: Running) {
        let number = running.number;
        let (entry, process) = (self.entry(number), &self.scenario.processes[number]);
        let killed = self.was_killed(number);
        for (place, step) in process.steps.iter().enumerate() {
            if place < entry.done {
                let fault = entry.struck(place);
                self.operate(&mut running, step, fault, entry.failed(place));
            } else if killed {
                return self.killed_in(&mut running, step);
            } else {
                return self.say(number, &format!("stopped before {:?}", step.operation));
            }
        }
        self.end(&mut running, killed);
        if let Some(status) = entry.status {
            self.check_status(number, ExitStatus::from_raw(status));
        }
    }

    fn trouble(&mut self) {
        if !self.troubled.contains(&self.root) {
            self.troubled.push(self.root);
        }
    }

    fn operate(&mut self, running: &mut Running, step: &Step, struck: bool, failed: bool) {
        if struck || failed {
            self.trouble();
        }
        let commit = if struck { Commit::Failed } else { Commit::Done };
        match step.operation {
            Operation::Count { image, function, path, times, threads } => {
                running.count(image, Tally::of(function, path, times * threads.max(1)));
            }
            Operation::Begin { function, path, times, threads } => {
                running.count(0, Tally::of(function, path, times * threads));
            }
            Operation::Fork { call, child } if is_shadow(call, self.build(child)) => {
                self.follow_shadow(running, child);
            }
            Operation::Fork { child, .. } if self.must_start(child) => {
                self.follow_child(running, child);
            }
            Operation::Spawn { child, .. } if self.must_start(child) => {
                self.follow_program(child, running.is_nobody);
            }
            Operation::Open => running.images.push(Image::new(PLUGIN)),
            Operation::Close => {
                let plugin = running.images.iter().position(|image| image.number == PLUGIN);
                let mut plugin = running.images.remove(plugin.unwrap());
                let commit = self.of_user(running, commit);
                self.commit(running.number, &mut plugin, commit);
            }
            Operation::Flush if failed => {
                self.tell_dumped(running);
                for image in &mut running.images {
                    self.expected(running.number, image).runs[1] += 1;
                    image.failed_flush();
                }
            }
            Operation::Flush => {
                self.tell_dumped(running);
                self.commit_all(running, Commit::Marked);
            }
            Operation::Dump => {
                self.commit_all(running, commit);
                running.close();
            }
            Operation::Reset | Operation::Discard => {
                for image in &mut running.images {
                    self.drop(running.number, image);
                    image.is_open = true;
                }
            }
            Operation::Winch if self.writes_on("WINCH") => self.commit_all(running, Commit::Marked),
            Operation::FailingExec if self.build(running.number).sees_exec("execl") => {
                self.commit_all(running, Commit::Marked);
                running.images.iter_mut().for_each(|image| image.run_is_over = true);
            }
            Operation::Limit(_) => {
                self.trouble();
                running.is_limited = true;
            }
            Operation::Unlimit => running.is_limited = false,
            Operation::Nobody => running.is_nobody = true,
            _ => {}
        }
    }

    /// The counts of a child of which the runtime does not know are its parent's, if they are live.
    fn follow_shadow(&mut self, parent: &mut Running, child: usize) {
        let (build, entry) = (self.build(child), self.entry(child));
        if !entry.started {
            return;
        }
        self.untold[self.root] += usize::from(!build.is_live);
        for step in &self.scenario.processes[child].steps[..entry.done] {
            if step.operation == Operation::Flush {
                self.tell_dumped(parent);
            }
            if let Operation::Count { image, function, path, times, .. } = step.operation
                && build.is_live
            {
                parent.count(image, Tally::of(function, path, times));
            }
        }
    }

    fn tell_dumped(&mut self, running: &Running) {
        let is_dumped = running.images.iter().any(|image| image.number == 0 && !image.is_open);
        self.dumped[self.root] += usize::from(is_dumped && self.build(running.number).is_llvm);
    }

    fn must_start(&mut self, child: usize) -> bool {
        let started = self.entry(child).started;
        if !started {
            self.say(child, "did not start");
        }
        started
    }

    fn writes_on(&self, signal: &str) -> bool {
        self.scenario.on_signal && SIGNALS.split(',').any(|name| name == signal)
    }

    fn killed_in(&mut self, running: &mut Running, step: &Step) {
        let is_live = self.build(running.number).is_live;
        match step.operation {
            Operation::Fork { call, child } if is_shadow(call, self.build(child)) => {
                self.follow_shadow(running, child);
            }
            Operation::Fork { child, .. } if self.entry(child).started => {
                self.follow_child(running, child);
            }
            Operation::Spawn { child, .. } if self.entry(child).started => {
                self.follow_program(child, running.is_nobody);
            }
            Operation::Open => {
                let expected = &mut self.expected[self.scenario.processes[running.number].build];
                expected[PLUGIN].runs[1] += 1;
            }
            Operation::Reset | Operation::Discard if is_live => {
                for image in &mut running.images {
                    // After a dump it begins another live file.
                    self.expected(running.number, image).runs[1] += u64::from(!image.is_open);
                    self.commit(running.number, image, Commit::Killed);
                }
            }
            Operation::Dump | Operation::Flush | Operation::FailingExec | Operation::Winch
                if !is_live =>
            {
                return self.commit_all(running, Commit::Killed);
            }
            Operation::Close if !is_live => {
                for image in running.images.iter_mut().filter(|image| image.number == PLUGIN) {
                    self.commit(running.number, image, Commit::Killed);
                }
                running.images.retain(|image| image.number != PLUGIN);
            }
            _ => {}
        }
        self.leave(running);
    }

    fn end(&mut self, running: &mut Running, killed: bool) {
        let process = &self.scenario.processes[running.number];
        let build = self.build(running.number);
        let is_seen = match &process.end {
            End::Exit { call: "exit" | "quick_exit", .. } => true,
            End::Exit { .. } => build.is_wrapped,
            End::Abort => self.writes_on("ABRT"),
            End::Raise(signal) => self.writes_on(signal),
            End::Exec { call, .. } => build.sees_exec(call),
        };
        // Only `exit` and its like add live counters to the file.
        let waits = build.is_live && (killed || !matches!(process.end, End::Exit { .. }));
        if !is_seen || waits {
            self.leave(running);
        } else if killed {
            self.commit_all(running, Commit::Killed);
        } else if process.end_fault.is_some() || running.is_limited {
            self.trouble();
            self.commit_all(running, Commit::Failed);
        } else {
            self.commit_all(running, Commit::Done);
        }
        let End::Exec { child, .. } = process.end else { return };
        match self.entry(child).started {
            true => self.follow_program(child, running.is_nobody),
            false if killed => self.killed_at_start(child),
            false => self.say(child, "did not start"),
        }
    }

    /// The process ends, and the runtime does not see it.
    fn leave(&mut self, running: &mut Running) {
        let is_live = self.build(running.number).is_live;
        for image in &mut running.images {
            if is_live && image.is_open {
                // A live file is a run of its own.
                let runs = &mut self.expected[self.scenario.processes[running.number].build]
                    [image.number]
                    .runs;
                runs[1] += u64::from(image.has_run);
                self.commit(running.number, image, Commit::Done);
            } else {
                self.drop(running.number, image);
            }
        }
    }

    fn commit_all(&mut self, running: &mut Running, commit: Commit) {
        let commit = self.of_user(running, commit);
        for image in &mut running.images {
            self.commit(running.number, image, commit);
        }
    }

    /// Another user's commit of live counters may fail.
    fn of_user(&mut self, running: &Running, commit: Commit) -> Commit {
        let is_live = self.build(running.number).is_live;
        if !(running.is_nobody && is_live && commit == Commit::Done) {
            return commit;
        }
        self.waiting.push(self.root);
        Commit::Failed
    }

    fn commit(&mut self, process: usize, image: &mut Image, commit: Commit) {
        if !image.is_open {
            return self.drop(process, image);
        }
        let is_live = self.build(process).is_live;
        let root = self.root;
        let expected = self.expected(process, image);
        let mut tally = std::mem::take(&mut image.pending);
        let unsure = std::mem::take(&mut image.unsure);
        if is_live && commit == Commit::Marked {
            expected.certain += tally;
            return;
        }
        let new_run = u64::from(!image.has_run);
        expected.runs[1] += new_run;
        // What could not be written waits in the live file.
        if matches!(commit, Commit::Done | Commit::Marked) || is_live && commit == Commit::Failed {
            expected.runs[0] += u64::from(!image.has_run && !image.may_have_run);
            // A live file is a run of its own.
            expected.runs[1] += u64::from(commit == Commit::Failed);
            expected.certain += tally;
            image.has_run = true;
            return;
        }
        for part in unsure {
            tally = tally.minus(&part);
            expected.options.push(Choice { tally: part, message: None });
        }
        image.may_have_run = true;
        let message = (commit == Commit::Failed).then_some(root);
        if !tally.is_zero() {
            expected.options.push(Choice { tally, message });
        }
    }

    fn drop(&mut self, process: usize, image: &mut Image) {
        let expected = self.expected(process, image);
        let unsure = image.unsure.drain(..);
        expected.options.extend(unsure.map(|tally| Choice { tally, message: None }));
        image.pending = Tally::default();
    }

    fn check_status(&mut self, process: usize, status: ExitStatus) {
        let last = self.last_of(process);
        let (code, signal) = match &self.scenario.processes[last].end {
            _ if self.outcome.killed.contains(&self.entry(process).process) => (None, Some(9)),
            End::Exit { status, .. } => (Some(*status), None),
            End::Abort => (None, Some(6)),
            End::Raise("TERM") => (None, Some(15)),
            End::Raise("SEGV") => (None, Some(11)),
            End::Raise(_) => (None, Some(9)),
            End::Exec { .. } => return,
        };
        if (status.code(), status.signal()) != (code, signal) {
            self.say(process, &format!("ended with {status}, not {code:?} or signal {signal:?}"));
        }
    }

    /// The process that this one became by exec.
    fn last_of(&self, process: usize) -> usize {
        match self.scenario.processes[process].end {
            End::Exec { child, .. } if self.entry(child).started => self.last_of(child),
            _ => process,
        }
    }
}

impl Running {
    fn count(&mut self, image: usize, tally: Tally) {
        let images = self.images.iter_mut().filter(|counting| counting.number == image);
        images.filter(|image| image.is_open).for_each(|image| image.pending += tally);
    }

    fn close(&mut self) {
        for image in &mut self.images {
            (image.is_open, image.run_is_over) = (false, true);
        }
    }
}

impl Image {
    fn failed_flush(&mut self) {
        let known = self.unsure.iter().fold(Tally::default(), |mut sum, tally| {
            sum += *tally;
            sum
        });
        let new = self.pending.minus(&known);
        self.may_have_run = true;
        if self.is_open && !new.is_zero() {
            self.unsure.push(new);
        }
    }
}
