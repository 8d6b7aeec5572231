//! The builds that the simulated processes run, compiled once for all seeds, and what each path of theirs counts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersink::raw::dump::{Dump, Module};

use crate::harness::{Workshop, have, say_skipped, succeed};
use crate::ledger;
use crate::llvm::{self, Llvm};
use crate::tally::{Counts, FUNCTIONS, PATHS, Tally, Units, counts_of};

/// The images of a build. The plugin is opened and closed.
pub const IMAGES: [&str; 3] = ["program", "library", "plugin"];
pub const PLUGIN: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Gcc(&'static str),
    /// The oldest, or the newest, clang of the machine.
    OldClang,
    NewClang,
}

/// How a build is made.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    family: Family,
    /// Flags of all compilations.
    flags: &'static [&'static str],
    /// Options of `countersink flags` for the link.
    options: &'static [&'static str],
    /// Whether it has a library and a plugin.
    has_images: bool,
    is_cxx: bool,
}

const PLAIN: Kind = Kind {
    name: "gcc",
    family: Family::Gcc("gcc"),
    flags: &["-O2", "-fprofile-generate"],
    options: &[],
    has_images: false,
    is_cxx: false,
};
/// The function that calls one of another image by its address, which has no name any more when a live file is left.
const STRINGS: usize = 3;
const WRAP: &[&str] = &["--wrap-exit"];
const LIVE: &[&str] = &["--live"];
const BOTH: &[&str] = &["--live", "--wrap-exit"];
/// Up to clang 16 `-fprofile-update=atomic` does nothing for the optimiser's counters.
const ATOMIC: &[&str] =
    &["-O2", "-fprofile-generate", "-mllvm", "-instrprof-atomic-counter-update-all"];

/// `-std=c11` hides exec and fork from gcc. A rebuilt program has the same functions, one of them changed.
const KINDS: [Kind; 18] = [
    PLAIN,
    Kind { name: "gcc-rebuilt", flags: &["-O2", "-fprofile-generate", "-DVARIANT"], ..PLAIN },
    Kind { name: "gcc-wrapped", options: WRAP, has_images: true, ..PLAIN },
    Kind { name: "gcc-strict", flags: &["-std=c11", "-O0", "-fprofile-arcs"], ..PLAIN },
    Kind {
        name: "gcc-strict-wrapped",
        flags: &["-std=c11", "-O1", "-fprofile-generate", "-fno-pie"],
        options: &["--wrap-exit", "--wrap-signal"],
        ..PLAIN
    },
    Kind { name: "gcc-live", options: LIVE, ..PLAIN },
    Kind { name: "gcc-live-images", options: LIVE, has_images: true, ..PLAIN },
    Kind { name: "gcc-live-wrapped", options: BOTH, has_images: true, ..PLAIN },
    Kind { name: "gcc-11-images", family: Family::Gcc("gcc-11"), has_images: true, ..PLAIN },
    Kind { name: "g++", family: Family::Gcc("g++"), has_images: true, is_cxx: true, ..PLAIN },
    Kind { name: "clang", family: Family::NewClang, ..PLAIN },
    Kind {
        name: "clang-wrapped",
        family: Family::NewClang,
        flags: &["-O1", "-fprofile-instr-generate"],
        options: WRAP,
        has_images: true,
        ..PLAIN
    },
    Kind { name: "clang-live", family: Family::NewClang, options: BOTH, has_images: true, ..PLAIN },
    Kind { name: "old-clang", family: Family::OldClang, flags: ATOMIC, options: WRAP, ..PLAIN },
    Kind {
        name: "old-clang-live",
        family: Family::OldClang,
        flags: ATOMIC,
        options: LIVE,
        ..PLAIN
    },
    Kind {
        name: "clang++",
        family: Family::NewClang,
        flags: &["-O1", "-fprofile-generate"],
        has_images: true,
        is_cxx: true,
        ..PLAIN
    },
    Kind { name: "clang++-live", family: Family::NewClang, options: BOTH, is_cxx: true, ..PLAIN },
    Kind {
        name: "old-clang++",
        family: Family::OldClang,
        flags: ATOMIC,
        options: WRAP,
        has_images: true,
        is_cxx: true,
    },
];

/// A compiled build.
pub struct Build {
    pub name: &'static str,
    kind: Kind,
    pub is_live: bool,
    /// Whether the runtime sees `_exit` and all calls of exec.
    pub is_wrapped: bool,
    pub has_images: bool,
    pub is_llvm: bool,
    /// The module of each image, from a run that counted every path once.
    pub modules: Vec<Module>,
    pub units: Vec<Units>,
    /// The dump of that run.
    pub dump: Vec<u8>,
}

