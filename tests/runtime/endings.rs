//! However a program ends: the counts that libgcov keeps, and those that we keep.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output};

use countersink::convert::gcov::names::ident;
use countersink::formats::gcda::decode::{Counters, Data};
use countersink::raw::dump::Dump;
use countersink::raw::gcov::Kind;

use crate::harness::{Workshop, succeed};

/// A program linked with libgcov, and with each alternative that a user can link.
struct Programs {
    shop: Workshop,
}

impl Programs {
    fn new() -> Self {
        Self::of(
            "survive.c",
            &[
                ("ours", &[]),
                ("wrapped", &["--wrap-exit"]),
                ("signals", &["--wrap-signal"]),
                ("live", &["--live"]),
            ],
        )
    }

    fn of(source: &str, ways: &[(&str, &[&str])]) -> Self {
        let shop = Workshop::new();
        shop.program(source);
        let flags = ["-fprofile-update=atomic", "-pthread", "-fdata-sections"];
        let object = shop.compile(source, &flags);
        shop.link_stock(&[&object], "stock", &["-pthread"]);
        for (name, flags) in ways {
            let printed = shop.tool_output(&[&["flags"], *flags].concat());
            let printed = String::from_utf8(printed).unwrap();
            let link: Vec<&str> = printed.split_whitespace().collect();
            shop.gcc(
                &[&["-fprofile-generate", &object, "-o", name, "-pthread"], &link[..]].concat(),
            );
        }
        Self { shop }
    }

    /// Makes a program end in this way.
    fn run(&self, program: &str, ending: &str, signals: Option<&str>) -> Output {
        let mut command = self.shop.command(self.shop.path(program));
        command.arg(ending).env("COUNTERSINK_FILE", "dump.csraw");
        // No core dumps, and no signal ignored although the tests run in the background.
        let mut limited = self.shop.command("sh");
        limited
            .args(["-c", "ulimit -c 0; exec env --default-signal=INT \"$0\" \"$@\""])
            .arg(command.get_program());
        limited.args(command.get_args()).env("COUNTERSINK_FILE", "dump.csraw");
        match signals {
            Some(signals) => limited.env("COUNTERSINK_ON_SIGNAL", signals),
            None => limited.env_remove("COUNTERSINK_ON_SIGNAL"),
        };
        limited.output().unwrap()
    }

    /// Rounds of work that libgcov has kept.
    fn kept_by_libgcov(&self) -> i64 {
        let files = self.shop.take_gcda();
        let Some((_, bytes)) = files.first() else { return 0 };
        let data = Data::decode(bytes).unwrap();
        let mut functions = data.functions.into_iter().flatten();
        let work = functions.find(|function| function.ident == ident(b"work")).unwrap();
        let arcs = work.counters.iter().find_map(|(kind, values)| match values {
            Counters::Plain(values) if *kind == Kind::ARCS => values.iter().copied().max(),
            _ => None,
        });
        arcs.unwrap_or(0)
    }

    /// Rounds of work that we have kept.
    fn kept(&self) -> i64 {
        let path = self.shop.path("dump.csraw");
        let Ok(bytes) = std::fs::read(&path) else { return 0 };
        std::fs::remove_file(path).unwrap();
        let dump = Dump::parse(&bytes).unwrap();
        let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
        let mut functions = module.functions(&module.objects[0]);
        let work = functions.find(|function| function.ident() == ident(b"work")).unwrap();
        work.counters(Kind::ARCS).iter().copied().max().unwrap()
    }
}

/// The rows of the table in the book: ending, what libgcov keeps, what we keep, with what.
fn table() -> Vec<[String; 4]> {
    let page = include_str!("../../docs/src/endings.md");
    let rows = page.split_once("| a program ends by |").expect("the table").1;
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<String> =
            row.split('|').map(|cell| cell.trim().to_owned()).filter(|c| !c.is_empty()).collect();
        cells.try_into().unwrap_or_else(|cells| panic!("not four cells: {cells:?}"))
    })
    .collect()
}

/// The argument for the end in a row, and the number of rounds to keep.
fn ending(row: &str) -> (&str, i64) {
    match row {
        "return from `main`" => ("return", 100),
        "`exit`, while other threads work" => ("exit in a thread", 100),
        "destructors of priority 0 to 100" => ("late destructor", 150),
        "`quick_exit`" => ("quick_exit", 100),
        "`_exit`" => ("_exit", 100),
        "`_Exit`" => ("_Exit", 100),
        "`SIGTERM`" => ("SIGTERM", 100),
        "`SIGINT`" => ("SIGINT", 100),
        "`abort`" => ("abort", 100),
        "`SIGKILL`" => ("SIGKILL", 100),
        "a fault" => ("fault", 100),
        "a fault, after a handler that the program set" => ("handled fault", 150),
        "a stack overflow, with `sigaltstack`" => ("stack overflow", 100),
        other => panic!("the book has an ending that no test knows: {other}"),
    }
}

