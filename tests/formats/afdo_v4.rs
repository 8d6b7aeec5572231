//! Version 4 against the golden bytes: the profile `mini`, and the example of the proposal.

use countersink::formats::afdo_v4::check::Defect;
use countersink::formats::afdo_v4::decode::{decode, decode_all};
use countersink::formats::afdo_v4::encode::{Encoding, encode, encode_with_summary};
use countersink::formats::afdo_v4::merge::File;
use countersink::formats::afdo_v4_text;
use countersink::profile::Summary;

use crate::golden::{example, mini, mini_summary, sha256};

const MINI_COMPACT: &str = "\
    67 63 6f 76 00 00 00 04 80 07 20 18 38 1a 52 16 68 13 7b 22 9d 01 08 a5 01 09 ae 01 03 b1 01 02 \
    82 92 ec 97 d0 12 80 e4 97 d0 12 01 04 01 01 b0 b6 3c 80 e4 97 d0 12 01 83 03 04 61 2e 63 00 02 \
    03 01 04 04 61 2e 68 00 05 06 04 05 01 00 07 08 05 05 81 03 02 02 63 62 02 01 31 80 00 01 32 80 \
    01 04 6d 61 69 6e 80 02 84 03 00 01 ff ff ff ff 0f 01 02 ff ff ff ff 0f 02 03 04 85 01 00 05 01 \
    02 82 03 01 e8 07 03 04 80 e4 97 d0 12 05 04 02 01 bc 05 02 ac 02 06 05 04 01 02 01 2a 81 01 01 \
    02 73 71 80 00 84 01 00 04 ff ff ff ff 0f 81 00 00 84 00";

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn mini_is_byte_for_byte_the_golden_file() {
    let compact = encode_with_summary(&mini(), &mini_summary(), Encoding::Compact).unwrap();
    assert_eq!(compact, bytes(MINI_COMPACT));
    assert_eq!(compact.len(), 179);
    assert!(sha256(&compact).starts_with("d76143ed7e285302"));

    let normal = encode_with_summary(&mini(), &mini_summary(), Encoding::Normal).unwrap();
    assert_eq!(normal.len(), 524);
    assert!(sha256(&normal).starts_with("423aed1eb216e2ca"));
    let info = "05 0000000000000001 0000000000000000 00000005 01 000002 82 000003 0001 000003e8 \
        03 000004 000000012a05f200 05 000004 00000002 00000001 00000000000002bc 00000002 \
        000000000000012c 06 000005 00000004 00000001 02 000001 0000002a";
    let info: String = info.split_whitespace().collect();
    let hex: String =
        normal[0x17e..0x17e + 0x63].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, info);
}

#[test]
fn the_example_of_the_proposal() {
    let normal = encode(&example(), Encoding::Normal).unwrap();
    let compact = encode(&example(), Encoding::Compact).unwrap();
    assert_eq!((normal.len(), compact.len()), (993, 374));
    assert!(sha256(&normal).starts_with("46ecc8467f0a53ab"));
    assert!(sha256(&compact).starts_with("7582615ca115fe42"));
}

#[test]
fn what_is_written_is_read() {
    for profile in [mini(), example()] {
        for encoding in [Encoding::Normal, Encoding::Compact] {
            let written = encode(&profile, encoding).unwrap();
            let read = decode(&written).unwrap();
            assert!(read.findings.is_empty());
            assert_eq!(read.summary, profile.summary());
            assert_eq!(encode(&read.profile, encoding).unwrap(), written);
        }
    }
}

#[test]
fn every_prefix_and_every_flipped_bit_is_diagnosed_or_harmless() {
    for encoding in [Encoding::Normal, Encoding::Compact] {
        let whole = encode(&mini(), encoding).unwrap();
        for length in 0..whole.len() {
            assert!(decode(&whole[..length]).is_err(), "{encoding:?} cut at {length}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = decode_all(&flipped);
        }
    }
}

#[test]
fn a_wrong_summary_is_noticed() {
    let mut summary = mini().summary();
    summary.max_count += 1;
    let written = encode_with_summary(&mini(), &summary, Encoding::Normal).unwrap();
    let findings = decode(&written).unwrap().findings;
    assert_eq!(findings.iter().map(|f| f.defect).collect::<Vec<_>>(), [Defect::Summary]);
}

/// All readers find the same in a file, also the one that adds files up without decoding them as a whole.
#[test]
fn all_readers_agree_about_summaries_and_what_is_there_twice() {
    let agree = |bytes: &[u8]| {
        let read = decode(bytes).unwrap().findings;
        let added = File::open(bytes, 1).unwrap_or_else(|error| panic!("{error}")).findings;
        assert_eq!(added, read);
        read.iter().map(|finding| finding.defect).collect::<Vec<_>>()
    };
    let profile = example();
    let right = profile.summary();
    assert_eq!(agree(&encode(&profile, Encoding::Compact).unwrap()), []);
    let with = |change: &dyn Fn(&mut Summary)| {
        let mut summary = right.clone();
        change(&mut summary);
        encode_with_summary(&profile, &summary, Encoding::Compact).unwrap()
    };
    let changes: [&dyn Fn(&mut Summary); 10] = [
        &|summary| summary.total_count += 1,
        &|summary| summary.max_count -= 1,
        &|summary| summary.max_function_count += 1,
        &|summary| summary.counts -= 1,
        &|summary| summary.functions += 1,
        &|summary| summary.cutoffs[3].min_count += 1,
        &|summary| summary.cutoffs[3].min_count -= 1,
        &|summary| summary.cutoffs[15].counts += 1,
        &|summary| summary.cutoffs[0] = summary.cutoffs[15],
        &|summary| summary.cutoffs.truncate(15),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        assert_eq!(agree(&with(change)), [Defect::Summary], "{place}");
    }
    // Two records for line 1, and two bodies of `g`. The summary is that of the sums.
    let twice = "\"f\":-1(1:9:0) = { locations = { 1 = 5, 1 = 6, 2 = 1 }, inlined = {
        3 = \"g\":-1(2) = { locations = { 1 = 7 } }, 3 = \"g\":-1(2) = { locations = { 1 = 8 } } } }";
    let sum = afdo_v4_text::decode::decode(twice.as_bytes()).unwrap().profile;
    let apart = twice.replace("1 = 6", "4 = 6").replacen("3 = \"g\"", "5 = \"g\"", 1);
    let apart = afdo_v4_text::decode::decode(apart.as_bytes()).unwrap().profile;
    let mut bytes = encode_with_summary(&apart, &sum.summary(), Encoding::Normal).unwrap();
    for (from, to) in [([2, 0, 0, 4], [2, 0, 0, 1]), ([6, 0, 0, 5], [6, 0, 0, 3])] {
        let at = bytes.windows(4).rposition(|at| at == from).unwrap();
        bytes[at..at + 4].copy_from_slice(&to);
    }
    assert_eq!(agree(&bytes), [Defect::DuplicateLocation; 2]);
}
