//! The text form of version 4.

use countersink::formats::afdo_v4::encode::{Encoding, encode as binary};
use countersink::formats::afdo_v4_text::check::{Defect, TextError};
use countersink::formats::afdo_v4_text::decode::{decode, decode_and_tell};
use countersink::formats::afdo_v4_text::encode::encode;
use countersink::formats::{EncodeError, json};
use countersink::profile::{Function, Position, Profile};

use crate::golden::{example, mini};

/// `mini`, its summary left out.
const MINI: &str = r#"filenames = {
  "a.c",
  "a.h"
}

symbol_names = {
  1 = "cb1":0,
  2 = "cb2":0
}

"main":0(3:1:0) = {
  locations = {
    2 = 0,
    3.1 = 1000,
    4 = 5000000000
  },
  callsites = {
    4 -> { 1 = 700, 2 = 300 }
  },
  inlined = {
    5 = "sq":1(4) = {
      locations = {
        1 = 42
      }
    }
  }
}
"#;

/// The text without its summary block.
fn without_summary(text: &str) -> String {
    let (before, rest) = text.split_once("summary = {").unwrap();
    let (_, after) = rest.split_once("\n}\n\n").unwrap();
    before.to_owned() + after
}

#[test]
fn mini_is_the_canonical_text() {
    let text = String::from_utf8(encode(&mini()).unwrap()).unwrap();
    assert_eq!(without_summary(&text), MINI);
}

#[test]
fn the_summary_of_the_proposal_s_example() {
    let text = String::from_utf8(encode(&example()).unwrap()).unwrap();
    for line in [
        "  total_count = 2194467,\n  max_count = 659399,\n  max_fn_count = 0,\n  num_counts = 23,\n",
        "    {cutoff = 600000, min_count = 659399, num_counts = 2},\n",
        "    {cutoff = 700000, min_count = 218844, num_counts = 6},\n",
        "    {cutoff = 999000, min_count = 218844, num_counts = 6},\n",
        "    {cutoff = 999900, min_count = 31, num_counts = 9},\n",
        "    {cutoff = 999999, min_count = 23, num_counts = 16}\n  }\n}\n",
    ] {
        assert!(text.contains(line), "{line}not in\n{text}");
    }
}

#[test]
fn text_and_binary_hold_the_same_profile() {
    for profile in [mini(), example()] {
        let text = encode(&profile).unwrap();
        let read = decode(&text).unwrap();
        assert_eq!(read.summary, Some(profile.summary()));
        assert_eq!(encode(&read.profile).unwrap(), text);
        let same = |p| binary(p, Encoding::Normal).unwrap();
        assert_eq!(same(&read.profile), same(&profile));
    }
}

#[test]
fn the_example_as_the_proposal_prints_it() {
    // The example's ids are not the canonical ones, and its summary has more lines.
    let text = String::from_utf8(encode(&example()).unwrap()).unwrap();
    let other = text.replace("(2:0:0)", "(3:0:0)").replace("\"printf\":1(3)", "\"printf\":1(2)");
    assert_ne!(other, text);
    let read = decode(other.as_bytes()).unwrap();
    assert_eq!(encode(&read.profile).unwrap(), text.into_bytes());
}

#[test]
fn stubs_unknown_sections_and_loose_white_space_are_read() {
    let loose = MINI
        .replace(
            "symbol_names = {\n  1 = \"cb1\":0,\n  2 = \"cb2\":0\n}",
            "branches = { \"}\" { } }",
        )
        .replace("locations = {\n    2", "weights = {a{}b},locations={2")
        + "\"cb1\":0(1:0:0) = { } \"cb2\":0(2:0:0)={}";
    let read = decode(loose.as_bytes()).unwrap();
    let text = String::from_utf8(encode(&read.profile).unwrap()).unwrap();
    assert_eq!(without_summary(&text), MINI);
}

#[test]
fn defects_have_a_line_and_a_column() {
    let error = |text: &str| decode(text.as_bytes()).unwrap_err();
    let expected = |line, column, defect| TextError { line, column, defect };
    assert_eq!(error("filenames = {\n  \"a"), expected(2, 4, Defect::Expected("a closing '\"'")));
    assert_eq!(error("filenames = { }\n\"f\":0(1:0:0) = { }"), expected(2, 6, Defect::File(0)));
    let target = "\"f\":-1(1:1:0) = { callsites = { 1 -> { 7 = 1 } } }";
    assert_eq!(error(target).defect, Defect::UnknownId(7));
    let twice = "\"f\":-1(1:1:0) = { } \"g\":-1(1:1:0) = { }";
    assert_eq!(error(twice).defect, Defect::DuplicateId(1));
    let large = "\"f\":-1(1:1:0) = { locations = { 16777216 = 1 } }";
    assert_eq!(error(large).defect, Defect::TooLarge);
    let text = encode(&mini()).unwrap();
    for length in 0..text.len() {
        // A cut behind a whole block leaves a text.
        let _ = decode(&text[..length]);
    }
    assert_eq!(error(&"a = {".repeat(5000)).defect, Defect::Expected("'}'"));
    let deep = "\"f\":-1(1:1:0) = {".to_owned() + &"inlined = { 1 = \"f\":-1(1) = {".repeat(5000);
    assert_eq!(error(&deep).defect, Defect::Depth);
}

