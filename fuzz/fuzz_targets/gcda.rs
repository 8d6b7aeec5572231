//! Counters of objects.
#![no_main]

use countersink::formats::gcda::decode::Data;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Data::decode(bytes);
});
