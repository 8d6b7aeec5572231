//! Decisions where the proposal of version 4 leaves a choice: a test for each one, by its number (D).
//!
//! | decisions | about | here, and |
//! |---|---|---|
//! | 1 to 11 | header, sections, varints | 9 in `formats::afdo_v4::number`, limits of 10 in `trie` |
//! | 12 to 25 | files, symbols, strings | 17 for version 3 in `afdo_v1_v3.rs`, 20, 21, 22, 25 in `formats::afdo_v4::trie` |
//! | 26 to 39 | locations | 26 and 34 for older versions in `afdo_v1_v3.rs`, 34 and 35 for programs in `tests/placement/call_places.rs` |
//! | 40 to 48 | text | 40, 44 and 45 in `afdo_v4_text.rs`, 44 and 47 on the command line in `tests/tool/profiles.rs` |

use countersink::formats::afdo_v1_v3::Version;
use countersink::formats::afdo_v1_v3::rules::Rules;
use countersink::formats::afdo_v4::check::{Defect, Part};
use countersink::formats::afdo_v4::decode::{decode, decode_and_tell};
use countersink::formats::afdo_v4::encode::{Encoding, encode, encode_with_summary};
use countersink::formats::afdo_v4::merge::{File, Merge};
use countersink::formats::afdo_v4::part;
use countersink::formats::afdo_v4_text::encode::TargetNames;
use countersink::formats::{EncodeError, afdo_v1_v3, afdo_v4_text};
use countersink::profile::{Body, Function, Position, Profile, Record};

use crate::golden::{mini, mini_summary};

/// Big-endian integers of these widths in bytes.
fn words(words: &[(u64, usize)]) -> Vec<u8> {
    words.iter().flat_map(|&(word, width)| word.to_be_bytes()[8 - width..].to_vec()).collect()
}

/// A section in normal encoding.
fn section(kind: u8, contents: &[u8]) -> Vec<u8> {
    [&[kind], contents].concat()
}

/// A file entry: path, sections and ids.
fn entry(path: &str, string_table: u64, names: u64, ids: (u64, u64)) -> Vec<u8> {
    let path = format!("{path}\0");
    [
        words(&[(path.len() as u64, 4)]),
        path.into_bytes(),
        words(&[(string_table, 4), (names, 4), (ids.0, 4), (ids.1, 4)]),
    ]
    .concat()
}

fn symbol(string: u64, id: u64, info: u64) -> Vec<u8> {
    words(&[(string, 4), (id, 4), (info, 4)])
}

const NONE: u64 = 0xffff_ffff;

/// A file with a.c, which declares `f` (id 1, with records) and `g` (id 2), and with the unknown file. The
/// sections are in the order of the file.
struct Raw {
    sections: Vec<Vec<u8>>,
    /// The order of the table: which section stands in each place.
    table: Vec<usize>,
    gap: usize,
}

impl Raw {
    fn new(number: u64, records: &[u8]) -> Self {
        let files = [words(&[(2, 4)]), entry("a.c", 2, 3, (1, 3)), entry("", 5, 6, (3, 3))];
        let strings = [words(&[(2, 4)]), b"\x02\0\x01f\x80\0\0\0\0\0\x01g\x80\0\0\0\x01".to_vec()];
        let names = [words(&[(2, 4)]), symbol(0, 1, 4), symbol(1, 2, NONE)];
        let info = [words(&[(9, 8), (7, 8), (number, 4)]), records.to_vec()];
        let sections = vec![
            section(2, &words(&[(0, 8); 6])),
            section(3, &files.concat()),
            section(1, &strings.concat()),
            section(4, &names.concat()),
            section(5, &info.concat()),
            section(1, &[0; 5]),
            section(4, &[0; 4]),
        ];
        Self { sections, table: (0..7).collect(), gap: 0 }
    }

    /// A file with one count, 5 on line 1.
    fn usual() -> Self {
        Self::new(1, b"\x02\0\0\x01\0\0\0\x05")
    }

