//! Compiles sources of a folder with gcc: on all cores, and once for all tests that want the same objects.
//!
//! The objects of a compilation stay below cargo's folder for tests, under a hash of all that made them: the compiler's
//! version, the flags, and the files of the folder. The names of temporary folders have one length. So objects, notes
//! and debug information for another folder are the same bytes with its name.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{iter, thread};

use memchr::memmem;
use rustix::fs::{FlockOperation, flock};

use crate::harness::{Workshop, succeed};

/// Compiles each source to an object. Gives the names of the objects.
pub fn compile_all(shop: &Workshop, sources: &[String], flags: &[&str]) -> Vec<String> {
    let queue = Mutex::new(sources.iter());
    let next = || queue.lock().unwrap().next();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores.min(sources.len()) {
            scope.spawn(|| iter::from_fn(next).for_each(|source| compile(shop, source, flags)));
        }
    });
    sources.iter().map(|source| object(source)).collect()
}

fn compile(shop: &Workshop, source: &str, flags: &[&str]) {
    shop.gcc(&[flags, &["-I.", "-c", source, "-o", &object(source)]].concat());
}

fn object(source: &str) -> String {
    Path::new(source).with_extension("o").to_str().unwrap().to_owned()
}

/// The same as [`compile_all`]. Takes what another test has compiled, if there is such. Not for objects that are
/// compressed: their folder has no name there.
pub fn compile_once(shop: &Workshop, sources: &[String], flags: &[&str]) -> Vec<String> {
    assert!(!flags.iter().any(|flag| flag.starts_with("-flto") || flag.starts_with("-gz")));
    let here = fs::canonicalize(shop.path("")).unwrap().into_os_string().into_encoded_bytes();
    let kept = kept_folder(shop, sources, flags, here.len());
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    // Other tests wait here while one compiles.
    let lock = File::create(kept.with_extension("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let origin = kept.join("origin");
    let Ok(there) = fs::read(&origin) else {
        let before = files(&shop.path(""));
        let objects = compile_all(shop, sources, flags);
        keep(&shop.path(""), &before, &kept);
        fs::write(origin, here).unwrap();
        return objects;
    };
    for name in files(&kept).iter().filter(|name| *name != "origin") {
        shop.write(name, renamed(&fs::read(kept.join(name)).unwrap(), &there, &here));
    }
    sources.iter().map(|source| object(source)).collect()
}

/// Where the objects are kept. The length of the folder's name is a part of what makes them.
fn kept_folder(shop: &Workshop, sources: &[String], flags: &[&str], length: usize) -> PathBuf {
    let mut hash = DefaultHasher::new();
    succeed(Command::new("gcc").arg("--version")).hash(&mut hash);
    (sources, flags, length).hash(&mut hash);
    for name in files(&shop.path("")).iter().filter(|name| name.ends_with(['c', 'h'])) {
        (name, shop.read(name)).hash(&mut hash);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("objects");
    folder.join(format!("{:016x}", hash.finish()))
}

/// Names of the files directly in a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Keeps the files that were not there before.
fn keep(folder: &Path, before: &BTreeSet<String>, kept: &Path) {
    fs::create_dir_all(kept).unwrap();
    for name in files(folder).difference(before) {
        fs::copy(folder.join(name), kept.join(name)).unwrap();
    }
}

/// These bytes with another folder's name, which is as long.
fn renamed(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut renamed = bytes.to_owned();
    for at in memmem::find_iter(bytes, from) {
        renamed[at..at + to.len()].copy_from_slice(to);
    }
    renamed
}
