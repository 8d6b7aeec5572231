//! Sizes of the formats, for profiles of the shape that real programs give. Beside them stand the reductions
//! that the proposal of version 4 reports in its section 7.
//!
//! `cargo bench --bench sizes [-- PROGRAM...]`. A program is any file with debug information. Without any,
//! this compiles Lua, SQLite and a part of RocksDB, which takes minutes the first time.

mod debug_profile;
#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "../tests/programs/mod.rs"]
mod programs;
mod rocksdb;

use std::path::{Path, PathBuf};

use countersink::formats::afdo_v1_v3::Version;
use countersink::formats::afdo_v1_v3::rules::Rules;
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::{afdo_v1_v3, afdo_v4_text};
use countersink::profile::{Profile, Record};
use harness::Workshop;
use programs::{lua_sources, sqlite_sources};

fn main() {
    // Cargo adds --bench.
    let arguments = std::env::args_os().skip(1).filter(|word| word != "--bench");
    let programs: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    println!(
        "{:<12} {:>9} {:>9} {:>9} {:>9}  v4    compact  records",
        "program", "v3", "v4", "compact", "text"
    );
    if programs.is_empty() {
        let shop = Workshop::new();
        c_program(&shop, "lua", lua_sources, &["-std=gnu99", "-DLUA_USE_POSIX"]);
        c_program(
            &shop,
            "sqlite",
            sqlite_sources,
            &["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        );
        if let Some(library) = rocksdb::library() {
            measure("rocksdb", &library);
        }
        println!("the proposal, C programs:                        -43 %  -71 %");
        println!("the proposal, C++ (leela):                       -35 %  -62 %");
    }
    for program in &programs {
        measure(&program.file_name().unwrap().to_string_lossy(), program);
    }
}

fn c_program(
    shop: &Workshop,
    name: &str,
    sources: fn(&Workshop) -> Option<Vec<String>>,
    flags: &[&str],
) {
    let Some(sources) = sources(shop) else { return };
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    shop.gcc(&[&["-O2", "-g", "-I.", "-o", name], flags, &sources, &["-lm"]].concat());
    measure(name, &shop.path(name));
}

fn measure(name: &str, program: &Path) {
    let bytes = std::fs::read(program).unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let profile = debug_profile::profile(&bytes).unwrap();
    let v3 = afdo_v1_v3::encode::encode(&profile, Rules::for_version(Version::V3)).unwrap();
    // Neither format leaves out anything that the other has.
    assert_eq!(v3.dropped, 0);
    let v3 = v3.bytes.len();
    let v4 = encode(&profile, Encoding::Normal).unwrap().len();
    let compact = encode(&profile, Encoding::Compact).unwrap().len();
    let text = afdo_v4_text::encode::encode(&profile).unwrap().len();
    let change = |size: usize| 100.0 * (size as f64 / v3 as f64 - 1.0);
    let records = Records::of(&profile);
    println!(
        "{name:<12} {v3:>9} {v4:>9} {compact:>9} {text:>9}  {:+.1} %  {:+.1} %  {records}",
        change(v4),
        change(compact),
    );
}

#[derive(Default)]
struct Records {
    zero: usize,
    counts: usize,
    inlined: usize,
    targets: usize,
    functions: usize,
}

impl Records {
    fn of(profile: &Profile) -> Self {
        let mut records = Self { functions: profile.functions.len(), ..Self::default() };
        for function in profile.functions.values() {
            function.body.for_each_record(&mut |record: &Record| {
                records.zero += usize::from(record.count == Some(0));
                records.counts += usize::from(record.count.is_some_and(|count| count > 0));
                records.inlined += record.inlined.len();
                records.targets += record.targets.len();
            });
        }
        records
    }
}

impl std::fmt::Display for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { zero, counts, inlined, targets, functions } = self;
        write!(
            f,
            "{zero} zero, {counts} counts, {inlined} inlined, {targets} targets, {functions} functions"
        )
    }
}
