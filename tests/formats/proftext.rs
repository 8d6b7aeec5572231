//! LLVM's text form: ours against what `llvm-profdata` reads, writes and refuses.

use countersink::counters::{Profile, Trace, ValueKind, name_ref};
use countersink::formats::proftext::check::{Defect, TextError};
use countersink::formats::proftext::decode::decode;
use countersink::formats::proftext::encode::{EncodeError, encode};
use countersink::formats::proftext::looks_like;

use crate::harness::Workshop;

/// A function with one counter.
const F: &str = "f\n1\n1\n7\n";

fn again(text: &str) -> Result<String, TextError> {
    let decoded = decode(text.as_bytes())?;
    assert!(decoded.findings.is_empty(), "{:?}", decoded.findings);
    Ok(String::from_utf8(encode(&decoded.profile).unwrap()).unwrap())
}

#[test]
#[ignore = "slow"]
fn what_llvm_profdata_writes() {
    for llvm in crate::llvm::all() {
        let shop = Workshop::new();
        for (mode, file) in crate::llvm::profiles(llvm, &shop) {
            let text = llvm.text(&shop, &file).unwrap();
            assert!(looks_like(text.as_bytes()));
            assert_eq!(again(&text).as_ref(), Ok(&text), "{mode} of LLVM {}", llvm.major);
            // It reads what we write.
            let written = again(&text).unwrap();
            assert_eq!(llvm.text(&shop, written.as_bytes()).as_ref(), Ok(&text), "{mode}");
        }
    }
}

/// Texts that `llvm-profdata` and we must understand alike, or refuse alike.
#[test]
fn odd_texts() {
    let Some(llvm) = crate::llvm::all().pop().filter(|llvm| llvm.major >= 22) else { return };
    let shop = Workshop::new();
    let many: String = (0..256).map(|n| format!("{n}:{n}\n")).collect();
    let texts = [
        String::new(),
        ":ir\n".into(),
        format!(":IR\n:Entry_First\n{F}"),
        format!(":fe\n{F}"),
        format!(":ir\n:csir\n{F}"),
        format!(":entry_first\n:not_entry_first\n{F}"),
        format!(":single_byte_coverage\n:instrument_loop_entries\n:entry_first\n:csir\n{F}"),
        format!(":unknown\n{F}"),
        format!("{F}:ir\n"),
        F.replace('\n', "\r\n"),
        format!("# x\n\n{F}\n\n#\n"),
        F.trim_end().into(),
        "z\n9\n1\n1\nb\n3\n1\n1\nb\n2\n1\n1\n".into(),
        "f # c\n0x10\n1\n1\n".into(),
        "f\n010\n1\n1\n".into(),
        "f\n1\n0x1\n1\n".into(),
        " f\n 1\n 1\n 1\n".into(),
        "   \n1\n1\n1\n".into(),
        "f\n1\n0\n".into(),
        "f\n1\n2\n1\n".into(),
        "f\n1\n1\n-1\n".into(),
        "f\n1\n1\n18446744073709551615\n".into(),
        "f\n1\n1\n18446744073709551616\n".into(),
        format!("{F}$2\n0x1\n255\n"),
        format!("{F}$0\n"),
        format!("{F}$1\n0x100\n"),
        format!("{F}$1\n0xf\n1\n1\n1\n1\n5:6\n"),
        format!("{F}1\n0\n2\n0\n3\ng:7\nf:9\n** External Symbol **:7\n"),
        format!("{F}1\n0\n1\n2\n123:7\nunknown:9\n"),
        format!("{F}1\n0\n1\n2\nf:7\nf:9\n"),
        format!("{F}1\n1\n1\n3\n5:7\n3:7\n9:8\n"),
        format!("{F}1\n1\n1\n1\n0x5:7\n"),
        format!("{F}1\n1\n1\n1\n 5 : 7\n"),
        format!("{F}1\n1\n1\n1\n5\n"),
        format!("{F}1\n1\n1\n256\n{many}"),
        format!("{F}2\n1\n1\n0\n0\n1\n1\nf:2\n"),
        format!("{F}3\n0\n1\n0\n1\n1\n0\n2\n1\n0\n"),
        format!("{F}4\n0\n1\n0\n1\n1\n0\n2\n1\n0\n3\n0\n"),
        format!("{F}1\n5\n1\n0\n"),
        format!("{F}0\n"),
        format!("{F}1\n1\n0\n"),
        format!(":temporal_prof_traces\n2\n2\n1\nf,g\n3\ng,f,\n{F}g\n1\n1\n1\n"),
        format!(":temporal_prof_traces\n1\n1\n1\nf,unknown\n{F}"),
        format!(":temporal_prof_traces\n0\n0\n:ir\n{F}"),
        ":temporal_prof_traces\n1\n".into(),
        format!("a:b\n1\n1\n1\n{F}1\n0\n1\n1\na:b:5\n"),
    ];
    for text in texts {
        let expected = llvm.text(&shop, text.as_bytes());
        assert_eq!(again(&text).ok(), expected.ok(), "{text:?}");
    }
}

