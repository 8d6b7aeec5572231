//! Whatever is wrong with a file, there is one clear message, the right exit status and no panic, and nothing
//! that was there before is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use countersink::formats::gcda::decode::Data;
use countersink::formats::gcno::Notes;
use countersink::placement::reader::Reader;
use countersink::program::object_file::relocate;
use countersink::raw::dump::{Dump, check, sections};
use countersink::raw::layout::{MAX_SECTION, SectionKind, checksum};
use countersink::raw::reader::Damage;
use countersink::raw::writer::Writer;

use crate::complaints::{errors, program_complains, ran, tool_fails};
use crate::conversion::Counts;
use crate::harness::{Workshop, have, succeed};
use crate::llvm::both::OURS;

fn set_aside(shop: &Workshop) -> Vec<PathBuf> {
    let entries = fs::read_dir(shop.path("")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_str().unwrap().contains(".aside-")).collect()
}

/// A merging run must set the damaged file aside, untouched, and write its own counts.
#[track_caller]
fn program_sets_aside(shop: &Workshop, damaged: &[u8], fresh: &[u8]) {
    shop.write("ours.csraw", damaged);
    let output = shop.output("ours", &[]);
    program_complains(&output, &["ours.csraw: ", " at 0x", "; the file was set aside as "]);
    let [aside] = &set_aside(shop)[..] else { panic!("{:?}", set_aside(shop)) };
    assert_eq!(fs::read(aside).unwrap(), damaged);
    assert_eq!(shop.read("ours.csraw"), fresh);
    fs::remove_file(aside).unwrap();
}

/// All defects of a dump.
fn defects(bytes: &[u8]) -> Vec<Damage> {
    let mut found = Vec::new();
    check(bytes, &mut |damage| found.push(damage));
    found
}

#[test]
fn a_dump_cut_at_any_byte() {
    let shop = ran();
    let whole = shop.read("ours.csraw");
    for length in 1..whole.len() {
        let cut = &whole[..length];
        let damage = Dump::parse(cut).unwrap_err();
        assert!(damage.offset <= length as u64);
        assert!(!defects(cut).is_empty());
        program_sets_aside(&shop, cut, &whole);
    }
    // An empty file holds nothing to lose.
    shop.write("ours.csraw", "");
    shop.run("ours", &[]);
    assert_eq!(shop.read("ours.csraw"), whole);
    shop.write("cut.csraw", &whole[..whole.len() / 2]);
    tool_fails(
        &shop,
        &["convert", "cut.csraw", "--to=v4"],
        &["cut.csraw: 0x", "cut short: expected"],
    );
    tool_fails(&shop, &["show", "cut.csraw"], &["cut.csraw: 0x"]);
    tool_fails(&shop, &["merge", "cut.csraw", "-o", "x"], &["cut.csraw: 0x"]);
    shop.write("empty.csraw", "");
    tool_fails(
        &shop,
        &["convert", "empty.csraw", "--to=v4"],
        &["empty.csraw: 0x0: the file is empty"],
    );
}

/// The message names the part that is cut. These are all the parts in messages about prefixes.
#[test]
fn messages_name_the_part_that_was_cut() {
    let shop = ran();
    shop.tool_output(&["convert", "ours.csraw", "--to=gcda"]);
    let parts = |file: &str, decode: &dyn Fn(&[u8]) -> Option<String>| {
        let whole = shop.read(file);
        let said = (0..whole.len()).filter_map(|length| decode(&whole[..length]));
        let parts = said.filter_map(|said| {
            let (place, part) = said.split_once(" cut short: expected ")?.0.split_once(": ")?;
            assert!(place.starts_with("0x"), "{said}");
            Some(part.to_owned())
        });
        parts.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        parts("ours.csraw", &|bytes| Dump::parse(bytes).err().map(|error| error.to_string())),
        "file header, section END, section FUNCTIONS, section MODULE, \
         section OBJECTS, section STRINGS, section SUMS, section header"
    );
    assert_eq!(
        parts("hello.gcno", &|bytes| Notes::decode(bytes).err().map(|error| error.to_string())),
        "header, record ARCS, record BLOCKS, record FUNCTION, record LINES, \
         tag and length of a record"
    );
    assert_eq!(
        parts("hello.gcda", &|bytes| Data::decode(bytes).err().map(|error| error.to_string())),
        "header, record COUNTERS of kind 0, record COUNTERS of kind 4, record COUNTERS of kind 7, \
         record FUNCTION, record OBJECT_SUMMARY, \
         tag and length of a record"
    );
}