#[test]
fn a_quotation_mark_cannot_be_written() {
    let mut profile = mini();
    let symbol = profile.symbols.symbol(b"a\"b", None);
    profile.functions.insert(symbol, Default::default());
    assert!(encode(&profile).unwrap_err().to_string().contains("quotation mark"));
}

/// Nor can anything be written that readers do not take.
#[test]
fn names_and_lines_that_readers_refuse_are_not_written() {
    for name in [&b""[..], b"a\0b"] {
        let mut profile = mini();
        let symbol = profile.symbols.symbol(name, None);
        profile.functions.insert(symbol, Default::default());
        assert_eq!(encode(&profile), Err(EncodeError::Name(name.to_vec())));
    }
    let mut profile = mini();
    let main = profile.functions.values_mut().next().unwrap();
    main.body.positions.entry(Position::line(1 << 24)).or_default().count = Some(1);
    let function = b"main".to_vec();
    assert_eq!(encode(&profile), Err(EncodeError::Line { function, line: 1 << 24 }));
}

/// Another writer's `{}` is a mere name. A function with nothing in it is written in another way, to be
/// distinguished from that.
#[test]
fn a_function_without_anything() {
    let mut profile = mini();
    let symbol = profile.symbols.symbol(b"nothing", None);
    profile.functions.insert(symbol, Function::default());
    let text = encode(&profile).unwrap();
    let decoded = decode(&text).unwrap();
    assert_eq!(decoded.summary, Some(profile.summary()));
    assert_eq!(encode(&decoded.profile).unwrap(), text);
    let stub = String::from_utf8(text).unwrap().replace("{\n  locations = {\n  }\n}", "{ }");
    assert_eq!(decode(stub.as_bytes()).unwrap().profile.functions.len(), mini().functions.len());
}

#[test]
fn a_file_name_with_a_nul() {
    let defect = decode(b"filenames = { \"a\0c\" }").unwrap_err().defect;
    assert_eq!(defect, Defect::Path);
}

#[test]
fn what_stands_twice_is_added_and_told() {
    let twice = "\"f\":-1(1:1:0) = {
  locations = { 1 = 2, 1 = 3 },
  callsites = { 1 -> { 1 = 1, 1 = 1 } },
  inlined = { 2 = \"f\":-1(1) = { }, 2 = \"f\":-1(1) = { } }
}
\"f\":-1(1:1:0) = { locations = { 1 = 0 } }
";
    let decoded = decode(twice.as_bytes()).unwrap();
    let function = decoded.profile.functions.values().next().unwrap();
    assert_eq!((function.head_count, function.body.total()), (2, 5));
    let expected = [
        (2, 29, Defect::DuplicateLocation),
        (3, 36, Defect::DuplicateLocation),
        (4, 55, Defect::DuplicateLocation),
        (6, 42, Defect::DuplicateFunction),
    ];
    let expected = expected.map(|(line, column, defect)| TextError { line, column, defect });
    let mut found = Vec::new();
    decode_and_tell(twice.as_bytes(), &mut |error| found.push(error)).unwrap();
    assert_eq!(found.pop().unwrap().to_string(), "1:1: there is no summary");
    assert_eq!(found, expected);
    let numbers: Vec<u64> = decoded.findings.kinds().iter().map(|kind| kind.number).collect();
    assert_eq!(numbers, [3, 1, 1]);
}

/// One long name that is called or inlined in many places. JSON repeats it for each call, text for each
/// inlined body.
#[test]
#[ignore = "slow"]
fn what_is_mostly_repetition_is_refused() {
    let long = vec![b'n'; 200_000];
    let repeated = |inlined: bool| {
        let mut profile = Profile::default();
        let callee = profile.symbols.symbol(&long, None);
        let caller = profile.symbols.symbol(b"caller", None);
        let function = profile.functions.entry(caller).or_default();
        for line in 0..10_000 {
            let record = function.body.positions.entry(Position { line, discriminator: 0 });
            match inlined {
                true => _ = record.or_default().inlined.entry(callee).or_default(),
                false => *record.or_default().targets.entry(callee).or_default() = 1,
            }
        }
        profile
    };
    let calls = encode(&repeated(false)).unwrap();
    assert!(calls.len() < 1_000_000, "{}", calls.len());
    let error = encode(&repeated(true)).unwrap_err();
    assert!(matches!(error, EncodeError::Large(most) if most < 120_000_000), "{error}");
    for inlined in [false, true] {
        let error = json::encode::encode(&repeated(inlined), |_| true).unwrap_err();
        assert!(matches!(error, EncodeError::Large(_)), "{error}");
    }
}
