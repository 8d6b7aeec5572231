//! Speed and memory of reading, writing and adding up large profiles, and of a reader that wants one function
//! of them.
//!
//! `cargo bench --bench throughput`. The profile is that of a part of RocksDB, repeated many times under
//! other names: more than 50 MB in version 4.

mod debug_profile;
#[path = "../tests/harness/mod.rs"]
mod harness;
mod rocksdb;

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use countersink::formats::afdo_v1_v3::Version;
use countersink::formats::afdo_v1_v3::rules::Rules;
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::afdo_v4::lookup;
use countersink::formats::afdo_v4::table::Table;
use countersink::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text};
use countersink::profile::Profile;
use harness::{Workshop, succeed};

/// Number of repetitions of the profile, and the size that it must reach.
const COPIES: usize = 22;
const LEAST: usize = 50 << 20;
/// Number of small profiles that are added up.
const SMALL: usize = 10_000;

fn main() {
    let Some(library) = rocksdb::library() else { return };
    let one = debug_profile::profile(&std::fs::read(library).unwrap()).unwrap();
    let large = repeated(&one);
    formats(&large);
    for encoding in [Encoding::Normal, Encoding::Compact] {
        lookups(&large, encoding);
    }
    let shop = Workshop::new();
    merges(&shop, &one, &large);
}

/// The profile with copies of everything in it. Their names differ in the place of the namespace.
fn repeated(one: &Profile) -> Profile {
    let mut all = one.clone();
    for copy in 1..COPIES {
        let mut other = one.clone();
        other.rename(|name| {
            let name = String::from_utf8_lossy(name);
            match name.contains("7rocksdb") {
                true => name.replace("7rocksdb", &format!("9rocksdb{copy:02}")).into_bytes(),
                false => format!("{name}{copy}").into_bytes(),
            }
        });
        all.merge(&other, 1);
    }
    all
}

fn formats(large: &Profile) {
    println!("{:<11} {:>7}  written  read", "", "MB");
    let v4 = |encoding| move |profile: &Profile| encode(profile, encoding).unwrap();
    let read_v4 = |bytes: &[u8]| afdo_v4::decode::decode(bytes).unwrap().profile;
    format("v4", large, v4(Encoding::Normal), read_v4);
    format("v4-compact", large, v4(Encoding::Compact), read_v4);
    let text = |profile: &Profile| afdo_v4_text::encode::encode(profile).unwrap();
    format("v4-text", large, text, |bytes| afdo_v4_text::decode::decode(bytes).unwrap().profile);
    for (name, version) in [("v3", Version::V3), ("v2", Version::V2)] {
        let rules = Rules::for_version(version);
        let write = |profile: &Profile| afdo_v1_v3::encode::encode(profile, rules).unwrap().bytes;
        format(name, large, write, |bytes| afdo_v1_v3::decode::decode(bytes).unwrap().profile);
    }
}

fn format(
    name: &str,
    profile: &Profile,
    write: impl Fn(&Profile) -> Vec<u8>,
    read: impl Fn(&[u8]) -> Profile,
) {
    let start = Instant::now();
    let bytes = write(profile);
    let written = start.elapsed();
    let start = Instant::now();
    black_box(read(&bytes));
    let read = start.elapsed();
    let size = bytes.len() as f64 / 1e6;
    let speed = |time: std::time::Duration| size / time.as_secs_f64();
    println!("{name:<11} {size:7.1}  {:4.0} MB/s {:4.0} MB/s", speed(written), speed(read));
}

/// What a compiler does for each source file: here for all in turn, beside decoding everything once.
fn lookups(large: &Profile, encoding: Encoding) {
    let bytes = encode(large, encoding).unwrap();
    let start = Instant::now();
    black_box(afdo_v4::decode::decode(&bytes).unwrap());
    let everything = start.elapsed();
    let sections = Table::decode(&bytes, &mut |_| {}).unwrap().by_offset();
    let directory = sections[0].start + sections[1].size;

    let start = Instant::now();
    let profile = lookup::Profile::open(&bytes).unwrap();
    let open = start.elapsed();
    let mut times = Vec::new();
    for source in profile.sources() {
        let start = Instant::now();
        black_box(afdo_v4::part::decode(&bytes, |path| path == source.path, |_| true).unwrap());
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{encoding:?}, {:.1} MB: everything in {everything:.1?}; opened in {open:.1?}, reading {directory} \
         bytes; of {} sources the median in {median:.1?}, the slowest in {slowest:.1?}",
        bytes.len() as f64 / 1e6,
        times.len(),
    );

    let source = profile.sources().iter().max_by_key(|source| source.ids.len()).unwrap();
    let with_counts: Vec<_> = profile.symbols(source).unwrap().map(Result::unwrap).collect();
    let with_counts: Vec<_> = with_counts.iter().filter(|symbol| symbol.info.is_some()).collect();
    let name = profile.name(with_counts[with_counts.len() / 2].id).unwrap().unwrap();
    let start = Instant::now();
    let records = profile.function(source, &name).unwrap().unwrap().count();
    let one = start.elapsed();
    let read: u64 = [source.string_table(), source.symbol_names()]
        .map(|section| sections[section as usize].size)
        .iter()
        .sum();
    println!(
        "  a function of the largest source, with {} symbols: {one:.1?} for {records} records, reading \
         {read} bytes of names",
        source.ids.len(),
    );
}

fn merges(shop: &Workshop, one: &Profile, large: &Profile) {
    let bytes = encode(large, Encoding::Normal).unwrap();
    assert!(bytes.len() >= LEAST, "{}", bytes.len());
    shop.write("a", &bytes);
    shop.write("b", &bytes);
    merge(shop, "two of them", 2 * bytes.len(), &["merge", "a", "b", "-o", "sum"]);

    // A function or two each.
    let symbols: Vec<_> = one.functions.keys().copied().collect();
    let small = |place: usize| {
        let mut small = one.clone();
        let chosen = [place, place * 7].map(|place| symbols[place % symbols.len()]);
        small.functions.retain(|symbol, _| chosen.contains(symbol));
        encode(&small, Encoding::Compact).unwrap()
    };
    let small: Vec<Vec<u8>> = (0..200).map(small).collect();
    let (mut names, mut size) = (Vec::new(), 0);
    for (place, bytes) in small.iter().cycle().take(SMALL).enumerate() {
        size += bytes.len();
        names.push(format!("small/{place}"));
        shop.write(&names[place], bytes);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let arguments = [&["merge"], &names[..], &["-o", "sum"]].concat();
    merge(shop, &format!("{SMALL} small ones"), size, &arguments);
}

fn merge(shop: &Workshop, what: &str, size: usize, arguments: &[&str]) {
    let start = Instant::now();
    let mut time = shop.command("/usr/bin/time");
    time.args(["-f", "%M", "-o", "kilobytes", env!("CARGO_BIN_EXE_countersink")]);
    if !Path::new("/usr/bin/time").exists() {
        time = Command::new(env!("CARGO_BIN_EXE_countersink"));
        time.current_dir(shop.path("."));
    }
    succeed(time.args(arguments));
    let time = start.elapsed().as_secs_f64();
    let most = std::fs::read_to_string(shop.path("kilobytes")).unwrap_or_else(|_| "?".into());
    let (size, most) = (size as f64 / 1e6, most.trim());
    println!(
        "merge of {what}: {size:.1} MB, {time:.2} s, {:.0} MB/s, at most {most} kB",
        size / time
    );
}