    fn bytes(&self) -> Vec<u8> {
        let header = 16 + 16 * self.sections.len();
        let mut places = Vec::new();
        let mut offset = header;
        for section in &self.sections {
            places.push([(offset as u64, 8), (section.len() as u64, 8)]);
            offset += section.len() + self.gap;
        }
        let table: Vec<_> = self.table.iter().flat_map(|&section| places[section]).collect();
        let number = self.table.len() as u64 - 2;
        let mut bytes = [b"gcov\0\0\0\x04".to_vec(), words(&[(number, 8)]), words(&table)].concat();
        for section in &self.sections {
            bytes.extend_from_slice(section);
            bytes.extend(vec![0xee; self.gap]);
        }
        bytes
    }
}

/// Defects of a file, except in the summary, which is an empty one.
fn defects(bytes: &[u8]) -> Vec<Defect> {
    let mut findings = Vec::new();
    if let Err(finding) = decode_and_tell(bytes, &mut |finding| findings.push(finding)) {
        findings.push(finding);
    }
    findings.iter().map(|found| found.defect).filter(|d| *d != Defect::Summary).collect()
}

/// The body of `f`. Reading it gives no error.
fn body(bytes: &[u8]) -> Body {
    decode(bytes).unwrap().profile.functions.into_values().next().unwrap().body
}

fn count(count: u64) -> Record {
    Record { count: Some(count), ..Record::default() }
}

/// One function `f` without a file, with these records.
fn profile(records: &[(Position, Record)]) -> Profile {
    let mut profile = Profile::default();
    let f = profile.symbols.symbol(b"f", None);
    let mut function = Function::default();
    function.body.positions.extend(records.iter().cloned());
    profile.add(f, function);
    profile
}

fn read_back(profile: &Profile) -> Profile {
    let decoded = decode(&encode(profile, Encoding::Normal).unwrap()).unwrap();
    assert!(decoded.findings.is_empty());
    decoded.profile
}

#[test]
fn d01_sections_are_counted_by_offset_else_by_the_table() {
    let mut raw = Raw::usual();
    assert_eq!(body(&raw.bytes()).total(), 5);
    // The order of the table has no meaning.
    raw.table = vec![0, 1, 6, 5, 4, 3, 2];
    assert_eq!(body(&raw.bytes()).total(), 5);
    // Sections in another order than the table, and references to places in the table, counted behind the two
    // fixed ones or alone.
    for less in [0, 2] {
        let mut raw = Raw::usual();
        let files = [
            words(&[(2, 4)]),
            entry("a.c", 2 - less, 3 - less, (1, 3)),
            entry("", 5 - less, 6 - less, (3, 3)),
        ];
        raw.sections[1] = section(3, &files.concat());
        raw.sections[3] =
            section(4, &[words(&[(2, 4)]), symbol(0, 1, 4 - less), symbol(1, 2, NONE)].concat());
        raw.sections.rotate_left(2);
        raw.table.iter_mut().for_each(|place| *place = (*place + 5) % 7);
        assert_eq!(body(&raw.bytes()).total(), 5, "{less}");
    }
}

#[test]
fn d02_summary_and_file_names_are_not_in_the_table() {
    let bytes = encode(&mini(), Encoding::Normal).unwrap();
    // Seven of the nine sections are counted.
    assert_eq!(bytes[8..16], [0, 0, 0, 0, 0, 0, 0, 7]);
    let mut raw = Raw::usual();
    raw.table.push(0);
    raw.sections.push(section(9, b""));
    assert!(defects(&raw.bytes()).contains(&Defect::SectionType { expected: 5, found: 2 }));
}

#[test]
fn d03_d04_flags_and_number_of_sections() {
    let compact = encode(&mini(), Encoding::Compact).unwrap();
    assert_eq!(compact[8..10], [0x80, 7]);
    // Normal sections in a file with a compact header.
    let raw = Raw::usual();
    let normal = raw.bytes();
    let mut mixed = [b"gcov\0\0\0\x04".as_slice(), &[0x80, 5]].concat();
    let mut offset = 10 + 7 * 3;
    let mut table = Vec::new();
    for section in &raw.sections {
        // Two bytes for the offset, one for the size.
        table.extend([offset as u8 | 0x80, (offset >> 7) as u8, section.len() as u8]);
        offset += section.len();
    }
    mixed.extend(table);
    mixed.extend(raw.sections.concat());
    assert_eq!(body(&mixed), body(&normal));
    let mut reserved = normal;
    reserved[8] = 0x21;
    assert_eq!(defects(&reserved), [Defect::HeaderFlags(0x21)]);
}