#[test]
fn virtual_tables_keep_their_names() {
    let text = format!("{F}1\n2\n1\n2\n_ZTV1A:7\n** External Symbol **:9\n");
    let profile = decode(text.as_bytes()).unwrap().profile;
    assert_eq!(profile.vtables, [b"_ZTV1A"]);
    let values = &profile.functions[0].values[ValueKind::VirtualTable as usize][0].values;
    assert_eq!(
        values.iter().map(|value| value.value).collect::<Vec<_>>(),
        [name_ref(b"_ZTV1A"), 0]
    );
    assert!(again(&text).unwrap().contains("\n** External Symbol **:9\n_ZTV1A:7\n"));
}

/// Their line would be empty, and readers skip empty lines.
#[test]
fn traces_without_functions_are_left_out() {
    let traces = |first: &str| format!(":temporal_prof_traces\n2\n2\n1\n{first}\n1\nf,\n{F}");
    let mut profile = decode(traces(",,").as_bytes()).unwrap().profile;
    assert_eq!(profile.traces.len(), 1);
    profile.traces.insert(0, Trace::default());
    let text = String::from_utf8(encode(&profile).unwrap()).unwrap();
    assert_eq!(again(&text), Ok(text));
}

#[test]
fn defects_have_places() {
    let defect = |text: &str| {
        let TextError { line, column, defect } = decode(text.as_bytes()).unwrap_err();
        (line, column, defect)
    };
    assert_eq!(defect(":ir\n:x\n"), (2, 1, Defect::Header));
    assert_eq!(defect("# c\nf\n1\n\n0\n"), (5, 1, Defect::NoCounters));
    assert_eq!(defect("f\nx\n"), (2, 1, Defect::Expected("the hash of a function")));
    assert_eq!(defect("f\n1\n2\n3\n"), (5, 1, Defect::End("a counter")));
    assert_eq!(defect("f\n1\n1\n3\n1\n1\n1\n1\n55:x\n"), (9, 4, Defect::Expected("a count")));
    assert_eq!(defect("f\n1\n1\n3\n4\n"), (5, 1, Defect::Kinds(4)));
    assert_eq!(defect("f\n1\n1\n3\n1\n3\n"), (6, 1, Defect::ValueKind(3)));
    let error = decode(b"f\n1\n1\n-\n").unwrap_err();
    assert_eq!(error.to_string(), "4:1: expected a counter");

    let seen = decode(format!(":temporal_prof_traces\n0\n5\n{F}").as_bytes()).unwrap();
    assert_eq!((seen.findings.iter().count(), seen.profile.runs()), (0, 5));
    let seen = decode(format!(":temporal_prof_traces\n1\n0\n1\nf\n{F}").as_bytes()).unwrap();
    let found: Vec<_> = seen.findings.iter().map(|found| (found.line, &found.defect)).collect();
    assert_eq!(found, [(3, &Defect::TracesSeen { expected: 1, found: 0 })]);
}

#[test]
fn names_that_cannot_be_written() {
    let mut profile: Profile = decode(F.as_bytes()).unwrap().profile;
    for name in [&b""[..], b"a\nb", b"#a", b":a", b"a\r", b"1", b"$1"] {
        profile.functions[0].name = name.to_vec();
        assert_eq!(encode(&profile), Err(EncodeError::Name(name.to_vec())));
    }
    // Objective-C and Swift.
    for name in [&b"-[A b:]"[..], b"$s4main1fyyF"] {
        profile.functions[0].name = name.to_vec();
        let text = String::from_utf8(encode(&profile).unwrap()).unwrap();
        assert_eq!(
            again(&format!("a\n1\n1\n1\n{text}")).unwrap().matches("# Func Hash").count(),
            2
        );
    }
    profile.functions[0].counters.clear();
    assert!(matches!(encode(&profile), Err(EncodeError::NoCounters(_))));
}

#[test]
fn other_texts_are_not_taken_for_these() {
    let others = ["", "# only a comment\n", "main:100:5\n 1: 20\n", "filenames = { \"a.c\" }\n"];
    assert!(others.iter().all(|text| !looks_like(text.as_bytes())));
    assert!(!looks_like(b"\x81rforpl\xff") && !looks_like(b":other\n"));
    assert!(
        [F, ":ir\n", ":temporal_prof_traces\n0\n0\n"]
            .map(str::as_bytes)
            .into_iter()
            .all(looks_like)
    );
}
