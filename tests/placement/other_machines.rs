//! Dumps of programs for machines other than this one, converted with the help of their objects, and what the
//! compiler's own gcov said about the same run.
//!
//! `tests/golden/machines/MACHINE-GCC` was made from `tests/programs/machines.c` in the folder
//! `/golden/MACHINE-GCC` by Debian's cross compilers:
//!
//! ```sh
//! $CC -O2 -g -fprofile-generate -ftest-coverage -c machines.c     # RISC-V also -gz; ARM -marm or -mthumb
//! $CC -fprofile-generate machines.o -o ours -L... -lcountersink_rt && qemu-... ./ours
//! $CC -fprofile-generate machines.o -o stock && qemu-... ./stock && $GCOV -t machines.o > machines.gcov
//! ```
//!
//! The compilers' gcov say the same, but for the line that the first ones of two discriminators have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use countersink::formats::afdo_v4::decode::decode;
use countersink::placement::reader::Reader;
use countersink::profile::Profile;
use countersink::program::object_file::relocate;
use object::{Object as _, ObjectSection as _};

use crate::conversion::Counts;
use crate::harness::{Workshop, have, succeed};
use crate::reference::{counts, name};

const MACHINES: [&str; 10] = [
    "aarch64-12",
    "aarch64-16",
    "arm-12",
    "arm-16",
    "i686-12",
    "i686-16",
    "riscv64-12",
    "riscv64-16",
    "thumb-12",
    "thumb-16",
];

/// Where functions of the program are declared.
const STARTS: [(&str, u32); 6] =
    [("twice", 2), ("same", 6), ("keep", 11), ("pick", 17), ("drive", 44), ("main", 54)];

fn golden(name: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/machines").join(name)
}

/// A folder with the files of a machine.
fn shop_of(machine: &str) -> Workshop {
    let shop = Workshop::new();
    for entry in fs::read_dir(golden(machine)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, shop.path(path.file_name().unwrap())).unwrap();
    }
    shop
}