#[test]
fn d05_the_size_includes_the_first_byte() {
    let mut raw = Raw::usual();
    raw.sections[4].push(0);
    assert_eq!(defects(&raw.bytes()), [Defect::Trailing(1)]);
    assert_eq!(body(&raw.bytes()).total(), 5);
    let info = &mut raw.sections[4];
    info.truncate(info.len() - 2);
    let part = Part::Section(5);
    assert_eq!(defects(&raw.bytes()), [Defect::Truncated { part, expected: 4, found: 3 }]);
}

#[test]
fn d06_compact_headers_of_all_lengths() {
    let mut profile = Profile::default();
    for number in 0..300 {
        let name = format!("f{number}");
        let symbol = profile.symbols.symbol(name.as_bytes(), None);
        profile.add(symbol, Function::default());
        if number % 20 == 0 {
            let bytes = encode(&profile, Encoding::Compact).unwrap();
            assert!(decode(&bytes).unwrap().findings.is_empty());
        }
    }
}

#[test]
fn d07_gaps_are_allowed_and_overlaps_not() {
    let mut raw = Raw::usual();
    raw.gap = 3;
    assert_eq!(defects(&raw.bytes()), []);
    let mut overlap = Raw::usual().bytes();
    let size_of_summary = 16 + 15;
    overlap[size_of_summary] += 1;
    let found = defects(&overlap);
    assert_eq!(found, [Defect::Overlap, Defect::Trailing(1)]);
    let mut outside = Raw::usual().bytes();
    outside[16 + 16 * 6 + 14] = 1;
    let start = outside.len() as u64 - 5;
    assert!(defects(&outside).contains(&Defect::OutOfBounds {
        start,
        size: 256 + 5,
        missing: 256
    }));
}

#[test]
fn d08_unknown_sections_are_skipped_and_counted() {
    let mut raw = Raw::usual();
    raw.sections.insert(0, section(0x7e, b"\xff\xff"));
    raw.table = vec![1, 2, 0, 3, 4, 5, 6, 7];
    // References count it: the sections behind it have moved by one.
    let files = [words(&[(2, 4)]), entry("a.c", 3, 4, (1, 3)), entry("", 6, 7, (3, 3))];
    raw.sections[2] = section(3, &files.concat());
    raw.sections[4] = section(4, &[words(&[(2, 4)]), symbol(0, 1, 5), symbol(1, 2, NONE)].concat());
    assert_eq!(defects(&raw.bytes()), [Defect::UnknownSection(0x7e)]);
    assert_eq!(body(&raw.bytes()).total(), 5);
}

#[test]
fn d10_counts_larger_than_the_bytes_left() {
    let (part, most) = (Part::Section(5), 4);
    let raw = Raw::new(1 << 30, b"\x01\0\0\x01\x01\0\0\x02");
    assert_eq!(defects(&raw.bytes()), [Defect::Count { part, most, found: 1 << 30 }]);
    let nested: Vec<u8> = b"\x06\0\0\x01\0\0\0\x02\0\0\0\x01".repeat(1026);
    let raw = Raw::new(1, &[&nested[..], b"\x01\0\0\x01"].concat());
    assert_eq!(defects(&raw.bytes()), [Defect::Depth]);
}

/// Writers avoid what readers refuse. Names that share too much share less, and functions that are inlined
/// too deep are an error.
#[test]
fn d10_writers_know_the_limits() {
    let (mut profile, beginning) = (Profile::default(), [b'x'; 20_000]);
    for number in 1000..3000 {
        let name = [&beginning[..], format!("{number}").as_bytes()].concat();
        let symbol = profile.symbols.symbol(&name, None);
        profile.add(symbol, Function { head_count: number, ..Function::default() });
    }
    for encoding in [Encoding::Normal, Encoding::Compact] {
        let bytes = encode(&profile, encoding).unwrap();
        assert!(bytes.len() < 600_000, "{}", bytes.len());
        let decoded = decode(&bytes).unwrap();
        assert_eq!(decoded.profile.functions.len(), 2000);
        assert!(encode(&decoded.profile, encoding).unwrap() == bytes);
        let merge = Merge::new(vec![File::open(&bytes, 1).unwrap()], encoding);
        let parts: Vec<_> = (0..merge.functions()).map(|n| merge.part(n).unwrap()).collect();
        assert!(merge.finish(parts).unwrap() == bytes);
    }
}