impl Build {
    /// Whether the runtime hears of an exec by this call.
    pub fn sees_exec(&self, call: &str) -> bool {
        let rewritten = ["execv", "execve", "execvp", "execl", "execle"];
        let is_rewritten = !self.is_llvm && !self.kind.flags.contains(&"-std=c11");
        match call {
            "hooks" => true,
            "SYS_execve" => self.is_wrapped,
            _ => self.is_wrapped || is_rewritten && rewritten.contains(&call),
        }
    }

    pub fn images(&self) -> usize {
        if self.has_images { IMAGES.len() } else { 1 }
    }
}

/// All builds that this machine can make.
pub struct Builds {
    pub shop: Workshop,
    pub all: Vec<Build>,
}

impl Builds {
    pub fn new() -> Self {
        let shop = Workshop::new();
        // Processes without root's rights run here, too.
        fs::set_permissions(shop.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/simulation");
        for name in ["counted.c", "program.c", "faults.h", "launcher.c"] {
            fs::copy(format!("{sources}/{name}"), shop.path(name)).unwrap();
        }
        shop.gcc(&["-O1", "launcher.c", "-o", "launcher"]);
        let clangs = llvm::all();
        let next = AtomicUsize::new(0);
        let work = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            let kinds = numbers.map_while(|number| Some((number, KINDS.get(number)?)));
            let build = |(number, kind): (usize, &Kind)| {
                Some((number, kind.build(&shop, &clangs, number)?))
            };
            kinds.filter_map(build).collect::<Vec<_>>()
        };
        let mut all: Vec<(usize, Build)> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        all.sort_by_key(|(number, _)| *number);
        Self { shop, all: all.into_iter().map(|(_, build)| build).collect() }
    }

    pub fn folder(&self) -> PathBuf {
        self.shop.path("builds")
    }

    pub fn launcher(&self) -> PathBuf {
        self.shop.path("launcher")
    }
}

/// Number of simulations, or compilations, that run at the same time.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Kind {
    fn compiler(&self, clangs: &[Llvm]) -> Option<String> {
        let clang = match self.family {
            Family::Gcc(gcc) => return have(gcc).then(|| gcc.to_owned()),
            Family::OldClang => clangs.first()?,
            Family::NewClang => clangs.last()?,
        };
        let name = if self.is_cxx { "clang++" } else { "clang" };
        Some(format!("{name}-{}", clang.major))
    }

    fn build(self, shop: &Workshop, clangs: &[Llvm], number: usize) -> Option<Build> {
        let Some(compiler) = self.compiler(clangs) else {
            say_skipped(&format!("simulated processes of {}", self.name));
            return None;
        };
        fs::create_dir_all(shop.path(format!("builds/{}", self.name))).unwrap();
        // A rebuilt program is the one before it.
        let number = number - usize::from(self.flags.contains(&"-DVARIANT"));
        self.link(shop, &compiler, number);
        let mut build = Build {
            name: self.name,
            kind: self,
            is_live: self.options.contains(&"--live"),
            is_wrapped: self.options.contains(&"--wrap-exit"),
            has_images: self.has_images,
            is_llvm: !matches!(self.family, Family::Gcc(_)),
            modules: Vec::new(),
            units: Vec::new(),
            dump: Vec::new(),
        };
        build.measure(shop);
        Some(build)
    }

    fn link(&self, shop: &Workshop, compiler: &str, number: usize) {
        let path = |name: &str| format!("builds/{}/{name}", self.name);
        let run = |words: &[&str]| {
            let always = ["-pthread", "-fprofile-update=atomic", "-fdata-sections", "-I.", "-w"];
            succeed(shop.command(compiler).args(self.flags).args(always).args(words));
        };
        let printed = shop.tool_output(&[&["flags"], self.options].concat());
        let printed = String::from_utf8(printed).unwrap();
        let flags: Vec<&str> = printed.split_whitespace().collect();
        let language = if self.is_cxx { "c++" } else { "c" };
        let compile = |image: &str, more: &[&str]| {
            let names = [format!("-DENTRY={image}_entry"), format!("-DSUFFIX={image}_{number}")];
            let object = path(&format!("{image}.o"));
            let source = ["-x", language, "-c", "counted.c", "-o", &object, &names[0], &names[1]];
            run(&[&source, more].concat());
            object
        };
        let mut objects = vec![compile("program", &[])];
        for image in &IMAGES[1..] {
            if self.has_images {
                let object = compile(image, &["-fPIC"]);
                let library = path(&format!("{image}.so"));
                let name = format!("-Wl,-soname,{image}.so");
                run(&[&["-shared", &object, "-o", &library, &name], &flags[..]].concat());
            }
        }
        // Without the flags of instrumentation clang counts nothing in it. With optimisation gcc would count inline
        // functions of the C library.
        let interpreter = path("interpreter.o");
        let is_gcc = matches!(self.family, Family::Gcc(_));
        let own = ["-w", "-pthread", "-I.", "-x", "c", "-c", "program.c", "-o", &interpreter];
        let mut words = if is_gcc { self.flags.to_vec() } else { vec![] };
        words.extend(own);
        words.push("-O0");
        if self.has_images {
            words.push("-DWITH_IMAGES");
        }
        let c_compiler = compiler.replace("++", if is_gcc { "cc" } else { "" });
        succeed(shop.command(&c_compiler).args(words));
        objects.push(interpreter);
        let (program, library) = (path("program"), path("library.so"));
        let mut words: Vec<&str> = objects.iter().map(String::as_str).collect();
        words.extend(["-o", &program, "-ldl"]);
        if self.flags.contains(&"-fno-pie") {
            words.push("-no-pie");
        }
        if self.has_images {
            words.extend([&library, "-Wl,-rpath,$ORIGIN"]);
        }
        run(&[&words[..], &flags].concat());
    }
}

