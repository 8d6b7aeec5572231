//! What happens in one simulation: processes, what each of them does, and faults; made from a seed.

use std::fmt::{self, Display, Formatter};

use crate::builds::{Build, IMAGES, PLUGIN};
use crate::ledger::PROCESSES;
use crate::tally::{FUNCTIONS, PATHS};

/// Numbers that look random and are the same in every run (SplitMix64).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// One operation of a process.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Calls a path of a counted function, in so many threads, or in the process's own one (0).
    Count {
        image: usize,
        function: usize,
        path: usize,
        times: i64,
        threads: i64,
    },
    /// The same in threads that go on beside the next operations, until `Join`.
    Begin {
        function: usize,
        path: usize,
        times: i64,
        threads: i64,
    },
    Join,
    /// Makes a child that goes on with its own operations.
    Fork {
        call: &'static str,
        child: usize,
    },
    /// Starts a program in a child.
    Spawn {
        call: &'static str,
        child: usize,
    },
    Wait,
    Open,
    Close,
    Flush,
    Dump,
    Reset,
    Discard,
    /// Chooses another file.
    File(&'static str),
    Chdir(&'static str),
    Umask(u32),
    Chroot,
    /// Gives up root's rights.
    Nobody,
    /// No file may grow beyond this size.
    Limit(usize),
    Unlimit,
    /// A signal that does nothing by itself.
    Winch,
    FailingExec,
    /// The system call of this number from here on kills the process.
    Kill(usize),
}

/// How a process ends.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// `exit`, `quick_exit`, `_exit` or `_Exit` with a status.
    Exit {
        call: &'static str,
        status: i32,
    },
    Abort,
    Raise(&'static str),
    Exec {
        call: &'static str,
        child: usize,
    },
}

/// A call that fails in an operation: the one of this number of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    kind: &'static str,
    number: usize,
    error: i32,
}

/// Kinds of calls, numbered as in faults.h, with errors that they may end with.
const KINDS: [(&str, usize, &[i32]); 12] = [
    ("any call", 0, &[EINTR]),
    ("open", 1, &[EACCES, EMFILE, EINTR, EIO]),
    ("read", 2, &[EIO, EINTR]),
    ("write", 3, &[ENOSPC, EIO, EINTR, EDQUOT]),
    ("stat", 4, &[EIO, EACCES]),
    // Any other error means that there are no locks; then processes that end together lose counts.
    ("lock", 5, &[EINTR]),
    ("rename", 6, &[EIO, ENOSPC, EPERM]),
    ("remove", 7, &[EIO, EPERM]),
    ("rights", 8, &[EPERM, EIO]),
    ("memory", 9, &[ENOMEM]),
    ("seek", 10, &[EIO]),
    ("full disk", 11, &[ENOSPC]),
];
const EPERM: i32 = 1;
const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

#[derive(Clone, Debug)]
pub struct Step {
    pub fault: Option<Fault>,
    pub operation: Operation,
}

#[derive(Clone, Debug)]
pub struct Process {
    /// Index among all builds.
    pub build: usize,
    pub steps: Vec<Step>,
    pub end: End,
    /// The call that fails in the end.
    pub end_fault: Option<Fault>,
}

/// A process that the simulation starts itself.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    pub process: usize,
    /// The system call that kills it, counted from its start; 0 for none.
    pub kill: usize,
    pub file: &'static str,
}

/// What stands in the place of the file at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Old {
    Nothing,
    Empty,
    /// The dump of a run of a build that counted every path once.
    Dump(usize),
    /// The same, cut short.
    Cut(usize),
    /// The same with a bit that is wrong.
    Flipped(usize),
    Text,
}