#[test]
fn d10_functions_inlined_too_deep_are_not_written() {
    // Without optimization this takes more stack than a test has.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    thread.spawn(write_deep_profiles).unwrap().join().unwrap();
}

fn write_deep_profiles() {
    for (levels, is_too_deep) in [(1024, false), (1025, true)] {
        let mut profile = Profile::default();
        let f = profile.symbols.symbol(b"f", None);
        let mut body = Body::default();
        for _ in 0..levels {
            let inlined = [(f, std::mem::take(&mut body))].into_iter().collect();
            let record = Record { count: Some(1), inlined, ..Record::default() };
            body.positions.insert(Position::line(1), record);
        }
        profile.add(f, Function { body, ..Function::default() });
        let older = |version| {
            let rules = Rules::that_keep_most(version);
            afdo_v1_v3::encode::encode(&profile, rules).map(|encoded| encoded.bytes)
        };
        for file in [
            older(Version::V2),
            older(Version::V3),
            encode(&profile, Encoding::Normal),
            encode(&profile, Encoding::Compact),
            afdo_v4_text::encode::encode(&profile),
        ] {
            assert_eq!(file == Err(EncodeError::Depth(b"f".to_vec())), is_too_deep, "{levels}");
        }
    }
}

/// In compact form everything is a varint except flags, types and the nodes of tries.
#[test]
fn d11_cutoffs_are_varints_too() {
    let compact = encode_with_summary(&mini(), &mini_summary(), Encoding::Compact).unwrap();
    // Type; total, largest, largest head, counts, functions, entries; share, smallest, counts.
    let summary = b"\x82\x92\xec\x97\xd0\x12\x80\xe4\x97\xd0\x12\x01\x04\x01\x01\xb0\xb6\x3c\x80\xe4\x97\xd0\x12\x01";
    assert_eq!(compact[0x20..0x38], summary[..]);
    assert_eq!(decode(&compact).unwrap().summary, mini_summary());
}

#[test]
fn d12_the_unknown_file_is_always_there_and_last() {
    let bytes = encode(&mini(), Encoding::Compact).unwrap();
    assert!(bytes.ends_with(&[0x81, 0, 0, 0x84, 0]));
    let mut first = Raw::usual();
    let files = [words(&[(2, 4)]), entry("", 5, 6, (3, 3)), entry("a.c", 2, 3, (1, 3))];
    first.sections[1] = section(3, &files.concat());
    assert_eq!(defects(&first.bytes()), []);
    let mut none = Raw::usual();
    none.sections[1] = section(3, &[words(&[(1, 4)]), entry("a.c", 2, 3, (1, 3))].concat());
    assert_eq!(defects(&none.bytes()), [Defect::NoUnknownFile]);
}

#[test]
fn d13_file_names_have_one_nul() {
    for path in [&b"a\0c\0"[..], b"a.cc", b""] {
        let mut raw = Raw::usual();
        let entry = [
            words(&[(2, 4), (path.len() as u64, 4)]),
            path.to_vec(),
            words(&[(2, 4), (3, 4), (1, 4), (3, 4)]),
            entry("", 5, 6, (3, 3)),
        ];
        raw.sections[1] = section(3, &entry.concat());
        assert_eq!(defects(&raw.bytes())[0], Defect::FileName, "{path:?}");
    }
}

#[test]
fn d14_ids_start_at_1_and_0_is_read() {
    let text = String::from_utf8(afdo_v4_text::encode::encode(&mini()).unwrap()).unwrap();
    assert!(text.contains("symbol_names = {\n  1 = "));
    let mut raw = Raw::new(1, b"\x04\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x05");
    let files = [words(&[(2, 4)]), entry("a.c", 2, 3, (0, 2)), entry("", 5, 6, (2, 2))];
    raw.sections[1] = section(3, &files.concat());
    raw.sections[3] = section(4, &[words(&[(2, 4)]), symbol(1, 1, 4), symbol(0, 0, NONE)].concat());
    assert_eq!(defects(&raw.bytes()), []);
    assert_eq!(body(&raw.bytes()).positions[&Position::line(1)].targets.len(), 1);
}

