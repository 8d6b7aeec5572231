//! LLVM's indexed profiles: ours against the files of `llvm-profdata`, byte for byte, and what compilers say of them.

use std::fmt::Write;

use countersink::counters::merge::{Mismatch, Sum};
use countersink::counters::overlap::overlap;
use countersink::counters::summary::{Sites, Summary};
use countersink::counters::{Function, Profile, ValueKind, Variant};
use countersink::formats::profdata::check::Defect;
use countersink::formats::profdata::decode::{Decoded, decode};
use countersink::formats::profdata::encode::{EncodeError, Encoder, encode};
use countersink::formats::profdata::{MAGIC, Version, lookup, version_for_llvm};
use countersink::formats::profraw::image::Images;
use countersink::formats::profraw::summand::Summand;
use countersink::formats::{profraw, proftext};

use crate::harness::{Workshop, succeed};
use crate::llvm::Llvm;

/// What `llvm-profdata merge` makes of files of the folder.
fn merged(llvm: Llvm, shop: &Workshop, inputs: &[&str]) -> Vec<u8> {
    let output =
        llvm.profdata(shop, &[&["merge", "-num-threads=1", "-o", "merged"], inputs].concat());
    assert!(output.status.success(), "{output:?}");
    shop.read("merged")
}

#[track_caller]
fn sound(file: &[u8]) -> Profile {
    let Decoded { profile, findings, .. } = decode(file).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    profile
}

/// Ours must be the bytes of `llvm-profdata`.
#[track_caller]
fn same(what: &str, profile: &Profile, llvm: Llvm, theirs: &[u8]) {
    let version = version_for_llvm(llvm.major, profile);
    let ours = encode(profile, version).unwrap();
    let place = ours.bytes.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    let lengths = (ours.bytes.len(), theirs.len());
    assert!(
        ours.bytes == theirs,
        "{what}, LLVM {}: differs at {place:?} of {lengths:?}",
        llvm.major
    );
}

/// A profile as it comes from the runtime. Without an option, `llvm-profdata` drops names of virtual tables.
fn raw(file: &[u8]) -> Profile {
    Profile { vtables: vec![], ..profraw::decode::decode(file).unwrap().profile }
}

/// Adds a raw profile as it stands in its file.
fn add_raw(sum: &mut Sum, file: &[u8], weight: u64) {
    for image in Images::new(file) {
        let image = image.unwrap();
        let names = image.names().unwrap();
        let summand = Summand::open(&image, &names, &mut |finding| panic!("{finding}")).unwrap();
        assert_eq!(sum.add_summand(&summand, weight), Ok(vec![]));
    }
}

fn sum(summands: &[(&Profile, u64)]) -> Profile {
    let mut sum = Sum::default();
    for (profile, weight) in summands {
        assert_eq!(sum.add(profile, *weight), Ok(vec![]));
    }
    sum.finish()
}

#[test]
#[ignore = "slow"]
fn every_way_of_instrumenting() {
    let shop = Workshop::new();
    let rustc = crate::llvm::of_rustc().map(|llvm| (llvm, crate::llvm::profiles_of_rustc(&shop)));
    let clangs =
        crate::llvm::all().into_iter().map(|llvm| (llvm, crate::llvm::profiles(llvm, &shop)));
    for (llvm, profiles) in clangs.chain(rustc) {
        for (what, file) in profiles {
            shop.write("raw", &file);
            let theirs = merged(llvm, &shop, &["raw"]);
            assert!(theirs.starts_with(&MAGIC));
            same(what, &raw(&file), llvm, &theirs);
            let decoded = sound(&theirs);
            shop.write("indexed", &theirs);
            same(what, &decoded, llvm, &merged(llvm, &shop, &["indexed"]));
            same_by_lookup(&theirs, &decoded);
        }
    }
}

/// Looking a function up gives what decoding gives.
fn same_by_lookup(file: &[u8], profile: &Profile) {
    let opened = lookup::Profile::open(file).unwrap();
    for function in &profile.functions {
        let records = opened.function(&function.name).unwrap();
        let record = records.iter().find(|record| record.hash == function.hash).unwrap();
        assert_eq!(record.function(&function.name), *function);
    }
    assert_eq!(opened.function(b"nobody").unwrap().len(), 0);
    assert_eq!(opened.summary(), Some(&Summary::of(profile)));
}

