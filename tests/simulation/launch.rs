//! Runs the processes of a scenario in a folder of its own, under the launcher, which lets faults strike and waits for
//! all descendants.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use countersink::raw::dump::Dump;

use crate::builds::Builds;
use crate::ledger::{self, Entry};
use crate::scenario::{End, FILE, OTHER_FILE, Old, Operation, Root, SIGNALS, Scenario, Script};

/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(100);

/// What a root and all its descendants have left.
pub struct RootOutcome {
    pub status: ExitStatus,
    /// Lines on standard error.
    pub messages: Vec<String>,
}

pub struct Outcome {
    pub folder: PathBuf,
    /// In the order of the waves.
    pub roots: Vec<RootOutcome>,
    pub ledger: Vec<Entry>,
    /// Process ids.
    pub killed: Vec<u32>,
    /// What stood in the place of the file.
    pub old: Option<Vec<u8>>,
    /// What went wrong outside of the processes.
    pub violations: Vec<String>,
}

impl Outcome {
    /// Runs all of it.
    pub fn of(scenario: &Scenario, folder: &Path, builds: &Builds) -> Self {
        let old = prepare(folder, scenario, builds);
        let mut outcome = Self {
            folder: folder.to_owned(),
            roots: Vec::new(),
            ledger: Vec::new(),
            killed: Vec::new(),
            old,
            violations: Vec::new(),
        };
        for (number, wave) in scenario.waves.iter().enumerate() {
            if number + scenario.last_waves == scenario.waves.len() && scenario.is_folded {
                outcome.fold(outcome.folder.clone(), builds);
            }
            outcome.run(wave, scenario, builds);
        }
        // No program starts in there.
        let inside = outcome.folder.strip_prefix("/").unwrap();
        outcome.fold(outcome.folder.join("jail").join(inside), builds);
        outcome.ledger = ledger::read(&fs::read(outcome.folder.join("ledger")).unwrap());
        let report = fs::read_to_string(outcome.folder.join("report")).unwrap_or_default();
        outcome.killed = report.lines().map(|line| line.parse().unwrap()).collect();
        outcome
    }

    fn run(&mut self, wave: &[Root], scenario: &Scenario, builds: &Builds) {
        let start = |root: &Root| self.command(*root, scenario, builds).spawn().unwrap();
        let children: Vec<Child> = wave.iter().map(start).collect();
        let groups: Vec<u32> = children.iter().map(Child::id).collect();
        let (done, wait) = channel::<()>();
        let watch = std::thread::spawn(move || {
            let hangs = wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            let group = |id: &u32| format!("-{id}");
            if hangs {
                let kill = Command::new("kill")
                    .args(["-KILL", "--"])
                    .args(groups.iter().map(group))
                    .status();
                kill.unwrap();
            }
            hangs
        });
        for child in children {
            let output = child.wait_with_output().unwrap();
            let messages = String::from_utf8_lossy(&output.stderr);
            let messages = messages.lines().map(str::to_owned).collect();
            self.roots.push(RootOutcome { status: output.status, messages });
        }
        drop(done);
        if watch.join().unwrap() {
            self.violations.push("a process hangs".to_owned());
        }
    }

    fn command(&self, root: Root, scenario: &Scenario, builds: &Builds) -> Command {
        let build = &builds.all[scenario.processes[root.process].build];
        let program = builds.folder().join(build.name).join("program");
        let has_faults = root.kill > 0 || needs_faults(scenario, root.process);
        let report = if has_faults { self.folder.join("report") } else { "-".into() };
        let mut command = Command::new(builds.launcher());
        command.arg(report).arg(root.kill.to_string()).arg(program);
        command.arg(builds.folder());
        command.args(["script", "ledger"].map(|name| self.folder.join(name)));
        command.arg(root.process.to_string()).current_dir(&self.folder);
        let folder = if scenario.is_absolute { &self.folder } else { Path::new("") };
        command.env("COUNTERSINK_FILE", folder.join(root.file));
        command.env_remove("COUNTERSINK_ON_SIGNAL");
        if scenario.on_signal {
            command.env("COUNTERSINK_ON_SIGNAL", SIGNALS);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        command
    }

    /// The tool adds what is left in live files.
    fn fold(&mut self, folder: PathBuf, builds: &Builds) {
        for file in [FILE, OTHER_FILE].map(|file| folder.join(file)) {
            if live_files(&file).is_empty() {
                continue;
            }
            let output = builds.shop.tool(&["fold", file.to_str().unwrap()]);
            let left = live_files(&file);
            // The tool leaves a damaged dump to its owner. The next program sets it aside.
            let is_damaged =
                fs::read(&file).is_ok_and(|old| !old.is_empty() && Dump::parse(&old).is_err());
            if !is_damaged && (!output.status.success() || !left.is_empty()) {
                self.violations.push(format!("fold: {output:?}, left: {left:?}"));
            }
        }
    }
}

fn live_files(file: &Path) -> Vec<PathBuf> {
    let start = format!("{}.live.", file.file_name().unwrap().to_str().unwrap());
    let entries = fs::read_dir(file.parent().unwrap()).into_iter().flatten().flatten();
    let is_live = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&start);
    entries.map(|entry| entry.path()).filter(is_live).collect()
}

/// Whether the launcher may trace processes here.
pub fn can_trace(builds: &Builds) -> bool {
    let launcher = Command::new(builds.launcher()).args(["/dev/null", "0", "/bin/true"]).status();
    launcher.is_ok_and(|status| status.success())
}

/// Makes the folder. Gives what stands in the place of the file.
fn prepare(folder: &Path, scenario: &Scenario, builds: &Builds) -> Option<Vec<u8>> {
    let make = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    };
    make(folder);
    // Behind `chroot` the file has the same name. All users may write there, too.
    let mut inside = folder.join("jail");
    make(&inside);
    for part in folder.strip_prefix("/").unwrap() {
        inside.push(part);
        make(&inside);
    }
    fs::write(folder.join("script"), Script(scenario, &builds.all).to_string()).unwrap();
    fs::write(folder.join("ledger"), vec![0; ledger::BYTES]).unwrap();
    fs::set_permissions(folder.join("ledger"), Permissions::from_mode(0o666)).unwrap();
    let dump = |build: usize| builds.all[build].dump.clone();
    let old = match scenario.old {
        Old::Nothing => return None,
        Old::Empty => Vec::new(),
        Old::Dump(build) => dump(build),
        Old::Cut(build) => {
            let whole = dump(build);
            whole[..whole.len() - 1 - scenario.seed as usize % (whole.len() / 2)].to_vec()
        }
        Old::Flipped(build) => {
            let mut dump = dump(build);
            let place = scenario.seed as usize % dump.len();
            dump[place] ^= 1 << (scenario.seed % 8);
            dump
        }
        Old::Text => b"a letter\n".to_vec(),
    };
    fs::write(folder.join(FILE), &old).unwrap();
    Some(old)
}

/// Whether faults strike in a process or in those that it starts.
fn needs_faults(scenario: &Scenario, process: usize) -> bool {
    let process = &scenario.processes[process];
    let in_step = process.steps.iter().any(|step| {
        step.fault.is_some()
            || match step.operation {
                Operation::Kill(_) => true,
                Operation::Fork { child, .. } | Operation::Spawn { child, .. } => {
                    needs_faults(scenario, child)
                }
                _ => false,
            }
    });
    in_step
        || process.end_fault.is_some()
        || matches!(process.end, End::Exec { child, .. } if needs_faults(scenario, child))
}