#[test]
fn d15_d25_ids_by_file_and_name() {
    let mut profile = Profile::default();
    let (b, a) = (profile.symbols.file(b"b.c"), profile.symbols.file(b"a.c"));
    for (name, file) in [("z", None), ("y", Some(b)), ("x", Some(b)), ("w", Some(a))] {
        let symbol = profile.symbols.symbol(name.as_bytes(), file);
        profile.add(symbol, Function::default());
    }
    let text = String::from_utf8(afdo_v4_text::encode::encode(&profile).unwrap()).unwrap();
    for header in ["\"w\":0(1:", "\"x\":1(2:", "\"y\":1(3:", "\"z\":-1(4:"] {
        assert!(text.contains(header), "{text}");
    }
}

#[test]
fn d16_ids_lie_in_the_range_of_their_file_and_fill_it() {
    let with = |names: &[Vec<u8>]| {
        let mut raw = Raw::usual();
        let number = words(&[(names.len() as u64, 4)]);
        raw.sections[3] = section(4, &[number, names.concat()].concat());
        defects(&raw.bytes())
    };
    assert_eq!(with(&[symbol(0, 1, 4), symbol(1, 3, NONE)]), [Defect::SymbolRange(3)]);
    assert_eq!(with(&[symbol(0, 1, 4), symbol(1, 1, NONE)]), [Defect::DuplicateSymbol(1)]);
    assert_eq!(with(&[symbol(0, 1, 4)]), [Defect::MissingSymbols { expected: 2, found: 1 }]);
    // D22: a name belongs to one symbol of a file, and must exist.
    assert_eq!(with(&[symbol(0, 1, 4), symbol(0, 2, NONE)]), [Defect::DuplicateSymbol(2)]);
    assert_eq!(with(&[symbol(0, 1, 4), symbol(2, 2, NONE)]), [Defect::StringId(2)]);
}

#[test]
fn d17_equal_names_of_two_files_are_two_symbols() {
    let mut profile = Profile::default();
    for (file, head_count) in [(b"a.c", 1), (b"b.c", 2)] {
        let file = profile.symbols.file(file);
        let symbol = profile.symbols.symbol(b"f", Some(file));
        profile.add(symbol, Function { head_count, ..Function::default() });
    }
    assert_eq!(read_back(&profile).functions.len(), 2);
    let v2 = afdo_v1_v3::encode::encode(&profile, Rules::for_version(Version::V2)).unwrap();
    let v2 = afdo_v1_v3::decode::decode(&v2.bytes).unwrap().profile;
    assert_eq!(v2.functions.values().map(|f| f.head_count).collect::<Vec<_>>(), [3]);
}

/// This many functions of a.c, all with one info section of 1000 records.
fn aliases(number: u8) -> Raw {
    let mut raw = Raw::new(1000, &b"\x02\0\0\x01\0\0\0\x05".repeat(1000));
    let ids = (1, 1 + u64::from(number));
    let files = [words(&[(2, 4)]), entry("a.c", 2, 3, ids), entry("", 5, 6, (ids.1, ids.1))];
    let child = |string: u8| [&[0, 1, b'A' + string, 0x80, 0, 0, 0][..], &[string]].concat();
    let strings: Vec<Vec<u8>> = (0..number).map(child).collect();
    let names: Vec<Vec<u8>> =
        (0..u64::from(number)).map(|string| symbol(string, 1 + string, 4)).collect();
    let number = words(&[(number.into(), 4)]);
    raw.sections[1] = section(3, &files.concat());
    raw.sections[2] = section(1, &[&number[..], &number[3..], &strings.concat()].concat());
    raw.sections[3] = section(4, &[number, names.concat()].concat());
    raw
}

#[test]
fn d18_d19_symbols_and_their_info_sections() {
    // Targets have names, too, but no info section.
    let read = read_back(&mini());
    assert_eq!((read.symbols.iter().count(), read.functions.len()), (4, 1));
    // Aliases share an info section; ours have one each. But a small file must not mean an enormous profile.
    let part = |raw: &Raw| part::decode(&raw.bytes(), |_| true, |_| true);
    let two = decode(&aliases(2).bytes()).unwrap().profile;
    assert_eq!(two.functions.values().map(|f| f.body.total()).collect::<Vec<_>>(), [5000; 2]);
    assert_eq!(part(&aliases(2)).unwrap().profile.functions, two.functions);
    assert_eq!(read_back(&two).functions.len(), 2);
    assert!(defects(&aliases(4).bytes()).contains(&Defect::SharedSection(4)));
    assert_eq!(part(&aliases(4)).unwrap_err().defect, Defect::SharedSection(4));
    // Files do not share their names.
    let mut raw = Raw::usual();
    let files = [words(&[(2, 4)]), entry("a.c", 2, 3, (1, 3)), entry("", 2, 6, (3, 3))];
    raw.sections[1] = section(3, &files.concat());
    assert_eq!(defects(&raw.bytes()), [Defect::SharedSection(2)]);
    assert_eq!(part(&raw).unwrap_err().defect, Defect::SharedSection(2));
}

