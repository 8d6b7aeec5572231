//! Versions 1 to 3 against their golden bytes, and the diagnosis of defects. `tests/placement/gcc.rs` looks at what
//! compilers make of them.

use countersink::formats::EncodeError;
use countersink::formats::afdo_v1_v3::check::{Defect, Part};
use countersink::formats::afdo_v1_v3::decode::{Decoded, decode};
use countersink::formats::afdo_v1_v3::encode::encode;
use countersink::formats::afdo_v1_v3::{Layout, Version};
use countersink::formats::afdo_v1_v3::{
    names::Names,
    rules::{Discriminators, Rules},
};
use countersink::profile::{Body, DEEPEST, Function, Position, Profile, Record, SymbolId};

use crate::golden::{example, mini, sha256};

const VERSIONS: [Version; 4] = [Version::V1, Version::V2, Version::V3, Version::V407];

/// `mini` in version 2 up to the working set, which is zeros.
const MINI: &str = "\
    61 64 63 67 02 00 00 00 00 00 00 00 00 00 00 aa \
    0c 00 00 00 05 00 00 00 01 00 00 00 00 04 00 00 \
    00 63 62 31 00 04 00 00 00 63 62 32 00 05 00 00 \
    00 6d 61 69 6e 00 03 00 00 00 73 71 00 00 00 00 \
    ac 24 00 00 00 01 00 00 00 01 00 00 00 00 00 00 \
    00 03 00 00 00 03 00 00 00 01 00 00 00 00 00 02 \
    00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 03 \
    00 00 00 00 00 e8 03 00 00 00 00 00 00 00 00 04 \
    00 02 00 00 00 00 f2 05 2a 01 00 00 00 07 00 00 \
    00 01 00 00 00 00 00 00 00 bc 02 00 00 00 00 00 \
    00 07 00 00 00 02 00 00 00 00 00 00 00 2c 01 00 \
    00 00 00 00 00 00 00 05 00 04 00 00 00 01 00 00 \
    00 00 00 00 00 00 00 01 00 00 00 00 00 2a 00 00 \
    00 00 00 00 00 00 00 00 ae 00 00 00 00 00 00 00 \
    00";

/// The name table of `mini` in version 1: strings are counted in words.
const MINI_NAMES_1: &str = "\
    00 00 00 aa 0c 00 00 00 05 00 00 00 01 00 00 00 00 00 00 00 \
    01 00 00 00 63 62 31 00 01 00 00 00 63 62 32 00 \
    02 00 00 00 6d 61 69 6e 00 00 00 00 01 00 00 00 73 71 00 00 \
    00 00 00 ac";

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// A file that keeps everything its version can hold.
fn file(profile: &Profile, version: Version) -> Vec<u8> {
    encode(profile, Rules::that_keep_most(version)).unwrap().bytes
}

fn for_gcc(profile: &Profile, major: u32) -> Decoded {
    let decoded = decode(&encode(profile, Rules::for_gcc(major).unwrap()).unwrap().bytes).unwrap();
    assert!(decoded.findings.is_empty());
    decoded
}

fn defects(bytes: &[u8]) -> Vec<Defect> {
    decode(bytes).unwrap().findings.iter().map(|finding| finding.defect).collect()
}

fn has(file: &[u8], name: &str) -> bool {
    file.windows(name.len()).any(|window| window == name.as_bytes())
}

/// The file with the bytes at `place` replaced.
fn with(mut file: Vec<u8>, place: usize, bytes: &[u8]) -> Vec<u8> {
    file[place..place + bytes.len()].copy_from_slice(bytes);
    file
}

/// Functions with these names and files. Each one's number is its head count.
fn functions(names: &[(&str, Option<&str>, u64)]) -> Profile {
    let mut profile = Profile::default();
    for &(name, file, head_count) in names {
        let file = file.map(|file| profile.symbols.file(file.as_bytes()));
        let symbol = profile.symbols.symbol(name.as_bytes(), file);
        profile.add(symbol, Function { head_count, ..Function::default() });
    }
    profile
}