#[test]
fn a_dump_with_any_bit_flipped() {
    let shop = ran();
    let whole = shop.read("ours.csraw");
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // The pointer width may also be 4, but one bit does not make a 4 of 8, nor an older version of this one.
        assert!(Dump::parse(&flipped).is_err(), "bit {bit}");
        assert!(!defects(&flipped).is_empty(), "bit {bit}");
        // The runtime reads with the same code, so one bit of every byte is enough for it.
        if bit % 8 == bit / 8 % 8 {
            program_sets_aside(&shop, &flipped, &whole);
        }
    }
}

#[test]
fn check_finds_every_damaged_section() {
    let shop = ran();
    let mut bytes = shop.read("ours.csraw");
    let sound = String::from_utf8(shop.tool_output(&["show", "--sections", "ours.csraw"])).unwrap();
    for line in sound.lines() {
        let offset = line.split_whitespace().next().unwrap().trim_start_matches("0x");
        bytes[usize::from_str_radix(offset, 16).unwrap()] ^= 1;
    }
    shop.write("bad.csraw", &bytes);
    let output = shop.tool(&["check", "bad.csraw"]);
    assert_eq!(output.status.code(), Some(1));
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.lines().count(), sound.lines().count(), "{found}");
    assert!(
        found.lines().all(|line| line.starts_with("bad.csraw: 0x") && line.contains("checksum"))
    );
    assert_eq!(shop.tool(&["check", "ours.csraw"]).status.code(), Some(0));
}

/// A failed checksum is no reason to mistrust what follows.
#[test]
fn check_goes_on_behind_a_damaged_section() {
    let shop = ran();
    let mut bytes = shop.read("ours.csraw");
    let sections = sections(&bytes).unwrap();
    bytes[sections[1].0 as usize + 16] ^= 1;
    let found = defects(&bytes);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].offset, sections[1].0);
}

#[test]
fn a_dump_of_another_version_or_byte_order() {
    let shop = ran();
    let whole = shop.read("ours.csraw");
    let mut newer = whole.clone();
    newer[12..14].copy_from_slice(&7u16.to_ne_bytes());
    program_sets_aside(&shop, &newer, &whole);
    shop.write("newer.csraw", &newer);
    let words = ["newer.csraw: 0xc: raw dump of format version 7, this release reads 2 to 4"];
    tool_fails(&shop, &["convert", "newer.csraw", "--to=v4"], &words);
    let mut swapped = whole.clone();
    swapped[8..12].reverse();
    swapped[12..14].reverse();
    program_sets_aside(&shop, &swapped, &whole);
    shop.write("swapped.csraw", &swapped);
    let words = ["swapped.csraw: 0x8: written by a machine of the other byte order"];
    tool_fails(&shop, &["show", "swapped.csraw"], &words);
    program_sets_aside(&shop, b"my notes, not a dump\n", &whole);
}

#[test]
fn notes_that_are_missing_or_of_another_compilation() {
    let shop = ran();
    let notes = shop.read("hello.gcno");
    fs::remove_file(shop.path("hello.gcno")).unwrap();
    tool_fails(
        &shop,
        &["convert", "ours.csraw", "--to=v4"],
        &["ours.csraw: nothing could be converted"],
    );
    let told = errors(&shop.tool(&["convert", "ours.csraw", "--to=v4"]));
    assert!(told.contains("hello.gcno: no such file\n"), "{told}");
    assert!(told.contains("nothing could be converted: 1 object without notes; compile"), "{told}");
    let told = errors(&shop.tool(&["convert", "ours.csraw", "--to=v4", "--notes", "nowhere"]));
    assert!(told.contains("nowhere: no such folder, but --notes names it\n"), "{told}");

    let mut other = notes.clone();
    other[8] ^= 1;
    shop.write("hello.gcno", &other);
    let told = errors(&shop.tool(&["convert", "ours.csraw", "--to=v4"]));
    assert!(told.contains("hello.gcno: 0x8: stamp: expected 0x"), "{told}");

    for length in [0, 3, 30, notes.len() / 2, notes.len() - 1] {
        shop.write("hello.gcno", &notes[..length]);
        let told = errors(&shop.tool(&["convert", "ours.csraw", "--to=v4"]));
        assert!(told.contains("hello.gcno: 0x"), "{length}: {told}");
    }
    for bit in 0..notes.len() * 8 {
        let mut flipped = notes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Err(error) = countersink::formats::gcno::Notes::decode(&flipped) {
            assert!(error.to_string().starts_with("0x"), "bit {bit}: {error}");
        }
    }
    // It lies elsewhere, under another name.
    fs::remove_file(shop.path("hello.gcno")).unwrap();
    shop.write("elsewhere/hello.gcno", &notes);
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "--notes", "elsewhere", "-o", "x.gcov"]);
    let map = format!("{0}={0}/elsewhere", shop.path("").canonicalize().unwrap().display());
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "--path-map", &map, "-o", "y.gcov"]);
}

