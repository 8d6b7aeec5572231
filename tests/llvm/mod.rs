//! Compilers of LLVM and their `llvm-profdata`, with their own profile runtimes.
#![allow(dead_code, reason = "every test uses some of it")]

pub mod both;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Once;

use countersink::formats::profraw::Version;

use crate::harness::{Workshop, say_skipped, skip, succeed};

const MAJORS: [u32; 11] = [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];

/// One version of LLVM.
#[derive(Clone, Copy)]
pub struct Llvm {
    pub major: u32,
}

/// Those that are on the path as `clang-N` and `llvm-profdata-N`, and have their profile runtime; the oldest first.
/// Says once which are missing.
pub fn all() -> Vec<Llvm> {
    let runs = |program: String| Command::new(program).arg("--version").output().is_ok();
    let is_whole = |&major: &u32| has_runtime(major) && runs(format!("llvm-profdata-{major}"));
    let (found, missing): (Vec<u32>, Vec<u32>) = MAJORS.iter().partition(|&major| is_whole(major));
    static SAY: Once = Once::new();
    if found.is_empty() {
        skip("no clang with its llvm-profdata is installed");
    } else if !missing.is_empty() {
        let missing =
            format!("clang, its profile runtime and llvm-profdata {missing:?} are not installed");
        SAY.call_once(|| say_skipped(&missing));
    }
    found.into_iter().map(|major| Llvm { major }).collect()
}

/// Whether there is a clang with its profile runtime, which Debian has in a package of its own.
fn has_runtime(major: u32) -> bool {
    let library = "--print-file-name=libclang_rt.profile-x86_64.a";
    let output = Command::new(format!("clang++-{major}")).arg(library).output();
    // clang prints the name alone where it does not find the file.
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists())
}

/// The LLVM of rustc, if its `llvm-profdata` is installed.
pub fn of_rustc() -> Option<Llvm> {
    let version = String::from_utf8(succeed(Command::new("rustc").arg("-vV"))).unwrap();
    let version = version.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap();
    let major: u32 = version.split('.').next().unwrap().parse().unwrap();
    let found = all().into_iter().find(|llvm| llvm.major == major);
    if found.is_none() {
        say_skipped(&format!("rustc's llvm-profdata {major} is not installed"));
    }
    found
}

impl Llvm {
    /// The version of raw profiles that it writes and reads.
    pub fn raw_version(self) -> Version {
        Version::for_llvm(self.major).unwrap()
    }

    /// The ways to instrument that it has.
    pub fn modes(self) -> impl Iterator<Item = &'static Mode> {
        MODES.iter().filter(move |mode| mode.since <= self.major)
    }

    /// Compiles a program of the folder.
    pub fn compile(self, shop: &Workshop, source: &str, program: &str, flags: &[&str]) {
        let mut clang = shop.command(format!("clang++-{}", self.major));
        succeed(clang.args(["-O1", "-w", source, "-o", program]).args(flags));
    }

    /// Runs a program of the folder, which writes a raw profile.
    pub fn run(self, shop: &Workshop, program: &str, profile: &str) {
        succeed(shop.command(shop.path(program)).env("LLVM_PROFILE_FILE", profile));
    }

    /// Compiles and runs a program; gives its raw profile.
    pub fn profile(self, shop: &Workshop, source: &str, flags: &[&str]) -> Vec<u8> {
        self.compile(shop, source, "program", flags);
        self.run(shop, "program", "program.profraw");
        let profile = shop.read("program.profraw");
        std::fs::remove_file(shop.path("program.profraw")).unwrap();
        profile
    }

    /// What `llvm-profdata` makes of a profile of any kind: a text, or what it complains about.
    pub fn text(self, shop: &Workshop, profile: &[u8]) -> Result<String, String> {
        shop.write("input", profile);
        let mut words = vec!["merge", "--text", "-o", "output", "input"];
        // Without it the names of virtual tables are lost.
        if self.major >= 19 {
            words.push("--keep-vtable-symbols");
        }
        let Output { status, stderr, .. } = self.profdata(shop, &words);
        let complaints = String::from_utf8(stderr).unwrap();
        match status.success() {
            true => Ok(String::from_utf8(shop.read("output")).unwrap()),
            false => Err(complaints),
        }
    }

    /// Runs `llvm-profdata`.
    pub fn profdata(self, shop: &Workshop, words: &[&str]) -> Output {
        shop.command(format!("llvm-profdata-{}", self.major)).args(words).output().unwrap()
    }
}