/// Executions of lines, as gcov printed them.
fn lines() -> BTreeMap<u32, u64> {
    let text = fs::read_to_string(golden("machines.gcov")).unwrap();
    let line = |line: &str| {
        let mut parts = line.split(':');
        let (count, number) = (parts.next()?.trim(), parts.next()?.trim());
        Some((number.parse().ok()?, count.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// All counts of each line in a profile.
fn found(profile: &Profile) -> BTreeMap<u32, Vec<u64>> {
    let starts = BTreeMap::from(STARTS);
    let mut found = BTreeMap::<u32, Vec<u64>>::new();
    for at in counts(profile) {
        let line = starts[name(profile, at.symbol).as_str()] + at.position.line;
        found.entry(line).or_default().push(at.count);
    }
    found
}

fn converted(shop: &Workshop, machine: &str) -> (Profile, String) {
    let moved = format!("--path-map=/golden/{machine}={}", shop.path("").display());
    let output = shop.tool(&["convert", "ours.csraw", &moved, "--to=v4"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{machine}: {told}");
    (decode(&output.stdout).unwrap().profile, told)
}

/// Every line has the count that gcov gives it, at least as a sum of its blocks.
#[test]
fn lines_are_those_of_gcov() {
    for machine in MACHINES {
        let (profile, told) = converted(&shop_of(machine), machine);
        assert!(told.contains("1 object used instead"), "{machine}: {told}");
        let (found, expected) = (found(&profile), lines());
        let least = |line: &u32| found.get(line).map_or(0, |counts| counts.iter().sum::<u64>());
        let all: u64 = expected.values().sum();
        let same: u64 = expected.iter().map(|(line, &count)| least(line).min(count)).sum();
        eprintln!("{machine}: {same} of {all}: {found:?}");
        // Labels and `break` may have no instruction of their own.
        for line in [4, 8, 13, 14, 15, 46, 52, 56] {
            let counts = found.get(&line).cloned().unwrap_or_default();
            assert!(counts.contains(&expected[&line]), "{machine}: line {line}: {counts:?}");
        }
        for (line, counts) in &found {
            let most = counts.iter().max().unwrap();
            let known = expected.get(line).is_none_or(|expected| most <= expected);
            assert!(known, "{machine}: line {line}: {counts:?}");
        }
    }
}

/// What an indirect call called stands at the call's line, and the inlined function at its own.
#[test]
fn calls_are_on_their_lines() {
    for machine in MACHINES {
        let (profile, told) = converted(&shop_of(machine), machine);
        assert!(told.contains(", 1 indirect-call site"), "{machine}: {told}");
        let mut all = profile.functions.iter();
        let (_, drive) =
            all.find(|(symbol, _)| profile.symbols.name(**symbol) == b"drive").unwrap();
        let line = drive.body.positions.iter().filter(|(at, _)| at.line == 48 - 44);
        let (mut targets, mut inlined) = (BTreeMap::new(), BTreeSet::new());
        for (_, record) in line {
            let named = |(symbol, &count)| (name(&profile, symbol), count);
            targets.extend(record.targets.iter().map(|(symbol, count)| named((*symbol, count))));
            inlined.extend(record.inlined.iter().map(|(symbol, _)| name(&profile, *symbol)));
        }
        let expected = BTreeMap::from([("twice".to_owned(), 50), ("same".to_owned(), 50)]);
        assert_eq!(targets, expected, "{machine}");
        assert!(inlined.contains("keep"), "{machine}: {inlined:?}");
    }
}

/// The random numbers of Knuth's MMIX.
fn next(random: &mut u64) -> usize {
    *random =
        random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) as usize
}

/// Changed bytes in code, data, relocations and debug information: never a panic, and what counters alone tell.
#[test]
#[ignore = "slow"]
fn damaged_objects() {
    for machine in MACHINES {
        let shop = shop_of(machine);
        let folder = format!("/golden/{machine}/");
        let counts = Counts::read_from(&shop, "ours.csraw", &folder);
        let object = shop.read("machines.o");
        let file = object::File::parse(&*object).unwrap();
        let sections: Vec<(usize, usize)> = file
            .sections()
            .filter_map(|section| section.file_range())
            .map(|(offset, length)| (offset as usize, length as usize))
            .filter(|(_, length)| *length > 0)
            .collect();
        let mut random = 1;
        let look = |object: &[u8]| {
            let Some(program) = relocate(object) else { return };
            let (profile, _) = counts.profile(&program, Reader::EXACT);
            let mut all = profile.functions.iter();
            let drive = all.find(|(symbol, _)| profile.symbols.name(**symbol) == b"drive");
            assert_eq!(drive.unwrap().1.head_count, 1, "{machine}");
        };
        look(&object);
        for (offset, length) in sections {
            for round in 0..6 {
                let mut damaged = object.clone();
                for _ in 0..=round {
                    damaged[offset + next(&mut random) % length] = next(&mut random) as u8;
                }
                look(&damaged);
            }
            for filler in [0, 0x7f, 0xff] {
                let mut damaged = object.clone();
                damaged[offset + length / 2..][..length - length / 2].fill(filler);
                look(&damaged);
            }
        }
        // Anything at all where the headers stand, and everywhere.
        for _ in 0..100 {
            let mut damaged = object.clone();
            let place = next(&mut random) % 64;
            damaged[place] = next(&mut random) as u8;
            look(&damaged);
            let place = next(&mut random) % damaged.len();
            damaged.truncate(place);
            look(&damaged);
        }
    }
}

/// A dump of a machine whose memory has the highest byte first: only the mark in the header differs. The data
/// files have that order, as gcc's own tools read them.
#[test]
fn data_files_in_the_order_of_the_program() {
    for machine in ["i686-12", "aarch64-16"] {
        let shop = shop_of(machine);
        let mut dump = shop.read("ours.csraw");
        let data = |dump: &str| {
            let to = format!("--prefix={}", shop.path("data").display());
            shop.tool_output(&["convert", dump, "--to=gcda", &to]);
            let data = shop.take_gcda();
            assert_eq!(data.len(), 1, "{machine}");
            data.into_iter().next().unwrap().1
        };
        let little = data("ours.csraw");
        dump[8..12].reverse();
        shop.write("big.csraw", &dump);
        let big = data("big.csraw");
        let turned: Vec<u8> =
            little.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        assert!(big == turned && big.starts_with(b"gcda"), "{machine}");
        if have("gcov-dump") {
            let told = |bytes: &[u8]| {
                shop.write("told.gcda", bytes);
                let told = succeed(shop.command("gcov-dump").args(["-l", "told.gcda"]));
                let told = String::from_utf8(told).unwrap();
                let counts: Vec<_> = told.lines().filter(|line| !line.contains("magic")).collect();
                counts.join("\n")
            };
            assert_eq!(told(&big), told(&little), "{machine}");
        }
        // It stays what it is, and does not mix.
        assert_eq!(shop.tool(&["check", "big.csraw"]).status.code(), Some(0));
        shop.tool_output(&["merge", "big.csraw", "big.csraw", "-o", "sum.csraw"]);
        assert_eq!(&shop.read("sum.csraw")[8..12], &dump[8..12]);
        let mixed = shop.tool(&["merge", "big.csraw", "ours.csraw", "-o", "sum.csraw"]);
        let told = String::from_utf8(mixed.stderr).unwrap();
        assert!(told.contains("ours.csraw: of a machine with another order of bytes"), "{told}");
        let mut narrow = shop.read("ours.csraw");
        narrow[14] = 12 - narrow[14];
        shop.write("narrow.csraw", &narrow);
        shop.tool_output(&["merge", "narrow.csraw", "narrow.csraw", "-o", "sum.csraw"]);
        // These dumps are of an older version of the format, and sums are of the latest.
        let sum = shop.read("sum.csraw");
        assert_eq!((&sum[..12], &sum[14..16]), (&narrow[..12], &narrow[14..16]));
        let mixed = shop.tool(&["merge", "ours.csraw", "narrow.csraw", "-o", "sum.csraw"]);
        let told = String::from_utf8(mixed.stderr).unwrap();
        assert!(told.contains("narrow.csraw: has pointers of "), "{told}");
    }
}

/// The machines' own compilers take the profiles, and find the indirect call in them.
#[test]
fn profiles_for_their_compilers() {
    let compilers: [(&str, &str, &[&str]); 5] = [
        ("aarch64-12", "aarch64-linux-gnu-gcc", &[]),
        ("arm-12", "arm-linux-gnueabihf-gcc", &["-marm"]),
        ("i686-12", "i686-linux-gnu-gcc", &[]),
        ("riscv64-12", "riscv64-linux-gnu-gcc", &[]),
        ("thumb-12", "arm-linux-gnueabihf-gcc", &["-mthumb"]),
    ];
    for (machine, compiler, flags) in compilers.into_iter().filter(|(_, name, _)| have(name)) {
        let version = succeed(std::process::Command::new(compiler).arg("-dumpversion"));
        if !version.starts_with(b"12") {
            crate::harness::skip(&format!("{compiler} is not of version 12"));
            continue;
        }
        let shop = shop_of(machine);
        shop.program("machines.c");
        let moved = format!("--path-map=/golden/{machine}={}", shop.path("").display());
        shop.tool_output(&["convert", "ours.csraw", &moved, "--for-gcc=12", "-o", "afdo"]);
        let compile = ["-O2", "-fauto-profile=afdo", "-fopt-info-all", "-c", "machines.c"];
        let output = shop.command(compiler).args(flags).args(compile).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let call = "machines.c:48:16: optimized: Indirect call -> direct call";
        assert!(output.status.success() && told.contains(call), "{compiler} {flags:?}: {told}");
    }
}

/// Machines whose code cannot be read: one line names the machine and what is left out, and the rest is converted. Here
/// only the header says that the object is for another one.
#[test]
fn unknown_machines_are_named() {
    for (number, name) in [(258u16, "LoongArch64"), (21, "PowerPc64"), (22, "S390x")] {
        let shop = shop_of("aarch64-12");
        let mut object = shop.read("machines.o");
        object[18..20].copy_from_slice(&number.to_le_bytes());
        shop.write("machines.o", &object);
        let (profile, told) = converted(&shop, "aarch64-12");
        let what = format!(
            "machines.o: machine code of {name} cannot be followed; not used for indirect calls and inlined functions"
        );
        assert_eq!(told.matches(&what).count(), 1, "{told}");
        assert!(found(&profile)[&46].contains(&1), "{told}");
    }
}
