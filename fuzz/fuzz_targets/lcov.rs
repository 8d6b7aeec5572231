//! Tracefiles of lcov: whatever is read can be written and read again.
#![no_main]

use countersink::formats::lcov::decode::decode;
use countersink::formats::lcov::encode::encode;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(coverage) = decode(bytes) else { return };
    let Ok(written) = encode(&coverage) else { return };
    decode(&written).expect("it was written");
});