/// A way to instrument a program.
pub struct Mode {
    pub name: &'static str,
    /// The first LLVM that has it.
    pub since: u32,
    pub flags: &'static [&'static str],
}

/// The ways that need one compilation.
const MODES: [Mode; 15] = [
    Mode { name: "optimiser", since: 13, flags: &["-fprofile-generate"] },
    Mode { name: "atomic", since: 13, flags: &["-fprofile-generate", "-fprofile-update=atomic"] },
    Mode {
        name: "names as they are",
        since: 13,
        flags: &["-fprofile-generate", "-mllvm", "-enable-name-compression=false"],
    },
    Mode {
        name: "front end",
        since: 13,
        flags: &["-fprofile-instr-generate", "-fcoverage-mapping"],
    },
    Mode {
        name: "front end with values",
        since: 13,
        flags: &["-fprofile-instr-generate", "-mllvm", "-enable-value-profiling"],
    },
    Mode {
        name: "values without slots",
        since: 13,
        flags: &["-fprofile-generate", "-mllvm", "-vp-static-alloc=false"],
    },
    Mode {
        name: "entries first",
        since: 13,
        flags: &["-fprofile-generate", "-mllvm", "-pgo-instrument-entry=1"],
    },
    Mode {
        name: "only entries",
        // LLVM 16 has it, but no text of it.
        since: 17,
        flags: &["-fprofile-generate", "-mllvm", "-pgo-function-entry-coverage"],
    },
    Mode {
        name: "conditions",
        since: 19,
        flags: &["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"],
    },
    Mode {
        name: "single bytes of the front end",
        since: 19,
        flags: &[
            "-fprofile-instr-generate",
            "-fcoverage-mapping",
            "-mllvm",
            "-enable-single-byte-coverage=true",
        ],
    },
    Mode {
        name: "single bytes of the optimiser",
        since: 19,
        flags: &["-fprofile-generate", "-mllvm", "-pgo-block-coverage"],
    },
    Mode {
        name: "first calls",
        since: 17,
        flags: &["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"],
    },
    Mode {
        name: "first calls and single bytes",
        since: 19,
        flags: &[
            "-fprofile-generate",
            "-mllvm",
            "-pgo-temporal-instrumentation",
            "-mllvm",
            "-pgo-block-coverage",
        ],
    },
    Mode {
        name: "virtual tables",
        since: 19,
        flags: &["-fprofile-generate", "-mllvm", "-enable-vtable-value-profiling"],
    },
    Mode {
        name: "entries of loops",
        since: 20,
        flags: &["-fprofile-generate", "-mllvm", "-pgo-instrument-loop-entries"],
    },
];

/// Profiles of one program in every way that an LLVM has, with the name of the way.
pub fn profiles(llvm: Llvm, shop: &Workshop) -> Vec<(&'static str, Vec<u8>)> {
    shop.program("values.cc");
    let profile = |mode: &Mode| (mode.name, llvm.profile(shop, "values.cc", mode.flags));
    let mut profiles: Vec<_> = llvm.modes().map(profile).collect();
    // The second of two instrumented builds.
    shop.write("first.profraw", &profiles[0].1);
    let merged = llvm.profdata(shop, &["merge", "-o", "first.profdata", "first.profraw"]);
    assert!(merged.status.success(), "{merged:?}");
    let flags = ["-fprofile-use=first.profdata", "-fcs-profile-generate"];
    profiles.push(("after inlining", llvm.profile(shop, "values.cc", &flags)));
    profiles
}

/// Profiles of a program that rustc instrumented.
pub fn profiles_of_rustc(shop: &Workshop) -> Vec<(&'static str, Vec<u8>)> {
    shop.program("values.rs");
    let modes = [("rustc", "-Cprofile-generate"), ("coverage of rustc", "-Cinstrument-coverage")];
    let profile = |(name, flag)| {
        succeed(shop.command("rustc").args(["-O", flag, "values.rs", "-o", "program"]));
        let program = shop.path("program");
        succeed(shop.command(program).env("LLVM_PROFILE_FILE", "program.profraw"));
        let profile = shop.read("program.profraw");
        std::fs::remove_file(shop.path("program.profraw")).unwrap();
        (name, profile)
    };
    modes.map(profile).into()
}
