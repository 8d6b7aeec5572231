//! The cost of starting and ending a large program. It is processor time, which other load of the machine
//! hardly changes, except where processes wait for the disk and for each other.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use countersink::cli::archives::archive;

use crate::harness::succeed;
use crate::program::{FUNCTIONS, GCC, objects};
use crate::scratch::Scratch;
use crate::table::{Row, Table, median, medians};

const PROGRAMS: [&str; 3] = ["ours", "theirs", "live"];

/// The program, linked with both runtimes.
pub struct Large<'s> {
    /// Number of its objects.
    number: usize,
    pub directory: PathBuf,
    scratch: &'s Scratch,
    /// The folder with the counts of both.
    counts: RefCell<PathBuf>,
}

/// What to do with the counts of the last run before the next one.
#[derive(Clone, Copy)]
enum Before {
    Kept,
    /// Leave them behind in their folder.
    New,
    Deleted,
}

/// What `observer.c` prints.
struct Observed {
    start: f64,
    end: f64,
    whole: f64,
    peak: f64,
}

pub fn measure(
    number: usize,
    repetitions: usize,
    processes: usize,
    scratch: &Scratch,
    table: &mut Table,
) {
    let large = Large::link(number, scratch);
    let name = |what: &str| format!("{number} objects of {FUNCTIONS} functions: {what}");
    let mut row = |what: &str, target: f64, [ours, theirs]: [f64; 2]| {
        table.row(Row { figure: &name(what), ours, theirs, target });
    };
    row("first run, its end (ms)", 0.1, large.ends(repetitions, Before::New));
    row("merging run, its end (ms)", 0.2, large.ends(repetitions, Before::Kept));
    let [ends, wholes] = large.live(repetitions, Before::New);
    row("first run with live counters, its end (ms)", 0.05, ends);
    row("first run's end, beside a plain write of its bytes (ms)", 3.0, large.writes(repetitions));
    let together = large.ends_together(repetitions.div_ceil(3), processes);
    row(&format!("{processes} processes that end together (ms)"), 0.2, together);
    row("start, up to main (ms)", 1.05, large.starts(repetitions));
    row("peak of memory (MB)", 1.02, large.peaks());
    row("size of the program (MB)", 1.01, large.sizes());
    let [ours, theirs] = wholes;
    table.plain(&name("first run with live counters, all of it (ms)"), ours, Some(theirs));
    for large in [large, Large::link(1, scratch)] {
        let [ours, theirs] = large.elapsed(repetitions);
        let figure = format!(
            "{} objects: one merging run upon the other, from start to end (ms)",
            large.number
        );
        table.plain(&figure, ours, Some(theirs));
    }
}

/// The first runs again, as one might measure them: right after deleting what the last one wrote. They come
/// last of all, see [`Scratch`].
pub fn measure_after_deletion(
    number: usize,
    repetitions: usize,
    scratch: &Scratch,
    table: &mut Table,
) {
    let large = Large::link(number, scratch);
    let name = |what: &str| format!("{number} objects, files just deleted: {what}");
    let mut row = |what: &str, target: f64, [ours, theirs]: [f64; 2]| {
        table.row(Row { figure: &name(what), ours, theirs, target });
    };
    row("first run, its end (ms)", 0.1, large.ends(repetitions, Before::Deleted));
    let [ends, _] = large.live(repetitions, Before::Deleted);
    row("first run with live counters, its end (ms)", 0.05, ends);
}

impl<'s> Large<'s> {
    pub fn link(number: usize, scratch: &'s Scratch) -> Self {
        let directory = objects(&GCC, number, FUNCTIONS);
        let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
        write(&archive::HOSTED.file_name(), archive::HOSTED.bytes);
        write("observer.c", include_bytes!("observer.c"));
        let gcc = |arguments: &[&str]| {
            succeed(Command::new("gcc").current_dir(&directory).args(arguments));
        };
        gcc(&["-O2", "-w", "-fPIC", "-shared", "observer.c", "-o", "libobserver.so"]);
        let objects: Vec<String> = (0..number).map(|object| format!("o{object}.o")).collect();
        write("objects", objects.join("\n").as_bytes());
        let link = ["-fprofile-generate", "main.o", "@objects", "libobserver.so", "-Wl,-rpath,."];
        let link = [&link[..], &["-o"]].concat();
        gcc(&[&link[..], &["theirs"]].concat());
        gcc(&[&link[..], &["ours", "-L.", "-lcountersink_rt"]].concat());
        write(&archive::LIVE.file_name(), archive::LIVE.bytes);
        write("live.ld", include_bytes!("../../runtime-c/live.ld"));
        let live = ["live", "-L.", "-lcountersink_rt_live", "-Wl,-T,live.ld"];
        gcc(&[&link[..], &live].concat());
        let directory = directory.canonicalize().unwrap();
        Self { number, directory, scratch, counts: RefCell::new(scratch.folder()) }
    }