/// Names, files and head counts in canonical order.
fn heads(profile: &Profile) -> Vec<(String, String, u64)> {
    let mut symbols: Vec<_> = profile.functions.keys().copied().collect();
    symbols.sort_by(|&a, &b| profile.symbols.canonical_order(a, b));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let head = |symbol| {
        let file = profile.symbols.declared_in(symbol).unwrap_or(b"?");
        (text(profile.symbols.name(symbol)), text(file), profile.functions[&symbol].head_count)
    };
    symbols.into_iter().map(head).collect()
}

fn head(name: &str, file: &str, count: u64) -> (String, String, u64) {
    (name.into(), file.into(), count)
}

#[test]
fn mini_is_byte_for_byte_the_golden_file() {
    let v2 = file(&mini(), Version::V2);
    let golden = bytes(MINI);
    assert_eq!(v2[..golden.len()], golden);
    assert_eq!(v2.len(), 1769);
    assert!(sha256(&v2).starts_with("7c46b2607378dc06"));

    // There the files of the targets are unknown.
    let mut unknown = mini();
    let [cb1, cb2] = [b"cb1", b"cb2"].map(|name| unknown.symbols.symbol(name, None));
    let main = unknown.functions.values_mut().next().unwrap();
    let call = main.body.positions.get_mut(&Position::line(4)).unwrap();
    call.targets = [(cb1, 700), (cb2, 300)].into_iter().collect();
    let v3 = file(&unknown, Version::V3);
    assert_eq!(v3.len(), 2189);
    assert!(sha256(&v3).starts_with("8dff200be77d9375"));

    let names = bytes(MINI_NAMES_1);
    for (version, word) in [(Version::V1, [1, 0, 0, 0]), (Version::V407, *b"*704")] {
        let v1 = file(&mini(), version);
        assert_eq!(v1[4..8], word);
        assert_eq!(v1[12..12 + names.len()], names);
        // Behind the names there is no difference.
        assert_eq!(v1[12 + names.len()..], v2[0x41..]);
    }
}

#[test]
fn what_is_written_is_read() {
    for profile in [mini(), example()] {
        for version in VERSIONS {
            let written = file(&profile, version);
            let read = decode(&written).unwrap();
            assert_eq!(read.version, version);
            assert!(read.findings.is_empty());
            assert_eq!(read.layout, Layout::of(version));
            assert_eq!(file(&read.profile, version), written, "{version:?}");
            if version == Version::V3 {
                assert_eq!(file(&read.profile, Version::V2), file(&profile, Version::V2));
                assert_eq!(read.summary, Some(profile.summary()));
            }
        }
    }
}

#[test]
fn the_other_byte_order_is_read() {
    // Version 1 consists of words, except for its names.
    let native = file(&mini(), Version::V1);
    let mut swapped = native.clone();
    swapped.chunks_mut(4).for_each(<[u8]>::reverse);
    for place in [0x1c, 0x24, 0x2c, 0x34, 0x38, 0x40] {
        swapped[place..place + 4].reverse();
    }
    let read = decode(&swapped).unwrap();
    assert!(read.findings.is_empty());
    assert_eq!(file(&read.profile, Version::V1), native);
}

/// Version 3 without timestamps, and also without summary.
#[test]
fn earlier_layouts_of_version_3() {
    let current = file(&mini(), Version::V3);
    let names = 12 + 4 + 6 * 8 + 16 * 20;
    assert_eq!(current[names..names + 4], [0, 0, 0, 0xaa]);
    let functions = current.windows(4).position(|word| word == [0, 0, 0, 0xac]).unwrap();
    let timestamp = functions + 4 + 4 + 4 + 8;
    let without_timestamp = [&current[..timestamp], &current[timestamp + 8..]].concat();
    let without_summary = [&current[..12], &without_timestamp[names..]].concat();
    for file_of_it in [&without_timestamp, &without_summary] {
        let read = decode(file_of_it).unwrap();
        assert_eq!(read.findings.iter().map(|f| f.defect).collect::<Vec<_>>(), [Defect::Layout]);
        assert!(!read.layout.timestamps);
        assert_eq!(file(&read.profile, Version::V3), current);
    }
    assert!(decode(&without_timestamp).unwrap().layout.summary);
    assert!(!decode(&without_summary).unwrap().layout.summary);
}