#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub old: Old,
    /// Whether `COUNTERSINK_ON_SIGNAL` is set.
    pub on_signal: bool,
    /// Whether the file has an absolute name.
    pub is_absolute: bool,
    /// Whether the tool adds live files in the end, before the programs start once more.
    pub is_folded: bool,
    pub processes: Vec<Process>,
    /// Processes that start together, one group after the other.
    pub waves: Vec<Vec<Root>>,
    /// How many of the waves at the end only clear up.
    pub last_waves: usize,
}

pub const FILE: &str = "all.csraw";
pub const OTHER_FILE: &str = "some/where/other.csraw";
pub const SIGNALS: &str = "TERM,ABRT,SEGV,WINCH";

impl Scenario {
    /// Every seed makes one.
    pub fn new(seed: u64, builds: &[Build], is_root: bool) -> Self {
        let mut numbers = Numbers::new(seed);
        let traits = Traits::new(&mut numbers, is_root);
        let number = 1 + numbers.below(4);
        let chosen = (0..number).map(|_| numbers.below(builds.len())).collect();
        let mut author =
            Author { numbers, builds, chosen, traits, processes: Vec::new(), files: vec![FILE] };
        let old = author.old();
        let mut waves = author.waves();
        let last = author.last_waves();
        let last_waves = last.len();
        waves.extend(last);
        Self {
            seed,
            old,
            on_signal: traits.on_signal,
            is_absolute: traits.chdir,
            is_folded: author.numbers.one_in(2),
            processes: author.processes,
            waves,
            last_waves,
        }
    }
}

/// What may happen in a scenario at all. Many things at once would hide each other.
#[derive(Clone, Copy)]
struct Traits {
    on_signal: bool,
    kills: bool,
    faults: bool,
    limits: bool,
    chroot: bool,
    nobody: bool,
    umask: bool,
    other_file: bool,
    chdir: bool,
    damage: bool,
}

impl Traits {
    fn new(numbers: &mut Numbers, is_root: bool) -> Self {
        let kills = numbers.one_in(2);
        // What a killed process of one user leaves is not another user's to remove.
        let nobody = numbers.one_in(6) && is_root && !kills;
        let other_file = numbers.one_in(4) && !nobody;
        Self {
            on_signal: numbers.one_in(2),
            kills,
            faults: numbers.one_in(3),
            limits: numbers.one_in(5),
            chroot: numbers.one_in(6) && is_root && !kills,
            nobody,
            umask: numbers.one_in(4) && !nobody,
            other_file,
            // Relative names would mean other files after an exec.
            chdir: numbers.one_in(2) && !other_file,
            damage: numbers.one_in(4),
        }
    }
}

struct Author<'b> {
    numbers: Numbers,
    builds: &'b [Build],
    chosen: Vec<usize>,
    traits: Traits,
    processes: Vec<Process>,
    files: Vec<&'static str>,
}

/// What a process is like at one point of its operations.
#[derive(Clone, Copy, Default)]
struct Situation {
    depth: usize,
    plugin: bool,
    dumped: bool,
    threads: bool,
    /// Made behind the C library's back, so without threads of its own.
    raw: bool,
    /// See [`is_shadow`].
    shadow: bool,
    jailed: bool,
    nobody: bool,
    limited: bool,
    doomed: bool,
}

