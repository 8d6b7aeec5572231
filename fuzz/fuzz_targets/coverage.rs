//! Counters and notes of an object: whatever they say, its coverage can be written and read.
//!
//! An input starts with the length of the counters in four bytes, little-endian. The notes follow the counters.
#![no_main]

use countersink::convert::gcov::coverage::{FlowMemory, coverage};
use countersink::convert::gcov::of_gcda;
use countersink::formats::gcda::decode::Data;
use countersink::formats::gcno::Notes;
use countersink::formats::lcov::decode::decode;
use countersink::formats::lcov::encode::encode;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let Some((counters, notes)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize) else { return };
    let (Ok(data), Ok(notes)) = (Data::decode(counters), Notes::decode(notes)) else { return };
    if of_gcda::check(&data).is_err() {
        return;
    }
    let dump = of_gcda::dump([(b"x.gcda".to_vec(), data)]);
    let copies = dump.modules.iter().flat_map(|module| module.objects.iter().map(move |object| (module, object)));
    let copies: Vec<_> = copies.collect();
    let path = |_: &[u8], file: &[u8]| file.to_vec();
    let found = coverage(&notes, &copies, path, &mut FlowMemory::default()).coverage;
    for function in found.files.values().flat_map(|file| &file.functions) {
        function.paths.iter().for_each(|paths| drop(paths.missed()));
    }
    let Ok(written) = encode(&found) else { return };
    // A program without files has no record.
    assert_eq!(decode(&written).is_ok(), !found.files.is_empty());
});