#[test]
fn d22_string_tables_hold_each_string_once() {
    for (table, found) in [
        (&b"\0\0\0\x02\x02\0\x01f\x80\0\0\0\0\0\x01g\x80\0\0\0\0"[..], Defect::StringId(0)),
        (b"\0\0\0\x02\x02\0\x01f\x80\0\0\0\0\0\x01g\x80\0\0\0\x02", Defect::StringId(2)),
        (b"\0\0\0\x02\x01\0\x01f\x80\0\0\0\0", Defect::Strings { expected: 2, found: 1 }),
    ] {
        let mut raw = Raw::usual();
        raw.sections[2] = section(1, table);
        assert_eq!(defects(&raw.bytes()), [found]);
    }
}

#[test]
fn d23_d24_names_of_symbols() {
    let with = |name: &[u8]| {
        let mut raw = Raw::usual();
        let label = [&[0, name.len() as u8][..], name].concat();
        let table = [b"\0\0\0\x02\x02".as_slice(), &label, b"\x80\0\0\0\0\0\x01g\x80\0\0\0\x01"];
        raw.sections[2] = section(1, &table.concat());
        raw
    };
    assert_eq!(defects(&with(b"").bytes()), [Defect::NoName]);
    let unnamed = decode(&with(b"").bytes()).unwrap().profile;
    assert_eq!(unnamed.functions.len(), 1);
    assert!(encode(&unnamed, Encoding::Normal).is_err());
    assert_eq!(defects(&with(b"a\0").bytes()), [Defect::SymbolName]);
    let odd = decode(&with(b"\xff\xfe\"").bytes()).unwrap().profile;
    assert_eq!(odd.symbols.name(*odd.functions.keys().next().unwrap()), b"\xff\xfe\"");
}

#[test]
fn d26_a_call_site_may_have_no_count() {
    let raw = Raw::new(1, b"\x04\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x05");
    let record = &body(&raw.bytes()).positions[&Position::line(1)];
    assert_eq!((record.count, record.targets.values().sum::<u64>()), (None, 5));
}

#[test]
fn d27_several_functions_inlined_at_one_place() {
    let zero = b"\0\0\0\x01\x01\0\0\x01";
    let of = |callee: u8| [b"\x06\0\0\x01\0\0\0", &[callee][..], zero].concat();
    let raw = Raw::new(2, &[of(1), of(2)].concat());
    assert_eq!(defects(&raw.bytes()), []);
    assert_eq!(body(&raw.bytes()).positions[&Position::line(1)].inlined.len(), 2);
    let raw = Raw::new(2, &[of(2), of(2)].concat());
    assert_eq!(defects(&raw.bytes()), [Defect::DuplicateLocation]);
    assert_eq!(body(&raw.bytes()).positions[&Position::line(1)].inlined.len(), 1);
}

#[test]
fn d28_the_order_of_records_says_nothing() {
    let zero = b"\x01\0\0\x02";
    let normal = b"\x02\0\0\x01\0\0\0\x05";
    let one = Raw::new(2, &[&zero[..], normal].concat());
    let other = Raw::new(2, &[&normal[..], zero].concat());
    let canonical =
        |raw: &Raw| encode(&decode(&raw.bytes()).unwrap().profile, Encoding::Normal).unwrap();
    assert_eq!(canonical(&one), canonical(&other));
}

#[test]
fn d29_second_records_are_added_and_told() {
    let raw = Raw::new(2, &b"\x02\0\0\x01\0\0\0\x05".repeat(2));
    assert_eq!(defects(&raw.bytes()), [Defect::DuplicateLocation]);
    assert_eq!(body(&raw.bytes()).total(), 10);
}

