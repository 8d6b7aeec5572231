//! Every prefix and every single-bit flip of a real program's profile, in all formats: no panic, no
//! hang, and never more memory than is stated.

use countersink::formats::afdo_v1_v3::Version;
use countersink::formats::afdo_v1_v3::rules::Rules;
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::afdo_v4::merge::File;
use countersink::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text};
use countersink::profile::{Function, Position, Profile};

use crate::harness::Workshop;
use crate::{alone, limited};

/// Memory for all that is read here. It is less than these few kilobytes of a file may expand to in strings alone: 128
/// times their size and 16 MiB.
const MOST_MEMORY: usize = 48 << 20;

/// Reads a file in every way; says whether strict reading complains.
fn read(format: &str, bytes: &[u8]) -> bool {
    match format {
        "v4" | "v4-compact" => {
            let _ = afdo_v4::part::decode(bytes, |_| true, |_| true);
            afdo_v4::decode::decode_all(bytes).map_or(true, |decoded| !decoded.findings.is_empty())
        }
        "v4-text" => {
            afdo_v4_text::decode::decode(bytes).map_or(true, |decoded| !decoded.findings.is_empty())
        }
        _ => afdo_v1_v3::decode::decode(bytes).map_or(true, |decoded| !decoded.findings.is_empty()),
    }
}

#[test]
#[ignore = "slow"]
fn prefixes_and_flipped_bits() {
    let _alone = alone();
    let shop = Workshop::new();
    shop.program("promoted.c");
    let object = shop.compile("promoted.c", &[]);
    shop.link(&[&object], "prog", &[]);
    shop.run("prog", &[]);
    for format in ["v4", "v4-compact", "v4-text", "v3", "v2", "v1", "v407"] {
        shop.tool_output(&["convert", "prog.csraw", "--to", format, "-o", "profile"]);
        let mut bytes = shop.read("profile");
        limited(MOST_MEMORY, || {
            assert!(!read(format, &bytes));
            for length in 0..bytes.len() {
                let told = read(format, &bytes[..length]);
                // A text may lack its last new line, and an empty one is a text, too.
                let is_whole = format == "v4-text" && (length == 0 || bytes[length..] == *b"\n");
                assert!(told || is_whole, "{format} cut at {length}");
            }
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                read(format, &bytes);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        });
        println!("{format}: {} bytes", bytes.len());
    }
}

/// However often a defect occurs, no more of it is kept.
#[test]
#[ignore = "slow"]
fn a_million_defects() {
    let _alone = alone();
    const NUMBER: u32 = 1 << 20;
    let mut profile = Profile::default();
    let f = profile.symbols.symbol(b"f", None);
    let mut function = Function::default();
    for line in 0..NUMBER {
        let position = Position { line: line >> 4, discriminator: line as u16 & 15 };
        function.body.positions.entry(position).or_default().count = Some(1);
    }
    profile.add(f, function);
    let mut v4 = encode(&profile, Encoding::Normal).unwrap();
    let mut v2 = afdo_v1_v3::encode::encode(&profile, Rules::that_keep_most(Version::V2)).unwrap();
    let text = format!("\"f\":-1(1:0:0) = {{ locations = {{ {} }} }}", "1=1,".repeat(1 << 20));
    drop(profile);
    // All lines become 0. They stand behind the type in version 4, and before 0 targets and the count in
    // version 2.
    let records = v4.windows(8).position(|at| at == [2, 0, 0, 0, 0, 0, 0, 1]).unwrap();
    let mut at = records;
    while v4.get(at).is_some_and(|kind| kind & 0x7f == 2) {
        v4[at + 1..at + 4].fill(0);
        at += if v4[at] & 0x80 == 0 { 8 } else { 10 };
    }
    let records = v2.bytes.len() - 12 - 8 - 1536 - 16 * NUMBER as usize;
    for record in v2.bytes[records..].chunks_exact_mut(16).take(NUMBER as usize) {
        record[..4].fill(0);
    }
    let numbers = limited(MOST_MEMORY, || {
        [
            afdo_v4::decode::decode(&v4).unwrap().findings.kinds()[0].number,
            File::open(&v4, 1).unwrap_or_else(|error| panic!("{error}")).findings.kinds()[0].number,
            afdo_v4::part::decode(&v4, |_| true, |_| true).unwrap().findings.kinds()[0].number,
            afdo_v1_v3::decode::decode(&v2.bytes).unwrap().findings.kinds()[0].number,
            afdo_v4_text::decode::decode(text.as_bytes()).unwrap().findings.kinds()[0].number,
        ]
    });
    let number = u64::from(NUMBER);
    assert_eq!(numbers, [number - 16, number - 16, number - 16, number - 1, number - 1]);
    // `check` tells all defects one by one.
    let mut told = 0;
    afdo_v1_v3::decode::decode_and_tell(&v2.bytes, &mut |_| told += 1).unwrap();
    assert_eq!(told, number - 1);
}