/// Names of virtual tables are in the file as they are; `llvm-profdata` reads them.
#[test]
#[ignore = "slow"]
fn names_of_virtual_tables() {
    let shop = Workshop::new();
    for llvm in crate::llvm::all().into_iter().filter(|llvm| llvm.major >= 19) {
        let (_, file) = crate::llvm::profiles(llvm, &shop)
            .into_iter()
            .find(|(what, _)| *what == "virtual tables")
            .unwrap();
        let profile = profraw::decode::decode(&file).unwrap().profile;
        assert!(!profile.vtables.is_empty());
        let ours = encode(&profile, version_for_llvm(llvm.major, &profile)).unwrap();
        assert_eq!(llvm.text(&shop, &ours.bytes), llvm.text(&shop, &file));
        // Theirs are compressed.
        shop.write("raw", &file);
        let theirs = sound(&merged(llvm, &shop, &["--keep-vtable-symbols", "raw"]));
        let sorted = |profile: &Profile| {
            let mut names = profile.vtables.clone();
            names.sort();
            names
        };
        assert_eq!(sorted(&theirs), sorted(&profile));
    }
}

/// Two runs of each program, as indexed and as raw profiles, with and without weights.
#[test]
#[ignore = "slow"]
fn sums() {
    let shop = Workshop::new();
    shop.program("values.cc");
    for llvm in crate::llvm::all() {
        for mode in llvm.modes() {
            llvm.compile(&shop, "values.cc", "program", mode.flags);
            let run = |name: &str, arguments: &[&str]| {
                let mut program = shop.command(shop.path("program"));
                succeed(program.args(arguments).env("LLVM_PROFILE_FILE", name));
                let file = shop.read(name);
                let indexed = merged(llvm, &shop, &[name]);
                shop.write(&format!("{name}.indexed"), &indexed);
                (file, sound(&indexed))
            };
            let (first, second) = (run("first", &[]), run("second", &["more", "arguments"]));
            let theirs = merged(llvm, &shop, &["first.indexed", "second.indexed"]);
            same(mode.name, &sum(&[(&first.1, 1), (&second.1, 1)]), llvm, &theirs);
            let theirs = merged(llvm, &shop, &["first", "-weighted-input=3,second"]);
            let mut weighted = Sum::default();
            add_raw(&mut weighted, &first.0, 1);
            add_raw(&mut weighted, &second.0, 3);
            let weighted = Profile { vtables: vec![], ..weighted.finish() };
            same(mode.name, &weighted, llvm, &theirs);
            for name in ["first", "second"] {
                std::fs::remove_file(shop.path(name)).unwrap();
            }
        }
    }
}

/// A text of many functions, some with several hashes, and with sites of up to 300 values.
fn large(seed: u64) -> String {
    let mut state = seed;
    let mut dice = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut text = String::from(":ir\n");
    for number in 0..200u64 {
        for hash in 0..number % 7 {
            let hash = hash * 0x1234_5678_9abc + number;
            write!(text, "f{number}\n{hash}\n2\n{}\n{}\n", dice(1000), dice(10)).unwrap();
            text.push_str("2\n0\n2\n");
            for most in [300, 5] {
                let values: Vec<u64> = (0..400).filter(|_| dice(400) < most).collect();
                writeln!(text, "{}", values.len()).unwrap();
                values.iter().for_each(|value| writeln!(text, "f{value}:{}", dice(6)).unwrap());
            }
            text.push_str("1\n1\n2\n8:2\n1:2\n\n");
        }
    }
    text
}

