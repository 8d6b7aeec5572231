//! Many short processes of all kinds on one file. The file is valid whenever one looks. In the end it holds
//! exactly the counts of all processes that were not killed, and of those with live counters.
//!
//! `COUNTERSINK_STRESS=N` starts N processes, otherwise 1000 of gcc's and 300 of clang's.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersink::convert;
use countersink::convert::gcov::names::ident;
use countersink::raw::dump::{Dump, Module};
use countersink::raw::gcov::Kind;

use crate::harness::Workshop;

/// Number of processes that run at the same time.
const AT_ONCE: usize = 12;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// What one program must have counted.
#[derive(Default)]
struct Expected {
    work: i64,
    /// At most this many, in steps of 100.
    doomed: i64,
}

/// Rounds of a function in a module.
type Rounds = fn(&Module, &[u8]) -> i64;

fn rounds_of_gcc(module: &Module, name: &[u8]) -> i64 {
    let mut functions = module.functions(&module.objects[0]);
    let function = functions.find(|function| function.ident() == ident(name)).unwrap();
    function.counters(Kind::ARCS).iter().copied().max().unwrap()
}

fn rounds_of_clang(module: &Module, name: &[u8]) -> i64 {
    let dump = Dump { modules: vec![module.clone()], ..Dump::default() };
    let profile = convert::llvm::profile(&dump).unwrap().profile;
    let function = profile.functions.iter().find(|function| function.name == name).unwrap();
    function.counters.iter().copied().max().unwrap() as i64
}

fn module<'d>(dump: &'d Dump, program: &str) -> &'d Module {
    let is = |module: &&Module| module.path.ends_with(program.as_bytes());
    dump.modules.iter().find(is).unwrap()
}

struct Running {
    child: Child,
    /// The time after which it is killed.
    doom: Option<Duration>,
}

impl Running {
    fn end(mut self) {
        if let Some(doom) = self.doom {
            std::thread::sleep(doom);
            let _ = self.child.kill();
        }
        self.child.wait().unwrap();
    }
}

/// Now and then the tool adds what killed processes have left.
fn fold(shop: &Workshop) -> Running {
    let mut command = shop.command(env!("CARGO_BIN_EXE_countersink"));
    command.args(["fold", "all.csraw"]).stderr(Stdio::null());
    Running { child: command.spawn().unwrap(), doom: None }
}

fn start(shop: &Workshop, numbers: &mut Numbers, all: &mut [Expected; 2]) -> Running {
    if numbers.below(20) == 0 {
        return fold(shop);
    }
    let live = numbers.below(2) as usize;
    let rounds = 1 + numbers.below(5000) as i64;
    let expected = &mut all[live];
    let how = match numbers.below(6) {
        0 => ("return", rounds),
        1 => ("fork", 4 * rounds),
        2 => ("exec", 2 * rounds),
        3 => ("threads", 4 * rounds),
        4 => ("suicide", if live == 1 { rounds } else { 0 }),
        _ => ("wait", 0),
    };
    expected.work += how.1;
    let mut doom = None;
    if how.0 == "wait" {
        expected.doomed += 100 * rounds;
        doom = Some(Duration::from_micros(numbers.below(8000)));
    }
    let mut command = Command::new(shop.path(["ours", "live"][live]));
    command.args([how.0, &rounds.to_string()]).current_dir(shop.path(""));
    command.env("COUNTERSINK_FILE", "all.csraw").env_remove("COUNTERSINK_ON_SIGNAL");
    Running { child: command.stderr(Stdio::inherit()).spawn().unwrap(), doom }
}

const FLAGS: [&str; 2] = ["-pthread", "-fprofile-update=atomic"];

/// Links an object as `ours` and as `live`; `options` are for the first.
fn link(shop: &Workshop, object: &str, options: &[&str], link: impl Fn(&[&str])) {
    for (name, options) in [("ours", options), ("live", &["--live"])] {
        let printed = shop.tool_output(&[&["flags"], options].concat());
        let printed = String::from_utf8(printed).unwrap();
        let flags: Vec<&str> = printed.split_whitespace().collect();
        link(&[&["-fprofile-generate", object, "-o", name, "-pthread"], &flags[..]].concat());
    }
}

/// Looks at the file again and again until told to stop. Gives the number of times that it saw one.
fn watch(shop: &Workshop, stop: &AtomicBool) -> usize {
    let mut looks = 0;
    while !stop.load(Ordering::Relaxed) {
        if let Ok(bytes) = std::fs::read(shop.path("all.csraw")) {
            Dump::parse(&bytes).unwrap_or_else(|damage| panic!("after {looks} looks: {damage}"));
            looks += 1;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    looks
}

#[test]
fn processes_of_gcc() {
    let shop = Workshop::new();
    shop.program("stress.c");
    let object = shop.compile("stress.c", &[&["-fdata-sections"], &FLAGS[..]].concat());
    link(&shop, &object, &[], |words| shop.gcc(words));
    many_short_processes(&shop, 1000, rounds_of_gcc);
}

/// The program calls `exec`, and clang does not rewrite that.
#[test]
fn processes_of_clang() {
    let Some(llvm) = crate::llvm::all().pop() else { return };
    let shop = Workshop::new();
    shop.program("stress.c");
    let flags = [&["-O2", "-fprofile-generate"], &FLAGS[..]].concat();
    let object = llvm.object(&shop, "stress.c", &flags);
    link(&shop, &object, &["--wrap-exit"], |words| llvm.clang(&shop, words));
    many_short_processes(&shop, 300, rounds_of_clang);
}

fn many_short_processes(shop: &Workshop, number: usize, rounds: Rounds) {
    let number = std::env::var("COUNTERSINK_STRESS").map_or(number, |n| n.parse().unwrap());
    let (mut numbers, mut expected) = (Numbers(42), [Expected::default(), Expected::default()]);
    let stop = AtomicBool::new(false);
    let looks = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(shop, &stop));
        let mut running = std::collections::VecDeque::new();
        for _ in 0..number {
            running.push_back(start(shop, &mut numbers, &mut expected));
            if running.len() >= AT_ONCE
                && let Some(oldest) = running.pop_front()
            {
                oldest.end();
            }
        }
        running.into_iter().for_each(Running::end);
        stop.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    // Children of killed processes may still run. Afterwards what is left is added.
    std::thread::sleep(Duration::from_millis(300));
    for name in ["live", "ours"] {
        let mut command = Command::new(shop.path(name));
        command.current_dir(shop.path("")).env("COUNTERSINK_FILE", "all.csraw");
        assert!(command.status().unwrap().success());
    }
    let dump = Dump::parse(&shop.read("all.csraw")).unwrap();
    for (name, expected) in ["/ours", "/live"].into_iter().zip(&expected) {
        let module = module(&dump, name);
        assert_eq!(rounds(module, b"work"), expected.work, "{name}");
        let doomed = rounds(module, b"doomed");
        assert!(doomed <= expected.doomed, "{name}: {doomed} of {}", expected.doomed);
    }
    assert!(looks > number / 10, "{looks}");
    let names = std::fs::read_dir(shop.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let litter: Vec<_> =
        names.filter(|name| name.to_str().unwrap().starts_with("all.csraw.")).collect();
    assert!(litter.is_empty(), "{litter:?}");
}