fn expected(cell: &str, all: i64) -> i64 {
    match cell {
        "all" => all,
        "nothing" => 0,
        "all before" => 100,
        other => panic!("{other}"),
    }
}

#[test]
fn every_cell_of_the_table() {
    let programs = Programs::new();
    let rows = table();
    assert!(rows.len() >= 11);
    for [row, theirs, ours, with] in rows {
        let (ending, all) = ending(&row);
        let stock = programs.run("stock", ending, None);
        assert_eq!(programs.kept_by_libgcov(), expected(&theirs, all), "{row}");
        let output = match with.as_str() {
            "-" => programs.run("ours", ending, None),
            "`flags --wrap-exit`" => programs.run("wrapped", ending, None),
            "`COUNTERSINK_ON_SIGNAL`" => {
                programs.run("ours", ending, Some("TERM,INT,SIGSEGV,ABRT"))
            }
            "`flags --wrap-signal` and `COUNTERSINK_ON_SIGNAL`" => {
                programs.run("ours", ending, Some("SEGV"));
                assert_eq!(programs.kept(), 0, "{row}: only with {with}");
                programs.run("signals", ending, Some("SEGV"))
            }
            "`flags --live`" => {
                let output = programs.run("live", ending, None);
                // The next start; it does no work itself.
                programs.run("live", "nothing", None);
                output
            }
            other => panic!("{other}"),
        };
        assert_eq!(programs.kept(), expected(&ours, all), "{row}: {output:?}");
        // The program itself ends as it would without us.
        assert_eq!(output, stock, "{row}");
        if with != "-" {
            programs.run("ours", ending, None);
            assert_eq!(programs.kept(), 0, "{row}: only with {with}");
        }
    }
    assert_eq!(programs.shop.files("part"), Vec::<std::path::PathBuf>::new());
}

/// The handler that was there before is called, and what was ignored stays ignored.
#[test]
fn handlers_that_were_there_before() {
    let programs = Programs::new();
    let shop = &programs.shop;
    shop.program("handlers.c");
    shop.gcc(&["-shared", "-fPIC", "-O2", "handlers.c", "-o", "handlers.so"]);
    let run = |ending: &str| {
        let mut command = shop.command(shop.path("ours"));
        command.env("COUNTERSINK_FILE", "dump.csraw").env("COUNTERSINK_ON_SIGNAL", "TERM,INT");
        command.arg(ending).env("LD_PRELOAD", shop.path("handlers.so")).output().unwrap()
    };
    let output = run("SIGTERM");
    assert_eq!((output.status.code(), &*output.stdout), (Some(3), &b"terminated\n"[..]));
    assert_eq!(programs.kept(), 100);
    let output = run("SIGINT");
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    assert_eq!(programs.kept(), 100);
}

#[test]
fn a_signal_that_does_nothing_writes_and_goes_on() {
    let programs = Programs::new();
    let output = programs.run("ours", "harmless", Some("WINCH"));
    assert!(output.status.success(), "{output:?}");
    // Work after the signal is lost at _exit.
    assert_eq!(programs.kept(), 100);
}