    /// Runs one of the programs.
    pub fn command(&self, place: usize) -> Command {
        let mut command = Command::new(self.directory.join(PROGRAMS[place]));
        let folders = self.directory.components().count() - 1;
        command
            .current_dir(&self.directory)
            .env("COUNTERSINK_FILE", self.dump())
            .env("GCOV_PREFIX", &*self.counts.borrow())
            .env("GCOV_PREFIX_STRIP", folders.to_string());
        command
    }

    /// Our dump.
    pub fn dump(&self) -> PathBuf {
        self.counts.borrow().join("ours.csraw")
    }

    fn observe(&self, place: usize) -> Observed {
        let printed = String::from_utf8(succeed(&mut self.command(place))).unwrap();
        let mut numbers = printed.split_whitespace().map(|number| number.parse::<f64>().unwrap());
        let mut next = || numbers.next().unwrap();
        let (start, end, whole) = (next() / 1e6, next() / 1e6, next() / 1e6);
        Observed { start, end, whole, peak: next() / 1e3 }
    }

    fn start_over(&self, before: Before) {
        match before {
            Before::Kept => {}
            Before::New => Scratch::empty(&self.counts.replace(self.scratch.folder())),
            Before::Deleted => {
                let folder = self.counts.borrow();
                fs::remove_dir_all(&*folder).unwrap();
                fs::create_dir(&*folder).unwrap();
            }
        }
    }

    fn ends(&self, repetitions: usize, before: Before) -> [f64; 2] {
        medians(repetitions, |place| {
            self.start_over(before);
            self.observe(place).end
        })
    }

    fn live(&self, repetitions: usize, before: Before) -> [[f64; 2]; 2] {
        let mut wholes = [Vec::new(), Vec::new()];
        let ends = medians(repetitions, |place| {
            let program = [2, 1][place];
            self.start_over(before);
            let Observed { end, whole, .. } = self.observe(program);
            wholes[place].push(whole);
            end
        });
        [ends, wholes.map(median)]
    }

    /// Our first run, and a plain write of the same bytes.
    fn writes(&self, repetitions: usize) -> [f64; 2] {
        self.observe(0);
        let bytes = fs::read(self.dump()).unwrap();
        medians(repetitions, |place| {
            self.start_over(Before::New);
            match place {
                0 => self.observe(0).end,
                _ => write_plainly(&self.counts.borrow().join("plain"), &bytes),
            }
        })
    }

    /// The time from the moment when the processes may end to the end of the last one.
    fn ends_together(&self, repetitions: usize, processes: usize) -> [f64; 2] {
        medians(repetitions, |place| {
            let (wait, go_on) = std::io::pipe().unwrap();
            let mut children: Vec<_> = (0..processes)
                .map(|_| {
                    let mut command = self.command(place);
                    command.arg("wait").stdin(wait.try_clone().unwrap()).stdout(Stdio::null());
                    command.spawn().unwrap()
                })
                .collect();
            drop(wait);
            // Until all of them wait.
            std::thread::sleep(std::time::Duration::from_millis(300));
            let start = Instant::now();
            drop(go_on);
            children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
            1e3 * start.elapsed().as_secs_f64()
        })
    }

    /// Elapsed time of runs that follow one upon the other, and so do not take turns with the other runtime.
    fn elapsed(&self, repetitions: usize) -> [f64; 2] {
        [0, 1].map(|place| {
            let runs = (0..5 * repetitions).map(|_| {
                let start = Instant::now();
                self.observe(place);
                1e3 * start.elapsed().as_secs_f64()
            });
            median(runs.collect())
        })
    }

    fn starts(&self, repetitions: usize) -> [f64; 2] {
        medians(3 * repetitions, |place| self.observe(place).start)
    }

    fn peaks(&self) -> [f64; 2] {
        medians(3, |place| self.observe(place).peak)
    }

    fn sizes(&self) -> [f64; 2] {
        medians(1, |place| {
            let path = self.directory.join(PROGRAMS[place]);
            succeed(Command::new("strip").arg(&path));
            fs::metadata(path).unwrap().len() as f64 / 1e6
        })
    }
}

/// Processor time of writing a file at once.
fn write_plainly(path: &Path, bytes: &[u8]) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        1e3 * time.tv_sec as f64 + 1e-6 * time.tv_nsec as f64
    };
    let start = now();
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
    now() - start
}
