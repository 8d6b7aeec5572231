//! Version 2 against its golden bytes. What GCC makes of it is in `autofdo_gcc.rs`.

mod golden;

use countersink::formats::afdo_v1_v3::decode::{Defect, decode};
use countersink::formats::afdo_v1_v3::encode::{Discriminators, encode};
use countersink::profile::{Position, Record};
use golden::{mini, sha256};

/// `mini` up to the working set, which is zeros.
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

#[test]
fn mini_is_byte_for_byte_the_golden_file() {
    let bytes = encode(&mini(), Discriminators::Used).bytes;
    let golden: Vec<u8> =
        MINI.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    assert_eq!(bytes[..golden.len()], golden);
    assert_eq!(bytes.len(), 1769);
    assert!(sha256(&bytes).starts_with("7c46b2607378dc06"));
}

#[test]
fn what_is_written_is_read() {
    let bytes = encode(&mini(), Discriminators::Used).bytes;
    let read = decode(&bytes).unwrap();
    assert_eq!(encode(&read, Discriminators::Used).bytes, bytes);
}

#[test]
fn gcc_12_gets_one_position_a_line() {
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    for (discriminator, count) in [(0, 5), (2, 7)] {
        let record = Record { count: Some(count), ..Record::default() };
        main.body.positions.insert(Position { line: 3, discriminator }, record);
    }
    let read = decode(&encode(&profile, Discriminators::Ignored).bytes).unwrap();
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
}

#[test]
fn names_are_cut_and_equal_ones_added() {
    let mut profile = mini();
    let (&main, function) = profile.functions.first_key_value().unwrap();
    let (file, clone) = (profile.symbols.declared_in(main).unwrap().to_vec(), function.clone());
    let file = profile.symbols.file(&file);
    let symbol = profile.symbols.symbol(b"main.constprop.0", Some(file));
    profile.functions.insert(symbol, clone);
    let read = decode(&encode(&profile, Discriminators::Ignored).bytes).unwrap();
    let functions: Vec<_> = read.functions.values().collect();
    assert_eq!(functions.len(), 1);
    assert_eq!(functions[0].head_count, 2);
    assert_eq!(functions[0].body.total(), 2 * 5_000_001_042);
}

#[test]
fn positions_out_of_reach_are_counted() {
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    main.body.positions.insert(Position::line(70_000), Record::default());
    assert_eq!(encode(&profile, Discriminators::Used).dropped, 1);
}

#[test]
fn every_prefix_is_diagnosed() {
    let bytes = encode(&mini(), Discriminators::Used).bytes;
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length]).is_err(), "cut at {length}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode(&flipped);
    }
    let mut killer = bytes.clone();
    // The empty first name with length 0, on which GCC 12 to 15 crash.
    killer.splice(0x18..0x1d, [0; 4]);
    assert_eq!(decode(&killer).unwrap_err().defect, Defect::Name);
}