/// `create_gcov` has put 0x3430372a before each layout. Debian's has put the strings of version 1 into files
/// of version 2.
#[test]
fn layouts_under_other_numbers() {
    for version in [Version::V2, Version::V3] {
        let other = with(file(&mini(), version), 4, b"*704");
        let read = decode(&other).unwrap();
        assert_eq!((read.version, read.layout), (Version::V407, Layout::of(version)));
        assert_eq!(defects(&other), [Defect::Layout]);
        assert_eq!(file(&read.profile, version), file(&mini(), version));
    }
    let crashes_gcc = with(file(&mini(), Version::V1), 4, &[2]);
    assert_eq!(defects(&crashes_gcc), [Defect::Layout]);
}

#[test]
fn compilers_that_ignore_discriminators_get_one_position_a_line() {
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    for (discriminator, count) in [(0, 5), (2, 7)] {
        let record = Record { count: Some(count), ..Record::default() };
        main.body.positions.insert(Position { line: 3, discriminator }, record);
    }
    let inlined = main.body.positions[&Position::line(5)].clone();
    main.body.positions.insert(Position { line: 5, discriminator: 9 }, inlined);
    for major in [10, 11, 12] {
        let read = for_gcc(&profile, major).profile;
        let main = read.functions.values().next().unwrap();
        let positions: Vec<_> = main
            .body
            .positions
            .iter()
            .map(|(at, record)| (at.line, at.discriminator, record.count))
            .collect();
        assert_eq!(
            positions,
            [(2, 0, Some(0)), (3, 0, Some(1000)), (4, 0, Some(5_000_000_000)), (5, 0, None)]
        );
        assert_eq!(main.body.total(), 5_000_001_000 + 2 * 42);
    }
    for major in 13..=17 {
        let read = for_gcc(&profile, major).profile;
        let main = read.functions.values().next().unwrap();
        assert_eq!(main.body.positions.len(), 7);
    }
}

/// Their sum stays where a line has no other count.
#[test]
fn gcc_11_is_given_no_targets() {
    let mut profile = functions(&[("f", None, 1), ("g", None, 1)]);
    let target = *profile.functions.keys().next_back().unwrap();
    let caller = profile.functions.values_mut().next().unwrap();
    let record = Record { targets: [(target, 7)].into_iter().collect(), ..Record::default() };
    caller.body.positions.insert(Position::line(3), record);
    for (rules, targets, dropped) in [
        (Rules::for_gcc(10).unwrap(), 1, 0),
        (Rules::for_gcc(11).unwrap(), 0, 1),
        (Rules::for_version(Version::V1), 0, 1),
        (Rules::that_keep_most(Version::V1), 1, 0),
        (Rules::for_gcc(12).unwrap(), 1, 0),
    ] {
        let encoded = encode(&profile, rules).unwrap();
        assert_eq!(encoded.targets, dropped, "{rules:?}");
        let read = decode(&encoded.bytes).unwrap().profile;
        let record = &read.functions.values().next().unwrap().body.positions[&Position::line(3)];
        assert_eq!((record.targets.len(), record.count), (targets, Some(7)), "{rules:?}");
    }
}