/// A second number of blocks could take away blocks that arcs use already.
#[test]
fn notes_with_two_numbers_of_blocks() {
    let shop = ran();
    let mut notes = shop.read("hello.gcno");
    let length = notes.len();
    let in_bytes =
        countersink::formats::gcno::Notes::decode(&notes).unwrap().version.counts_bytes();
    for word in [0x0141_0000, if in_bytes { 4 } else { 1 }, 1u32] {
        notes.extend(word.to_ne_bytes());
    }
    shop.write("hello.gcno", &notes);
    let found = String::from_utf8(shop.tool(&["check", "hello.gcno"]).stdout).unwrap();
    assert!(found.contains(&format!("hello.gcno: {length:#x}: record BLOCKS")), "{found}");
    tool_fails(&shop, &["convert", "ours.csraw", "--to=v4"], &["nothing could be converted"]);
}

/// Checksums do not tell who made a file, so records must also agree with each other.
#[test]
fn a_dump_whose_records_disagree() {
    let shop = ran();
    let whole = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let refused = |change: fn(&mut Dump)| {
        let mut dump = whole.clone();
        change(&mut dump);
        Dump::parse(&dump.to_bytes()).unwrap_err().to_string()
    };
    let signature = "0x10: module: signature differs from that of its records";
    assert_eq!(refused(|dump| dump.modules[0].record.identity.signature ^= 1), signature);
    assert_eq!(refused(|dump| dump.modules[0].objects[0].stamp ^= 1), signature);
    assert_eq!(refused(|dump| dump.modules[0].objects[0].path.push(b'x')), signature);

    let bytes = whole.to_bytes();
    let changed = |kind, offset, bits| {
        Dump::parse(&with_changed_bits(&bytes, kind, offset, bits)).unwrap_err().to_string()
    };
    let differs = |what: &str| format!("0x10: module: number of {what} differs from its SUMS");
    assert_eq!(changed(SectionKind::Sums, 24, 1), differs("counters"));
    assert_eq!(changed(SectionKind::Sums, 32, 1), differs("top-N sites"));
    // The kinds of the first function: one that it has no number for, and one that its object does not use.
    let head = "0x10: function: its kinds of counters contradict their numbers or its object";
    for bit in [1 << 1, 1 << 15, 1 << 30] {
        assert_eq!(changed(SectionKind::Functions, 12, bit), head);
    }
    // It has counters, but is absent; and a number for no kind, in the padding.
    assert_eq!(changed(SectionKind::Functions, 12, 1 << 31), head);
    assert_eq!(changed(SectionKind::Functions, 28, 1), head);
    let fewer = "0x10: module: number of functions differs from its records";
    assert_eq!(changed(SectionKind::Functions, 16, 1 << 20), fewer);
}