#[test]
fn names_that_are_no_signals_are_told() {
    let programs = Programs::new();
    let output = programs.run("ours", "SIGTERM", Some("NONSENSE,KILL,TERM"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.signal(), Some(15));
    let what = "NONSENSE is no name of a signal that can be caught; ignored";
    assert_eq!(told, format!("countersink: COUNTERSINK_ON_SIGNAL: {what}\n"));
    assert_eq!(programs.kept(), 100);
}

/// Handlers of a program that lets the signal end it after all. With `--wrap-signal` all is kept, and the
/// program does and hears the same as with libgcov.
#[test]
fn handlers_that_the_program_sets() {
    let both = ["--wrap-signal", "--wrap-exit"];
    let programs =
        Programs::of("own_handlers.c", &[("ours", &[]), ("signals", &both[..1]), ("both", &both)]);
    let caught = Some("TERM,SEGV,ABRT");
    for (way, program, rounds) in [
        ("signal", "signals", 150),
        ("once", "signals", 150),
        ("fault", "signals", 150),
        ("again", "signals", 150),
        ("leaves", "signals", 0),
        ("leaves", "both", 150),
        ("back", "signals", 150),
        ("wrong", "signals", 100),
    ] {
        let stock = programs.run("stock", way, caught);
        let expected = match way {
            // It has ended as it began.
            "wrong" => 100,
            _ => 0,
        };
        assert_eq!(programs.kept_by_libgcov(), expected, "{way}");
        let output = programs.run(program, way, caught);
        assert_eq!(output, stock, "{way}");
        assert_eq!(programs.kept(), rounds, "{way}: {output:?}");
        // Without the variable, or without the option, nothing is kept.
        for (program, caught) in [("signals", None), ("ours", caught)] {
            let output = programs.run(program, way, caught);
            assert_eq!(output.status, stock.status, "{way}");
            assert_eq!(
                programs.kept() == 0,
                way != "wrong" && (way, program) != ("back", "ours"),
                "{way}: {output:?}"
            );
        }
    }
}

/// A child of vfork has the parent's counts, and must not write them.
#[test]
fn endings_of_vforked_children() {
    let programs = Programs::new();
    let output = programs.run("wrapped", "vfork", Some("TERM"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(programs.kept(), 100);
}

/// As large as the stack that Rust gives its threads for signals. The kernel takes 3 KiB of it where there is
/// AVX-512.
#[test]
fn a_small_stack_for_signals() {
    let shop = Workshop::new();
    shop.write(
        "ours.c",
        "#define _GNU_SOURCE\n#include <signal.h>\n#include <sys/mman.h>\n
        int main(void)
        {
            int rights = PROT_READ | PROT_WRITE;
            char *memory = mmap(0, 3 * 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            stack_t stack = {.ss_sp = memory + 4096, .ss_size = 2 * 4096};
            return mprotect(memory, 4096, PROT_NONE) || sigaltstack(&stack, 0) || raise(SIGTERM);
        }",
    );
    let object = shop.compile("ours.c", &["-fdata-sections"]);
    let link = |flags: &[&str]| {
        let flags = String::from_utf8(shop.tool_output(&[&["flags"], flags].concat())).unwrap();
        let flags: Vec<&str> = flags.split_whitespace().collect();
        shop.link_stock(&[&object], "ours", &flags);
    };
    let run = || {
        let mut command = shop.command(shop.path("ours"));
        let output = command.env("COUNTERSINK_ON_SIGNAL", "TERM").output().unwrap();
        assert_eq!(output.status.signal(), Some(15), "{output:?}");
    };
    let runs = || Dump::parse(&shop.read("ours.csraw")).unwrap().modules[0].sums.runs;
    link(&[]);
    run();
    run();
    assert_eq!(runs(), 2);
    shop.write("ours.csraw", "damaged");
    run();
    assert_eq!(runs(), 1);
    link(&["--live"]);
    run();
    shop.tool_output(&["fold", "ours.csraw"]);
    assert_eq!(Dump::parse(&shop.read("ours.csraw")).unwrap().modules.len(), 2);
}

/// A handler that flushes, on top of malloc, a profiler, or a flush.
#[test]
fn flushes_on_top_of_anything() {
    let shop = Workshop::new();
    shop.program("interrupted.c");
    let object = shop.compile("interrupted.c", &[]);
    shop.link(&[&object], "ours", &[]);
    let calls: i64 = shop.run("ours", &["3000"]).trim().parse().unwrap();
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let module = &dump.modules[0];
    for name in [&b"allocate"[..], b"call"] {
        let mut functions = module.functions(&module.objects[0]);
        let function = functions.find(|function| function.ident() == ident(name)).unwrap();
        let rounds = function.counters(Kind::ARCS).iter().copied().max();
        assert_eq!(rounds, Some(calls * 3000));
        for site in function.sites(Kind::INDIRECT_CALL) {
            assert_eq!(site.pairs.iter().map(|pair| pair.count).sum::<i64>(), site.total);
            assert_eq!(site.total, calls * 3000);
        }
    }
    assert_eq!(shop.files("part"), Vec::<std::path::PathBuf>::new());
}

/// `kill` from outside while the program flushes, often enough to meet every moment.
#[test]
fn terminated_from_outside_at_any_moment() {
    let programs = Programs::new();
    for wait in 0..20 {
        let mut command = Command::new(programs.shop.path("ours"));
        command.arg("exit in a thread").current_dir(programs.shop.path(""));
        command.env("COUNTERSINK_FILE", "dump.csraw").env("COUNTERSINK_ON_SIGNAL", "TERM");
        let mut child = command.process_group(0).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(wait * 200));
        succeed(Command::new("kill").args(["-TERM", &child.id().to_string()]));
        child.wait().unwrap();
        assert!([0, 100].contains(&programs.kept()));
        // The signal may end the program when `exit` has begun another flush. The next run clears up.
        if !programs.shop.files("part").is_empty() {
            programs.run("ours", "nothing", None);
            assert_eq!(programs.kept(), 0);
        }
        assert_eq!(programs.shop.files("part"), Vec::<std::path::PathBuf>::new());
    }
}