/// gcc 11 ends with an internal error at a virtual call if the function is inlined there in itself. Nothing shows such
/// a call that was never executed.
#[test]
fn gcc_11_is_given_no_body_inside_itself() {
    let mut profile = functions(&[("f", None, 1), ("g", None, 1)]);
    let [f, g] = *profile.functions.keys().copied().collect::<Vec<_>>() else { unreachable!() };
    let body = |callee, inlined: Body| {
        let inlined = [(callee, inlined)].into_iter().collect();
        let mut body = Body::default();
        body.positions.insert(Position::line(2), Record { inlined, ..Record::default() });
        body
    };
    let mut innermost = Body::default();
    innermost.positions.insert(Position::line(1), Record { count: Some(4), ..Record::default() });
    profile.functions.get_mut(&f).unwrap().body = body(g, body(f, innermost));
    let total = profile.functions[&f].body.total() + profile.functions[&g].body.total();
    for (major, head_count) in [(10, 1), (11, 5)] {
        let read = for_gcc(&profile, major).profile;
        let [f, g] = read.functions.values().collect::<Vec<_>>()[..] else { unreachable!() };
        assert_eq!(f.head_count, head_count, "gcc {major}");
        assert_eq!(f.body.total() + g.body.total(), total, "gcc {major}");
    }
}

/// For gcc 11 a body at an indirect call would be a target. The body has a position of its own: gcc 11 does not
/// distinguish the two.
#[test]
fn gcc_11_is_given_no_body_at_an_indirect_call() {
    let mut profile = functions(&[("f", None, 1), ("g", None, 1)]);
    let [f, g] = *profile.functions.keys().copied().collect::<Vec<_>>() else { unreachable!() };
    let count = |count| Record { count: Some(count), ..Record::default() };
    let mut body = Body::default();
    body.positions.insert(Position::line(1), count(4));
    let site = Record { targets: [(g, 3)].into_iter().collect(), ..count(7) };
    let inlined = Record { inlined: [(g, body)].into_iter().collect(), ..Record::default() };
    let at = |line, discriminator| Position { line, discriminator };
    let positions = &mut profile.functions.get_mut(&f).unwrap().body.positions;
    for (position, record) in [(at(3, 0), inlined.clone()), (at(3, 2), site), (at(4, 0), inlined)] {
        positions.insert(position, record);
    }
    let total = profile.functions[&f].body.total() + profile.functions[&g].body.total();
    for (major, head_count, bodies) in [(10, 1, 1), (11, 5, 0)] {
        let read = for_gcc(&profile, major).profile;
        let [f, g] = read.functions.values().collect::<Vec<_>>()[..] else { unreachable!() };
        let inlined = [3, 4].map(|line| f.body.positions[&Position::line(line)].inlined.len());
        assert_eq!((g.head_count, inlined), (head_count, [bodies, 1]), "gcc {major}");
        assert_eq!(f.body.total() + g.body.total(), total, "gcc {major}");
    }
}

#[test]
fn names_are_cut_and_equal_ones_added() {
    let profile = functions(&[
        ("f", Some("a.c"), 1),
        ("f", Some("b.c"), 10),
        ("f.constprop.0", Some("a.c"), 100),
        ("f.other", None, 1000),
        (".hidden.x", None, 2),
    ]);
    for major in 10..=15 {
        assert_eq!(
            heads(&for_gcc(&profile, major).profile),
            [head(".hidden", "?", 2), head("f", "?", 1111)]
        );
    }
    let llvm = decode(&encode(&profile, Rules::for_version(Version::V407)).unwrap().bytes).unwrap();
    assert_eq!(
        heads(&llvm.profile),
        [
            head(".hidden.x", "?", 2),
            head("f", "?", 11),
            head("f.constprop.0", "?", 100),
            head("f.other", "?", 1000)
        ]
    );
}

#[test]
fn statics_of_equal_name_are_kept_apart_for_gcc_16() {
    let profile = functions(&[
        ("util", Some("src/a.c"), 111),
        ("util", Some("src/b.c"), 999),
        ("util.isra.0", Some("src/b.c"), 1),
        ("once.constprop.0.cold", Some("src/b.c"), 5),
        ("dotted.name", None, 6),
    ]);
    let written = encode(&profile, Rules::for_gcc(16).unwrap()).unwrap().bytes;
    assert!(has(&written, "util.lto_priv.1"));
    let read = for_gcc(&profile, 16).profile;
    assert_eq!(
        heads(&read),
        [
            head("util", "src/a.c", 111),
            head("once", "src/b.c", 5),
            head("util", "src/b.c", 1000),
            head("dotted.name", "?", 6),
        ]
    );
    assert_eq!(encode(&read, Rules::for_gcc(16).unwrap()).unwrap().bytes, written);
}

