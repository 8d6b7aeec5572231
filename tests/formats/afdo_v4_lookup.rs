//! Looking things up gives the same as decoding everything, and damaged files cause no panic.

use countersink::formats::afdo_v4::decode::decode;
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::afdo_v4::lookup;
use countersink::formats::afdo_v4::part;
use countersink::formats::afdo_v4::records::What;
use countersink::formats::afdo_v4_text;
use countersink::profile::{Function, Profile};

use crate::golden::{example, mini};

/// `mini`, and `main` again in another file.
fn two_mains() -> Profile {
    let mut profile = mini();
    let other = profile.symbols.file(b"b.c");
    let main = profile.symbols.symbol(b"main", Some(other));
    let function = profile.functions.values().next().unwrap().clone();
    profile.add(main, Function { head_count: 9, ..function });
    profile
}

#[test]
fn a_part_is_what_it_is_in_the_whole() {
    for profile in [mini(), example(), two_mains()] {
        for encoding in [Encoding::Normal, Encoding::Compact] {
            let bytes = encode(&profile, encoding).unwrap();
            let whole = decode(&bytes).unwrap();
            let all = part::decode(&bytes, |_| true, |_| true).unwrap();
            let text = |profile: &Profile| afdo_v4_text::encode::encode(profile).unwrap();
            assert_eq!(text(&all.profile), text(&whole.profile));
            assert_eq!(all.summary, whole.summary);
            assert!(all.findings.is_empty());
            for &symbol in whole.profile.functions.keys() {
                let name = whole.profile.symbols.name(symbol);
                let path = whole.profile.symbols.declared_in(symbol).unwrap();
                let one = part::decode(&bytes, |p| p == path, |n| n == name).unwrap().profile;
                let mut expected = whole.profile.clone();
                expected.functions.retain(|&other, _| other == symbol);
                assert_eq!(text(&one), text(&expected));
            }
        }
    }
}

#[test]
fn records_of_one_function() {
    let bytes = encode(&two_mains(), Encoding::Compact).unwrap();
    let profile = lookup::Profile::open(&bytes).unwrap();
    assert_eq!(profile.summary().unwrap(), two_mains().summary());
    let paths: Vec<&[u8]> = profile.sources().iter().map(|source| source.path).collect();
    assert_eq!(paths, [b"a.c".as_slice(), b"a.h", b"b.c", b""]);

    let records = |source: &[u8], name: &[u8]| {
        profile.function(profile.source(source).unwrap(), name).unwrap()
    };
    assert_eq!(records(b"b.c", b"main").unwrap().head_count, 9);
    assert!(records(b"a.c", b"cb1").is_none() && records(b"a.c", b"nobody").is_none());
    let main = records(b"a.c", b"main").unwrap();
    let shown: Vec<String> = main
        .map(|record| {
            let record = record.unwrap();
            let name = |id| String::from_utf8(profile.name(id).unwrap().unwrap()).unwrap();
            let what = match record.what {
                What::Count(count) => count.to_string(),
                What::Target { symbol, calls } => format!("calls {} {calls}", name(symbol)),
                What::Inlined(symbol) => format!("has {}", name(symbol)),
            };
            format!("{}{}: {what}", "  ".repeat(record.depth), record.position.line)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "2: 0",
            "3: 1000",
            "4: 5000000000",
            "4: calls cb1 700",
            "4: calls cb2 300",
            "5: has sq",
            "  1: 42"
        ]
    );
    assert_eq!(profile.name(77).unwrap(), None);
    let symbols: Vec<_> = profile.symbols(profile.source(b"a.c").unwrap()).unwrap().collect();
    assert_eq!(symbols.len(), 3);
}

#[test]
fn damaged_files() {
    for encoding in [Encoding::Normal, Encoding::Compact] {
        let whole = encode(&two_mains(), encoding).unwrap();
        let everything = |bytes: &[u8]| part::decode(bytes, |_| true, |_| true);
        for length in 0..whole.len() {
            // The missing part may be one that nobody asks for.
            let _ = everything(&whole[..length]);
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = everything(&flipped);
        }
    }
}
