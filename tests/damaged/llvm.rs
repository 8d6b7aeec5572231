//! Every prefix and every single-bit flip of LLVM's profiles: no panic, no hang, and never more memory than is
//! stated.

use countersink::counters::{Function, Profile, Site, Trace, Value, Variant, name_ref};
use countersink::formats::profraw::check::Defect;
use countersink::formats::profraw::encode::{encode, encode_for};
use countersink::formats::profraw::{self, Machine, Version};
use countersink::formats::{profdata, proftext};

use crate::{alone, limited};

/// Memory for all that is read here. It is less than names of these few kilobytes may expand to.
const MOST_MEMORY: usize = 32 << 20;

/// A profile with all that a version has.
fn profile(version: Version) -> Profile {
    let value = |value, count| Value { value, count };
    let site = |values: &[Value]| Site { values: values.into() };
    let f = name_ref(b"f");
    let mut function = Function {
        name: b"f".to_vec(),
        hash: 1 << 60 | 7,
        counters: vec![5, 0, 1 << 40],
        bitmap: vec![3, 0, 255],
        values: [
            vec![site(&[value(f, 7), value(0, 2)]), site(&[])],
            vec![site(&[value(513, 9)])],
            vec![site(&[value(name_ref(b"_ZTV1A"), 4)])],
        ],
    };
    if version < Version::V9 {
        function.bitmap.clear();
    }
    if version < Version::V10 {
        function.values[2].clear();
    }
    let other = Function { name: b"a.c;g".to_vec(), counters: vec![1], ..Function::default() };
    let trace = Trace { weight: 1, functions: vec![name_ref(b"a.c;g"), f] };
    let (temporal, traces) = match version {
        version if version < Version::V8 => (0, vec![]),
        _ => (Variant::TEMPORAL.0, vec![trace]),
    };
    Profile {
        variant: Variant(Variant::IR.0 | temporal),
        functions: vec![function, other],
        binary_ids: vec![vec![1; 20]],
        traces,
        traced_runs: 0,
        vtables: if version < Version::V10 { vec![] } else { vec![b"_ZTV1A".to_vec()] },
    }
}

/// Reads a raw profile and what can be made of it; says whether it is refused.
fn refused(file: &[u8]) -> bool {
    let Ok(decoded) = profraw::decode::decode(file) else { return true };
    let _ = proftext::encode::encode(&decoded.profile);
    let _ = encode(&decoded.profile, Version::V11);
    false
}

#[test]
#[ignore = "slow"]
fn prefixes_and_flipped_bits() {
    let _alone = alone();
    for version in Version::ALL {
        for (big_endian, pointer) in [(false, 8), (true, 8), (false, 4), (true, 4)] {
            let file =
                encode_for(&profile(version), version, Machine { big_endian, pointer }).unwrap();
            limited(MOST_MEMORY, || raw(file));
        }
    }
    let text = proftext::encode::encode(&profile(Version::V10)).unwrap();
    limited(MOST_MEMORY, || self::text(text));
    for number in 4..=14 {
        let version = profdata::Version::new(number).unwrap();
        let raw = if number < 12 { Version::V8 } else { Version::V10 };
        let file = profdata::encode::encode(&profile(raw), version).unwrap().bytes;
        limited(MOST_MEMORY, || indexed(file));
    }
    limited(MOST_MEMORY, claims);
}

fn raw(mut file: Vec<u8>) {
    assert!(!refused(&file));
    for length in 0..file.len() {
        assert!(refused(&file[..length]), "cut at {length}");
    }
    for bit in 0..file.len() * 8 {
        file[bit / 8] ^= 1 << (bit % 8);
        refused(&file);
        file[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Reads an indexed profile in every way; says whether anything is wrong with it.
fn complained(file: &[u8]) -> bool {
    if let Ok(opened) = profdata::lookup::Profile::open(file) {
        let _ = opened.function(b"f");
    }
    let Ok(decoded) = profdata::decode::decode(file) else { return true };
    let _ = profdata::encode::encode(&decoded.profile, profdata::Version::NEWEST);
    !decoded.findings.is_empty()
}

fn indexed(mut file: Vec<u8>) {
    assert!(!complained(&file));
    for length in 0..file.len() {
        assert!(complained(&file[..length]), "cut at {length}");
    }
    for bit in 0..file.len() * 8 {
        file[bit / 8] ^= 1 << (bit % 8);
        complained(&file);
        file[bit / 8] ^= 1 << (bit % 8);
    }
}

fn text(mut text: Vec<u8>) {
    let read = |text: &[u8]| proftext::decode::decode(text).map(|decoded| decoded.profile);
    for length in 0..text.len() {
        let _ = read(&text[..length]);
    }
    for bit in 0..text.len() * 8 {
        text[bit / 8] ^= 1 << (bit % 8);
        if let Ok(profile) = read(&text) {
            let _ = proftext::encode::encode(&profile);
        }
        text[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Numbers that announce more than there is.
fn claims() {
    for text in [
        "f\n1\n18446744073709551615\n1\n",
        "f\n1\n1\n1\n$18446744073709551615\n1\n",
        "f\n1\n1\n1\n1\n1\n18446744073709551615\n0\n",
        "f\n1\n1\n1\n1\n1\n1\n18446744073709551615\n1:1\n",
        ":temporal_prof_traces\n18446744073709551615\n0\n1\nf\n",
    ] {
        assert!(proftext::decode::decode(text.as_bytes()).is_err());
    }
    // The stream is 64 MB of zeros; the names are said to be more than the file can justify, or less than they
    // are.
    let bomb = zeros(64 << 20);
    for (claimed, expected) in
        [(1 << 30, Defect::LargeNames(1 << 30)), (1 << 20, Defect::Compression)]
    {
        let section = [&uleb128(claimed)[..], &uleb128(bomb.len()), &bomb].concat();
        assert_eq!(profraw::names::Names::read(&section).unwrap_err().defect, expected);
    }
}

fn uleb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A zlib stream of about this many zero bytes.
fn zeros(size: usize) -> Vec<u8> {
    // One block with fixed codes: a literal 0, then copies of 258 bytes from distance 1.
    let mut bits = Vec::<bool>::new();
    let mut push = |value: u32, length: u32| {
        (0..length).rev().for_each(|bit| bits.push(value >> bit & 1 == 1))
    };
    push(0b110, 3);
    push(0b0011_0000, 8);
    for _ in 0..size / 258 {
        push(0b1100_0101, 8);
        push(0, 5);
    }
    push(0, 7);
    let mut stream = vec![0x78, 0x9c];
    stream.extend(bits.chunks(8).map(|byte| {
        byte.iter().enumerate().fold(0, |sum, (place, &bit)| sum | u8::from(bit) << place)
    }));
    stream
}