/// GCC 16 finds no inlined copies of functions with other names than they have in the object.
#[test]
fn the_static_with_the_hottest_copies_keeps_its_name_for_gcc_16() {
    let mut profile = functions(&[
        ("util", Some("a.c"), 111),
        ("util", Some("b.c"), 999),
        ("util", Some("c.c"), 5),
        ("main", Some("c.c"), 1),
    ]);
    let symbols = |profile: &Profile, name: &str| -> Vec<SymbolId> {
        let all = profile.symbols.iter();
        all.filter(|&symbol| profile.symbols.name(symbol) == name.as_bytes()).collect()
    };
    let (utils, main) = (symbols(&profile, "util"), symbols(&profile, "main")[0]);
    for (line, (&util, count)) in (1..).zip(utils.iter().zip([10, 2000, 2000])) {
        let main = &mut profile.functions.get_mut(&main).unwrap().body;
        let at = main.positions.entry(Position { line, discriminator: 0 }).or_default();
        let copy = at.inlined.entry(util).or_default();
        copy.positions.entry(Position { line: 2, discriminator: 0 }).or_default().count =
            Some(count);
    }
    let written = encode(&profile, Rules::for_gcc(16).unwrap()).unwrap().bytes;
    assert!(has(&written, "util.lto_priv.0") && has(&written, "util.lto_priv.2"));
    assert!(!has(&written, "util.lto_priv.1"));
    assert_eq!(heads(&for_gcc(&profile, 16).profile), heads(&profile));
}

/// GCC 16 forgets the first of two files with one base name.
#[test]
fn files_of_equal_base_name() {
    let profile = functions(&[
        ("only_x", Some("x/util.c"), 1),
        ("only_y", Some("y/util.c"), 2),
        ("both", Some("x/util.c"), 4),
        ("both", Some("y/util.c"), 8),
        ("apart", Some("y/util.c"), 16),
        ("apart", Some("z.c"), 32),
    ]);
    let read = for_gcc(&profile, 16).profile;
    assert_eq!(
        heads(&read),
        [
            // The entry of x/util.c stands for both.
            head("apart", "x/util.c", 16),
            head("apart", "z.c", 32),
            head("both", "?", 12),
            head("only_x", "?", 1),
            head("only_y", "?", 2),
        ]
    );
    let paths: Vec<&[u8]> = read.symbols.files().map(|file| read.symbols.path(file)).collect();
    assert_eq!(paths, [&b"x/util.c"[..], b"z.c"]);
}

/// A target without a known file is the function of that name.
#[test]
fn names_without_a_file() {
    let one = functions(&[("f", Some("a.c"), 1), ("f", None, 2)]);
    assert_eq!(heads(&for_gcc(&one, 16).profile), [head("f", "a.c", 3)]);
    let two = functions(&[("f", Some("a.c"), 1), ("f", Some("b.c"), 4), ("f", None, 2)]);
    // GCC 16 adds up functions of one name.
    assert_eq!(heads(&for_gcc(&two, 16).profile), [head("f", "a.c", 3), head("f", "b.c", 4)]);
}

#[test]
fn positions_out_of_reach_are_counted() {
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    let count = |count| Record { count: Some(count), ..Record::default() };
    main.body.positions.insert(Position::line(70_000), count(1));
    // 200 lines before the declaration, as other writers of version 4 may put it.
    main.body.positions.insert(Position::line(0xff_ff38), count(77));
    for version in VERSIONS {
        let encoded = encode(&profile, Rules::that_keep_most(version)).unwrap();
        assert_eq!(encoded.dropped, 1);
        let read = decode(&encoded.bytes).unwrap().profile;
        let main = read.functions.values().next().unwrap();
        assert_eq!(main.body.positions[&Position::line(0xff38)].count, Some(77));
    }
}