/// A module that cannot be right is no reason to refuse the others.
#[test]
fn a_module_that_cannot_be_right_among_others() {
    let shop = ran();
    shop.write("hello.c", "int puts(const char *);\nint main(void) { puts(\"60\"); return 0; }\n");
    let object = shop.compile("hello.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    let both = Dump::parse(&shop.read("ours.csraw")).unwrap();
    fs::remove_file(shop.path("ours.csraw")).unwrap();
    shop.run("ours", &[]);
    let fresh = shop.read("ours.csraw");
    type Change = fn(&mut Dump);
    let changes: [(Change, bool); 5] = [
        (|dump| dump.modules[0].record.identity.signature ^= 1, false),
        (|dump| dump.modules[0].objects[0].stamp ^= 1, false),
        (|dump| dump.modules[0].record.identity.abi = 7, true),
        (|dump| dump.modules[0].record.identity.build_id_length = 33, true),
        (|dump| dump.modules[0].record.identity.objects += 1, true),
    ];
    for (change, is_seen_by_programs) in changes {
        let mut dump = both.clone();
        change(&mut dump);
        let bytes = dump.to_bytes();
        let parsed = Dump::parse(&bytes).unwrap();
        assert_eq!((parsed.modules.len(), parsed.left_out.len()), (1, 1));
        shop.write("bad.csraw", &bytes);
        let output = shop.tool(&["merge", "bad.csraw", "-o", "good.csraw"]);
        let named = format!("bad.csraw: 0x10: {}", parsed.left_out[0].damage.defect);
        let told = errors(&output);
        assert!(output.status.success() && told.contains(&named), "{told}");
        assert!(told.contains("/ours\" is left out"), "{told}");
        let good = Dump::parse(&shop.read("good.csraw")).unwrap();
        assert_eq!((good.modules.len(), good.left_out.len()), (1, 0));
        assert_eq!(shop.tool(&["check", "bad.csraw"]).status.code(), Some(1));
        let strict = shop.tool(&["convert", "bad.csraw", "--to=v4", "--strict", "-o", "bad.gcov"]);
        let told = errors(&strict);
        assert_eq!(strict.status.code(), Some(1), "{told}");
        assert!(told.contains("dropped: 1 module that cannot be right"), "{told}");
        if is_seen_by_programs {
            program_sets_aside(&shop, &bytes, &fresh);
        }
    }
}

/// Sums stay at the largest number, and whoever reads them is told.
#[test]
fn counts_at_the_largest_number() {
    let shop = ran();
    let weighted = |from: &str, to: &str| {
        let weighted = format!("4294967295={from}");
        errors(&shop.tool(&["merge", "--weight", &weighted, "-o", to]))
    };
    assert_eq!(weighted("ours.csraw", "more.csraw"), "");
    let told = weighted("more.csraw", "most.csraw");
    assert!(told.contains("at the largest number: the true sums may be larger"), "{told}");
    let told = errors(&shop.tool(&["merge", "most.csraw", "ours.csraw", "-o", "sum.csraw"]));
    assert!(told.contains("at the largest number"), "{told}");
    let check = shop.tool(&["check", "sum.csraw"]);
    let found = String::from_utf8(check.stdout).unwrap();
    assert_eq!((check.status.code(), found.lines().count()), (Some(1), 1), "{found}");
    let output = shop.tool(&["convert", "sum.csraw", "--to", "lcov", "-o", "out.info"]);
    let told = errors(&output);
    assert!(output.status.success() && told.contains("at the largest number"), "{output:?}");
    let report = String::from_utf8(shop.read("out.info")).unwrap();
    let largest = format!(",{}\n", i64::MAX);
    assert!(report.contains(&largest) && !report.contains("-ftest-coverage"), "{report}");
}

/// Changes 32 bits behind the header of the first section of a kind, and its checksum.
fn with_changed_bits(dump: &[u8], kind: SectionKind, offset: usize, bits: u32) -> Vec<u8> {
    let mut dump = dump.to_vec();
    let places = sections(&dump).unwrap();
    let (start, _, length) = places.iter().find(|(_, found, _)| *found == kind).unwrap();
    let section = &mut dump[*start as usize..][..*length as usize];
    let word: &mut [u8; 4] = (&mut section[16 + offset..][..4]).try_into().unwrap();
    *word = (u32::from_ne_bytes(*word) ^ bits).to_ne_bytes();
    let sum = checksum(section);
    section[..4].copy_from_slice(&sum.to_ne_bytes());
    dump
}

/// A program of one function with arcs only, and its dump.
fn ran_one_function() -> Workshop {
    let shop = Workshop::new();
    shop.write("ours.c", "int puts(const char *);\nint main(void) { puts(\"60\"); return 0; }\n");
    shop.gcc(&["-fprofile-arcs", "-c", "ours.c"]);
    shop.link(&["ours.o"], "ours", &[]);
    shop.run("ours", &[]);
    shop
}

/// Functions as long as SUMS are not taken for it.
#[test]
fn sums_before_the_functions() {
    let shop = ran_one_function();
    let whole = shop.read("ours.csraw");
    let mut places = sections(&whole).unwrap();
    let [.., (_, SectionKind::Functions, 56), (_, SectionKind::Sums, 56), _] = places[..] else {
        panic!("{places:?}");
    };
    places.swap(3, 4);
    let mut buffer = [0; MAX_SECTION];
    let mut writer = Writer::new(Vec::new(), &mut buffer);
    for &(start, kind, length) in &places[..5] {
        let payload = &whole[start as usize..][16..length as usize];
        let Ok(()) = writer.put(kind, payload);
    }
    let Ok(swapped) = writer.finish();
    program_sets_aside(&shop, &swapped, &whole);
}

/// Rows of functions in a program of clang: their number, the head of the first, the width of the counters.
#[test]
fn rows_that_contradict_themselves() {
    let Some(llvm) = crate::llvm::all().pop() else { return };
    let shop = Workshop::new();
    shop.write(
        "ours.c",
        "#include <stdio.h>\nint one(void) { return 20; }\nint two(void) { return 40; }\n\
         int main(void) { printf(\"%d\\n\", one() + two()); return 0; }\n",
    );
    let flag = "-fprofile-instr-generate=ours.csraw";
    let object = llvm.object(&shop, "ours.c", &["-O0", flag]);
    shop.library();
    llvm.clang(&shop, &[&[flag, &object, "-o", "ours"], &OURS[..]].concat());
    shop.run("ours", &[]);
    let whole = shop.read("ours.csraw");
    for (offset, bits, expected) in [
        (0, 1, Some("counters of an unknown width")),
        (0, 1 << 20, Some("number of functions differs")),
        (8, 1, None),
        (28, 1, Some("its kinds of counters contradict")),
        (80, 4, Some("counters of an unknown width")),
        (80, 3, Some("a part is not in one section")),
    ] {
        let changed = with_changed_bits(&whole, SectionKind::Functions, offset, bits);
        let found = Dump::parse(&changed).map_err(|damage| damage.to_string());
        match expected {
            Some(what) => {
                assert!(found.as_ref().is_err_and(|found| found.contains(what)), "{found:?}")
            }
            None => assert_ne!(found.unwrap().modules.len(), 0),
        }
        program_sets_aside(&shop, &changed, &whole);
    }
}

/// If a linker was told which build-id to give, two builds may be taken for one.
#[test]
fn the_same_build_id_and_other_functions() {
    let shop = ran();
    let whole = shop.read("ours.csraw");
    for (offset, bits) in [(0, 1), (8, 1 << 31), (12, 1), (16, 1)] {
        let other = with_changed_bits(&whole, SectionKind::Functions, offset, bits);
        program_sets_aside(&shop, &other, &whole);
    }
    let other = with_changed_bits(&whole, SectionKind::Functions, 0, 1);
    let mut both = Dump::parse(&whole).unwrap();
    for _ in 0..2 {
        both.merge(Dump::parse(&other).unwrap());
    }
    let runs: Vec<u64> = both.modules.iter().map(|module| module.sums.runs).collect();
    assert_eq!(runs, [1, 2]);
}

/// Nor are they added if only the number of the last function's counters differs.
#[test]
fn the_same_build_id_and_one_counter_more() {
    let shop = ran_one_function();
    let whole = shop.read("ours.csraw");
    let mut buffer = [0; MAX_SECTION];
    let mut writer = Writer::new(Vec::new(), &mut buffer);
    for (start, kind, length) in sections(&whole).unwrap() {
        let mut payload = whole[start as usize..][16..length as usize].to_vec();
        match kind {
            SectionKind::Functions => {
                payload[16] += 1;
                payload.extend(7i64.to_ne_bytes());
            }
            SectionKind::Sums => payload[24] += 1,
            SectionKind::End => break,
            _ => {}
        }
        let Ok(()) = writer.put(kind, &payload);
    }
    let Ok(more) = writer.finish();
    let [whole, more] = [whole, more].map(|bytes| Dump::parse(&bytes).unwrap());
    assert_eq!(whole.modules[0].record.identity, more.modules[0].record.identity);
    for (mut one, other) in [(whole.clone(), &more), (more.clone(), &whole)] {
        (0..2).for_each(|_| one.merge(other.clone()));
        let runs: Vec<u64> = one.modules.iter().map(|module| module.sums.runs).collect();
        assert_eq!(runs, [1, 2]);
    }
}

#[test]
fn a_binary_that_is_stripped_or_rebuilt() {
    let shop = Workshop::new();
    shop.program("hello.c");
    shop.write("other.c", "int twice(int x) { return 2 * x; }\n");
    shop.write("drive.c", DRIVE);
    let objects = [shop.compile("drive.c", &[]), shop.compile("other.c", &[])];
    let objects = [objects[0].as_str(), objects[1].as_str()];
    shop.link(&objects, "ours", &[]);
    shop.run("ours", &[]);
    let targets = |arguments: &[&str]| {
        let convert = [&["convert", "ours.csraw", "--to", "v4-text"], arguments].concat();
        let output = shop.tool(&convert);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        (text.contains("\"twice\":-1"), errors(&output))
    };
    // The callee's notes are missing: its name comes from the binary.
    fs::remove_file(shop.path("other.gcno")).unwrap();
    let kept = objects.map(|object| (object, shop.read(object)));
    objects.iter().for_each(|object| fs::remove_file(shop.path(object)).unwrap());
    let (named, told) = targets(&[]);
    assert!(named, "{told}");
    fs::copy(shop.path("ours"), shop.path("whole")).unwrap();

    succeed(shop.command("strip").arg("ours"));
    let (named, told) = targets(&[]);
    assert!(!named && told.contains("ours: stripped: it has no symbol table; not used"), "{told}");
    assert!(told.contains("1 call target without a name"), "{told}");
    assert!(targets(&["--binary", "whole"]).0);
    fs::copy(shop.path("ours"), shop.path("bare")).unwrap();
    let (named, told) = targets(&["--binary", "bare"]);
    assert!(!named && told.contains("bare: stripped: it has no symbol table; not used"), "{told}");

    // Or from the objects, which are still there.
    kept.iter().for_each(|(object, bytes)| _ = shop.write(object, bytes));
    let (named, told) = targets(&[]);
    assert!(
        named && told.contains("ours: stripped: it has no symbol table; 2 objects used instead"),
        "{told}"
    );

    shop.link(&objects, "ours", &["-Wl,--build-id=0x1234"]);
    objects.iter().for_each(|object| fs::remove_file(shop.path(object)).unwrap());
    let (named, told) = targets(&[]);
    assert!(
        !named && told.contains("the binary has been rebuilt, or is another: build-id 1234"),
        "{told}"
    );
    let words = ["ours: the binary has been rebuilt, or is another: build-id 1234, expected "];
    tool_fails(&shop, &["convert", "ours.csraw", "--to=v4", "--binary", "ours"], &words);
    tool_fails(&shop, &["convert", "ours.csraw", "--to=v4", "--binary", "hello.c"], &["hello.c: "]);
}

/// A program and its shared object, both moved, each named.
#[test]
fn several_binaries() {
    let shop = Workshop::new();
    let library = shop.library();
    let program = shop.compile("uses_library.c", &[]);
    shop.link(&[&program, "./library.so"], "ours", &[]);
    shop.run("ours", &[]);
    let expected = shop.tool_output(&["convert", "ours.csraw", "--to=v4"]);
    fs::create_dir(shop.path("kept")).unwrap();
    for file in ["ours", "library.so"] {
        fs::rename(shop.path(file), shop.path("kept").join(file)).unwrap();
    }
    [library, program].iter().for_each(|object| fs::remove_file(shop.path(object)).unwrap());
    let (ours, library) = (["--binary", "kept/ours"], ["--binary", "kept/library.so"]);
    let convert =
        |binaries: &[&str]| shop.tool(&[&["convert", "ours.csraw", "--to=v4"], binaries].concat());
    for one in [ours, library] {
        let output = convert(&one);
        assert!(errors(&output).contains("No such file"), "{output:?}");
    }
    let output = convert(&[ours, library].concat());
    assert_eq!(output.stdout, expected);
    assert!(!errors(&output).contains("not used"), "{output:?}");
}

/// A file that was split off is found again, if it belongs to the binary.
#[test]
fn a_binary_with_a_debug_file_of_its_own() {
    if !have("objcopy") {
        return;
    }
    let shop = Workshop::new();
    shop.write("other.c", "int twice(int x) { return 2 * x; }\n");
    // Two sites. Their order says nothing, since another call is between them.
    let call = "        sum += table[i % 1](i);\n";
    let twice = format!("    {{\n{call}        puts(\"\");\n{call}    }}\n");
    let drive = DRIVE.replace(call, &twice);
    let drive =
        drive.replace("!= 90", "!= 180").replace("int twice", "int puts(const char *);\nint twice");
    shop.write("drive.c", drive);
    let objects = [shop.compile("drive.c", &[]), shop.compile("other.c", &[])];
    shop.link(&[&objects[0], &objects[1]], "ours", &[]);
    succeed(&mut shop.command(shop.path("ours")));
    fs::remove_file(shop.path("other.gcno")).unwrap();
    let kept = objects.clone().map(|object| (shop.read(&object), object));
    kept.iter().for_each(|(_, object)| fs::remove_file(shop.path(object)).unwrap());
    let converted = || {
        let output = shop.tool(&["convert", "ours.csraw", "--to", "v4-text"]);
        (String::from_utf8(output.stdout.clone()).unwrap(), errors(&output))
    };
    let (whole, told) = converted();
    assert!(told.contains(", 2 indirect-call sites"), "{told}");
    assert!(whole.contains("\"twice\":-1"), "{whole}");

    succeed(shop.command("objcopy").args(["--only-keep-debug", "ours", "ours.debug"]));
    succeed(shop.command("strip").arg("ours"));
    succeed(shop.command("objcopy").args(["--add-gnu-debuglink=ours.debug", "ours"]));
    assert_eq!(converted().0, whole);
    fs::create_dir(shop.path(".debug")).unwrap();
    fs::rename(shop.path("ours.debug"), shop.path(".debug/ours.debug")).unwrap();
    assert_eq!(converted().0, whole);
    // The file of another program.
    fs::copy("/bin/true", shop.path(".debug/ours.debug")).unwrap();
    let (_, told) = converted();
    assert!(
        told.contains("ours: stripped: it has no symbol table; not used for indirect calls"),
        "{told}"
    );

    kept.iter().for_each(|(bytes, object)| _ = shop.write(object, bytes));
    shop.link(&[&objects[0], &objects[1]], "ours", &["-Wl,--compress-debug-sections=zlib"]);
    kept.iter().for_each(|(_, object)| fs::remove_file(shop.path(object)).unwrap());
    fs::remove_file(shop.path("ours.csraw")).unwrap();
    succeed(&mut shop.command(shop.path("ours")));
    assert_eq!(converted().0, whole);
}

/// An object that was compiled again after the link tells other lines.
#[test]
fn objects_and_programs_of_another_compilation() {
    let shop = Workshop::new();
    shop.write("other.c", "int twice(int x) { return 2 * x; }\n");
    shop.write("drive.c", DRIVE);
    let objects = [shop.compile("drive.c", &[]), shop.compile("other.c", &[])];
    let link = || shop.link(&[&objects[0], &objects[1]], "ours", &["-Wl,--build-id=none"]);
    link();
    shop.run("ours", &[]);
    fs::create_dir(shop.path("notes")).unwrap();
    for notes in ["drive.gcno", "other.gcno"] {
        fs::copy(shop.path(notes), shop.path("notes").join(notes)).unwrap();
    }
    let told = || {
        let convert = ["convert", "ours.csraw", "--to=v4", "--notes", "notes", "-v", "-o", "x"];
        errors(&shop.tool(&convert))
    };
    // Line and number of calls.
    let targets = || {
        let profile =
            countersink::formats::afdo_v4::decode::decode(&shop.read("x")).unwrap().profile;
        let is_drive = |symbol| profile.symbols.name(symbol) == b"drive";
        let (_, drive) = profile.functions.iter().find(|(symbol, _)| is_drive(**symbol)).unwrap();
        let called = drive.body.positions.iter().filter(|(_, record)| !record.targets.is_empty());
        called
            .map(|(at, record)| (at.line, record.targets.values().sum()))
            .collect::<Vec<(u32, u64)>>()
    };
    assert!(told().contains(", 1 indirect-call site"), "{}", told());
    assert_eq!(targets(), [(4, 10)]);
    // The same functions, with the call further down.
    shop.write("drive.c", DRIVE.replace("        sum", "\n\n        sum"));
    shop.compile("drive.c", &[]);
    link();
    let after = told();
    assert!(
        after.contains("ours: comes from another compilation; 1 object used instead"),
        "{after}"
    );
    assert!(after.contains("drive.o: comes from another compilation; not used"), "{after}");
    // The notes alone are certain about the line of the only call.
    assert_eq!(targets(), [(4, 10)]);
}

/// Whatever is wrong with an object or a program, what dump and notes tell without it stays.
#[test]
fn damaged_code() {
    let shop = Workshop::new();
    shop.write("other.c", "int twice(int x) { return 2 * x; }\n");
    shop.write("drive.c", DRIVE);
    let objects = [shop.compile("drive.c", &[]), shop.compile("other.c", &[])];
    shop.link(&[&objects[0], &objects[1]], "ours", &[]);
    shop.run("ours", &[]);
    let counts = Counts::read(&shop, "ours.csraw");
    let look = |bytes: &[u8]| {
        let (profile, statistics) = counts.profile(bytes, Reader::EXACT);
        assert_eq!(statistics.functions, 3);
        let heads = profile.functions.iter().map(|(&symbol, f)| {
            (std::str::from_utf8(profile.symbols.name(symbol)).unwrap(), f.head_count)
        });
        let heads: BTreeMap<&str, u64> = heads.filter(|&(_, head)| head > 0).collect();
        assert_eq!(heads, [("drive", 1), ("main", 1), ("twice", 10)].into());
    };
    let (object, program) = (shop.read(&objects[0]), shop.read("ours"));
    let mut random = 1u64;
    let mut damage = |bytes: &[u8]| {
        let mut damaged = bytes.to_vec();
        for _ in 0..4 {
            // The constants of Knuth's MMIX.
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let place = (random >> 33) as usize % damaged.len();
            damaged[place] = (random >> 20) as u8;
        }
        damaged
    };
    for round in 0..400 {
        let cut = object.len() * round / 400;
        for object in [damage(&object), object[..cut].to_vec()] {
            relocate(&object).iter().for_each(|bytes| look(bytes));
        }
        look(&damage(&program));
    }

    // All sections get a larger alignment than there is.
    let sections = u64::from_le_bytes(object[0x28..0x30].try_into().unwrap()) as usize;
    for alignment in [1u64 << 63, 0xffff_ffff, 3] {
        let mut damaged = object.clone();
        for header in damaged[sections..].as_chunks_mut::<64>().0 {
            header[0x30..0x38].copy_from_slice(&alignment.to_le_bytes());
        }
        relocate(&damaged).iter().for_each(|bytes| look(bytes));
    }
}

const DRIVE: &str = "\
int twice(int x);
int (*table[])(int) = {twice};
__attribute__((noinline)) int drive(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i % 1](i);
    return sum;
}
int main(void) { return drive(10) != 90; }
";