impl Author<'_> {
    fn old(&mut self) -> Old {
        let build = self.numbers.pick(&self.chosen);
        if !self.traits.damage {
            return self.numbers.pick(&[Old::Nothing, Old::Nothing, Old::Dump(build)]);
        }
        self.numbers.pick(&[Old::Empty, Old::Cut(build), Old::Flipped(build), Old::Text])
    }

    fn waves(&mut self) -> Vec<Vec<Root>> {
        let number = 1 + self.numbers.below(3);
        (0..number).map(|_| self.wave()).collect()
    }

    fn wave(&mut self) -> Vec<Root> {
        let number = self.numbers.pick(&[1, 1, 2, 3, 5]);
        let mut roots = Vec::new();
        for _ in 0..number {
            if self.processes.len() < PROCESSES / 3 {
                let kill = self.traits.kills && self.numbers.one_in(6);
                let kill = if kill { 1 + self.numbers.below(200) } else { 0 };
                let build = self.numbers.pick(&self.chosen);
                let process =
                    self.process(build, Situation { doomed: kill > 0, ..Situation::default() });
                roots.push(Root { process, kill, file: FILE });
            }
        }
        roots
    }

    /// In the end every program starts once more, for each file: that clears up.
    fn last_waves(&mut self) -> Vec<Vec<Root>> {
        let mut chosen = self.chosen.clone();
        chosen.sort_unstable();
        chosen.dedup();
        let mut waves = Vec::new();
        for file in self.files.clone() {
            for &build in &chosen {
                let has_images = self.builds[build].has_images;
                let open = has_images.then_some(Step { fault: None, operation: Operation::Open });
                let end = End::Exit { call: "exit", status: 0 };
                let steps = open.into_iter().collect();
                self.processes.push(Process { build, steps, end, end_fault: None });
                waves.push(vec![Root { process: self.processes.len() - 1, kill: 0, file }]);
            }
        }
        waves
    }

    fn has_room(&self, situation: Situation) -> bool {
        situation.depth < 3 && self.processes.len() < PROCESSES / 2
    }

    /// Writes a process, and all that it starts; gives its number.
    fn process(&mut self, build: usize, mut situation: Situation) -> usize {
        let number = self.processes.len();
        let end = End::Exit { call: "exit", status: 0 };
        self.processes.push(Process { build, steps: Vec::new(), end, end_fault: None });
        let length = self.numbers.below(9);
        let mut steps = Vec::new();
        for _ in 0..length {
            let operation = self.operation(build, &mut situation);
            let fault = self.fault(build, &operation, situation);
            let then = match &operation {
                Operation::Join => Some(AFTER_JOIN),
                Operation::Fork { call, .. } if is_shadow(call, &self.builds[build]) => Some(WAIT),
                _ => None,
            };
            steps.push(Step { fault, operation });
            steps.extend(then);
        }
        if situation.threads {
            steps.extend([Step { fault: None, operation: Operation::Join }, AFTER_JOIN]);
        }
        let end = self.end(situation);
        // `_exit` may not be the runtime's.
        let end_fault = match end {
            End::Exit { call: "exit" | "quick_exit", .. } => self.any_fault(situation),
            _ => None,
        };
        self.processes[number] = Process { build, steps, end, end_fault };
        number
    }

    fn any_fault(&mut self, situation: Situation) -> Option<Fault> {
        if !self.traits.faults || situation.shadow || situation.doomed || !self.numbers.one_in(3) {
            return None;
        }
        let (kind, _, errors) = self.numbers.pick(&KINDS);
        let most = if kind == "any call" { 40 } else { 4 };
        let number = 1 + self.numbers.below(most);
        Some(Fault { kind, number, error: self.numbers.pick(errors) })
    }

    fn fault(
        &mut self,
        build: usize,
        operation: &Operation,
        situation: Situation,
    ) -> Option<Fault> {
        let writes = match operation {
            Operation::Flush | Operation::Close => true,
            // A reset after it forgets what waits in the live file.
            Operation::Dump => !self.builds[build].is_live,
            _ => false,
        };
        if writes { self.any_fault(situation) } else { None }
    }

    /// The first functions count nothing but their branches. Clang's events of values are not atomic, and the first
    /// event of a live site takes a system call, so a kill may come into it.
    fn functions(&self, build: usize, in_threads: bool, situation: Situation) -> usize {
        let Build { is_llvm, is_live, .. } = self.builds[build];
        if in_threads && is_llvm || situation.doomed && is_live { 2 } else { FUNCTIONS }
    }

    fn count(&mut self, build: usize, situation: Situation) -> Operation {
        let images = match self.builds[build].has_images {
            true if situation.plugin => IMAGES.len(),
            true => PLUGIN,
            false => 1,
        };
        let in_threads = !situation.raw && !situation.doomed && self.numbers.one_in(4);
        Operation::Count {
            image: self.numbers.below(images),
            function: self.numbers.below(self.functions(build, in_threads, situation)),
            path: self.numbers.below(PATHS),
            times: 1 + self.numbers.below(30) as i64,
            threads: if in_threads { 1 + self.numbers.below(4) as i64 } else { 0 },
        }
    }

    fn operation(&mut self, build: usize, situation: &mut Situation) -> Operation {
        if situation.threads {
            return self.operation_beside_threads(build, situation);
        }
        if situation.limited {
            return match self.numbers.below(4) {
                0 => Operation::Flush,
                1 => {
                    situation.limited = false;
                    Operation::Unlimit
                }
                _ => self.count(build, *situation),
            };
        }
        let count = self.count(build, *situation);
        if situation.shadow {
            return if self.numbers.one_in(4) { Operation::Flush } else { count };
        }
        match self.numbers.below(24) {
            0..=2 => self.fork(build, *situation).unwrap_or(count),
            3 => self.spawn(*situation).unwrap_or(count),
            4 => Operation::Wait,
            5 | 6 => self.open_or_close(build, situation).unwrap_or(count),
            7 | 8 => Operation::Flush,
            9 => self.dump_or_reset(build, situation).unwrap_or(count),
            10 => {
                situation.dumped = false;
                if self.numbers.one_in(2) { Operation::Reset } else { Operation::Discard }
            }
            11 => self.place(situation).unwrap_or(count),
            12 => self.begin(*situation, build).map_or(count, |begin| {
                situation.threads = true;
                begin
            }),
            13 => Operation::Winch,
            14 => Operation::FailingExec,
            15 if self.traits.kills && !situation.doomed => {
                situation.doomed = true;
                Operation::Kill(1 + self.numbers.below(100))
            }
            16 if self.traits.limits => {
                situation.limited = true;
                Operation::Limit(self.numbers.pick(&[0, 100, 1000]))
            }
            _ => count,
        }
    }

    fn operation_beside_threads(&mut self, build: usize, situation: &mut Situation) -> Operation {
        match self.numbers.below(4) {
            0 => Operation::Flush,
            1 if self.has_room(*situation) => {
                let child = self.child(build, *situation);
                Operation::Fork { call: "fork", child }
            }
            2 => self.spawn(*situation).unwrap_or(Operation::Flush),
            _ => {
                situation.threads = false;
                Operation::Join
            }
        }
    }

    fn begin(&mut self, situation: Situation, build: usize) -> Option<Operation> {
        if situation.raw || situation.doomed {
            return None;
        }
        let function = self.numbers.below(self.functions(build, true, situation));
        let path = self.numbers.below(PATHS);
        let times = 100 * (1 + self.numbers.below(30) as i64);
        let threads = 1 + self.numbers.below(3) as i64;
        Some(Operation::Begin { function, path, times, threads })
    }

    fn fork(&mut self, build: usize, situation: Situation) -> Option<Operation> {
        if !self.has_room(situation) {
            return None;
        }
        let call = self.numbers.pick(&FORKS);
        let raw = situation.raw || !["fork", "_Fork"].contains(&call);
        let shadow = is_shadow(call, &self.builds[build]);
        let child = Situation { raw, shadow, ..situation };
        Some(Operation::Fork { call, child: self.child(build, child) })
    }

    /// A process that begins with its parent's images. It counts even if the parent has dumped, and a fault is for
    /// one process.
    fn child(&mut self, build: usize, parent: Situation) -> usize {
        let depth = parent.depth + 1;
        let child = Situation { depth, threads: false, dumped: false, doomed: false, ..parent };
        self.process(build, child)
    }

    fn spawn(&mut self, situation: Situation) -> Option<Operation> {
        if !self.has_room(situation) || situation.jailed {
            return None;
        }
        let build = self.numbers.pick(&self.chosen);
        let call = self.numbers.pick(&["vfork", "posix_spawn"]);
        Some(Operation::Spawn { call, child: self.program(build, situation) })
    }

    /// A process with an image of its own.
    fn program(&mut self, build: usize, situation: Situation) -> usize {
        let Situation { depth, nobody, .. } = situation;
        self.process(build, Situation { depth: depth + 1, nobody, ..Situation::default() })
    }

    fn open_or_close(&mut self, build: usize, situation: &mut Situation) -> Option<Operation> {
        if !self.builds[build].has_images || situation.jailed {
            return None;
        }
        situation.plugin = !situation.plugin;
        Some(if situation.plugin { Operation::Open } else { Operation::Close })
    }

    fn dump_or_reset(&mut self, build: usize, situation: &mut Situation) -> Option<Operation> {
        // A dump may fail there, and then counting goes on.
        if !situation.dumped && situation.nobody && self.builds[build].is_live {
            return None;
        }
        situation.dumped = !situation.dumped;
        Some(if situation.dumped { Operation::Dump } else { Operation::Reset })
    }

    /// Changes where the process is, or who it is.
    fn place(&mut self, situation: &mut Situation) -> Option<Operation> {
        Some(match self.numbers.below(5) {
            0 if self.traits.umask => Operation::Umask(self.numbers.pick(&[0, 0o22, 0o27, 0o77])),
            1 if self.traits.chroot && !situation.jailed => {
                situation.jailed = true;
                Operation::Chroot
            }
            2 if self.traits.nobody => {
                situation.nobody = true;
                Operation::Nobody
            }
            3 if self.traits.other_file => {
                if !self.files.contains(&OTHER_FILE) {
                    self.files.push(OTHER_FILE);
                }
                Operation::File(self.numbers.pick(&[FILE, OTHER_FILE]))
            }
            4 if self.traits.chdir => Operation::Chdir(self.numbers.pick(&["/", "/tmp"])),
            _ => return None,
        })
    }

    fn end(&mut self, situation: Situation) -> End {
        let status = self.numbers.below(100) as i32;
        let kind = if situation.shadow { 9 } else { self.numbers.below(10) };
        match kind {
            0 if !situation.limited => End::Abort,
            1 if !situation.limited => End::Raise(self.numbers.pick(&["TERM", "SEGV", "KILL"])),
            2 | 3 if self.has_room(situation) && !situation.jailed && !situation.limited => {
                let call = self.numbers.pick(&EXECS);
                let build = self.numbers.pick(&self.chosen);
                let Situation { depth, nobody, doomed, .. } = situation;
                let child = Situation { depth: depth + 1, nobody, doomed, ..Situation::default() };
                End::Exec { call, child: self.process(build, child) }
            }
            4 if !situation.limited => {
                End::Exit { call: self.numbers.pick(&["_exit", "_Exit"]), status }
            }
            5 => End::Exit { call: "quick_exit", status },
            _ => End::Exit { call: "exit", status },
        }
    }
}