#[test]
fn a_call_site_without_a_count_was_executed_as_often_as_it_called() {
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    main.body.positions.get_mut(&Position::line(4)).unwrap().count = None;
    for version in VERSIONS {
        let read = decode(&file(&profile, version)).unwrap().profile;
        let main = read.functions.values().next().unwrap();
        assert_eq!(main.body.positions[&Position::line(4)].count, Some(1000));
    }
}

#[test]
fn counts_are_such_that_compilers_can_hold_them() {
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    main.head_count = u64::MAX;
    for (_, record) in main.body.positions.iter_mut() {
        record.count = record.count.map(|_| u64::MAX);
        record.targets.iter_mut().for_each(|(_, calls)| *calls = u64::MAX);
    }
    for version in VERSIONS {
        assert_eq!(defects(&file(&profile, version)), []);
    }
}

#[test]
fn names_that_kill_readers_are_not_written() {
    for name in [&b""[..], b"a\0b"] {
        for version in VERSIONS {
            let mut profile = mini();
            let symbol = profile.symbols.symbol(name, None);
            profile.add(symbol, Function::default());
            assert!(encode(&profile, Rules::for_version(version)).is_err());
        }
    }
}

/// A file that is cut anywhere is refused. If only the tail is missing that compilers do not read, it is
/// reported.
#[test]
fn every_prefix_and_every_flipped_bit_is_diagnosed_or_harmless() {
    for version in VERSIONS {
        let whole = file(&mini(), version);
        let tail = whole.len() - 1536 - 8;
        for length in 0..whole.len() {
            match decode(&whole[..length]) {
                Ok(decoded) => {
                    assert!(length >= tail, "{version:?} cut at {length}");
                    let missing = (whole.len() - length) as u64;
                    assert_eq!(
                        decoded.findings.kinds()[0].first[0].defect,
                        Defect::WorkingSet { missing }
                    );
                }
                Err(_) => assert!(length < tail, "{version:?} cut at {length}"),
            }
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&flipped);
        }
    }
}

/// Things that make compilers crash or stop.
#[test]
fn killers_are_diagnosed() {
    let v2 = file(&mini(), Version::V2);
    let refused = |bytes: Vec<u8>| {
        let finding = decode(&bytes).unwrap_err();
        (finding.offset, finding.defect)
    };
    let mut zero_length = v2.clone();
    zero_length.splice(0x18..0x1d, [0; 4]);
    assert_eq!(refused(zero_length), (0x18, Defect::Name));
    let target = 0x91;
    assert_eq!(refused(with(v2.clone(), target, &[0])), (target as u64, Defect::NameIndex(0)));
    assert_eq!(refused(with(v2.clone(), target, &[5])), (target as u64, Defect::NameIndex(5)));
    let positions = 0x55;
    assert_eq!(v2[positions], 3);
    let counts = refused(with(v2.clone(), positions, &[0, 1]));
    assert_eq!(
        counts,
        (positions as u64, Defect::Count { part: Part::Functions, most: 105, found: 0x100 })
    );
    let modules = 0xdd;
    let expected = Defect::Word { expected: 0, found: 1 };
    assert_eq!(refused(with(v2.clone(), modules, &[1])), (modules as u64, expected));
    assert_eq!(refused(with(v2.clone(), 4, &[4])), (0, Defect::Magic));
    assert_eq!(refused(b"adcg".to_vec()), (0, Defect::Magic));

    let v3 = file(&mini(), Version::V3);
    let cutoffs = 12 + 4 + 5 * 8;
    assert_eq!(v3[cutoffs], 16);
    let mut seventeen = with(v3.clone(), cutoffs, &[17]);
    seventeen.splice(cutoffs + 8..cutoffs + 8, [0; 20]);
    assert_eq!(defects(&seventeen), [Defect::Cutoffs(17), Defect::Summary]);
    let mut none = with(v3.clone(), cutoffs, &[0]);
    none.drain(cutoffs + 8..cutoffs + 8 + 16 * 20);
    assert_eq!(defects(&none), [Defect::Cutoffs(0), Defect::Summary]);
    let small_maximum = with(v3.clone(), 12 + 4 + 8, &[1]);
    assert_eq!(defects(&small_maximum), [Defect::Summary]);
    let index = v3.windows(3).position(|name| name == b"sq\0").unwrap() + 3;
    assert_eq!(refused(with(v3, index, &[2])).1, Defect::FileIndex(2));
}