#[test]
#[ignore = "slow"]
fn many_functions_and_values() {
    let shop = Workshop::new();
    for llvm in crate::llvm::all() {
        let indexed = |name: &str, seed| {
            let text = large(seed);
            shop.write("text", &text);
            let indexed = merged(llvm, &shop, &["text"]);
            let profile = proftext::decode::decode(text.as_bytes()).unwrap().profile;
            same(name, &profile, llvm, &indexed);
            shop.write(name, &indexed);
            same(name, &sound(&indexed), llvm, &merged(llvm, &shop, &[name]));
            sound(&indexed)
        };
        let (a, b, c) = (indexed("a", 1), indexed("b", 2), indexed("c", 3));
        let theirs = merged(llvm, &shop, &["a", "b", "c"]);
        same("sum", &sum(&[(&a, 1), (&b, 1), (&c, 1)]), llvm, &theirs);
        let theirs = merged(llvm, &shop, &["b", "-weighted-input=3,c"]);
        same("weighted sum", &sum(&[(&b, 1), (&c, 3)]), llvm, &theirs);
    }
}

/// What is made for a release is read by its tools, and its compiler has nothing to say against it.
#[test]
#[ignore = "slow"]
fn readers_take_what_is_made_for_them() {
    let shop = Workshop::new();
    for llvm in crate::llvm::all() {
        let made = crate::llvm::profiles(llvm, &shop);
        for (what, file) in &made {
            let profile = raw(file);
            for reader in crate::llvm::all() {
                let version = version_for_llvm(reader.major, &profile);
                let ours = encode(&profile, version).unwrap().bytes;
                let text = reader.text(&shop, &ours);
                assert!(
                    text.is_ok(),
                    "{what} of LLVM {} for {}: {text:?}",
                    llvm.major,
                    reader.major
                );
            }
        }
        for (what, flags) in [
            ("optimiser", &["-fprofile-use=ours"][..]),
            ("front end", &["-fprofile-instr-use=ours"]),
        ] {
            let (_, file) = made.iter().find(|(name, _)| *name == what).unwrap();
            let profile = raw(file);
            let ours = encode(&profile, version_for_llvm(llvm.major, &profile)).unwrap();
            shop.write("ours", ours.bytes);
            let mut clang = shop.command(format!("clang++-{}", llvm.major));
            clang.args(["-O1", "-Wall", "-Werror", "-Wno-unused-function", "-c", "values.cc"]);
            let output = clang.args(flags).args(["-o", "used.o"]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{what}, {}: {said}", llvm.major);
        }
    }
}

/// The number behind these words in an output.
fn number(output: &str, words: &str) -> f64 {
    let line = output.lines().find_map(|line| line.trim().strip_prefix(words));
    let number = line.unwrap_or_else(|| panic!("{words:?} is not in {output}")).trim();
    number.trim_end_matches('%').parse().unwrap()
}

#[test]
fn numbers_of_show_and_overlap() {
    let shop = Workshop::new();
    let Some(llvm) = crate::llvm::all().pop() else { return };
    shop.write("a.text", OVERLAP.0);
    shop.write("b.text", OVERLAP.1);
    let [a, b] = ["a.text", "b.text"].map(|name| sound(&merged(llvm, &shop, &[name])));
    let output = llvm.profdata(&shop, &["overlap", "a.text", "b.text"]);
    let theirs = String::from_utf8(output.stdout).unwrap();
    let ours = overlap(&a, &b);
    let percent = |share: f64| (share * 100_000.0).round() / 1000.0;
    let calls = ours.values[ValueKind::IndirectCall as usize];
    for (words, ours) in [
        ("# of functions overlap:", ours.matched as f64),
        ("# of functions mismatch:", ours.mismatched as f64),
        ("# of functions only in test_profile:", ours.only_in_second as f64),
        ("Edge profile overlap:", percent(ours.counters.overlap)),
        ("Mismatched count percentage (Edge):", percent(ours.counters.mismatched)),
        ("Percentage of Edge profile only in test_profile:", percent(ours.counters.only_in_second)),
        ("Edge profile base count sum:", ours.counters.base as f64),
        ("Edge profile test count sum:", ours.counters.second as f64),
        ("IndirectCall profile overlap:", percent(calls.overlap)),
        ("Mismatched count percentage (IndirectCall):", percent(calls.mismatched)),
        ("IndirectCall profile test count sum:", calls.second as f64),
    ] {
        assert_eq!(ours, number(&theirs, words), "{words} {theirs}");
    }
    assert_eq!(ours.functions.len() as u64, ours.matched);

    let output = llvm.profdata(&shop, &["show", "--all-functions", "--ic-targets", "b.text"]);
    let theirs = String::from_utf8(output.stdout).unwrap();
    let (summary, sites) = (Summary::of(&b), Sites::of(&b, ValueKind::IndirectCall));
    for (words, ours) in [
        ("Total functions:", summary.functions),
        ("Maximum function count:", summary.largest_entry),
        ("Maximum internal block count:", summary.largest_inner),
        ("Total number of blocks:", summary.counters),
        ("Total count:", summary.sum),
        ("Total number of sites:", sites.sites),
        ("Total number of sites with values:", sites.with_values),
        ("Total number of profiled values:", sites.values),
    ] {
        assert_eq!(ours as f64, number(&theirs, words), "{words}");
    }
    assert_eq!(sites.histogram, [2, 1]);
}

/// Functions that agree, that have other hashes, other numbers of counters and of sites, and that one lacks.
const OVERLAP: (&str, &str) = (
    ":ir\nsame\n1\n3\n10\n20\n0\n\nhash\n1\n2\n10\n20\n\ncounters\n5\n2\n7\n7\n\nfirst\n1\n2\n5\n5\n\n\
     calls\n1\n1\n3\n1\n0\n1\n2\nsame:3\nhash:1\n\ntwice\n1\n1\n3\n\ntwice\n2\n1\n4\n\n\
     sites\n1\n1\n10\n1\n0\n1\n1\nsame:4\n\n",
    ":ir\nsame\n1\n3\n5\n20\n1\n\nhash\n2\n2\n10\n20\n\ncounters\n5\n3\n7\n7\n7\n\nsecond\n1\n2\n6\n5\n\n\
     calls\n1\n1\n3\n1\n0\n1\n2\nhash:3\nsame:1\n\ntwice\n1\n1\n3\n\ntwice\n3\n1\n9\n\n\
     sites\n1\n1\n10\n1\n0\n2\n1\nsame:4\n1\nhash:4\n\n",
);

/// The sum keeps what it had; `llvm-profdata` says the same of the same functions.
#[test]
fn functions_that_cannot_be_added() {
    let function = |name: &str, counters: &[u64]| Function {
        name: name.into(),
        counters: counters.into(),
        ..Function::default()
    };
    let profile = |functions: [Function; 2]| Profile {
        variant: Variant::IR,
        functions: functions.into(),
        ..Profile::default()
    };
    let first = profile([function("f", &[1, 2]), function("g", &[1])]);
    let second = profile([function("f", &[1, 2, 3]), function("g", &[u64::MAX - 3])]);
    let mut sum = Sum::default();
    assert_eq!(sum.add(&first, 1), Ok(vec![]));
    let refused = sum.add(&second, 1).unwrap();
    let why: Vec<_> =
        refused.iter().map(|refused| (refused.name.as_slice(), refused.why)).collect();
    let counters = Mismatch::Counters { expected: 2, found: 3 };
    assert_eq!(why, [(&b"f"[..], counters)]);
    let refused = sum.add(&second, 1).unwrap();
    assert_eq!(refused[1].why, Mismatch::Overflow);
    let front_end = Profile { variant: Variant(0), ..first.clone() };
    let message = sum.add(&front_end, 1).unwrap_err().to_string();
    assert_eq!(
        message,
        "expected counters placed by the optimiser (IR), found counters placed by the front end"
    );
    let counters: Vec<_> = sum.finish().functions.into_iter().map(|f| f.counters).collect();
    assert_eq!(counters, [vec![1, 2], vec![u64::MAX - 2]]);
}

/// A profile as it stands in its file is added as its model is, damaged or not, on every machine.
#[test]
fn files_are_added_as_their_models() {
    let function = |name: &str, counters: [u64; 2]| Function {
        name: name.into(),
        hash: 5,
        counters: counters.into(),
        bitmap: vec![1, 2],
        ..Function::default()
    };
    for variant in [Variant::IR, Variant::SINGLE_BYTE, Variant::TEMPORAL] {
        let largest = if variant == Variant::SINGLE_BYTE { 1 } else { u64::MAX - 3 };
        let functions = vec![function("first", [1, 1]), function("second", [largest, 0])];
        let profile = Profile { variant, functions, ..Profile::default() };
        for (pointer, big_endian) in [(8, false), (4, false), (8, true), (4, true)] {
            let machine = profraw::Machine { pointer, big_endian };
            let version = profraw::Version::V10;
            let file = profraw::encode::encode_for(&profile, version, machine).unwrap();
            let at = file.windows(5).position(|bytes| bytes == b"first").unwrap();
            let mut nameless = file.clone();
            nameless[at] = b'F';
            for (what, file) in [("sound", file), ("nameless", nameless)] {
                let model = profraw::decode::decode(&file).unwrap();
                assert_eq!(model.profile.functions.len(), if what == "sound" { 2 } else { 1 });
                let (mut ours, mut expected) = (Sum::default(), Sum::default());
                for weight in [1, 1, 3] {
                    let image = Images::new(&file).next().unwrap().unwrap();
                    let (names, mut findings) = (image.names().unwrap(), vec![]);
                    let summand =
                        Summand::open(&image, &names, &mut |finding| findings.push(finding));
                    let refused = ours.add_summand(&summand.unwrap(), weight);
                    assert_eq!(refused, expected.add(&model.profile, weight), "{what} {machine:?}");
                    let kinds = findings.len();
                    assert_eq!(kinds, model.findings.kinds().len(), "{what} {machine:?}");
                }
                assert_eq!(ours.finish(), expected.finish(), "{what} {machine:?}");
            }
        }
    }
}

/// A file that is written part by part has the size that was announced.
#[test]
fn parts_make_the_file() {
    let function = |number: u64| {
        let counters = (0..number % 40).collect();
        let name = format!("f{}", number / 2).into_bytes();
        Function { name, hash: number % 2, counters, ..Function::default() }
    };
    let functions = (0..3000).map(function).collect();
    let profile = Profile { functions, ..Profile::default() };
    for version in 4..=14 {
        let version = Version::new(version).unwrap();
        let encoder = Encoder::new(&profile, version).unwrap();
        let mut bytes = Vec::new();
        encoder.write(&mut bytes).unwrap();
        assert_eq!(encoder.size(), bytes.len(), "{version}");
        assert_eq!(sound(&bytes).functions.len(), 3000, "{version}");
    }
}

/// What a version lacks is told.
#[test]
fn what_versions_lack() {
    let profile = Profile {
        variant: Variant(Variant::TEMPORAL.0 | Variant::LOOP_ENTRIES.0),
        functions: vec![Function { bitmap: vec![1], counters: vec![1], ..Function::default() }],
        binary_ids: vec![vec![1]],
        traces: vec![Default::default()],
        vtables: vec![b"_ZTV1A".to_vec()],
        traced_runs: 0,
    };
    let dropped = |number| encode(&profile, Version::new(number).unwrap()).unwrap().dropped;
    let v7 = dropped(7);
    let numbers = [v7.bitmaps, v7.binary_ids, v7.traces, v7.vtables];
    assert_eq!((numbers, v7.variant), ([1; 4], profile.variant));
    assert_eq!(dropped(13), Default::default());
    let oldest = Version::OLDEST;
    assert_eq!(encode(&profile, oldest).unwrap_err(), EncodeError::Version(oldest));
    for version in 4..=14 {
        let version = Version::new(version).unwrap();
        let encoded = encode(&profile, version).unwrap();
        assert_eq!(encode(&sound(&encoded.bytes), version).unwrap().bytes, encoded.bytes);
    }
}

#[test]
fn memory_profiles_are_refused() {
    let mut file = encode(&Profile::default(), Version::new(13).unwrap()).unwrap().bytes;
    file[40] = 80;
    let finding = decode(&file).unwrap_err();
    assert_eq!((finding.offset, finding.defect), (40, Defect::MemoryProfile));
    assert!(finding.to_string().contains("memory profile"));
}