/// What a child counts in its parent's memory must be there before the parent's next operation.
const WAIT: Step = Step { fault: None, operation: Operation::Wait };
/// Nobody knows how much of the work of threads an earlier flush has written. This one writes the rest.
const AFTER_JOIN: Step = Step { fault: None, operation: Operation::Flush };

/// Ways to make a child. `_Fork` is a fork through a pointer, and `hooks` those of `countersink.h` around a system
/// call.
const FORKS: [&str; 8] =
    ["fork", "fork", "_Fork", "hooks", "SYS_fork", "SYS_clone", "SYS_clone3", "clone"];

/// Whether the runtime does not see that this call makes a child. Such a child counts in its parent's memory, or for
/// nothing.
pub fn is_shadow(call: &str, build: &Build) -> bool {
    !build.is_wrapped && (call.starts_with("SYS_") || call == "clone")
}

/// Ways to call exec. With the hooks of `countersink.h` it is a raw system call, too.
const EXECS: [&str; 9] =
    ["execv", "execve", "execvp", "execl", "execle", "execvpe", "fexecve", "hooks", "SYS_execve"];

/// A scenario with the names of its builds: what a failing seed prints, and what the processes read.
pub struct Script<'s>(pub &'s Scenario, pub &'s [Build]);

impl Display for Script<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (number, process) in self.0.processes.iter().enumerate() {
            write!(formatter, "{number} {}:", self.build_of(number))?;
            for step in &process.steps {
                write_fault(formatter, step.fault)?;
                self.write_operation(formatter, process, &step.operation)?;
                write!(formatter, ";")?;
            }
            write_fault(formatter, process.end_fault)?;
            self.write_end(formatter, &process.end)?;
            writeln!(formatter)?;
        }
        Ok(())
    }
}