#[test]
fn what_is_odd_is_read_and_told() {
    let v2 = file(&mini(), Version::V2);
    assert_eq!(defects(&with(v2.clone(), 0x6d, &[0, 0, 2])), [Defect::DuplicateLocation]);
    assert_eq!(defects(&with(v2.clone(), 0xa5, &[1])), [Defect::DuplicateLocation]);
    assert_eq!(defects(&with(v2.clone(), 0x8d, &[3])), [Defect::TargetType(3)]);
    assert_eq!(
        defects(&with(v2.clone(), 0x50, &[0x80])),
        [Defect::LargeCount(0x8000_0000_0000_0001)]
    );
    assert_eq!(defects(&[&v2[..], b"more"].concat()), [Defect::Trailing(4)]);
    let mut named = v2.clone();
    named.splice(0x18..0x1d, [2, 0, 0, 0, b'x', 0]);
    assert_eq!(defects(&named), [Defect::FirstName]);
    // All readers skip lengths, and the third word.
    for place in [8, 0x10, 0x41, 0xd9, 0xe5] {
        assert_eq!(defects(&with(v2.clone(), place.min(0xe5), &[0xef, 0xbe])), []);
    }
    // The same function twice. The two are added.
    let (start, end) = (0x49, 0xd5);
    let mut twice = with(v2.clone(), 0x45, &[2]);
    twice.splice(end..end, v2[start..end].to_vec());
    assert_eq!(defects(&twice), [Defect::DuplicateFunction]);
    assert_eq!(heads(&decode(&twice).unwrap().profile), [head("main", "?", 2)]);
}

#[test]
fn nesting_has_an_end() {
    let nested = |depth: usize| {
        let mut profile = Profile::default();
        let f = profile.symbols.symbol(b"f", None);
        let mut function = Function::default();
        for _ in 0..depth {
            let mut outer = Function::default();
            outer.body.positions.entry(Position::line(1)).or_default().inline(f, function.body);
            function = outer;
        }
        profile.add(f, function);
        profile
    };
    let mut deepest = file(&nested(DEEPEST), Version::V2);
    assert_eq!(defects(&deepest), []);
    let too_deep = encode(&nested(DEEPEST + 1), Rules::that_keep_most(Version::V2));
    assert_eq!(too_deep.unwrap_err(), EncodeError::Depth(b"f".to_vec()));
    // One more body around it: name, no positions, one call site, its location.
    let functions = deepest.windows(4).position(|word| word == [0, 0, 0, 0xac]).unwrap();
    let outer = [1u32, 0, 1, 1 << 16].map(u32::to_ne_bytes).concat();
    deepest.splice(functions + 20..functions + 20, outer);
    assert_eq!(decode(&deepest).unwrap_err().defect, Defect::Depth);
}

#[test]
fn each_gcc_has_its_rules() {
    let rules = |major| Rules::for_gcc(major).map(|r| (r.version, r.names, r.discriminators));
    let (cut, ignored, used) = (Names::CutAtDot, Discriminators::Ignored, Discriminators::Used);
    for (majors, expected) in [
        (0..=9, None),
        (10..=11, Some((Version::V1, cut, ignored))),
        (12..=12, Some((Version::V2, cut, ignored))),
        (13..=15, Some((Version::V2, cut, used))),
        (16..=17, Some((Version::V3, Names::WithFiles, used))),
        (18..=99, None),
    ] {
        for major in majors {
            assert_eq!(rules(major), expected, "{major}");
        }
    }
}