/// The new build's counts stand beside the old build's, and are not mixed with them.
#[test]
fn a_rebuilt_program_writes_into_the_old_one_s_file() {
    let shop = ran();
    shop.write("hello.c", "int main(int argc, char **argv) { (void)argv; return argc > 4; }\n");
    let object = shop.compile("hello.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    shop.run("ours", &[]);
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    let runs: Vec<u64> = dump.modules.iter().map(|module| module.sums.runs).collect();
    assert_eq!(runs, [1, 2]);
    // The notes are the new build's. Nothing of the old one is used, and the tool says so.
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x.gcov"]);
    assert!(output.status.success());
    assert!(
        errors(&output).contains("1 object with the notes of another compilation"),
        "{output:?}"
    );
    let output = shop.tool(&["convert", "ours.csraw", "--to", "gcda"]);
    assert!(
        errors(&output).contains("; 1 object left out: other builds have the same files"),
        "{output:?}"
    );
}

/// A file may be longer than what it holds.
#[test]
fn a_dump_with_a_hole_behind_it() {
    let shop = ran_one_function();
    let length = shop.read("ours.csraw").len();
    let dump = fs::File::options().write(true).open(shop.path("ours.csraw")).unwrap();
    dump.set_len(1 << 42).unwrap();
    for arguments in [["merge", "ours.csraw"], ["convert", "ours.csraw"]] {
        let output = shop.tool(&[&arguments[..], &["-o", "out"]].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        let expected = format!("{length:#x}: expected the end of the file after END");
        assert!(told.contains(&expected), "{told}");
    }
}

/// The first folder has the notes of another compilation, the second those that fit.
#[test]
fn notes_in_the_second_folder() {
    let shop = ran();
    let fitting = shop.read("hello.gcno");
    let mut other = fitting.clone();
    other[8] ^= 1;
    shop.write("first/hello.gcno", &other);
    shop.write("second/hello.gcno", &fitting);
    fs::remove_file(shop.path("hello.gcno")).unwrap();
    for folders in [["first", "second"], ["second", "first"]] {
        let [first, second] = folders;
        let notes = ["--notes", first, "--notes", second];
        let convert = [&["convert", "ours.csraw", "--to=v4", "-o", "x.gcov"], &notes[..]].concat();
        shop.tool_output(&convert);
        let lcov = [&["convert", "ours.csraw", "--to", "lcov", "-o", "x.info"], &notes[..]];
        shop.tool_output(&lcov.concat());
    }
    let only = ["convert", "ours.csraw", "--to=v4", "--notes", "first"];
    tool_fails(&shop, &only, &["1 object with the notes of another compilation"]);
}

#[test]
fn moves_of_nothing() {
    let shop = ran();
    let here = shop.path("").canonicalize().unwrap();
    let fits = format!("{0}={0}", here.display());
    let maps = ["--path-map", &fits, "--path-map", "/nowhere=/x"];
    for to in ["v4", "lcov"] {
        let convert = [&["convert", "ours.csraw", "--to", to, "-o", "out"], &maps[..]].concat();
        let told = errors(&shop.tool(&convert));
        assert!(told.contains("--path-map /nowhere=/x: no path begins with /nowhere\n"), "{told}");
        assert_eq!(told.matches("--path-map").count(), 1, "{told}");
    }
}

/// lcov's format has no place for an end of a line. The other files stay.
#[test]
fn sources_with_an_end_of_a_line() {
    let shop = Workshop::new();
    shop.write(
        "odd.c",
        "int main(void) { return 0; }\n#line 1 \"odd\\nname.c\"\nint f(void) { return 1; }\n",
    );
    shop.gcc(&["--coverage", "-c", "odd.c"]);
    shop.link(&["odd.o"], "ours", &[]);
    shop.run("ours", &[]);
    let told = errors(&shop.tool(&["convert", "ours.csraw", "--to", "lcov"]));
    assert!(told.contains("1 file that is missing: ") && told.contains("odd\\nname.c;"), "{told}");
    shop.write("odd\nname.c", "");
    let output = shop.tool(&["convert", "ours.csraw", "--to", "lcov"]);
    let told = errors(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("left out: the file \""), "{told}");
    assert!(told.contains("odd\\nname.c\", a name that lcov's format cannot hold"), "{told}");
    assert!(told.contains(", no branches\n"), "{told}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("/odd.c\nFN:1,main\n") && !report.contains("name.c"), "{report}");
}