impl Build {
    /// Runs every path alone, and all of them in one process, which must add up.
    fn measure(&mut self, shop: &Workshop) {
        let (mut script, mut whole) = (String::new(), String::from("open; "));
        for image in &IMAGES[..self.images()] {
            for (function, path) in paths() {
                let count = format!("count {image} {function} {path} 1");
                let number = script.lines().count();
                let line = format!("{number} {}: open; {count}; exit 0\n", self.name);
                script.push_str(&line);
                whole.push_str(&format!("{count}; "));
            }
        }
        let number = script.lines().count();
        script.push_str(&format!("{number} {}: {whole}exit 0\n", self.name));
        let opened = if self.has_images { format!("open {};", self.name) } else { String::new() };
        shop.write(&self.file("script"), script.replace("open;", &opened));
        let dumps: Vec<Vec<u8>> = (0..=number).map(|number| self.run_alone(shop, number)).collect();
        let whole = Dump::parse(dumps.last().unwrap()).unwrap();
        let module_of = |dump: &Dump, image: usize| {
            let is = |module: &&Module| module.path.ends_with(file_of(image).as_bytes());
            dump.modules.iter().find(is).cloned().unwrap_or_else(|| panic!("{}", self.name))
        };
        for image in 0..self.images() {
            let module = module_of(&whole, image);
            let mut units = Units::default();
            for (place, (function, path)) in paths().enumerate() {
                let dump = Dump::parse(&dumps[image * FUNCTIONS * PATHS + place]).unwrap();
                units.of[function][path] = counts_of(&module_of(&dump, image));
            }
            units.check(self.name);
            units.find_unsteady(&counts_of(&module));
            if self.is_llvm && self.kind.is_cxx {
                units.unsteady.extend(units.of[STRINGS].iter().flat_map(Counts::keys));
            }
            assert_eq!(
                units.counts(&Tally::all()),
                units.steady(counts_of(&module)),
                "{} {image}",
                self.name
            );
            self.modules.push(module);
            self.units.push(units);
        }
        self.dump = dumps.last().unwrap().clone();
    }

    fn file(&self, name: &str) -> String {
        format!("builds/{}/{name}", self.name)
    }

    fn run_alone(&self, shop: &Workshop, number: usize) -> Vec<u8> {
        let [script, ledger, measured] =
            ["script", "ledger", "measured"].map(|name| self.file(name));
        shop.write(&ledger, vec![0; ledger::BYTES]);
        let mut command = shop.command(shop.path(self.file("program")));
        command.args([shop.path("builds"), shop.path(script), shop.path(ledger)]);
        command.arg(number.to_string()).env("COUNTERSINK_FILE", &measured);
        succeed(&mut command);
        let dump = shop.read(&measured);
        fs::remove_file(shop.path(measured)).unwrap();
        dump
    }
}

fn file_of(image: usize) -> String {
    match image {
        0 => "/program".to_owned(),
        _ => format!("/{}.so", IMAGES[image]),
    }
}

fn paths() -> impl Iterator<Item = (usize, usize)> {
    (0..FUNCTIONS).flat_map(|function| (0..PATHS).map(move |path| (function, path)))
}

impl Units {
    /// What is known of the functions in `counted.c` whatever the compiler.
    fn check(&self, build: &str) {
        for path in 0..PATHS {
            let most = |function: usize| *self.of[function][path].values().max().unwrap();
            assert_eq!(most(0), 1, "{build}: {:?}", self.of[0]);
            let rounds = 10 * (path as i64 + 1);
            assert!(
                [rounds - 1, rounds, rounds + 1].contains(&most(1)),
                "{build}: {:?}",
                self.of[1]
            );
            assert_eq!(most(2), 1, "{build}: {:?}", self.of[2]);
            for other in 0..path {
                (0..FUNCTIONS)
                    .for_each(|f| assert_ne!(self.of[f][path], self.of[f][other], "{build}"));
            }
        }
    }

    fn find_unsteady(&mut self, whole: &Counts) {
        let places = self.of.iter().flatten().flat_map(Counts::keys);
        let unsteady = places.filter(|place| !whole.contains_key(place)).copied();
        self.unsteady = unsteady.collect();
    }
}