fn write_fault(formatter: &mut Formatter<'_>, fault: Option<Fault>) -> fmt::Result {
    let Some(Fault { kind, number, error }) = fault else { return Ok(()) };
    let (_, kind, _) = KINDS.iter().find(|(name, ..)| *name == kind).unwrap();
    write!(formatter, " fail {kind} {number} {error}")
}

impl Script<'_> {
    fn build_of(&self, process: usize) -> &str {
        self.1[self.0.processes[process].build].name
    }

    fn write_operation(
        &self,
        formatter: &mut Formatter<'_>,
        process: &Process,
        operation: &Operation,
    ) -> fmt::Result {
        match operation {
            Operation::Count { image, function, path, times, threads } => {
                let what = if *threads == 0 { "count" } else { "threads" };
                let image = IMAGES[*image];
                write!(formatter, " {what} {image} {function} {path} {times} {threads}")
            }
            Operation::Begin { function, path, times, threads } => {
                write!(formatter, " begin program {function} {path} {times} {threads}")
            }
            Operation::Join => write!(formatter, " join"),
            Operation::Fork { call, child } => write!(formatter, " fork {call} {child}"),
            Operation::Spawn { call, child } => {
                write!(formatter, " spawn {call} {} {child}", self.build_of(*child))
            }
            Operation::Wait => write!(formatter, " wait"),
            Operation::Open => write!(formatter, " open {}", self.1[process.build].name),
            Operation::Close => write!(formatter, " close"),
            Operation::Flush => write!(formatter, " flush"),
            Operation::Dump => write!(formatter, " dump"),
            Operation::Reset => write!(formatter, " reset"),
            Operation::Discard => write!(formatter, " discard"),
            Operation::File(file) => write!(formatter, " file {file}"),
            Operation::Chdir(folder) => write!(formatter, " chdir {folder}"),
            Operation::Umask(mask) => write!(formatter, " umask {mask:o}"),
            Operation::Chroot => write!(formatter, " chroot jail"),
            Operation::Nobody => write!(formatter, " nobody"),
            Operation::Limit(bytes) => write!(formatter, " limit {bytes}"),
            Operation::Unlimit => write!(formatter, " unlimit"),
            Operation::Winch => write!(formatter, " signal WINCH"),
            Operation::FailingExec => write!(formatter, " failing-exec"),
            Operation::Kill(number) => write!(formatter, " kill {number}"),
        }
    }

    fn write_end(&self, formatter: &mut Formatter<'_>, end: &End) -> fmt::Result {
        match end {
            End::Exit { call, status } => write!(formatter, " {call} {status}"),
            End::Abort => write!(formatter, " abort"),
            End::Raise(signal) => write!(formatter, " raise {signal}"),
            End::Exec { call, child } => {
                write!(formatter, " exec {call} {} {child}", self.build_of(*child))
            }
        }
    }
}