#[test]
fn d30_lists_of_fewer_than_two_targets() {
    let raw = Raw::new(1, b"\x05\0\0\x01\0\0\0\0");
    assert_eq!(defects(&raw.bytes()), [Defect::Targets(0)]);
    let raw = Raw::new(1, b"\x05\0\0\x01\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x05");
    assert_eq!(defects(&raw.bytes()), [Defect::Targets(1)]);
    let again = encode(&decode(&raw.bytes()).unwrap().profile, Encoding::Normal).unwrap();
    assert!(again.windows(8).any(|bytes| bytes == b"\x04\0\0\x01\0\0\0\x02"));
}

#[test]
fn d31_counts_are_wide_only_if_they_must_be() {
    for (number, start) in [(u64::from(u32::MAX), 2), (1 << 32, 3)] {
        for encoding in [Encoding::Normal, Encoding::Compact] {
            let bytes = encode(&profile(&[(Position::line(77), count(number))]), encoding).unwrap();
            let kind = bytes.iter().rposition(|&byte| byte == 77).unwrap();
            let kind = if encoding == Encoding::Normal { kind - 3 } else { kind - 1 };
            assert_eq!(bytes[kind], start, "{number} {encoding:?}");
        }
    }
    // In compact form type 2 may hold larger counts.
    let wide =
        encode(&profile(&[(Position::line(77), count(1 << 32))]), Encoding::Compact).unwrap();
    let place = wide.windows(2).rposition(|bytes| bytes == [3, 77]).unwrap();
    let mut normal = wide;
    normal[place] = 2;
    assert_eq!(defects(&normal), []);
}

#[test]
fn d32_zeros_are_written() {
    let read = read_back(&profile(&[(Position::line(1), count(0))]));
    assert_eq!(read.functions.values().next().unwrap().body.positions.len(), 1);
}

#[test]
fn d33_lines_before_the_declaration() {
    for (line, signed) in
        [(0xff38, -200), (0xff_ff38, -200), (0x7fff, 0x7fff), (0x1_0000, 0x1_0000)]
    {
        let position = Position::line(line);
        assert_eq!(position.signed_line(), signed);
        let read = read_back(&profile(&[(position, count(1))]));
        assert!(read.functions.values().next().unwrap().body.positions.contains_key(&position));
    }
}

#[test]
fn d34_lines_that_do_not_fit_are_not_written() {
    let too_far = profile(&[(Position::line(1 << 24), count(1))]);
    assert!(encode(&too_far, Encoding::Normal).unwrap_err().to_string().contains("16777216"));
}

#[test]
fn d35_discriminator_0_is_left_out() {
    let raw = Raw::new(1, b"\x82\0\0\x01\0\0\0\0\0\x05");
    assert_eq!(defects(&raw.bytes()), [Defect::ZeroDiscriminator]);
    assert_eq!(body(&raw.bytes()).positions[&Position::line(1)].count, Some(5));
}

#[test]
fn d36_unknown_locations_are_skipped() {
    for kind in [0, 7, 0x7f] {
        let unknown = [&[kind, 0, 0, 1, 0, 0, 0, 3][..], b"abc"].concat();
        let raw = Raw::new(2, &[&unknown[..], b"\x02\0\0\x01\0\0\0\x05"].concat());
        assert_eq!(defects(&raw.bytes()), [Defect::UnknownLocation(kind)]);
        assert_eq!(body(&raw.bytes()).total(), 5);
    }
}

#[test]
fn d37_d39_nested_bodies_and_timestamps() {
    let mut profile = mini();
    profile.functions.values_mut().next().unwrap().timestamp = 12345;
    let text = |profile| afdo_v4_text::encode::encode(profile).unwrap();
    assert_eq!(text(&read_back(&profile)), text(&profile));
}

#[test]
fn d38_counts_are_such_that_compilers_can_hold_them() {
    let mut large = profile(&[(Position::line(1), count(u64::MAX))]);
    let g = large.symbols.symbol(b"g", None);
    let function = large.functions.values_mut().next().unwrap();
    (function.head_count, function.timestamp) = (u64::MAX, u64::MAX);
    function.body.positions.entry(Position::line(1)).or_default().targets.insert(g, u64::MAX);
    let read = read_back(&large);
    assert_eq!(read.functions.values().next().unwrap().body.total(), i64::MAX as u128);
    let text = |profile| afdo_v4_text::encode::encode(profile).unwrap();
    assert_eq!(text(&large), text(&read));
}

