//! Provides the archives that the tool embeds, for each target: takes finished archives, or makes them. A part of the
//! build script, not of the library.
//!
//! | variable | meaning |
//! |---|---|
//! | `COUNTERSINK_TARGETS` | targets besides the tool's own, by rustc's names, separated by blanks or commas |
//! | `COUNTERSINK_ARCHIVES` | a folder with finished archives, for distributors; subfolder T has those of target T |
//!
//! The tool includes a table of all archives, `archives.rs` in `OUT_DIR`. The build ends if an archive that was asked
//! for cannot be provided.

mod c_compiler;
#[path = "../cli/compilers/command_words.rs"]
mod command_words;
mod compile;
mod given;
mod strip;
mod target;
mod variant;

use std::ffi::OsString;
use std::fmt::Write;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::Mutex;
use std::{env, fs, iter, thread};

use target::Target;
use variant::Variant;

/// A target's archives: where each of [`Target::variants`] is.
struct Archives {
    target: String,
    files: Vec<(&'static Variant, PathBuf)>,
}

/// Writes the table of the archives, and makes those that are not given.
pub fn provide() {
    println!("cargo::rerun-if-changed=src/build");
    let flags = || env::vars_os().map(|(name, _)| name).filter(is_compiler_flags);
    for name in flags() {
        println!("cargo::rerun-if-env-changed={}", name.display());
    }
    if flags().next().is_none() {
        return write_table(&archives());
    }
    // `cc` would put the user's flags last. A process cannot safely remove its own variables, so a child process runs
    // without them.
    let mut clean = Command::new(env::current_exe().expect("a build script is a file"));
    flags().for_each(|name| _ = clean.env_remove(name));
    let status = clean.status().unwrap_or_else(|error| panic!("{clean:?}: {error}"));
    if !status.success() {
        exit(1);
    }
}

/// The archives of all targets, the tool's own first.
fn archives() -> Vec<Archives> {
    for name in ["COUNTERSINK_ARCHIVES", "COUNTERSINK_TARGETS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let (own, mut names) = (var("TARGET"), asked_for());
    if let Some(given) = env::var_os("COUNTERSINK_ARCHIVES") {
        println!("cargo::rerun-if-changed={}", given.display());
        return given::archives(Path::new(&given), own, names);
    }
    let out = PathBuf::from(var("OUT_DIR"));
    if env::var_os("DOCS_RS").is_some() {
        return vec![empty(own, &out)];
    }
    // Without the tool, nobody asked for the archives of its own target.
    if env::var_os("CARGO_FEATURE_CLI").is_some() {
        names.retain(|name| *name != own);
        names.insert(0, own);
    }
    // Check all targets before making the first archive: making one takes a minute.
    let targets: Vec<Target> = names.into_iter().map(Target::new).collect();
    targets.iter().for_each(c_compiler::check);
    made_beside_each_other(&targets, &out)
}

/// Makes the archives of targets, each target in a thread. While one target's compiles `core`, a single crate, the
/// other cores of the machine would idle.
fn made_beside_each_other(targets: &[Target], out: &Path) -> Vec<Archives> {
    let threads = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let left = Mutex::new(targets.iter().enumerate());
    let next = || left.lock().expect("no thread panics with the lock").next();
    let make = || Vec::from_iter(iter::from_fn(next).map(|(at, target)| (at, made(target, out))));
    let mut all = thread::scope(|scope| {
        let workers = Vec::from_iter((0..threads).map(|_| scope.spawn(make)));
        let joined = workers.into_iter().map(|worker| worker.join());
        Vec::from_iter(joined.flat_map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))))
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, archives)| archives).collect()
}

/// The targets of `COUNTERSINK_TARGETS`, each once.
fn asked_for() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let list = env::var("COUNTERSINK_TARGETS").unwrap_or_default();
    for name in list.split([' ', '\t', '\n', ',']).filter(|name| !name.is_empty()) {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Makes a target's archives.
fn made(target: &Target, out: &Path) -> Archives {
    let folder = out.join(&target.name);
    fs::create_dir_all(&folder).expect("OUT_DIR is writable");
    let files = target.variants().map(|variant| {
        compile::archive(variant, target, out, &folder);
        (variant, folder.join(variant.file_name()))
    });
    Archives { target: target.name.clone(), files: files.collect() }
}

/// Documentation is built without network and C compiler, and links nothing.
fn empty(target: String, out: &Path) -> Archives {
    let empty = |variant: &'static Variant| {
        let file = out.join(variant.file_name());
        fs::write(&file, b"").expect("OUT_DIR is writable");
        (variant, file)
    };
    Archives { target, files: variant::ALL.iter().map(empty).collect() }
}

/// Writes the table as the tool includes it.
fn write_table(all: &[Archives]) {
    let mut table = String::from("[\n");
    for archives in all {
        let mut line = |text: String| writeln!(table, "    {text}").expect("there is memory");
        line(format!("Target {{ name: {:?},", archives.target));
        for variant in &variant::ALL {
            let file = archives.files.iter().find(|(of, _)| of.field == variant.field);
            line(match file {
                Some((_, file)) => {
                    format!("{}: Some(include_bytes!({:?})),", variant.field, path(file))
                }
                None => format!("{}: None,", variant.field),
            });
        }
        line("},".to_owned());
    }
    table.push_str("]\n");
    let out = PathBuf::from(var("OUT_DIR"));
    fs::write(out.join("archives.rs"), table).expect("OUT_DIR is writable");
}

/// A path for the table.
fn path(file: &Path) -> String {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let text = file.to_str().map(str::to_owned);
    text.unwrap_or_else(|| refuse(&format!("{}: expected a path in UTF-8", file.display())))
}

/// Whether a variable holds flags for C compilers: `CFLAGS`, `TARGET_CFLAGS`, ...
fn is_compiler_flags(name: &OsString) -> bool {
    name.to_string_lossy().contains("CFLAGS")
}

/// Ends the build with one message.
fn refuse(why: &str) -> ! {
    println!("cargo::error={why}");
    exit(1);
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