fn text(text: &str) -> Result<Vec<u8>, afdo_v4_text::check::TextError> {
    let decoded = afdo_v4_text::decode::decode(text.as_bytes())?;
    Ok(afdo_v4_text::encode::encode(&decoded.profile).unwrap())
}

#[test]
fn d40_a_name_ends_at_the_next_quotation_mark() {
    let odd = text("\"a\\\nb\":-1(1:1:0) = { locations = { 1 = 1 } }").unwrap();
    assert!(String::from_utf8(odd).unwrap().contains("\"a\\\nb\":-1(1:1:0)"));
}

#[test]
fn d41_a_list_of_files_may_be_empty() {
    let empty = afdo_v4_text::encode::encode(&Profile::default()).unwrap();
    let empty = String::from_utf8(empty).unwrap();
    assert!(empty.starts_with("filenames = {\n}\n"), "{empty}");
    assert_eq!(text(&empty).unwrap(), empty.into_bytes());
}

#[test]
fn d42_files_are_numbered_without_the_unknown_one() {
    let of = |file| text(&format!("filenames = {{ \"a.c\" }} \"f\":{file}(1:1:0) = {{ }}"));
    assert!(of("0").unwrap().windows(4).any(|window| window == b"\"f\":"));
    assert!(String::from_utf8(of("-1").unwrap()).unwrap().contains("\"f\":-1("));
    for file in ["1", "-2", "4294967296"] {
        assert!(of(file).is_err(), "{file}");
    }
}

#[test]
fn d43_ids_are_keys_of_their_file() {
    let one = "\"f\":-1(77:1:0) = { locations = { 1 = 1 }, callsites = { 1 -> { 5 = 1 } } }\n\
               \"g\":-1(5:1:0) = { locations = { 1 = 1 } }";
    let other = one.replace("(77:", "(1:").replace("5 =", "2 =").replace("(5:", "(2:");
    assert_eq!(text(one), text(&other));
}

#[test]
fn d44_names_of_targets() {
    let (profile, summary) = (mini(), mini().summary());
    let with = |names| afdo_v4_text::encode::encode_with(&profile, &summary, names).unwrap();
    let [listed, stubs] = [TargetNames::Listed, TargetNames::Stubs]
        .map(|names| String::from_utf8(with(names)).unwrap());
    assert!(listed.contains("symbol_names = {\n  1 = \"cb1\":0,\n  2 = \"cb2\":0\n}\n"));
    assert!(stubs.contains("}\n\n\"cb1\":0(1:0:0) = { }\n\n\"cb2\":0(2:0:0) = { }\n\n\"main\""));
    assert!(!stubs.contains("symbol_names"));
    assert_eq!(text(&stubs).unwrap(), listed.into_bytes());
}

#[test]
fn d45_d46_repeated_sections_and_loose_lists() {
    let strict = "\"f\":-1(1:1:0) = { locations = { 1 = 1, 2 = 2 } }";
    let loose = "\"f\" : -1 ( 1 : 1 : 0 ) = { locations = { 2 = 2, }, locations = {\t1 =\r\n1 }, }";
    assert_eq!(text(loose), text(strict));
    for wrong in [
        "\"f\":-1(1:1:0) = { locations = { 1 = -1 } }",
        "\"f\":-1(1:1:0) = { locations = { 1 = 0x1 } }",
        "\"f\":-1(1:1:0) = { locations = { 1 = 1,, 2 = 2 } }",
        "# a comment",
    ] {
        assert!(text(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn d47_the_summary_is_made_anew() {
    let wrong = "summary = { total_count = 9, num_detailed_entries = 0, detailed_entries = { } }\n\
                 \"f\":-1(1:1:0) = { locations = { 1 = 1 } }";
    assert!(String::from_utf8(text(wrong).unwrap()).unwrap().contains("total_count = 1,"));
    let missing = "summary = { num_detailed_entries = 1, detailed_entries = { } }";
    assert!(text(missing).is_err());
}

#[test]
fn d48_discriminator_0_is_not_written() {
    let with = text("\"f\":-1(1:1:0) = { locations = { 4.0 = 1 } }").unwrap();
    assert!(String::from_utf8(with).unwrap().contains("    4 = 1\n"));
}
